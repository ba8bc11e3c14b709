"""A light look shows frames that others need: quicker, and hardly ever another picture."""

from __future__ import annotations

import av
import numpy as np
import pytest

from admir.perception import seek
from admir.perception.seek import pictures
from tests.perception.videos import encode, number_of, numbered, walk

B_FRAMES = {"bf": "3", "b-pyramid": "none", "b_strategy": "0", "g": "50", "sc_threshold": "0"}
TIMES = [0.04 * n for n in range(25)]


def numbers(path, times, *, light):
    return [number_of(picture.pixels) for picture in pictures(path, times, light=light)]


@pytest.fixture(scope="module")
def smooth(tmp_path_factory):
    shown = [numbered(n) for n in range(25)]
    return encode(tmp_path_factory.mktemp("light") / "b.mp4", shown, options=B_FRAMES)


def test_a_light_look_shows_a_picture_of_shortly_before(smooth):
    exact, near = (numbers(smooth, TIMES, light=light) for light in (False, True))
    assert exact == list(range(25))
    late = np.array(exact) - np.array(near)
    assert late.min() == 0
    assert 1 <= late.max() <= 5  # 0.2 s


def test_it_decodes_less(smooth, monkeypatch):
    decoded = []
    stamp = seek.Clock.stamp_s
    monkeypatch.setattr(
        seek.Clock, "stamp_s", lambda self, frame: decoded.append(frame) or stamp(self, frame)
    )
    counts = []
    seek.prepare(smooth)
    decoded.clear()
    for light in (False, True):
        pictures(smooth, [0.9], light=light)
        counts.append(len(decoded))
        decoded.clear()
    assert counts[1] < counts[0] / 2


def test_frames_that_are_far_apart_are_all_decoded(tmp_path):
    """At 5 frames a second, a frame that another needs comes only each 0.8 s."""
    shown = [numbered(n) for n in range(25)]
    path = encode(tmp_path / "slow.mp4", shown, fps=5, options=B_FRAMES)
    times = [0.2 * n for n in range(25)]
    assert numbers(path, times, light=True) == list(range(25))


def test_where_frames_are_counted_none_is_left_out(tmp_path):
    """AVI with B-frames has no times of its own: a count that leaves some out runs behind."""
    shown = [numbered(n, (64, 48)) for n in range(25)]
    path = encode(tmp_path / "b.avi", shown, options=B_FRAMES)
    with av.open(str(path)) as container:
        assert container.streams.video[0].codec_context.has_b_frames
    assert numbers(path, TIMES, light=True) == list(range(25))
    _, full, _ = walk(path)
    facts, _, _ = walk(path, light=True)
    assert facts.duration_s == pytest.approx(1.0)
    assert full[-1].time_s == pytest.approx(0.96)


def test_a_light_look_mixes_up_no_scenes(tmp_path):
    """A new scene is coded by itself, so that its first frame is never left out."""
    shown = [numbered(0 if n < 13 else 25) for n in range(25)]
    path = encode(tmp_path / "cut.mp4", shown, options=B_FRAMES | {"sc_threshold": "40"})
    assert numbers(path, TIMES, light=True) == [0] * 13 + [25] * 12
