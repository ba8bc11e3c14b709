"""Which frames a clip is described from: every shot, every text, then evenly."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.memory.frame_choice import choose_frames, distinct_lines
from admir.memory.video_scan import SampledFrame
from admir.perception.ocr import TextLine
from admir.types import Frame, Span, VisualStyle
from tests.properties import examples

LOOK = VisualStyle(colours=("grey",), light="dim", warmth="neutral")


def sample(time_s):
    return SampledFrame(
        frame=Frame(time_s=time_s, file=f"{time_s}"), read_from=f"{time_s}", look=LOOK
    )


def line(text, confidence=0.95):
    return TextLine(text=text, box=(0.1, 0.1, 0.5, 0.2), confidence=confidence)


def shots_between(*times_s):
    return [Span(start_s=a, end_s=b) for a, b in itertools.pairwise(times_s)]


def chosen(times_s, shots, texts=None):
    """Times of the frames that are chosen; `texts` by time."""
    read = {f"{t}": [line(text) for text in shown] for t, shown in (texts or {}).items()}
    return [s.frame.time_s for s in choose_frames([sample(t) for t in times_s], shots, read)]


def test_the_one_frame_with_the_slogan_is_not_dropped():
    times = [0.0, 1.0, 2.0, 3.0, 4.0, 4.6]
    assert len(chosen(times, shots_between(0, 5))) == 5
    for slogan_s in times:
        assert slogan_s in chosen(times, shots_between(0, 5), {slogan_s: ["JUST LAMPS"]})


def test_each_shot_has_its_frame_up_to_eight():
    times = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5]
    cuts = (0, 0.4, 0.9, 1.4, 2.4, 3.4, 4.4, 5)
    shown = chosen(times, shots_between(*cuts))
    assert len(shown) == 7
    assert all(any(shot.contains(t) for t in shown) for shot in shots_between(*cuts))
    every = shots_between(*[t - 0.1 for t in times], 5)
    assert len(chosen(times, every)) == 8


def test_a_shot_is_shown_by_the_frame_with_most_text():
    texts = {1.0: ["ONE LINE"], 2.0: ["ONE LINE", "AND ANOTHER"]}
    assert 2.0 in chosen([0.0, 1.0, 2.0, 3.0], shots_between(0, 5), texts)


def test_noise_of_ocr_brings_no_further_frames():
    times = [n / 2 for n in range(10)]
    noisy = {t: [f"{'ABCDEFGHIJ'[n]}", "THE LAMP THAT LISTENS"] for n, t in enumerate(times)}
    assert len(chosen(times, shots_between(0, 5), noisy)) == 5


def test_a_clip_without_samples_is_shown_none():
    assert chosen([], shots_between(0, 5)) == []


@examples(100)
@given(
    st.lists(st.integers(0, 49), unique=True, max_size=20).map(sorted),
    st.lists(st.integers(1, 48), unique=True, max_size=12).map(sorted),
    st.dictionaries(st.integers(0, 49), st.sampled_from(["SALE", "ORDER NOW", "LUMIVO"])),
)
def test_no_shot_goes_unseen_where_there_is_room(ticks, cuts, texts):
    times = [tick / 10 for tick in ticks]
    shots = shots_between(0, *[cut / 10 for cut in cuts], 5)
    shown = chosen(times, shots, {tick / 10: [text] for tick, text in texts.items()})
    assert shown == sorted(set(shown))
    assert set(shown) <= set(times)
    assert min(5, len(times)) <= len(shown) <= 8 or not times
    with_samples = [shot for shot in shots if any(shot.contains(t) for t in times)]
    if len(with_samples) <= 8:
        assert all(any(shot.contains(t) for t in shown) for shot in with_samples)


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ([("G", 0.9), ("二", 0.99), ("IIAMI", 0.6), ("NFL", 0.99)], ("IIAMI", "NFL")),
        ([("lconic in every era", 0.8), ("Iconic in every era", 0.97)], ("Iconic in every era",)),
        ([("NOW $48", 0.9), ("NOW $38", 0.9)], ("NOW $48", "NOW $38")),
        ([("listens.", 0.9), ("Light that listens.", 0.9)], ("Light that listens.",)),
        ([], ()),
    ],
)
def test_the_captioner_gets_each_line_once_and_no_scraps(read, told):
    assert distinct_lines([line(text, confidence) for text, confidence in read]) == told


def test_what_a_model_has_read_again_stands_before_a_sure_reading_of_ocr():
    reread = TextLine(text="3:38 PM", box=(0, 0, 1, 1), confidence=0.85, reread=True)
    assert distinct_lines([line("3:38m", 0.99), reread]) == ("3:38 PM",)
