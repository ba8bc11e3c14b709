"""The lexical score: words, quoted phrases and concepts, each in [0, 1]."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.memory.lexical import LexicalScorer
from admir.types import Clip, Span
from tests.properties import examples


def clips_of(*captions: str, speech: str = "") -> list[Clip]:
    return [
        Clip(
            video_id="ad",
            index=n,
            span=Span(start_s=5.0 * n, end_s=5.0 * n + 5),
            caption=text,
            speech=speech,
        )
        for n, text in enumerate(captions)
    ]


def scores(query: str, *captions: str) -> list[float]:
    return list(LexicalScorer(clips_of(*captions)).scores(query))


PIECES = st.sampled_from(
    [
        *("lamp", "halo", "$48", "25%", "台灯", "半价", "the", '"the lamp"', "“台灯”", "a\n", '"'),
        *("who is it for", "target audience", "受众", "痛点", "tired", "busy parents", "hurry now"),
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map(" ".join) | st.text(max_size=60)


@examples(200)
@given(st.lists(TEXTS, max_size=6), TEXTS)
def test_every_score_of_every_query_is_in_0_to_1(captions, query):
    found = LexicalScorer(clips_of(*captions)).scores(query)
    assert found.shape == (len(captions),)
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("lamp halo", 1),
        ('What follows "the 1amp"?', 2),
        ("“半价台灯”", 3),
        ("半价", 3),
        ("$48", 0),
        ("How does it urge people to act?", 4),
    ],
)
def test_the_clip_that_holds_most_of_a_query_scores_highest(query, best):
    ad = ("NOW $48", "halo, a lamp", "see the lamp", "半价台灯", "only today: hurry, last chance")
    found = scores(query, *ad)
    assert int(np.argmax(found)) == best
    assert found[best] > sorted(found)[-2]


def test_words_of_no_clip_neither_help_nor_harm():
    with_them = scores("lamp zebra giraffe", "a lamp", "a desk")
    assert with_them == pytest.approx(scores("lamp", "a lamp", "a desk"))


def test_a_word_asked_twice_counts_once():
    ad = ("a lamp", "a desk", "a lamp on a desk", "soup")
    assert scores("lamp lamp lamp desk", *ad)[:2] == pytest.approx(scores("lamp desk", *ad)[:2])


def test_a_quoted_phrase_counts_more_than_its_words():
    ad = ("the lamp that listens", "listens, that lamp the", "soup")
    plain, quoted = scores("the lamp that listens", *ad), scores('"the lamp that listens"', *ad)
    assert quoted[0] > plain[0]
    assert quoted[0] - quoted[1] > plain[0] - plain[1] > 0


def test_a_clip_shorter_than_the_phrase_does_not_hold_it():
    found = scores('"the lamp that listens to you"', "the", "the lamp that listens to you")
    assert found[0] < 0.3 < found[1]
