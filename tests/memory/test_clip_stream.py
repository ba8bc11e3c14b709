"""Clips handed on while a video is walked: each sample once, in the clips that the video gets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admir.memory.clip_stream import ClipFeed
from admir.memory.video_scan import SampledFrame
from admir.types import Frame, Shot, Span, VisualStyle, clip_spans
from tests.properties import examples

CLIP_S = 5.0
LOOK = VisualStyle(colours=("grey",), light="dim", warmth="neutral")


def sample(time_s):
    return SampledFrame(
        frame=Frame(time_s=time_s, file=f"{time_s}"), read_from=f"{time_s}", look=LOOK
    )


def shots_at(*starts_s, end_s):
    """Shots that begin at these times."""
    ends = [*starts_s[1:], end_s]
    return tuple(
        Shot(index=n, span=Span(start_s=start_s, end_s=stop_s))
        for n, (start_s, stop_s) in enumerate(zip(starts_s, ends, strict=True))
    )


def fed(samples, duration_s, clip_s=CLIP_S, *, lag_s=0.0):
    """(clips handed on before the end, all clips); shots are known `lag_s` behind a sample."""
    clips = []
    feed = ClipFeed(clip_s=clip_s, give=clips.append)
    for each in samples:
        feed.add(each)
        feed.settle((), max(0.0, each.frame.time_s - lag_s))
    before = len(clips)
    feed.close(clip_spans(duration_s, clip_s))
    return before, clips


@st.composite
def walks(draw):
    """Samples in order within a video: (their times, its length, the length of a clip)."""
    clip_s = draw(st.sampled_from([0.6, 2.0, 5.0, 7.5]))
    duration = draw(st.integers(1, 12_000)) / 100
    stamps = draw(st.lists(st.integers(0, round(duration * 100)), min_size=1, max_size=80))
    return sorted(min(stamp / 100, duration - 0.005) for stamp in stamps), duration, clip_s


@examples(200)
@given(walks())
def test_every_sample_is_in_the_one_clip_that_holds_it(walk):
    times, duration_s, clip_s = walk
    samples = [sample(time_s) for time_s in times]
    _, clips = fed(samples, duration_s, clip_s)
    assert tuple(clip.span for clip in clips) == clip_spans(duration_s, clip_s)
    assert [clip.index for clip in clips] == list(range(len(clips)))
    assert [s for clip in clips for s in clip.samples] == samples, "all, once, in order"
    for clip in clips:
        assert all(clip.span.contains(s.frame.time_s) for s in clip.samples)


def test_a_clip_is_handed_on_as_soon_as_no_later_sample_can_be_in_it():
    before, clips = fed([sample(t) for t in (0.0, 2.0, 4.0, 6.0, 8.0)], 9.0)
    assert (before, len(clips)) == (1, 2)


def test_a_short_rest_may_still_join_the_clip_before_it():
    """At 5.9 s the video may end at 6: then all of it is one clip."""
    before, clips = fed([sample(t) for t in (0.0, 3.0, 5.9)], 5.95)
    assert before == 0
    assert [clip.span.end_s for clip in clips] == [5.95]
    assert len(clips[0].samples) == 3


def test_a_clip_waits_until_its_shots_are_known():
    samples = [sample(t) for t in (0.0, 2.0, 4.0, 6.0, 8.0)]
    assert fed(samples, 9.0, lag_s=3.0)[0] == 0
    assert fed(samples, 9.0, lag_s=2.1)[0] == 0
    assert fed(samples, 9.0, lag_s=1.9)[0] == 1


def test_a_clip_has_the_parts_of_the_shots_in_it_and_samples_that_came_late_in_order():
    clips = []
    feed = ClipFeed(clip_s=CLIP_S, give=clips.append)
    for time_s in (0.0, 4.0, 8.0, 2.0):
        feed.add(sample(time_s))
    feed.settle(shots_at(0.0, 1.5, 2.5, end_s=7.0), 9.0)
    (clip,) = clips
    assert [s.frame.time_s for s in clip.samples] == [0.0, 2.0, 4.0]
    assert [(s.start_s, s.end_s) for s in clip.shots] == [(0.0, 1.5), (1.5, 2.5), (2.5, 5.0)]


def test_clips_without_a_sample_are_handed_on_empty():
    _, clips = fed([sample(0.0), sample(16.0)], 17.0)
    assert [len(clip.samples) for clip in clips] == [1, 0, 0, 1]
