"""The one walk over a video: what it finds and what it leaves on the disk."""

from __future__ import annotations

import numpy as np
import pytest

from admir.memory.clip_stream import ClipFeed
from admir.memory.video_scan import load_thumbs, survey
from admir.perception.decode import load_image
from tests.conftest import flat, write_video
from tests.perception.videos import encode, tone

RED, BLUE = (40, 40, 220), (220, 60, 40)


def two_scenes(index):
    """Red for 1.2 seconds, then blue with a white block that moves."""
    if index < 30:
        return flat(RED)
    picture = flat(BLUE)
    left = 8 * (index - 30)
    picture[100:160, left : left + 60] = 255
    return picture


def look_over(video, folder, **options):
    (folder / "frames").mkdir(exist_ok=True)
    values = {
        "sample_fps": 1.0,
        "stated_s": 2.4,
        "on_progress": lambda _: None,
        "stop": lambda: False,
    }
    return survey(video, folder, **(values | options))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("survey")


@pytest.fixture(scope="module")
def seen(folder):
    return look_over(write_video(folder / "ad.mp4", two_scenes, frames=60, sound=True), folder)


def test_the_file_facts_are_those_of_the_file(seen):
    facts = seen.facts
    assert (facts.width, facts.height, facts.fps) == (320, 240, 25.0)
    assert facts.duration_s == pytest.approx(2.4)
    assert facts.audio.codec == "aac"
    assert facts.broken_at_s is None


def test_each_sample_is_a_picture_on_the_disk(seen, folder):
    assert [sample.frame.time_s for sample in seen.samples] == [0.0, 1.0, 2.0, 2.36]
    for sample in seen.samples:
        assert load_image(folder / sample.frame.file).shape == (240, 320, 3)


def test_samples_that_look_like_the_one_read_before_are_marked_unchanged(seen):
    assert [sample.changed for sample in seen.samples] == [True, False, True, True]


def test_samples_have_the_colours_and_the_motion_of_their_scene(seen):
    red, _, blue, last = [sample.look for sample in seen.samples]
    assert (red.colours, red.warmth) == (("red",), "warm")
    assert (blue.colours[0], blue.warmth) == ("blue", "cool")
    assert red.motion < 0.02 < last.motion <= 1


def test_the_cut_is_found_at_its_frame(seen):
    assert [shot.span.start_s for shot in seen.shots] == [0.0, pytest.approx(1.2)]
    assert seen.shots[-1].span.end_s == pytest.approx(2.4)


def test_thumbs_are_kept_at_half_the_rate_in_order(seen, folder):
    thumbs = load_thumbs(folder)
    assert thumbs.pixels.shape == (30, 120, 160)
    assert np.diff(thumbs.times_s) == pytest.approx(0.08, abs=1e-6)
    assert abs(int(thumbs.pixels[0].mean()) - int(thumbs.pixels[-1].mean())) > 10


def test_thumbs_of_a_long_video_are_thinned(folder, tmp_path):
    look_over(folder / "ad.mp4", tmp_path, stated_s=9_000.0)
    assert len(load_thumbs(tmp_path).times_s) == 3


