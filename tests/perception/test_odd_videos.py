"""Videos that are sound but unusual: large, uneven, turned, interlaced, without times, tiny."""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from admir.backends.factory import open_reader
from admir.errors import VideoUnreadable
from admir.memory.video_scan import survey
from admir.perception.decode import MAX_SIDE
from tests.conftest import write_video
from tests.perception.videos import (
    add_pictures,
    encode,
    number_of,
    numbered,
    shown_at,
    state_length,
    tone,
    turned,
    walk,
    write_sound,
)

WORDS = "SPRING SALE 48"


def worded(size=(640, 360), shift=0):
    """White words on a dark ground; `shift` moves them to the right, in pixels."""
    picture = np.full((size[1], size[0], 3), (60, 90, 40), np.uint8)
    scale, at = size[0] / 400, (size[0] // 16 + shift, size[1] // 2)
    cv2.putText(picture, WORDS, at, cv2.FONT_HERSHEY_SIMPLEX, scale, (255,) * 3, size[0] // 160)
    return picture


def times(pieces):
    return [round(piece.time_s, 3) for piece in pieces]


def read(pixels):
    """The words in a picture."""
    return " ".join(line.text for line in open_reader(1).read(pixels))


# Size and pixels


def grown_mb(path):
    """By how much the peak memory of this process grows over one walk."""
    before = peak_mb()
    walk(path)
    return peak_mb() - before


def peak_mb():
    """The peak memory of this process.

    On Linux `ru_maxrss` begins with that of the process it was started from.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 1024


def test_a_4k_video_is_walked_in_bounded_memory_and_time(tmp_path):
    size = (3840, 2160)
    path = encode(tmp_path / "4k.mp4", [worded(size)] * 8, fps=4, options={"preset": "ultrafast"})
    started = time.process_time()
    facts, thumbs, samples = walk(path)
    assert time.process_time() - started < 10
    # A peak never falls: only in a process that did nothing else does it tell of this walk.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        assert 10 < fresh.submit(grown_mb, path).result() < 400
    assert (facts.width, facts.height, len(thumbs)) == (*size, 8)
    assert {s.pixels.shape for s in samples} == {(720, MAX_SIDE, 3)}
    assert read(samples[0].pixels) == WORDS


PIXELS = {
    "alpha": ("prores_ks", "yuva444p10le"),
    "10 bit": ("libx264", "yuv420p10le"),
    "4:2:2 10 bit": ("prores_ks", "yuv422p10le"),
    "4:4:4": ("libx264", "yuv444p"),
    "grey": ("libx264", "gray"),
    "grey 16 bit": ("png", "gray16be"),
    "one bit": ("png", "monob"),
}


@pytest.mark.parametrize(("codec", "pix_fmt"), PIXELS.values(), ids=PIXELS)
def test_every_pixel_format_shows_the_same_picture(tmp_path, codec, pix_fmt):
    half = np.zeros((48, 64, 3), np.uint8)
    half[:, 32:] = 255
    path = encode(tmp_path / "a.mov", [half] * 3, codec=codec, pix_fmt=pix_fmt)
    _, _, samples = walk(path)
    for shown in (samples[0].pixels, shown_at(path, [0.0])[0].pixels):
        assert shown[:, :28].mean() < 12
        assert shown[:, 36:].mean() > 243


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (17, 13), (4096, 16), (16, 4096)])
def test_odd_sizes_are_walked(tmp_path, size):
    path = encode(tmp_path / "a.mkv", [numbered(9, size)] * 3, codec="ffv1", pix_fmt="bgr0")
    facts, _, samples = walk(path)
    assert (facts.width, facts.height) == size
    assert max(samples[0].pixels.shape) <= MAX_SIDE
    assert number_of(samples[0].pixels) == 9


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_turned_video_is_read_upright(tmp_path, quarters):
    """The camera was held turned: the file's pixels lie, its mark says how to show them."""
    lying = np.ascontiguousarray(np.rot90(worded(), quarters))
    flat = write_video(
        tmp_path / "a.mp4", lambda _: lying, frames=3, size=(lying.shape[1], lying.shape[0])
    )
    path = turned(flat, quarters)
    facts, _, samples = walk(path)
    (again,) = shown_at(path, [0.0])
    assert (facts.width, facts.height) == (640, 360)
    assert read(samples[0].pixels) == read(again.pixels) == WORDS


INTERLACED = {
    "H.264 in MPEG-TS": ("ts", "libx264", {"x264-params": "interlaced=1:tff=1"}),
    "H.264 in MP4": ("mp4", "libx264", {"flags": "+ildct+ilme"}),
    "MPEG-2 in MPEG-PS": ("mpg", "mpeg2video", {"flags": "+ildct+ilme", "bf": "2"}),
}


@pytest.mark.parametrize(("kind", "codec", "options"), INTERLACED.values(), ids=INTERLACED)
@pytest.mark.parametrize("pace", [0, 4])
def test_interlaced_words_are_read_also_while_they_move(tmp_path, kind, codec, options, pace):
    fields = [worded(shift=pace * n) for n in range(24)]
    path = encode(tmp_path / f"a.{kind}", woven(fields), codec=codec, options=options)
    facts, _, samples = walk(path)
    assert (facts.frame_count, facts.duration_s) == (12, pytest.approx(0.48))
    assert read(samples[0].pixels) == read(shown_at(path, [0.2])[0].pixels) == WORDS


def woven(fields):
    """Frames of two moments each: the upper lines of one and the lower of the next."""
    frames = []
    for upper, lower in zip(fields[::2], fields[1::2], strict=True):
        frame = upper.copy()
        frame[1::2] = lower[1::2]
        frames.append(frame)
    return frames


# Times

HOLD_MS = [0, 40, 80, *(5080 + round(n * 1000 / 60) for n in range(60)), 6100, 6500, 9000]


def number_at(time_s):
    """The frame of `HOLD_MS` that stands at a time."""
    return max(n for n, ms in enumerate(HOLD_MS) if ms <= time_s * 1000 + 1)


@pytest.mark.parametrize("kind", ["mp4", "mkv", "ts", "flv"])
def test_a_hold_and_a_burst_keep_the_times_of_the_file(tmp_path, kind):
    shown = [numbered(n % 28, (64, 48)) for n in range(len(HOLD_MS))]
    facts, thumbs, samples = walk(
        path := encode(tmp_path / f"a.{kind}", shown, times_ms=HOLD_MS, options={"crf": "10"})
    )
    assert times(thumbs) == pytest.approx([ms / 1000 for ms in HOLD_MS], abs=0.002)
    assert facts.duration_s == pytest.approx(9.04, abs=0.1)
    assert facts.fps == pytest.approx(25, abs=20)
    asked = times(samples)
    assert [number_of(s.pixels) for s in samples] == [number_at(t) % 28 for t in asked]
    again = shown_at(path, asked)
    assert [number_of(p.pixels) for p in again] == [number_at(t) % 28 for t in asked]


def test_a_picture_that_is_held_is_sampled_while_it_lasts(tmp_path):
    """Frame 2 stands for five seconds, and the last one for three: both are seen."""
    shown = [numbered(n) for n in range(4)]
    path = encode(tmp_path / "a.mkv", shown, times_ms=[0, 40, 80, 5080], last_ms=3000)
    _, _, samples = walk(path)
    assert times(samples) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.08, 6.0, 7.0]
    assert [number_of(s.pixels) for s in samples] == [0, 2, 2, 2, 2, 3, 3, 3]


def test_shots_and_frames_of_an_uneven_video_stand_at_the_times_of_the_file(tmp_path):
    shown = [worded((320, 180))] * 3 + [255 - worded((320, 180))] * 62
    path = encode(tmp_path / "a.mp4", shown, times_ms=HOLD_MS[:65])
    (tmp_path / "frames").mkdir()
    found = survey(
        path, tmp_path, sample_fps=1.0, stated_s=9, on_progress=lambda _: None, stop=lambda: False
    )
    assert [shot.span.start_s for shot in found.shots] == pytest.approx([0.0, 5.08])
    assert [s.frame.time_s for s in found.samples if s.changed] == pytest.approx([0.0, 5.08])


TIMELESS = {
    "H.264 stream": ("a.h264", "libx264", {}),
    "HEVC stream": ("a.hevc", "libx265", {"x265-params": "log-level=none"}),
    "MPEG-4 stream": ("a.m4v", "mpeg4", {"b": "5M"}),
    "MPEG-2 stream": ("a.m2v", "mpeg2video", {"bf": "2", "b": "5M"}),
    "JPEG stream": ("a.mjpeg", "mjpeg", {}),
    "AVI with B-frames": ("a.avi", "mpeg4", {"bf": "2", "b": "5M"}),
    "H.264 in AVI": ("b.avi", "libx264", {}),
}


@pytest.mark.parametrize(("name", "codec", "options"), TIMELESS.values(), ids=TIMELESS)
def test_without_times_frames_follow_one_another(tmp_path, name, codec, options):
    pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    shown = [numbered(n, (64, 48)) for n in range(25)]
    path = encode(tmp_path / name, shown, codec=codec, pix_fmt=pix_fmt, options=options)
    facts, thumbs, _ = walk(path)
    assert times(thumbs) == pytest.approx([0.04 * n for n in range(25)], abs=0.001)
    assert facts.duration_s == pytest.approx(1.0)
    assert [number_of(t.pixels) for t in thumbs] == list(range(25))
    assert [number_of(p.pixels) for p in shown_at(path, [0.0, 0.52, 0.96])] == [0, 13, 24]


@pytest.mark.parametrize(("kind", "codec"), [("ts", "libx264"), ("mpg", "mpeg2video")])
def test_files_joined_end_to_end_go_on_where_the_first_ended(tmp_path, kind, codec):
    """The times of the second file begin anew: nobody may put its pictures on one moment."""
    shown = [numbered(n, (64, 48)) for n in range(25)]
    parts = [encode(tmp_path / f"{n}.{kind}", shown[n:], codec=codec) for n in (0, 5)]
    path = tmp_path / f"joined.{kind}"
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    facts, thumbs, _ = walk(path)
    assert facts.duration_s == pytest.approx(1.8, abs=0.1)
    steps = np.diff(times(thumbs))
    assert (len(thumbs), steps.min() > 0.03, steps.max() < 0.09) == (45, True, True)
    asked = times(thumbs)[::11]
    alone = [number_of(shown_at(path, [t])[0].pixels) for t in asked]
    assert [number_of(p.pixels) for p in shown_at(path, asked)] == alone == [0, 11, 22, 13, 24]


def test_times_may_begin_below_zero(tmp_path):
    late = [-1000 + 40 * n for n in range(50)]
    path = encode(tmp_path / "a.mp4", [numbered(n // 2) for n in range(50)], times_ms=late)
    facts, thumbs, _ = walk(path)
    assert thumbs[0].time_s == 0.0
    assert facts.duration_s == pytest.approx(0.04 * facts.frame_count)


@pytest.mark.parametrize("stated_ms", [0.0, -5000.0, 1e300, float("nan")])
def test_a_length_that_is_no_length_is_not_believed(tmp_path, stated_ms):
    path = encode(tmp_path / "a.mkv", [numbered(n) for n in range(25)])
    state_length(path, stated_ms)
    facts, _, samples = walk(path)
    assert facts.duration_s == pytest.approx(1.0)
    assert times(samples) == [0.0, 0.96]


def test_a_rate_that_cannot_be_true_is_measured(tmp_path):
    """DV states its clock of 60,000 ticks a second as its rate."""
    shown = [numbered(n, (720, 480)) for n in range(10)]
    rate = Fraction(30_000, 1001)
    path = encode(tmp_path / "a.dv", shown, codec="dvvideo", pix_fmt="yuv411p", fps=rate)
    assert walk(path)[0].fps == pytest.approx(29.97, abs=0.01)


# Tracks


def test_of_two_pictures_the_one_that_players_show_is_taken(tmp_path):
    path = two_tracks(tmp_path / "a.mkv")
    facts, _, _ = walk(path)
    assert (facts.width, facts.frame_count) == (320, 10)
    assert [number_of(p.pixels) for p in shown_at(path, [0.0, 0.36])] == [0, 9]


@pytest.mark.parametrize("kind", ["mp3", "mp4"])
def test_sound_with_a_cover_picture_is_no_video(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    with av.open(str(path), "w") as container:
        sound = container.add_stream("mp3" if kind == "mp3" else "aac", rate=44_100, layout="mono")
        cover = container.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 64, 48, "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        add_pictures(container, cover, [numbered(9, (64, 48))])
        write_sound(container, sound, "fltp", tone(0.5))
    with pytest.raises(VideoUnreadable, match="no moving picture"):
        walk(path)


def two_tracks(path: Path) -> Path:
    """A cover picture as a plain track, and a video behind it."""
    with av.open(str(path), "w") as container:
        first = container.add_stream("mjpeg", rate=25)
        first.width, first.height, first.pix_fmt = 64, 48, "yuvj420p"
        video = container.add_stream("libx264", rate=25)
        video.width, video.height, video.pix_fmt = 320, 240, "yuv420p"
        add_pictures(container, first, [numbered(9, (64, 48))])
        add_pictures(container, video, [numbered(n) for n in range(10)])
    return path
