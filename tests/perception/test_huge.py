"""Pictures that turn huge on the way, and clocks that stand still: refused before it costs much."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import pytest

from admir.errors import VideoUnreadable
from admir.perception import frames
from tests.perception.videos import encode, numbered, shown_at, walk

SMALL, LARGE = (64, 48), (320, 240)
GROWN = (*[SMALL] * 5, LARGE, SMALL)
_RATE = Fraction(1, 25)


def grown(path: Path, codec: str, pix_fmt: str = "yuv420p", *, sizes=GROWN) -> Path:
    """A file that says it has the first of the sizes; its pictures have one after the other."""
    with av.open(path, "w") as container:
        track = container.add_stream(codec, rate=25)
        track.width, track.height = sizes[0]
        track.pix_fmt, track.time_base = pix_fmt, _RATE
        time = 0
        for size in sizes:
            for data in _packets(codec, pix_fmt, size):
                packet = av.Packet(data)
                packet.stream, packet.time_base, packet.is_keyframe = track, _RATE, True
                packet.pts = packet.dts = time
                time += 1
                container.mux(packet)
    return path


def _packets(codec: str, pix_fmt: str, size: tuple[int, int]) -> list[bytes]:
    encoder = av.CodecContext.create(codec, "w")
    encoder.width, encoder.height, encoder.pix_fmt = *size, pix_fmt
    encoder.time_base, encoder.framerate = _RATE, 1 / _RATE
    encoder.gop_size = 1
    if codec == "libx264":
        encoder.options = {"tune": "zerolatency", "preset": "ultrafast"}
    found = []
    for index in range(5):
        frame = av.VideoFrame.from_ndarray(numbered(index, size), format="bgr24")
        frame = frame.reformat(format=pix_fmt)
        frame.pts, frame.time_base = index, _RATE
        found += encoder.encode(frame)
    return [bytes(packet) for packet in (*found, *encoder.encode())]


MADE = [
    ("ad.h264", "libx264", "yuv420p"),
    ("ad.ts", "mpeg2video", "yuv420p"),
    ("ad.avi", "mjpeg", "yuvj420p"),
    ("ad.avi", "mpeg4", "yuv420p"),
    ("ad.avi", "png", "rgb24"),
    ("ad.webm", "libvpx-vp9", "yuv420p"),
    ("ad.mkv", "libsvtav1", "yuv420p"),
]


@pytest.mark.parametrize(("name", "codec", "pix_fmt"), MADE)
def test_pictures_that_grow_are_followed_up_to_a_limit(tmp_path, monkeypatch, name, codec, pix_fmt):
    path = grown(tmp_path / name, codec, pix_fmt)
    facts, _, _ = walk(path)
    assert (facts.width, facts.height) == SMALL
    assert 30 <= facts.frame_count <= 35
    monkeypatch.setattr(frames, "_MOST_GROWN_PIXELS", LARGE[0] * LARGE[1] - 1)
    with pytest.raises(VideoUnreadable, match=f"'{name}' has a picture of more than 76,799 p"):
        walk(path)


def test_a_later_look_is_limited_too(tmp_path, monkeypatch):
    path = grown(tmp_path / "ad.avi", "mjpeg", "yuvj420p")
    monkeypatch.setattr(frames, "_MOST_GROWN_PIXELS", LARGE[0] * LARGE[1] - 1)
    with pytest.raises(VideoUnreadable):
        shown_at(path, [1.1])


def test_the_limit_of_a_file_that_says_it_is_large_is_higher(tmp_path, monkeypatch):
    path = grown(tmp_path / "ad.avi", "mjpeg", "yuvj420p", sizes=(LARGE, SMALL))
    monkeypatch.setattr(frames, "_MOST_GROWN_PIXELS", 1)
    assert walk(path)[0].frame_count == 10
    monkeypatch.setattr(frames, "MOST_PIXELS", LARGE[0] * LARGE[1] - 1)
    with pytest.raises(VideoUnreadable):
        walk(path)


def test_a_clock_that_stands_still_ends_the_walk(tmp_path, monkeypatch):
    monkeypatch.setattr("admir.perception.decode._MOST_STILL", 20)
    shown = [numbered(n % 28, SMALL) for n in range(60)]
    path = encode(tmp_path / "still.mkv", shown, times_ms=[0] * 20 + [1] * 40)
    facts, _, _ = walk(path)
    assert facts.frame_count < 60
    assert facts.broken_at_s is not None