def test_thumbs_stay_bounded_where_the_length_is_not_stated(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("admir.memory.video_scan._MOST_THUMBS", 10)
    look_over(folder / "ad.mp4", tmp_path, stated_s=0.0)
    times_s = load_thumbs(tmp_path).times_s
    assert 4 <= len(times_s) <= 10
    assert np.diff(times_s) == pytest.approx(0.32, abs=1e-6)


def test_what_is_written_leaves_no_unfinished_files(seen, folder):
    assert list(folder.rglob("*.part")) == []


def test_progress_is_told_in_order_of_time_and_stopping_stops(folder, tmp_path):
    told = []
    look_over(folder / "ad.mp4", tmp_path, on_progress=told.append, sample_fps=10.0)
    assert told == sorted(told)
    assert len(told) > 20
    stopped = look_over(folder / "ad.mp4", tmp_path, stop=lambda: True)
    assert stopped.facts.duration_s < 1.2, "decoding is a little ahead of who takes the frames"
    assert len(stopped.samples) <= 2


def test_a_video_that_changes_its_size_midway_can_be_surveyed(tmp_path):
    parts = [
        encode(
            tmp_path / f"{number}.ts",
            [flat(colour, size)] * 25,
            times_ms=[1000 * number + 40 * n for n in range(25)],
        )
        for number, (colour, size) in enumerate([(RED, (320, 240)), (BLUE, (240, 320))])
    ]
    joined = tmp_path / "joined.ts"
    joined.write_bytes(b"".join(part.read_bytes() for part in parts))
    found = look_over(joined, tmp_path)
    assert found.facts.duration_s == pytest.approx(2.0, abs=0.1)


def test_a_silent_video_has_a_silent_survey(tmp_path):
    video = encode(tmp_path / "ad.mkv", [flat(RED)] * 5, sound=("aac", "fltp", tone(0.2, level=0)))
    assert look_over(video, tmp_path).facts.audio.silent_share == 1.0


def test_a_shot_between_two_samples_is_sampled_too(tmp_path):
    def flash(index):
        return flat((240, 240, 240)) if 32 <= index < 41 else flat(RED)

    found = look_over(write_video(tmp_path / "ad.mp4", flash, frames=60), tmp_path)
    times_s = [sample.frame.time_s for sample in found.samples]
    assert times_s == sorted(times_s)
    (extra,) = set(times_s) - {0.0, 1.0, 2.0, 2.36}
    assert 1.28 < extra < 1.64
    kept = next(sample for sample in found.samples if sample.frame.time_s == extra)
    assert kept.changed
    assert load_image(tmp_path / kept.frame.file).mean() > 200


def flashes(index):
    """A scene each 0.32 s, drawn in colours and patterns of its own."""
    random = np.random.default_rng(index // 8)
    blocks = random.integers(0, 255, (6, 8, 3), dtype=np.uint8)
    return np.kron(blocks, np.ones((40, 40, 1), dtype=np.uint8))


def test_each_shot_has_a_sample_also_one_between_two_seconds(tmp_path):
    seen = look_over(write_video(tmp_path / "fast.mp4", flashes, frames=75), tmp_path)
    assert len(seen.shots) >= 8
    times = [sample.frame.time_s for sample in seen.samples]
    assert times == sorted(times)
    for shot in seen.shots:
        assert any(map(shot.span.contains, times)), shot
    for sample in seen.samples:
        assert load_image(tmp_path / sample.frame.file).shape == (240, 320, 3)


def test_an_extra_sample_is_read_itself_and_repeats_no_other(tmp_path):
    seen = look_over(write_video(tmp_path / "fast.mp4", flashes, frames=75), tmp_path)
    late = [s for s in seen.samples if s.frame.time_s % 1 and s.frame.time_s < 2.9]
    assert late
    assert all(sample.changed for sample in late)


def late_cut(index):
    """A cut shortly before five seconds, where the second clip begins."""
    random = np.random.default_rng(index >= 115)
    blocks = random.integers(0, 255, (6, 8, 3), dtype=np.uint8)
    return np.kron(blocks, np.ones((40, 40, 1), dtype=np.uint8))


def test_a_shot_that_goes_over_into_the_next_clip_has_a_sample_in_each(tmp_path):
    seen = look_over(write_video(tmp_path / "late.mp4", late_cut, frames=150), tmp_path)
    assert [round(shot.span.start_s, 2) for shot in seen.shots] == [0.0, 4.6]
    assert any(4.6 <= sample.frame.time_s < 5.0 for sample in seen.samples)


class Clips:
    """Hands on clips as a build does, while the pass goes on."""

    def __init__(self):
        self.clips = []
        self.feed = ClipFeed(clip_s=5.0, give=self.clips.append)

    def add(self, sample):
        self.feed.add(sample)

    def settle(self, shots, until_s):
        self.feed.settle(shots, until_s)


def long_shot(index):
    """A cut at 4.6 s, then one shot of half a minute, in which something moves."""
    picture = late_cut(min(index * 5 // 2, 149)).copy()
    picture[40:80, 4 * (index % 60) : 4 * (index % 60) + 40] = 255
    return picture


def test_a_clip_has_a_frame_of_the_long_shot_that_begins_at_its_end(tmp_path):
    video = write_video(tmp_path / "long.mp4", long_shot, frames=340, fps=10)
    listener = Clips()
    seen = look_over(video, tmp_path, stated_s=34.0, listener=listener)
    assert [round(shot.span.start_s, 1) for shot in seen.shots] == [0.0, 4.6]
    first = listener.clips[0]
    assert [round(s.start_s, 1) for s in first.shots] == [0.0, 4.6]
    assert any(4.6 <= sample.frame.time_s < 5.0 for sample in first.samples), "before it is shown"
