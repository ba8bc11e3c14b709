"""Dissolves, fades, flashes and motion, in real encoded videos."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from admir.perception.decode import decode
from admir.perception.shots import ShotDetector
from tests.conftest import flat, write_video
from tests.perception.videos import encode

SIZE = (192, 108)
BLACK, WHITE = flat((0, 0, 0), SIZE), flat((255, 255, 255), SIZE)


def place(seed, size=SIZE):
    """A picture as of a place: coarse and fine noise in a few colours."""
    random = np.random.default_rng(seed)
    picture = np.full((size[1], size[0], 3), random.uniform(70, 170, 3))
    for cells, strength in ((3, 40), (8, 30), (24, 20), (60, 12)):
        layer = random.normal(0, strength, (cells, 2 * cells, 3)).astype(np.float32)
        picture += cv2.resize(layer, size, interpolation=cv2.INTER_CUBIC)
    return np.clip(picture, 0, 255).astype(np.uint8)


ONE, TWO = place(1), place(2)


def mix(old, new, share):
    return cv2.addWeighted(old, 1 - share, new, share, 0)


def ramp(old, new, frames):
    """The pictures strictly between two."""
    return [mix(old, new, (n + 1) / (frames + 1)) for n in range(frames)]


def found(path):
    detector = ShotDetector()
    facts = decode(path, detector.add, lambda _: None)
    return detector.shots(facts.duration_s)


def shots_of(folder, pictures, **options):
    path = folder / "video.mp4"
    if options:
        return found(encode(path, pictures, **options))
    return found(write_video(path, pictures.__getitem__, frames=len(pictures), size=SIZE))


def opened(shots):
    return [(shot.transition, shot.span.start_s) for shot in shots]


def near(time_s, frames=1):
    return pytest.approx(time_s, abs=frames * 0.04 + 1e-6)


def test_a_cut_is_found_at_its_frame(tmp_path):
    shots = shots_of(tmp_path, [ONE] * 30 + [TWO] * 30)
    assert opened(shots) == [("start", 0.0), ("cut", near(1.2, 0))]
    assert shots[1].transition_s == 0.0


@pytest.mark.parametrize("frames", [8, 20, 45])
def test_a_dissolve_begins_the_next_shot_at_its_middle(tmp_path, frames):
    shots = shots_of(tmp_path, [ONE] * 40 + ramp(ONE, TWO, frames) + [TWO] * 40)
    length_s = (frames + 1) * 0.04
    assert opened(shots) == [("start", 0.0), ("dissolve", near(1.56 + length_s / 2))]
    assert shots[1].transition_s == pytest.approx(length_s, rel=0.2)


@pytest.mark.parametrize("blank", [BLACK, WHITE], ids=["black", "white"])
def test_a_fade_begins_the_next_shot_where_the_picture_is_blank(tmp_path, blank):
    out, back = ramp(ONE, blank, 14), ramp(blank, TWO, 9)
    shots = shots_of(tmp_path, [ONE] * 40 + out + [blank] * 5 + back + [TWO] * 40)
    assert opened(shots) == [("start", 0.0), ("fade", near(54 * 0.04 + 0.08, 2))]
    assert shots[1].transition_s == pytest.approx(1.2, rel=0.2)


def test_a_picture_that_dips_through_black_is_a_fade(tmp_path):
    dip = [*ramp(ONE, BLACK, 10), BLACK, *ramp(BLACK, TWO, 10)]
    assert opened(shots_of(tmp_path, [ONE] * 30 + dip + [TWO] * 30)) == [
        ("start", 0.0),
        ("fade", near(1.6)),
    ]


@pytest.mark.parametrize("order", [1, -1], ids=["fade out, then cut", "cut, then fade in"])
def test_a_fade_of_one_side_takes_up_the_cut_of_the_other(tmp_path, order):
    pictures = [ONE] * 40 + ramp(ONE, BLACK, 14) + [BLACK] * 3 + [TWO] * 40
    shots = shots_of(tmp_path, pictures[::order])
    assert [shot.transition for shot in shots] == ["start", "fade"]


def test_a_long_black_picture_is_a_shot_of_its_own(tmp_path):
    dark = [*ramp(ONE, BLACK, 14), *[BLACK] * 75, *ramp(BLACK, TWO, 14)]
    shots = shots_of(tmp_path, [ONE] * 30 + dark + [TWO] * 30)
    assert opened(shots) == [("start", 0.0), ("fade", near(1.48, 2)), ("fade", near(5.08, 2))]


def test_a_black_picture_that_stays_before_a_cut_is_a_shot_of_its_own(tmp_path):
    shots = shots_of(tmp_path, [ONE] * 30 + ramp(ONE, BLACK, 14) + [BLACK] * 25 + [TWO] * 30)
    assert opened(shots) == [("start", 0.0), ("fade", near(1.48, 2)), ("cut", near(2.76, 0))]


def test_a_video_that_fades_in_opens_with_a_fade_and_fading_out_opens_nothing(tmp_path):
    pictures = [BLACK] * 3 + ramp(BLACK, ONE, 14) + [ONE] * 40
    shots = shots_of(tmp_path, pictures + pictures[::-1])
    assert opened(shots) == [("fade", 0.0)]
    assert shots[0].transition_s == pytest.approx(0.7, abs=0.1)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_a_flash_is_no_cut(tmp_path, frames):
    lit = cv2.convertScaleAbs(ONE, alpha=1.0, beta=190)
    for flash in (WHITE, lit):
        pictures = [ONE] * 30 + [flash] * frames + [ONE] * 30
        assert opened(shots_of(tmp_path, pictures)) == [("start", 0.0)]


def seen(wide, across, zoom=1.0):
    """What a camera sees of a wide picture."""
    matrix = np.array([[zoom, 0, across], [0, zoom, 20.0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(wide, matrix, SIZE, flags=flags, borderMode=cv2.BORDER_REFLECT)


WIDE = place(3, (900, 216))


@pytest.mark.parametrize(
    "path",
    [
        [(4.0 * n, 1.0) for n in range(100)],
        [(40.0, 1.0 + 0.012 * n) for n in range(100)],
        [(24.0 * min(max(0, n - 40), 12), 1.0) for n in range(100)],
    ],
    ids=["pan", "zoom", "whip pan"],
)
def test_motion_of_the_camera_is_neither_cut_nor_dissolve(tmp_path, path):
    assert opened(shots_of(tmp_path, [seen(WIDE, *at) for at in path])) == [("start", 0.0)]


def test_light_that_goes_words_that_come_and_a_thing_that_passes_open_no_shot(tmp_path):
    worded, passed = ONE.copy(), []
    cv2.putText(worded, "NOW 9.99", (20, 60), 2, 1.2, (255, 255, 255), 2)
    for n in range(12):
        thing = ONE.copy()
        cv2.rectangle(thing, (16 * n - 60, 0), (16 * n, 108), (30, 30, 200), -1)
        passed.append(thing)
    dim = [cv2.convertScaleAbs(ONE, alpha=1 - 0.025 * n) for n in range(20)]
    pictures = [*[ONE] * 30, *ramp(ONE, worded, 10), *[worded] * 20, *[ONE] * 20, *passed]
    shots = shots_of(tmp_path, [*pictures, *[ONE] * 20, *dim, *[dim[-1]] * 20])
    assert opened(shots) == [("start", 0.0)]


def test_a_cut_inside_a_pan_is_found(tmp_path):
    other = place(4, (900, 216))
    pictures = [seen(WIDE if n < 40 else other, 5.0 * n) for n in range(80)]
    assert opened(shots_of(tmp_path, pictures)) == [("start", 0.0), ("cut", near(1.6, 0))]


def test_shots_of_four_frames_are_found(tmp_path):
    pictures = [place(10 + n // 4) for n in range(24)]
    shots = shots_of(tmp_path, [ONE] * 30 + pictures + [TWO] * 30)
    assert [shot.span.start_s for shot in shots[1:]] == [near(1.2 + 0.16 * n) for n in range(7)]


def test_a_variable_frame_rate_keeps_the_times_of_its_frames(tmp_path):
    gaps = np.random.default_rng(5).integers(15, 80, 140)
    times_ms = [0, *np.cumsum(gaps[:-1]).tolist()]
    at, begin = times_ms[50], times_ms[90]
    pictures = [
        mix(TWO, ONE, min(1.0, max(0.0, (ms - begin) / 800))) if ms >= at else ONE
        for ms in times_ms
    ]
    shots = shots_of(tmp_path, pictures, times_ms=times_ms, fps=1000)
    assert [shot.transition for shot in shots] == ["start", "cut", "dissolve"]
    assert shots[1].span.start_s == pytest.approx(at / 1000, abs=1e-3)
    assert shots[2].span.start_s == pytest.approx(begin / 1000 + 0.4, abs=0.09)
