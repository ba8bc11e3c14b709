"""whisperX through the whole path, with weights that say the same whatever they hear."""

from __future__ import annotations

import json
import socket
import sys

import numpy as np
import pytest

from admir.errors import BackendUnavailable, OptionError
from admir.perception import whisperx
from admir.perception.devices import DevicePlan
from admir.perception.speech import SAMPLE_RATE
from admir.perception.whisperx import WhisperX, _Sentences
from benchmarks.whisper_shape import write_whisper
from tests.perception.voices import SENTENCES, music, noise, voice

needs_whisperx = pytest.mark.extra("whisperx")
SAYS = ("<|0.00|>", " Stop", " feeling", " tired", ".", " Try", " Aurora", ".")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_whisper(tmp_path_factory.mktemp("weights") / "tiny", says=SAYS)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("reached for the network"))


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    """Random weights in the shape of those that align words."""
    from transformers import (
        Wav2Vec2Config,
        Wav2Vec2CTCTokenizer,
        Wav2Vec2FeatureExtractor,
        Wav2Vec2ForCTC,
        Wav2Vec2Processor,
    )

    folder = tmp_path_factory.mktemp("letters")
    names = ["<pad>", "<s>", "</s>", "<unk>", "|", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ'"]
    (folder / "vocab.json").write_text(json.dumps({name: n for n, name in enumerate(names)}))
    processor = Wav2Vec2Processor(
        feature_extractor=Wav2Vec2FeatureExtractor(),
        tokenizer=Wav2Vec2CTCTokenizer.from_pretrained(folder),
    )
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = Wav2Vec2Config(
        vocab_size=len(names),
        intermediate_size=16,
        conv_dim=[8] * 7,
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        **shape,
    )
    Wav2Vec2ForCTC(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture
def on_disk(monkeypatch):
    """Let these weights be found: a folder by kind."""

    def put(**folders):
        def find(name, kind):
            if kind not in folders:
                raise BackendUnavailable(f"the {kind} weights {name!r} are not on this machine")
            return folders[kind]

        monkeypatch.setattr(whisperx, "find_weights", find)

    put()
    return put


@needs_whisperx
def test_without_aligned_words_there_is_an_utterance_a_piece_and_a_warning(tiny, on_disk, capsys):
    recogniser, seconds = WhisperX(tiny, "tiny"), []
    found = recogniser.transcribe(voice(), tell=seconds.append)
    assert [each.text for each in found] == ["Stop feeling tired. Try Aurora."] * 2
    for each, said in zip(found, SENTENCES, strict=True):
        assert each.span.start_s == pytest.approx(said.start_s, abs=0.3)
        assert each.span.end_s == pytest.approx(said.end_s, abs=0.5)
        assert (each.language, each.words) == ("en", ())
        assert 0.5 < each.confidence <= 1
    assert seconds == sorted(seconds)
    (line,) = recogniser.warnings
    assert "no times of their own" in line
    assert "the alignment weights 'en'" in line
    assert capsys.readouterr() == ("", "")


@needs_whisperx
def test_words_are_aligned_and_sentences_parted(tiny, letters, on_disk, capsys):
    on_disk(alignment=letters)
    recogniser = WhisperX(tiny, "tiny")
    found = recogniser.transcribe(voice())
    assert [each.text for each in found] == ["Stop feeling tired.", "Try Aurora."] * 2
    assert [word.text for word in found[1].words] == ["Try", "Aurora."]
    for each in found:
        times = [t for word in each.words for t in (word.span.start_s, word.span.end_s)]
        assert times == sorted(times)
        assert any(said.start_s - 0.5 <= times[0] <= said.end_s + 0.5 for said in SENTENCES)
    assert recogniser.warnings == []
    assert capsys.readouterr() == ("", "")


@needs_whisperx
def test_speakers_are_told_apart(tiny, letters, on_disk, monkeypatch, tmp_path):
    """The pipeline that finds the turns is a stand-in; who said what is whisperX's own work."""
    import pandas as pd

    whisperx.import_whisperx()  # it warns
    from whisperx import diarize

    def pipeline(model_name, device):
        assert (model_name, device) == (str(tmp_path), "cpu")
        rows = [("SPEAKER_01", 0.0, 4.0), ("SPEAKER_00", 5.0, 10.0)]
        return lambda *_, **__: pd.DataFrame(rows, columns=["speaker", "start", "end"])

    monkeypatch.setattr(diarize, "DiarizationPipeline", pipeline)
    on_disk(alignment=letters, diarisation=tmp_path)
    found = WhisperX(tiny, "tiny", speakers=True).transcribe(voice())
    assert [each.speaker for each in found] == ["Speaker 1"] * 2 + ["Speaker 2"] * 2


@needs_whisperx
def test_speakers_without_weights_are_a_warning(tiny, letters, on_disk):
    on_disk(alignment=letters)
    recogniser = WhisperX(tiny, "tiny", speakers=True)
    assert {each.speaker for each in recogniser.transcribe(voice())} == {None}
    (line,) = recogniser.warnings
    assert line.startswith("speakers are not told apart: ")


@needs_whisperx
@pytest.mark.parametrize(
    "audio",
    [np.zeros(20 * SAMPLE_RATE, dtype=np.float32), noise(), music()],
    ids=["silence", "noise", "music"],
)
def test_where_nobody_speaks_nothing_is_loaded(tiny, audio, monkeypatch):
    monkeypatch.setattr(whisperx, "import_whisperx", pytest.fail)
    assert WhisperX(tiny, "tiny").transcribe(audio) == ()


@needs_whisperx
def test_the_language_is_detected_or_given(tmp_path, tiny, on_disk):
    weights = write_whisper(tmp_path / "tiny", says=SAYS, language="de")
    assert {u.language for u in WhisperX(weights, "tiny").transcribe(voice())} == {"de"}
    given = WhisperX(tiny, "tiny", language="zh")
    assert {u.language for u in given.transcribe(voice())} == {"zh"}
    with pytest.raises(OptionError, match="'qq'"):
        WhisperX(tiny, "tiny", language="qq").transcribe(voice())


@needs_whisperx
def test_a_full_card_is_left_for_the_cpu(tiny, on_disk, monkeypatch):
    whisperx.import_whisperx()  # it warns
    import whisperx.asr as theirs

    real, tried = theirs.load_model, []

    def load(folder, device, **options):
        tried.append(device)
        if device == "cuda":
            raise RuntimeError("CUDA failed with error out of memory")
        return real(folder, device, **options)

    card = DevicePlan(device="cuda", compute_type="float16", batch=8)
    monkeypatch.setattr(whisperx, "place_for", lambda *_: card)
    monkeypatch.setattr(theirs, "load_model", load)
    recogniser = WhisperX(tiny, "tiny")
    assert len(recogniser.transcribe(voice())) == 2
    assert tried == ["cuda", "cpu"]
    assert any("out of memory" in line for line in recogniser.warnings)


@needs_whisperx
def test_a_batch_says_the_same(tiny, on_disk, monkeypatch):
    batch = DevicePlan(device="cpu", compute_type="int8", batch=4)
    monkeypatch.setattr(whisperx, "place_for", lambda *_: batch)
    monkeypatch.setattr(whisperx, "with_cpu_behind", lambda place, work, *_: work(place))
    assert len(WhisperX(tiny, "tiny").transcribe(voice())) == 2


@needs_whisperx
def test_a_stop_ends_it(tiny, on_disk):
    seconds = []
    found = WhisperX(tiny, "tiny").transcribe(
        voice(), tell=seconds.append, stop=lambda: bool(seconds)
    )
    assert (found, len(seconds)) == ((), 1)


@needs_whisperx
def test_weights_of_words_that_are_broken_cost_only_the_words(tiny, on_disk, tmp_path):
    on_disk(alignment=tmp_path)
    recogniser = WhisperX(tiny, "tiny")
    assert len(recogniser.transcribe(voice())) == 2
    assert any("no times of their own" in line for line in recogniser.warnings)


@pytest.mark.parametrize("broken", [ImportError, OSError, AttributeError])
def test_a_whisperx_that_cannot_be_loaded_is_one_line(monkeypatch, broken):
    """Beside another torch its parts fail in these ways; `import whisperx` works."""

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name.startswith("whisperx"):
                raise broken("torchaudio has no attribute 'list_audio_backends'\nmore")

    for name in [name for name in sys.modules if name.split(".")[0] == "whisperx"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    with pytest.raises(BackendUnavailable, match="list_audio_backends") as caught:
        whisperx.import_whisperx()
    assert "faster-whisper" in str(caught.value)
    assert "more" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Stop feeling tired. Try Aurora!", ["Stop feeling tired.", "Try Aurora!"]),
        ("Only $4.50 a day", ["Only $4.50 a day"]),
        ("今天就试试。只要九元！", ["今天就试试。", "只要九元！"]),
        ("", [""]),
    ],
)
def test_sentences_end_where_they_do(text, sentences):
    assert [text[a:b] for a, b in _Sentences().span_tokenize(text)] == sentences
