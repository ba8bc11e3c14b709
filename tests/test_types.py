"""The data that flows between all rooms: spans, clips, timelines."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.types import (
    CLIP_S,
    Clip,
    Memory,
    Narrative,
    ScreenText,
    Span,
    Subject,
    Usage,
    Utterance,
    VideoInfo,
    clip_spans,
    text_clip,
)
from tests.properties import examples

SECONDS = st.floats(-1000, 1000).map(lambda s: round(s, 3))
SPANS = st.tuples(SECONDS, SECONDS).map(sorted).map(lambda x: Span(start_s=x[0], end_s=x[1]))


# Spans


@examples(200)
@given(SPANS, SPANS)
def test_overlap_and_gap_are_the_same_from_both_sides_and_exclude_each_other(a, b):
    assert a.overlap_s(b) == b.overlap_s(a) >= 0
    assert a.gap_s(b) == b.gap_s(a) >= 0
    assert a.overlap_s(b) == 0 or a.gap_s(b) == 0
    assert a.overlap_s(b) <= min(a.duration_s, b.duration_s)


@examples()
@given(SPANS)
def test_a_span_overlaps_itself_in_its_whole_length(a):
    assert a.overlap_s(a) == a.duration_s
    assert a.gap_s(a) == 0


@examples(200)
@given(SPANS, SPANS)
def test_a_clamped_span_lies_in_its_limit_and_keeps_what_overlapped(a, limit):
    inside = a.clamp(limit)
    assert limit.start_s <= inside.start_s <= inside.end_s <= limit.end_s
    assert inside.duration_s == a.overlap_s(limit)
    assert inside.clamp(limit) == inside


@examples()
@given(SPANS, st.floats(0, 1))
def test_a_span_contains_its_start_and_not_its_end(a, share):
    middle = a.start_s + share * a.duration_s
    assert not a.contains(a.end_s)
    assert a.contains(a.start_s) == (a.duration_s > 0)
    assert a.contains(middle) == (middle < a.end_s)


def test_touching_spans_have_neither_gap_nor_overlap():
    a, b = Span(start_s=0.0, end_s=5.0), Span(start_s=5.0, end_s=9.0)
    assert (a.gap_s(b), a.overlap_s(b)) == (0.0, 0.0)
    assert a.gap_s(Span(start_s=7.5, end_s=9.0)) == 2.5


def test_a_span_is_told_in_tenths_of_a_second_and_cannot_be_changed():
    span = Span(start_s=4.16, end_s=10.0)
    assert str(span) == "4.2-10.0 s"
    with pytest.raises(dataclasses.FrozenInstanceError):
        span.start_s = 1.0


def test_a_video_spans_from_zero_to_its_end(demo):
    assert demo.video.span == Span(start_s=0.0, end_s=demo.video.duration_s)


# Clips


@examples(200)
@given(duration_s=st.floats(0.001, 900), clip_s=st.floats(0.5, 60))
def test_clips_cover_a_duration_without_gaps_in_pieces_of_about_a_clip(duration_s, clip_s):
    spans = clip_spans(duration_s, clip_s)
    assert spans[0].start_s == 0.0
    assert spans[-1].end_s == duration_s
    assert all(a.end_s == b.start_s for a, b in pairwise(spans))
    assert all(span.duration_s == pytest.approx(clip_s) for span in spans[:-1])
    assert 0 < spans[-1].duration_s <= 1.2 * clip_s * (1 + 1e-9)
    if len(spans) > 1:
        assert spans[-1].duration_s >= 0.2 * clip_s * (1 - 1e-6)


@pytest.mark.parametrize(
    ("duration_s", "ends"),
    [(0.04, [0.04]), (5.0, [5.0]), (5.9, [5.9]), (6.1, [5.0, 6.1]), (10.0, [5.0, 10.0])],
)
def test_a_short_rest_joins_the_clip_before_it(duration_s, ends):
    assert [span.end_s for span in clip_spans(duration_s, CLIP_S)] == ends


@pytest.mark.parametrize("duration_s", [0.0, -1.0])
def test_no_duration_has_no_clips(duration_s):
    assert clip_spans(duration_s) == ()


def said(text, start_s, end_s):
    return Utterance(span=Span(start_s=start_s, end_s=end_s), text=text)


def shown(text, start_s, end_s):
    return ScreenText(
        span=Span(start_s=start_s, end_s=end_s),
        text=text,
        box=(0, 0, 1, 1),
        confidence=1.0,
        frame_s=start_s,
    )


def test_a_clip_holds_what_overlaps_it_and_each_text_once():
    clip = text_clip(
        "ad",
        1,
        Span(start_s=5.0, end_s=10.0),
        [
            shown("SALE", 0, 5),
            shown("NOW $48", 4, 6),
            shown("NOW $48", 8, 12),
            shown("END", 10, 12),
        ],
        [said("before", 0, 5), said("My eyes hurt.", 4, 6), said("Buy", 9.9, 12)],
    )
    assert (clip.speech, clip.screen_text) == ("My eyes hurt. Buy", ("NOW $48",))


def test_what_is_indexed_of_a_clip_is_its_caption_speech_and_screen_text():
    span = Span(start_s=0.0, end_s=5.0)
    clip = Clip(
        video_id="ad",
        index=0,
        span=span,
        caption="A lamp.",
        speech="Hi",
        screen_text=("SALE", "$5"),
    )
    assert clip.index_text == "A lamp.\nHi\nSALE\n$5"
    assert Clip(video_id="ad", index=0, span=span).index_text == ""


# Small ones


def test_a_profile_is_name_looks_and_identity():
    subject = Subject(id="s1", name="Mia", appearance=("red dress",), identity=("speaks",))
    assert subject.profile == "Mia red dress speaks"


def test_a_narrative_is_told_without_its_empty_parts():
    assert Narrative(summary="An ad.").text == "An ad."
    whole = Narrative(summary="An ad.", genre="promotion", entities=("Lumivo", "Halo"))
    assert whole.text == "An ad.\nGenre: promotion.\nNames: Lumivo, Halo."


USAGES = st.builds(
    Usage,
    calls=st.integers(0, 9),
    input_tokens=st.integers(0, 999),
    output_tokens=st.integers(0, 999),
    images=st.integers(0, 9),
    cost_usd=st.integers(0, 64).map(lambda n: n / 64),
)


@examples()
@given(USAGES, USAGES, USAGES)
def test_usage_adds_up_in_any_order_field_by_field(a, b, c):
    assert (a + b) + c == a + (b + c) == (c + b) + a
    assert a + Usage() == a
    plain = [dataclasses.asdict(x) for x in (a, b, a + b)]
    assert all(plain[2][name] == plain[0][name] + plain[1][name] for name in plain[2])


# Memories of a timeline


def timeline(*rows, **options):
    events = [{"t": t, "ocr": ocr, "asr": asr} for t, ocr, asr in rows]
    return Memory.from_timeline("tea", events, **options)


def lines_of(memory):
    return sorted((x.text, x.span.start_s, x.span.end_s) for x in memory.screen_text)


def test_equal_lines_of_neighbouring_seconds_are_one_line():
    memory = timeline((0, ["SALE"], ""), (1, ["SALE", "$5"], ""), (2, ["$5"], ""), (3, [], ""))
    assert lines_of(memory) == [("$5", 1.0, 3.0), ("SALE", 0.0, 2.0)]


def test_a_line_that_comes_back_is_another_line():
    memory = timeline((0, ["SALE"], ""), (1, [], ""), (2, ["SALE"], ""))
    assert lines_of(memory) == [("SALE", 0.0, 1.0), ("SALE", 2.0, 3.0)]


def test_a_missing_second_ends_a_line():
    memory = timeline((0, ["SALE"], ""), (5, ["SALE"], ""))
    assert lines_of(memory) == [("SALE", 0.0, 1.0), ("SALE", 5.0, 6.0)]


def test_rows_in_any_order_and_with_missing_parts_are_understood():
    rows = [{"t": 7, "asr": " Only $9. "}, {"t": 0, "ocr": ["Spring tea"]}, {"t": 3, "ocr": None}]
    memory = Memory.from_timeline("tea", rows, metadata={"brand": "Tea"})
    assert lines_of(memory) == [("Spring tea", 0.0, 1.0)]
    assert memory.utterances == (said("Only $9.", 7.0, 8.0),)
    assert memory.video.metadata == {"brand": "Tea"}
    assert [clip.index_text for clip in memory.clips] == ["Spring tea", "Only $9."]


def test_a_timeline_lasts_as_long_as_it_says_or_as_its_last_second():
    assert timeline((0, [], ""), (3, [], "")).video.duration_s == 4.0
    assert timeline((0, [], ""), duration_s=12.5).video.duration_s == 12.5
    assert timeline((9, [], ""), duration_s=5.0).video.duration_s == 10.0


def test_an_empty_timeline_is_a_memory_without_clips():
    memory = timeline()
    assert (memory.clips, memory.video.duration_s, memory.folder) == ((), 0.0, "")


def test_lines_of_a_timeline_come_in_the_order_in_which_they_appear():
    memory = timeline((0, ["TITLE"], ""), (1, ["TITLE", "pop-up"], ""), (2, ["TITLE"], ""))
    assert memory.clips[0].screen_text == ("TITLE", "pop-up")


ROWS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.lists(st.sampled_from(["SALE", "$5", "半价"]), max_size=3, unique=True),
        st.sampled_from(["", "Hello.", "Buy now."]),
    ),
    max_size=8,
    unique_by=lambda row: row[0],
)


@examples(200)
@given(ROWS)
def test_a_timeline_keeps_every_line_and_word_at_its_second(rows):
    memory = timeline(*rows)
    for second, ocr, asr in rows:
        at = Span(start_s=second, end_s=second + 1)
        assert {x.text for x in memory.screen_text if x.span.overlap_s(at)} == set(ocr)
        assert [x.text for x in memory.utterances if x.span.overlap_s(at)] == ([asr] if asr else [])
        (clip,) = [clip for clip in memory.clips if clip.span.contains(second)]
        assert set(ocr) <= set(clip.screen_text)
        assert asr in clip.speech
    assert math.isclose(sum(clip.span.duration_s for clip in memory.clips), memory.video.duration_s)


def test_a_video_info_needs_only_what_every_video_has():
    info = VideoInfo(id="ad", path="", sha256="", duration_s=1.0, width=2, height=2, fps=25.0)
    assert (info.audio, info.stated_duration_s, dict(info.metadata)) == (None, None, {})
