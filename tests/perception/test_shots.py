"""Hard cuts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.decode import Thumb, decode
from admir.perception.shots import ShotDetector, shots_from_cuts
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


def test_a_flash_of_one_frame_does_not_make_a_shot_of_its_own():
    pictures = [*stretch(RED, 20), *stretch((255, 255, 255), 1), *stretch(RED, 20)]
    assert len(starts(pictures)) <= 2


def test_no_frame_at_all_is_one_shot():
    assert [shot.span.end_s for shot in ShotDetector().shots(1.0)] == [1.0]


@examples()
@given(
    cuts=st.lists(st.floats(-5, 105), unique=True, max_size=10).map(sorted),
    duration_s=st.floats(0.04, 100),
)
def test_shots_cover_the_video_without_gaps_and_leave_out_cuts_outside(cuts, duration_s):
    shots = shots_from_cuts(cuts, duration_s)
    assert [shot.index for shot in shots] == list(range(len(shots)))
    edges = [shots[0].span.start_s, *(shot.span.end_s for shot in shots)]
    assert edges == [0.0, *(c for c in cuts if 0 < c < duration_s), duration_s]
    assert [shot.span.start_s for shot in shots] == edges[:-1]
