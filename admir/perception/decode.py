"""Video files into pictures, with PyAV (which carries its own FFmpeg).

`decode` walks a file once and feeds everybody: thumbnails of every frame for shots and timing,
sampled frames for reading, sound for its facts. `pictures` comes back later for a few frames of
a span. Times are seconds from the first picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import av
import cv2
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from admir.errors import VideoNotFound, VideoUnreadable
from admir.types import AudioFacts, Span

Pixels = NDArray[np.uint8]

THUMB_WIDTH = 160
MAX_SIDE = 1280
"""Longest side of a sampled frame, in pixels."""


_CLOSING_SHARE = 0.75
"""The last frame is sampled too when more than a quarter of a step passed: ads end on a brand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A decoded frame: BGR pixels [height, width, 3] and its time."""

    time_s: float
    pixels: Pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumb:
    """A small copy of one frame [h, 160, 3], for shots and for the timing of text."""

    time_s: float
    pixels: Pixels


@dataclass(slots=True, kw_only=True)
class Facts:
    """What one walk over the file told. `broken_at_s` is set where it could not be read on."""

    width: int = 0
    height: int = 0
    fps: float = 0.0
    duration_s: float = 0.0
    stated_duration_s: float | None = None
    frame_count: int = 0
    audio: AudioFacts | None = None
    broken_at_s: float | None = None


@dataclass(slots=True)
class _Loudness:
    """Mean square of each sound packet, and how much of the time is silent."""

    squares: list[float] = field(default_factory=list)

    def add(self, frame: av.AudioFrame) -> None:
        samples = frame.to_ndarray().astype(np.float32)
        if frame.format.name.startswith("s16"):
            samples /= 32768.0
        if samples.size:
            self.squares.append(float(np.mean(np.square(samples))))

    def facts(self, stream: av.AudioStream) -> AudioFacts:
        squares = np.array(self.squares or [0.0])
        level = 10 * np.log10(np.maximum(squares, 1e-10))
        return AudioFacts(
            codec=stream.codec_context.name,
            sample_rate=int(stream.codec_context.sample_rate or 0),
            channels=int(stream.codec_context.channels),
            loudness_dbfs=float(10 * np.log10(max(float(squares.mean()), 1e-10))),
            silent_share=float(np.mean(level < -50)),
        )


def open_container(path: Path) -> av.container.InputContainer:
    """Open a video file.

    Raises VideoNotFound, or VideoUnreadable where there is no picture to decode.
    """
    if not path.is_file():
        what = "is a folder, not a video" if path.is_dir() else "does not exist"
        raise VideoNotFound(f"{path.name!r} {what} (looked for {path})")
    if path.stat().st_size == 0:
        raise VideoUnreadable(f"{path.name!r} is an empty file")
    try:
        container = av.open(str(path))
    except (av.error.FFmpegError, ValueError, OSError) as error:
        raise VideoUnreadable(f"{path.name!r} is not a video that can be opened: {error}") from None
    if not container.streams.video or container.streams.video[0].codec_context is None:
        container.close()
        raise VideoUnreadable(f"{path.name!r} has no picture (sound only?)")
    return container


def decode(
    path: Path,
    on_thumb: Callable[[Thumb], None],
    on_sample: Callable[[Picture], None],
    *,
    sample_fps: float = 1.0,
    stop: Callable[[], bool] = lambda: False,
) -> Facts:
    """Walk the file once. Each frame gives a thumb; each 1/`sample_fps` s gives a picture.

    A file that breaks off is read as far as it goes (`Facts.broken_at_s`). `stop` is asked
    at every frame. Raises VideoNotFound or VideoUnreadable.
    """
    with open_container(path) as container:
        video = container.streams.video[0]
        video.thread_type = "AUTO"
        facts = Facts(stated_duration_s=_stated_duration(container))
        sound = _Loudness()
        small, full = _Scaler(), _Scaler()
        next_sample_s, last = 0.0, None
        for frame in _frames(container, video, sound, facts):
            time_s, last = facts.duration_s, frame
            on_thumb(Thumb(time_s=time_s, pixels=small.pixels(frame, THUMB_WIDTH / frame.width)))
            if time_s >= next_sample_s - 1e-6:
                on_sample(Picture(time_s=time_s, pixels=full.pixels(frame, _fit(frame))))
                next_sample_s = (int(time_s * sample_fps + 1e-6) + 1) / sample_fps
            if stop():
                break
        if last is not None and next_sample_s - facts.duration_s < _CLOSING_SHARE / sample_fps:
            on_sample(Picture(time_s=facts.duration_s, pixels=full.pixels(last, _fit(last))))
        _finish(facts, video, path)
        if container.streams.audio:
            facts.audio = sound.facts(container.streams.audio[0])
        return facts


def _frames(
    container: av.container.InputContainer,
    video: av.VideoStream,
    sound: _Loudness,
    facts: Facts,
) -> Iterator[av.VideoFrame]:
    """Pictures in order; keeps `facts.duration_s` at the current picture's time."""
    streams = [video, *container.streams.audio[:1]]
    first: float | None = None
    try:
        for packet in container.demux(streams):
            for frame in packet.decode():
                if isinstance(frame, av.AudioFrame):
                    sound.add(frame)
                    continue
                assert isinstance(frame, av.VideoFrame)
                stamp = frame.time if frame.time is not None else facts.frame_count / 25
                first = stamp if first is None else first
                facts.duration_s = max(facts.duration_s, stamp - first)
                facts.frame_count += 1
                facts.height, facts.width = _size(frame)
                yield frame
    except (av.error.FFmpegError, OSError):
        facts.broken_at_s = facts.duration_s


