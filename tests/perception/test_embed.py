"""Text into vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.embed import HashingEmbedder
from admir.text import normalize
from tests.properties import examples

EMBEDDER = HashingEmbedder()


@examples(100)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_rows_have_unit_length_or_are_all_zero_where_nothing_is_written(texts):
    rows = EMBEDDER.encode(texts)
    assert rows.shape == (len(texts), EMBEDDER.dimensions)
    assert rows.dtype == np.float32
    for text, length in zip(texts, np.linalg.norm(rows, axis=1), strict=True):
        assert length == pytest.approx(1.0, abs=1e-5) or (length == 0 and len(normalize(text)) < 3)


@examples()
@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=6), data=st.data())
def test_a_row_depends_on_its_text_alone(texts, data):
    order = data.draw(st.permutations(range(len(texts))))
    shuffled = EMBEDDER.encode([texts[i] for i in order])
    assert np.array_equal(shuffled, EMBEDDER.encode(texts)[list(order)])


@examples()
@given(st.text(alphabet="abcdef $5%", max_size=30))
def test_case_and_width_do_not_change_a_row(text):
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text.upper())
    a, b = EMBEDDER.encode([text, wide])
    assert np.allclose(a, b)


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("desk lamps", "a lamp on the desk", "a bowl of soup"),
        ("Lumivo", "www.lumivo.example", "www.teahouse.example"),
        ("智能台灯", "会听的台灯", "冬天的热汤"),
        ("$48", "NOW $48", "NOW $64"),
    ],
)
def test_a_text_is_nearer_to_its_like_than_to_others(query, near, far):
    q, a, b = EMBEDDER.encode([query, near, far])
    assert q @ a > q @ b


def test_the_vectors_of_stored_memories_stay_what_this_id_says():
    assert EMBEDDER.id == "hashing-1024-v1"
    row = EMBEDDER.encode(["Lamp $48"])[0]
    assert np.flatnonzero(row > 0).tolist() == [388, 739]
    assert np.flatnonzero(row < 0).tolist() == [30, 163, 278, 471, 496, 899]
