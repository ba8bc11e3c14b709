"""Shots: cuts, what is none, and that the shots cover the video."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.decode import Thumb, decode
from admir.perception.frame_window import Transition
from admir.perception.shots import MIN_SHOT_S, ShotDetector, shots_between
from tests.conftest import flat, write_video
from tests.properties import examples

FRAME_S = 0.04
RED, BLUE, GREEN = (40, 40, 220), (220, 60, 40), (60, 200, 60)


def starts(pictures, times_s=None):
    """Where shots start among thumbs of a 25 frames a second video."""
    detector = ShotDetector()
    times_s = times_s or [n * FRAME_S for n in range(len(pictures))]
    for time_s, pixels in zip(times_s, pictures, strict=True):
        detector.add(Thumb(time_s=time_s, pixels=pixels))
    return [shot.span.start_s for shot in detector.shots(times_s[-1] + FRAME_S)]


def stretch(colour, count):
    return [flat(colour, (160, 120))] * count


def test_the_cuts_of_the_ad_are_found_within_a_frame_and_no_others(demo, facts):
    found = [shot.span.start_s for shot in demo.shots[1:]]
    assert found == pytest.approx(facts["cuts_s"], abs=FRAME_S + 1e-6)


def test_a_cut_in_an_encoded_video_is_found_at_its_frame(tmp_path):
    path = write_video(tmp_path / "cut.mp4", lambda n: flat(RED if n < 17 else BLUE), frames=40)
    detector = ShotDetector()
    facts = decode(path, detector.add, lambda _: None)
    assert [s.span.start_s for s in detector.shots(facts.duration_s)] == [0.0, pytest.approx(0.68)]


def test_each_hard_cut_starts_a_shot():
    found = starts([*stretch(RED, 20), *stretch(BLUE, 15), *stretch(GREEN, 20)])
    assert found == pytest.approx([0.0, 0.8, 1.4])


def test_a_cut_at_an_uneven_rate_has_the_time_of_its_own_frame():
    times = [*np.arange(20) * 0.04, *(5 + np.arange(20) * 0.2)]
    assert starts([*stretch(RED, 20), *stretch(BLUE, 20)], times) == [0.0, 5.0]


@pytest.mark.parametrize(
    "pictures",
    [
        stretch(RED, 30),
        [flat((5 * n,) * 3, (160, 120)) for n in range(50)],
        list(np.random.default_rng(0).integers(0, 255, (30, 120, 160, 3), dtype=np.uint8)),
        stretch(RED, 1),
    ],
    ids=["still", "fade", "noise", "one frame"],
)
def test_what_has_no_cut_is_one_shot(pictures):
    assert starts(pictures) == [0.0]


def test_a_flash_of_one_frame_opens_no_shot():
    pictures = [*stretch(RED, 20), *stretch((255, 255, 255), 1), *stretch(RED, 20)]
    assert starts(pictures) == [0.0]


def test_no_frame_at_all_is_one_shot():
    assert [shot.span.end_s for shot in ShotDetector().shots(1.0)] == [1.0]


@pytest.mark.parametrize("size", [(160, 4), (2, 160), (16, 16), (2, 2)])
def test_narrow_and_tiny_pictures_have_shots_too(size):
    one, two = (flat(colour, size) for colour in (RED, BLUE))
    assert starts([one] * 30 + [two] * 30) == [0.0, pytest.approx(1.2)]


def test_what_is_kept_does_not_grow_with_the_video():
    detector = ShotDetector()
    for n in range(1500):
        detector.add(Thumb(time_s=n * FRAME_S, pixels=flat(RED, (32, 24))))
    assert len(detector._recent.times_s) <= 25 * 23
    assert len(detector.shots(60.0)) == 1


@examples()
@given(
    places=st.lists(st.floats(-5, 105), max_size=10),
    lengths=st.lists(st.floats(0, 3), min_size=10, max_size=10),
    duration_s=st.floats(0.04, 100),
)
def test_shots_cover_the_video_in_order_without_gaps(places, lengths, duration_s):
    changes = [
        Transition(kind="dissolve", at_s=at_s, start_s=at_s - long_s / 2, end_s=at_s + long_s / 2)
        for at_s, long_s in zip(places, lengths, strict=False)
    ]
    shots = shots_between(changes, duration_s)
    edges = [shots[0].span.start_s, *(shot.span.end_s for shot in shots)]
    assert [shot.index for shot in shots] == list(range(len(shots)))
    assert (edges[0], edges[-1]) == (0.0, duration_s)
    assert [shot.span.start_s for shot in shots] == edges[:-1]
    assert all(b - a >= MIN_SHOT_S - 1e-5 for a, b in pairwise(edges[:-1]))
    assert set(edges[1:-1]) <= set(places)


@examples(15)
@given(
    steps=st.lists(st.floats(0.001, 1.5), min_size=1, max_size=40),
    levels=st.lists(st.sampled_from([0, 60, 130, 255]), min_size=40, max_size=40),
)
def test_any_pictures_at_any_times_give_shots_that_cover_the_video(steps, levels):
    detector, time_s = ShotDetector(), 0.0
    for step_s, level in zip(steps, levels, strict=False):
        detector.add(Thumb(time_s=time_s, pixels=flat((level, 90, level), (40, 32))))
        time_s += step_s
    shots = detector.shots(time_s)
    edges = [shots[0].span.start_s, *(shot.span.end_s for shot in shots)]
    assert edges == sorted(edges)
    assert (edges[0], edges[-1]) == (0.0, time_s)
    assert [shot.span.start_s for shot in shots] == edges[:-1]