def _finish(facts: Facts, video: av.VideoStream, path: Path) -> None:
    """Turn the last picture's time into a duration, and see whether the file breaks off."""
    if facts.frame_count == 0:
        raise VideoUnreadable(f"{path.name!r} has a picture track, but no frame can be decoded")
    rate = float(video.average_rate or video.guessed_rate or 25)
    facts.fps = rate
    facts.duration_s += 1 / rate
    if facts.broken_at_s is not None:
        facts.broken_at_s = facts.duration_s
    stated = float(video.duration * video.time_base) if video.duration and video.time_base else 0.0
    if stated - facts.duration_s > max(1.0, 3 / rate):
        facts.broken_at_s = facts.duration_s


def _stated_duration(container: av.container.InputContainer) -> float | None:
    return container.duration / av.time_base if container.duration else None


def _even(value: float) -> int:
    return max(2, 2 * round(value / 2))


def _size(frame: av.VideoFrame) -> tuple[int, int]:
    turned = int(getattr(frame, "rotation", 0)) % 180 != 0
    return (frame.width, frame.height) if turned else (frame.height, frame.width)


class _Scaler:
    """Frames as BGR pixels at one scale. Its swscale context is made once: that is the cost."""

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()

    def pixels(self, frame: av.VideoFrame, scale: float) -> Pixels:
        """The frame at `scale`, turned as the file's rotation mark says."""
        size = _even(frame.width * scale), _even(frame.height * scale)
        scaled = self._reformatter.reformat(frame, *size, "bgr24", interpolation="AREA")
        pixels = np.asarray(scaled.to_ndarray(), dtype=np.uint8)
        quarter_turns = int(getattr(frame, "rotation", 0)) // 90
        return np.ascontiguousarray(np.rot90(pixels, quarter_turns)) if quarter_turns else pixels


def _fit(frame: av.VideoFrame) -> float:
    return min(1.0, MAX_SIDE / max(frame.width, frame.height))


def pictures(path: Path, times_s: list[float]) -> list[Picture]:
    """The frames shown at `times_s` (ascending), decoded again from the source.

    Returns fewer where the file cannot be read there.
    """
    found: list[Picture] = []
    with open_container(path) as container:
        video = container.streams.video[0]
        video.thread_type = "AUTO"
        start = float((video.start_time or 0) * (video.time_base or 0))
        for group in _near(times_s):
            try:
                found += _grab(container, video, start, group)
            except (av.error.FFmpegError, OSError):
                break
    return found


def _near(times_s: list[float], reach_s: float = 4.0) -> list[list[float]]:
    """Times split where a new seek is cheaper than decoding on."""
    groups: list[list[float]] = []
    for time_s in sorted(times_s):
        if groups and time_s - groups[-1][-1] < reach_s:
            groups[-1].append(time_s)
        else:
            groups.append([time_s])
    return groups


def _grab(
    container: av.container.InputContainer, video: av.VideoStream, start: float, times: list[float]
) -> list[Picture]:
    """Seek once, then decode on until the last of `times`."""
    base = float(video.time_base or 1)
    container.seek(max(0, int((start + times[0]) / base)), stream=video)
    wanted, found, scaler = list(times), [], _Scaler()
    held: av.VideoFrame | None = None
    for frame in container.decode(video):
        now = (frame.time or 0.0) - start
        while wanted and held is not None and now > wanted[0] + 1e-3:
            found.append(_picture(wanted.pop(0), held, scaler))
        held = frame
        if not wanted:
            return found
    return found + [_picture(time_s, held, scaler) for time_s in wanted if held is not None]


def _picture(time_s: float, frame: av.VideoFrame, scaler: _Scaler) -> Picture:
    return Picture(time_s=time_s, pixels=scaler.pixels(frame, _fit(frame)))


def sample_times(span: Span, fps: float, most: int) -> list[float]:
    """Times at `fps` over a span, thinned evenly to at most `most`; at least one."""
    count = max(1, min(most, int(span.duration_s * fps + 1e-6)))
    step = span.duration_s / count
    return [round(span.start_s + step * (index + 0.5), 3) for index in range(count)]


def shrink(pixels: Pixels, longest: int) -> Pixels:
    """The picture with its longest side at most `longest`; never enlarged."""
    scale = longest / max(pixels.shape[:2])
    if scale >= 1:
        return pixels
    size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def save_jpeg(path: Path, pixels: Pixels, quality: int = 92) -> None:
    """Write a picture; raises OSError where the disk refuses."""
    ok, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not ok:
        raise OSError(f"cannot encode {path.name}")
    path.write_bytes(data.tobytes())


def load_image(path: Path) -> Pixels:
    """Read a picture as BGR; raises OSError where it is missing or broken."""
    data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    pixels = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    if pixels is None:
        raise OSError(f"{path} is not a picture")
    return np.asarray(pixels, dtype=np.uint8)
