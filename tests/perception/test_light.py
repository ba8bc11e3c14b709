"""The light walk: most frames are never decoded, and what is found stays where it was."""

from __future__ import annotations

import numpy as np
import pytest

from admir.perception.decode import decode
from admir.perception.shots import ShotDetector
from tests.drawing import flat
from tests.perception.videos import encode, noise

FPS, SECONDS = 25, 8
SCENES = [(30, 30, 200), (200, 40, 40), (40, 180, 60), (220, 220, 220)]
B_FRAMES = {"bf": "3", "b_strategy": "0", "g": "50", "sc_threshold": "0"}
"""Three of four frames are such that no other needs."""


def scene(index):
    """A picture of one of four scenes, two seconds each, in which something moves."""
    picture = flat(SCENES[min(index // (2 * FPS), 3)], (192, 108))
    picture[20:40, 2 * (index % 50) : 2 * (index % 50) + 20] = 128
    return picture


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    path = tmp_path_factory.mktemp("light") / "scenes.mp4"
    return encode(path, [scene(n) for n in range(FPS * SECONDS)], options=B_FRAMES)


def walked(path, *, light, fps=1.0):
    """(facts, times of thumbs, samples, shots)"""
    thumbs, samples, detector = [], [], ShotDetector()

    def see(thumb):
        thumbs.append(thumb.time_s)
        detector.add(thumb)

    facts = decode(path, see, samples.append, sample_fps=fps, light=light)
    return facts, thumbs, samples, detector.shots(facts.duration_s)


@pytest.mark.parametrize("fps", [0.5, 1.0, 2.0])
def test_few_frames_are_decoded_and_samples_stand_where_they_stood(video, fps):
    whole, _, samples, _ = walked(video, light=False, fps=fps)
    light, _, fewer, _ = walked(video, light=True, fps=fps)
    assert whole.frame_count == FPS * SECONDS
    assert light.frame_count < whole.frame_count / 2
    assert len(fewer) == len(samples)
    for a, b in zip(fewer, samples, strict=True):
        assert abs(a.time_s - b.time_s) <= 0.2
        if a.time_s // 2 == b.time_s // 2:
            colours = [np.median(p.pixels, axis=(0, 1)) for p in (a, b)]
            assert np.abs(np.subtract(*colours)).max() < 8, "the same scene is seen"


def test_the_end_and_the_file_are_told_alike(video):
    whole, light = walked(video, light=False)[0], walked(video, light=True)[0]
    assert light.duration_s == pytest.approx(whole.duration_s, abs=0.01) == SECONDS
    assert (light.width, light.height, light.fps) == (whole.width, whole.height, whole.fps)
    assert light.broken_at_s is None


def test_at_most_some_six_thumbs_a_second_are_made(video):
    times = walked(video, light=True)[1]
    gaps = np.diff(times)
    assert times[0] == 0.0
    assert gaps.min() >= 0.14 - 1e-6
    assert gaps.max() <= 0.35, "and no gap in which a scene could hide"


def test_plain_cuts_are_found_near_their_place(video):
    shots = walked(video, light=True)[3]
    assert [shot.span.start_s for shot in shots] == [
        pytest.approx(at_s, abs=0.25) for at_s in (0.0, 2.0, 4.0, 6.0)
    ]
    assert shots[-1].span.end_s == pytest.approx(SECONDS, abs=0.01)


@pytest.mark.parametrize("fps", [1, 2, 3])
def test_frames_that_are_far_apart_are_all_decoded(tmp_path, fps):
    pictures = [flat((20 + 20 * n,) * 3, (64, 48)) for n in range(12)]
    path = encode(tmp_path / "slow.mp4", pictures, fps=fps, options={"bf": "2", "b_strategy": "0"})
    whole, light = walked(path, light=False), walked(path, light=True)
    assert light[0].duration_s == pytest.approx(whole[0].duration_s, abs=0.35)
    assert len(light[2]) == len(whole[2])
    assert max(abs(a.time_s - b.time_s) for a, b in zip(light[2], whole[2], strict=True)) <= 1 / fps


def test_a_video_without_such_frames_is_decoded_whole(tmp_path):
    path = encode(tmp_path / "plain.mp4", noise(30), options={"bf": "0"})
    assert walked(path, light=True)[0].frame_count == 30


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_the_shortest_videos_have_a_sample_and_their_length(tmp_path, frames):
    path = encode(tmp_path / "short.mp4", noise(frames), options=B_FRAMES)
    facts, _, samples, shots = walked(path, light=True)
    assert samples[0].time_s == 0.0
    assert facts.duration_s == pytest.approx(frames / FPS, abs=0.01)
    assert len(shots) == 1


def test_stopping_ends_a_light_walk(video):
    count = 0

    def stop():
        nonlocal count
        count += 1
        return count >= 3

    facts = decode(video, lambda _: None, lambda _: None, light=True, stop=stop)
    assert facts.frame_count < 3 + 24 + 3, "no more than what waits decoded"
