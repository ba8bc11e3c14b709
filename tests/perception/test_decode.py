"""Decoding: what one walk over a file tells, and what it says of files that cannot be read."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.errors import VideoNotFound, VideoUnreadable
from admir.perception.decode import (
    MAX_SIDE,
    THUMB_SIDE,
    open_container,
    sample_times,
)
from admir.types import Span
from tests.conftest import flat, write_video
from tests.perception.videos import (
    cut_off,
    damage_packet,
    encode,
    noise,
    number_of,
    numbered,
    shown_at,
    state_length,
    tone,
    turned,
    walk,
)
from tests.properties import examples

FRAME_S = 0.04
UNEVEN_MS = [0, 40, 80, 500, 1000, 1040, 2000, 2500]


def times(pieces):
    return [round(piece.time_s, 3) for piece in pieces]


# What a walk tells


def test_the_ad_has_its_true_length_size_and_rate(demo, facts):
    assert demo.video.duration_s == pytest.approx(facts["duration_s"], abs=FRAME_S)
    assert (demo.video.width, demo.video.height) == (facts["width"], facts["height"])
    assert demo.video.fps == facts["fps"]


def test_every_frame_gives_a_thumb_in_order(second):
    facts, thumbs, _ = walk(second)
    assert times(thumbs) == [round(n * FRAME_S, 3) for n in range(25)]
    assert [number_of(thumb.pixels) for thumb in thumbs] == list(range(25))
    assert {thumb.pixels.shape for thumb in thumbs} == {(120, THUMB_SIDE, 3)}
    assert (facts.frame_count, facts.duration_s) == (25, pytest.approx(1.0))


@pytest.mark.parametrize(
    ("sample_fps", "expected"),
    [(1.0, [0.0, 0.96]), (2.0, [0.0, 0.5, 0.96]), (5.0, [0.0, 0.2, 0.4, 0.6, 0.8, 0.96])],
)
def test_samples_come_at_the_asked_rate_and_at_the_end(second, sample_fps, expected):
    _, _, samples = walk(second, sample_fps=sample_fps)
    assert times(samples) == pytest.approx(expected, abs=FRAME_S)
    assert [number_of(s.pixels) for s in samples] == [round(s.time_s * 25) for s in samples]


@pytest.mark.parametrize(("frames", "last_s"), [(29, 1.0), (35, 1.36)])
def test_the_last_frame_is_sampled_only_when_a_quarter_of_a_step_has_passed(
    tmp_path, frames, last_s
):
    _, _, samples = walk(write_video(tmp_path / "a.mp4", lambda n: flat((n, n, n)), frames=frames))
    assert samples[-1].time_s == pytest.approx(last_s)


def test_stopping_ends_the_walk_at_the_next_frame(tmp_path):
    path = write_video(tmp_path / "a.mp4", lambda n: flat((n, n, n)), frames=75)
    facts, thumbs, _ = walk(path, stop=lambda: True)
    assert len(thumbs) == 1
    assert facts.frame_count <= 1 + 24 + 2, "decoding is a little ahead of who takes the frames"


def test_a_vertical_video_stays_vertical(tmp_path):
    path = write_video(
        tmp_path / "tall.mp4", lambda n: flat((n, n, n), (240, 426)), size=(240, 426)
    )
    facts, thumbs, samples = walk(path)
    assert (facts.width, facts.height) == (240, 426)
    assert thumbs[0].pixels.shape == (THUMB_SIDE, 90, 3)
    assert samples[0].pixels.shape == (426, 240, 3)


@pytest.mark.parametrize(("quarters", "bright_side"), [(1, "right"), (2, "bottom"), (3, "left")])
def test_a_video_marked_as_turned_is_seen_as_players_show_it(tmp_path, quarters, bright_side):
    bar = np.concatenate([flat((255, 255, 255), (320, 60)), flat((0, 0, 0), (320, 180))])
    path = turned(write_video(tmp_path / "bar.mp4", lambda _: bar, frames=3), quarters)
    facts, thumbs, samples = walk(path)
    tall = quarters != 2
    assert (facts.width, facts.height) == ((240, 320) if tall else (320, 240))
    assert (thumbs[0].pixels.shape[0] > thumbs[0].pixels.shape[1]) == tall
    for picture in (samples[0].pixels, shown_at(path, [0.0])[0].pixels):
        sides = {
            "left": picture[:, :20],
            "right": picture[:, -20:],
            "top": picture[:20],
            "bottom": picture[-20:],
        }
        assert max(sides, key=lambda side: sides[side].mean()) == bright_side
        assert picture.shape[:2] == (facts.height, facts.width)


@pytest.mark.parametrize(
    ("name", "codec", "pix_fmt"),
    [
        ("odd.mkv", "ffv1", "bgr0"),
        ("odd.avi", "mjpeg", "yuvj444p"),
        ("odd.mp4", "libx264", "yuv444p"),
    ],
)
def test_odd_sizes_are_told_as_they_are_and_can_be_read(tmp_path, name, codec, pix_fmt):
    shown = [numbered(n, (321, 241)) for n in range(8)]
    path = encode(tmp_path / name, shown, codec=codec, pix_fmt=pix_fmt)
    facts, thumbs, _ = walk(path)
    assert (facts.width, facts.height, facts.frame_count) == (321, 241, 8)
    assert [number_of(t.pixels) for t in thumbs] == list(range(8))
    assert [number_of(p.pixels) for p in shown_at(path, [0.0, 0.2])] == [0, 5]


@pytest.mark.parametrize(("frames", "duration_s"), [(1, 0.04), (5, 0.2)])
@pytest.mark.parametrize("kind", ["mp4", "mkv"])
def test_the_shortest_videos_have_a_length_and_a_sample(tmp_path, kind, frames, duration_s):
    path = write_video(tmp_path / f"short.{kind}", numbered, frames=frames)
    facts, thumbs, samples = walk(path)
    assert facts.duration_s == pytest.approx(duration_s)
    assert (len(thumbs), times(samples)) == (frames, [0.0])
    assert number_of(shown_at(path, [0.0])[0].pixels) == 0


@pytest.mark.parametrize("kind", ["mp4", "mkv"])
def test_frames_of_an_uneven_rate_keep_their_own_times(tmp_path, kind):
    shown = [numbered(n) for n in range(len(UNEVEN_MS))]
    path = encode(tmp_path / f"uneven.{kind}", shown, times_ms=UNEVEN_MS)
    facts, thumbs, samples = walk(path)
    assert times(thumbs) == [ms / 1000 for ms in UNEVEN_MS]
    assert times(samples) == [0.0, 1.0, 2.0, 2.5]
    assert facts.duration_s >= 2.5
    asked = [0.0, 0.3, 0.7, 1.03, 1.5, 2.2, 2.6]
    assert [number_of(p.pixels) for p in shown_at(path, asked)] == [0, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(("kind", "codec"), [("mkv", "libx264"), ("webm", "libvpx")])
def test_times_count_from_the_first_picture_however_late_it_stands(tmp_path, kind, codec):
    late = [2000 + 40 * n for n in range(25)]
    shown = [numbered(n) for n in range(25)]
    path = encode(tmp_path / f"late.{kind}", shown, codec=codec, times_ms=late)
    _, thumbs, _ = walk(path)
    assert times(thumbs)[:2] == [0.0, 0.04]
    assert [number_of(p.pixels) for p in shown_at(path, [0.0, 0.48, 0.96])] == [0, 12, 24]


def test_pictures_larger_than_the_limit_are_made_smaller(tmp_path):
    path = write_video(
        tmp_path / "wide.mp4", lambda n: flat((n, n, n), (1600, 400)), frames=2, size=(1600, 400)
    )
    facts, _, samples = walk(path)
    assert (facts.width, facts.height) == (1600, 400)
    assert samples[0].pixels.shape == (320, MAX_SIDE, 3)


def test_an_extreme_shape_has_a_thumb_of_bounded_size(tmp_path):
    shown = [flat((n, n, n), (16, 8192)) for n in range(3)]
    _, thumbs, _ = walk(encode(tmp_path / "tower.mkv", shown, codec="ffv1", pix_fmt="bgr0"))
    assert thumbs[0].pixels.shape == (THUMB_SIDE, 2, 3)


@pytest.mark.parametrize("kind", ["mp4", "mkv"])
def test_an_end_card_held_for_seconds_counts(tmp_path, kind):
    path = tmp_path / f"card.{kind}"
    with av.open(str(path), "w") as container:
        video = container.add_stream("mjpeg", rate=25)
        video.width, video.height, video.pix_fmt = 64, 64, "yuvj420p"
        for index in range(10):
            packet = frame_packet(video, index)
            packet.duration = 100 if index == 9 else 1
            container.mux(packet)
    assert walk(path)[0].duration_s == pytest.approx(9 * FRAME_S + 4.0)


def frame_packet(video, index):
    """The one packet of a numbered picture of 64 by 64."""
    frame = av.VideoFrame.from_ndarray(numbered(index, (64, 64)), format="bgr24")
    frame = frame.reformat(format="yuvj420p")
    frame.pts, frame.time_base = index, Fraction(1, 25)
    (packet,) = video.encode(frame)
    return packet


def test_the_last_frame_is_not_sampled_twice(tmp_path):
    uneven = [0, 400, 1300]
    path = encode(tmp_path / "u.mkv", [numbered(n) for n in range(3)], times_ms=uneven)
    assert times(walk(path)[2]) == [0.0, 1.3]


@pytest.mark.parametrize("last_ms", [100_000, 400 * 60_000])
def test_a_time_far_past_the_end_is_where_the_file_breaks(tmp_path, last_ms):
    shown = [numbered(n) for n in range(10)]
    stamps = [40 * n for n in range(9)] + [last_ms]
    path = encode(tmp_path / "jump.mkv", shown, times_ms=stamps)
    if last_ms == 100_000:
        state_length(path, 400.0)
    facts, _, _ = walk(path)
    assert facts.duration_s == pytest.approx(9 * FRAME_S)
    assert facts.broken_at_s == facts.duration_s


# Files that break off or cannot be read


def test_a_whole_file_does_not_count_as_broken(loud):
    facts, _, _ = walk(loud)
    assert facts.broken_at_s is None
    assert facts.duration_s == pytest.approx(3.0)


def test_a_file_cut_in_half_is_read_to_the_cut_and_says_where(loud):
    facts, thumbs, _ = walk(cut_off(loud))
    assert facts.broken_at_s == pytest.approx(facts.duration_s)
    assert 0.8 < facts.duration_s < 2.2
    assert len(thumbs) == facts.frame_count == round(facts.duration_s * 25)
    assert facts.stated_duration_s == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize(("kind", "codec"), [("mkv", "libx264"), ("webm", "libvpx")])
def test_a_matroska_file_cut_in_half_says_where_it_breaks(tmp_path, kind, codec):
    facts, _, _ = walk(cut_off(encode(tmp_path / f"whole.{kind}", noise(75), codec=codec)))
    assert facts.stated_duration_s == pytest.approx(3.0, abs=0.1)
    assert facts.broken_at_s == pytest.approx(facts.duration_s)


def test_a_file_cut_before_its_index_cannot_be_read(tmp_path):
    path = cut_off(write_video(tmp_path / "whole.mp4", numbered))
    with pytest.raises(VideoUnreadable, match=r"cut-whole\.mp4"):
        walk(path)


@pytest.mark.parametrize("kind", ["audio", "video"])
def test_one_damaged_packet_does_not_cost_the_rest_of_the_pictures(loud, kind):
    facts, _, _ = walk(damage_packet(loud, kind, 20))
    assert facts.duration_s == pytest.approx(3.0, abs=0.2)


def test_sound_that_nobody_can_decode_does_not_cost_the_pictures(tmp_path):
    path = encode(
        tmp_path / "sound.mkv",
        [numbered(n) for n in range(10)],
        sound=("aac", "fltp", tone(0.4)),
    )
    path.write_bytes(path.read_bytes().replace(b"A_AAC", b"A_XYZ"))
    facts, _, _ = walk(path)
    assert facts.frame_count == 10


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(VideoNotFound, match=r"nope\.mp4.*does not exist"):
        open_container(tmp_path / "nope.mp4")


def test_a_name_too_long_for_the_disk_is_not_there(tmp_path):
    with pytest.raises(VideoNotFound, match="does not exist"):
        open_container(tmp_path / ("x" * 300))


def test_a_strange_name_is_shown_escaped_and_once(tmp_path):
    with pytest.raises(VideoNotFound) as caught:
        open_container(tmp_path / "a\x1b[31m.mp4")
    assert "\x1b" not in str(caught.value)
    assert str(caught.value).count(".mp4") == 1


@pytest.mark.parametrize("name", ["http:ad.mp4", "concat:a|b.mp4", "ad: 100%25?.mp4", "-i.mp4"])
def test_a_name_that_looks_like_an_address_is_a_file(second, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    shutil.copy(second, name)
    with open_container(Path(name)) as container:
        assert container.streams.video


def test_a_folder_is_called_a_folder(tmp_path):
    with pytest.raises(VideoNotFound, match="is a folder"):
        open_container(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is an empty file"),
        (b"hello " * 1000, "not a video"),
        (b"\x00" * 5000, "not a video"),
        (b"1\n00:00:01,000 --> 00:00:02,000\nhello\n", "no picture"),
    ],
)
def test_what_is_not_a_video_is_refused_in_one_line(tmp_path, content, said):
    path = tmp_path / "thing.mp4"
    path.write_bytes(content)
    with pytest.raises(VideoUnreadable, match=said) as caught:
        walk(path)
    assert "thing.mp4" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sound_alone_is_refused(tmp_path):
    path = tmp_path / "sound.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44_100, layout="mono")
        frame = av.AudioFrame.from_ndarray(tone(0.1)[:, :1024], "fltp", "mono")
        frame.sample_rate = 44_100
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(VideoUnreadable, match="no picture"):
        walk(path)


# Small helpers


@examples()
@given(
    start=st.floats(0, 1000),
    length=st.floats(0, 600),
    fps=st.floats(0.1, 30),
    most=st.integers(1, 64),
)
def test_sample_times_are_few_ascending_and_inside_the_span(start, length, fps, most):
    span = Span(start_s=start, end_s=start + length)
    found = sample_times(span, fps, most)
    assert 1 <= len(found) <= most
    assert found == sorted(found)
    assert all(span.start_s - 1e-3 <= t <= span.end_s + 1e-3 for t in found)
    assert len(found) <= max(1, length * fps + 1e-6)


def test_sample_times_stand_in_the_middle_of_equal_parts():
    assert sample_times(Span(start_s=2.0, end_s=6.0), 1.0, 8) == [2.5, 3.5, 4.5, 5.5]
