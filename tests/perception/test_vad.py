"""Where somebody speaks; music, noise and silence are nobody."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception import vad as voices
from admir.perception.speech import SAMPLE_RATE
from admir.perception.vad import cut, pieces_of, speech_spans
from admir.types import Span
from tests.perception.voices import SENTENCES, music, noise, voice
from tests.properties import examples

SILENT = {
    "silence": np.zeros(12 * SAMPLE_RATE, dtype=np.float32),
    "noise": noise(),
    "music": music(),
    "both": music() + 0.2 * noise(),
    "nothing": np.zeros(0, dtype=np.float32),
    "one sample": np.ones(1, dtype=np.float32),
}


@pytest.mark.extra("speech")
@pytest.mark.parametrize("audio", SILENT.values(), ids=SILENT)
def test_nobody_speaks(audio):
    assert speech_spans(audio) == ()


@pytest.mark.extra("speech")
def test_each_sentence_is_found():
    found = speech_spans(voice())
    assert len(found) == len(SENTENCES)
    for span, said in zip(found, SENTENCES, strict=True):
        assert span.start_s == pytest.approx(said.start_s, abs=0.3)
        assert span.end_s == pytest.approx(said.end_s, abs=0.4)


@pytest.mark.extra("speech")
def test_a_voice_over_quiet_music_is_found():
    found = speech_spans(voice() + 0.1 * music(20.0)[: len(voice())])
    assert all(any(span.overlap_s(said) > 1.0 for span in found) for said in SENTENCES)


@pytest.mark.extra("speech")
def test_long_sound_is_looked_at_in_blocks(monkeypatch):
    audio = np.tile(voice(), 4)
    whole = speech_spans(audio)
    monkeypatch.setattr(voices, "_BLOCK_S", 12.0)
    blocks = speech_spans(audio)
    shared_s = sum(a.overlap_s(b) for a in whole for b in blocks)
    assert shared_s >= 0.9 * sum(span.duration_s for span in whole)


@pytest.mark.extra("speech")
def test_a_stop_ends_the_search():
    assert speech_spans(voice(), lambda: True) == ()


SPANS = st.lists(st.tuples(st.floats(0, 5), st.floats(0.1, 28)), max_size=20)


@examples(200)
@given(SPANS)
def test_pieces_hold_all_that_is_said_and_no_long_pause(gaps_and_lengths):
    spans, now_s = [], 0.0
    for gap_s, length_s in gaps_and_lengths:
        spans.append(Span(start_s=now_s + gap_s, end_s=now_s + gap_s + length_s))
        now_s = spans[-1].end_s
    pieces = pieces_of(spans)
    for span in spans:
        assert any(p.start_s <= span.start_s and span.end_s <= p.end_s for p in pieces)
    assert all(piece.duration_s <= 28.0 + 1e-6 for piece in pieces)
    assert all(a.end_s <= b.start_s for a, b in pairwise(pieces))
    quiet_s = sum(piece.duration_s for piece in pieces) - sum(span.duration_s for span in spans)
    assert quiet_s <= 2.0 * max(0, len(spans) - len(pieces)) + 1e-6


def test_short_pauses_are_joined_and_long_ones_cut():
    spans = [Span(start_s=a, end_s=b) for a, b in ((0, 2), (3, 5), (9, 11), (11.2, 38))]
    assert [(p.start_s, p.end_s) for p in pieces_of(spans)] == [(0, 5), (9, 11), (11.2, 38)]
    close = pieces_of(spans[:2], pause_s=0.5)
    assert [(p.start_s, p.end_s) for p in close] == [(0, 2), (3, 5)]


def test_a_cut_is_the_samples_of_its_time():
    audio = np.arange(4 * SAMPLE_RATE, dtype=np.float32)
    part = cut(audio, Span(start_s=1.0, end_s=2.5))
    assert (part[0], len(part)) == (SAMPLE_RATE, 1.5 * SAMPLE_RATE)
    assert len(cut(audio, Span(start_s=3.0, end_s=9.0))) == SAMPLE_RATE
