"""Video files into pictures, with PyAV (which carries its own FFmpeg).

`decode` reads a file once and feeds everybody: thumbnails of every frame for shots and timing,
sampled frames for OCR, sound for its facts. `admir.perception.frame_seek` comes back later for a
few frames. Every frame is decoded: one that is left out may be one that others are made of.
Times are seconds from the first frame.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from admir.concurrency import prefetch
from admir.errors import VideoNotFound, VideoUnreadable
from admir.perception.frames import (
    MOST_PIXELS,
    Clock,
    Scaler,
    frame_rate,
    frames_of,
    limit_pixels,
    picture_track,
    shown_size,
    stated_rate,
)
from admir.perception.loudness import Loudness
from admir.types import AudioFacts, Span

Pixels = NDArray[np.uint8]
Choice = Literal["pass", "hold", "give"]
"""What becomes of a frame between regular samples: nothing; it is kept in hand in place of another;
or the one in hand is sampled."""

DECODER = "every frame"
"""How frames are decoded. A memory keeps it: one that was built of other frames is built again."""

THUMB_SIDE = 160
"""Longest side of a thumb, in pixels."""

MAX_SIDE = 1280
"""Longest side of a sampled frame, in pixels."""

_CLOSING_SHARE = 0.75
"""The last frame is sampled too when more than a quarter of a step passed: ads end on a brand."""

_HOLDING_SHARE = 0.5
"""A picture is sampled again where the next comes more than half a step after a sample's time."""

_MOST_STILL, _MOST_RATE = 2_000, 1_000
"""Frames beside those of a rate a second, from which on a clock is taken to stand still."""

_MOST_AHEAD, _MOST_AHEAD_BYTES = 24, 32_000_000
_LONGEST_S = 6 * 3600.0
_LONGEST_JUMP_S = 10.0
_LONGEST_HOLD_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A decoded frame: BGR pixels [height, width, 3] and its own presentation time.

    Of a frame that is held for more than a second, `time_s` may be any time at which it is shown.
    Pictures of one `key` are equal; None where only the pixels tell.
    """

    time_s: float
    pixels: Pixels
    key: Hashable = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumb:
    """A small copy of one frame, BGR [h, w, 3], for shots and for the timing of text."""

    time_s: float
    pixels: Pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoFacts:
    """What one walk over the file told. Width and height are those of the first picture.

    `stated_duration_s` is the container's word; `broken_at_s` is set where the walk ended before
    the stated length, and equals `duration_s`.
    """

    width: int
    height: int
    fps: float
    duration_s: float
    frame_count: int
    stated_duration_s: float | None = None
    audio: AudioFacts | None = None
    broken_at_s: float | None = None


def open_container(path: Path) -> av.container.InputContainer:
    """Open a video file.

    Raises VideoNotFound, or VideoUnreadable where there is no picture to decode.
    """
    if not os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises for a name too long
        raise VideoNotFound(f"{str(path)!r} {_what_else(path)}")
    try:
        if path.stat().st_size == 0:
            raise VideoUnreadable(f"{path.name!r} is an empty file")
        # A bare name with a colon would be taken for a protocol of FFmpeg.
        container = av.open(f"file:{path.absolute()}", options={"max_pixels": str(MOST_PIXELS)})
    except (av.error.FFmpegError, ValueError, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise VideoUnreadable(f"{path.name!r} is not a video that can be opened: {why}") from None
    track = picture_track(container)
    if track is None:
        covered = bool(container.streams.video)
        container.close()
        what = "moving picture (a cover over sound?)" if covered else "picture (sound only?)"
        raise VideoUnreadable(f"{path.name!r} has no {what}")
    limit_pixels(track)
    return container


def _what_else(path: Path) -> str:
    """What lies where no file does. Devices and pipes are never opened: they may not end."""
    if os.path.isdir(path):  # noqa: PTH112
        return "is a folder, not a video"
    return "is not a file" if os.path.lexists(path) else "does not exist"


def decode(
    path: Path,
    on_thumb: Callable[[Thumb], Choice | None],
    on_sample: Callable[[Picture], None],
    *,
    sample_fps: float = 1.0,
    stop: Callable[[], bool] = lambda: False,
) -> VideoFacts:
    """Decode the file once. Each frame gives a thumb; each 1/`sample_fps` s gives a picture.

    What `on_thumb` returns may ask for a picture of one frame between two of those.
    Damage is passed over; a file that breaks off is read as far as it goes
    (`VideoFacts.broken_at_s`). `stop` is asked at every frame. Raises VideoNotFound or
    VideoUnreadable.
    """
    with open_container(path) as container:
        walk, small = _DecodePass(container), Scaler(THUMB_SIDE)
        sampler = _Sampler(fps=sample_fps, give=on_sample)
        # Decoding goes on in a thread of its own while frames are measured here.
        with closing(prefetch(walk.frames(), walk.most_ahead)) as frames:
            for time_s, frame in frames:
                choice = on_thumb(Thumb(time_s=time_s, pixels=small.pixels(frame)))
                sampler.offer(time_s, frame, choice or "pass")
                if stop():
                    break
        if walk.last is None:
            raise VideoUnreadable(f"{path.name!r} has a picture track, but no frame can be decoded")
        facts = walk.facts()
        sampler.close(walk.time_s, walk.last, facts.duration_s)
        return facts


class _DecodePass:
    """One pass over a container: its pictures in order, and what is learnt on the way."""

    def __init__(self, container: av.container.InputContainer) -> None:
        self._container = container
        video = picture_track(container)
        assert video is not None  # open_container saw to it
        self._video = video
        video.thread_type = "AUTO"
        self._audio = next((s for s in container.streams.audio if s.codec_context), None)
        self._sound = Loudness()
        self._zero: float | None = None
        self._size = (0, 0)
        self._ran_away = self._unreadable = False
        self.count = 0
        self.time_s = 0.0
        self.last: av.VideoFrame | None = None

    @property
    def most_ahead(self) -> int:
        """How many frames may wait, so that they take little room."""
        context = self._video.codec_context
        frame_bytes = 1.5 * max(1, context.width) * max(1, context.height)
        return max(2, min(_MOST_AHEAD, int(_MOST_AHEAD_BYTES / frame_bytes)))

    def frames(self) -> Iterator[tuple[float, av.VideoFrame]]:
        """Pictures with their times, to the end or to where the file cannot be read on."""
        clock = Clock(self._container)
        streams = [stream for stream in (self._video, self._audio) if stream]
        try:
            for frame in frames_of(self._container, streams):
                if isinstance(frame, av.AudioFrame):
                    self._sound.add(frame)
                elif not self._take(frame, clock.stamp_s(frame)):
                    self._ran_away = True
                    return
                else:
                    yield self.time_s, frame
        except (av.error.FFmpegError, OSError):
            self._unreadable = True

    def _take(self, frame: av.VideoFrame, stamp_s: float) -> bool:
        """Make this the current picture; False where its time cannot be true."""
        if self._zero is None:
            self._zero, self._size = stamp_s, shown_size(frame)
        time_s = max(self.time_s, stamp_s - self._zero)
        stated_s = self._stated_s()
        jumps = time_s - self.time_s > _LONGEST_JUMP_S
        stands = self.count > _MOST_STILL + _MOST_RATE * time_s
        if stands or time_s > _LONGEST_S or (stated_s and jumps and time_s > 2 * stated_s):
            return False
        self.time_s, self.last = time_s, frame
        self.count += 1
        return True

    def _stated_s(self) -> float | None:
        """How long the pictures last, in the file's word; Matroska has one for all its tracks."""
        if self._video.duration and self._video.time_base:
            return float(self._video.duration * self._video.time_base)
        if self._container.duration:
            return max(0.0, self._container.duration / av.time_base - (self._zero or 0.0))
        return None

    def _rate(self) -> float:
        """Frames a second: stated, else counted."""
        counted = (self.count - 1) / self.time_s if self.time_s else None
        return stated_rate(self._video) or counted or frame_rate(self._video)

    def _end_s(self) -> float:
        """When the last picture goes: after its own stated time, else that of one frame."""
        step_s, stated_s = 1 / frame_rate(self._video), self._stated_s()
        assert self.last is not None
        own_s = float((self.last.duration or 0) * (self.last.time_base or 0))
        if stated_s and self.time_s + own_s > stated_s + 1.0:
            own_s = 0.0
        return self.time_s + (own_s if 0 < own_s <= _LONGEST_HOLD_S else step_s)

    def _breaks_off(self, end_s: float) -> bool:
        """Whether the walk ended before the stated length, or at a time that cannot be true."""
        stated_s = self._stated_s()
        if self._ran_away or not stated_s:
            return self._ran_away or self._unreadable
        slack_s = max(1.0, 3 / frame_rate(self._video))
        if not self._video.duration:
            end_s = max(end_s, self._sound.end_s - (self._zero or 0.0))
        return stated_s - end_s > slack_s or (self._unreadable and stated_s > end_s + 0.1)

    def facts(self) -> VideoFacts:
        """All that was learnt; call it after at least one frame."""
        end_s, stated = self._end_s(), self._container.duration
        return VideoFacts(
            width=self._size[0],
            height=self._size[1],
            fps=self._rate(),
            duration_s=end_s,
            frame_count=self.count,
            stated_duration_s=stated / av.time_base if stated else None,
            audio=self._sound.facts(self._audio) if self._audio else None,
            broken_at_s=end_s if self._breaks_off(end_s) else None,
        )


@dataclass(slots=True, kw_only=True)
class _Sampler:
    """Gives a picture each 1/`fps` s, also of one that is held for long, and the last one.

    And those in hand that are asked for.
    """

    fps: float
    give: Callable[[Picture], None]
    scaler: Scaler = field(default_factory=lambda: Scaler(MAX_SIDE))
    shown: av.VideoFrame | None = None
    in_hand: tuple[float, av.VideoFrame] | None = None
    next_s: float = 0.0
    given_s: float = -1.0

    def offer(self, time_s: float, frame: av.VideoFrame, choice: Choice) -> None:
        if choice == "hold":
            self.in_hand = (time_s, frame)
        elif choice == "give" and self.in_hand:
            self._give(*self.in_hand)
        self._hold(time_s)
        if time_s >= self.next_s - 1e-6:
            self._give(time_s, frame)
        self.shown = frame

    def close(self, time_s: float, frame: av.VideoFrame, end_s: float) -> None:
        self._hold(end_s)
        if time_s > self.given_s and self.next_s - time_s < _CLOSING_SHARE / self.fps:
            self._give(time_s, frame)

    def _hold(self, until_s: float) -> None:
        """Give the picture that is shown until then, where no other comes near a sample's time."""
        while self.shown is not None and until_s - self.next_s > _HOLDING_SHARE / self.fps:
            self._give(self.next_s, self.shown)

    def _give(self, time_s: float, frame: av.VideoFrame) -> None:
        self.given_s, self.in_hand = time_s, None
        self.next_s = max(self.next_s, (int(time_s * self.fps + 1e-6) + 1) / self.fps)
        self.give(Picture(time_s=time_s, pixels=self.scaler.pixels(frame)))


def sample_times(span: Span, fps: float, most: int) -> list[float]:
    """Times at `fps` over a span, thinned evenly to at most `most`; at least one."""
    count = max(1, min(most, int(span.duration_s * fps + 1e-3)))
    step = span.duration_s / count
    return [round(span.start_s + step * (index + 0.5), 3) for index in range(count)]


def shrink(pixels: Pixels, longest: int) -> Pixels:
    """The picture with its longest side at most `longest`; never enlarged."""
    scale = longest / max(pixels.shape[:2])
    if scale >= 1:
        return pixels
    size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
    near = by_whole_number(pixels, int(1 / scale))
    return np.asarray(cv2.resize(near, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def by_whole_number(pixels: Pixels, factor: int) -> Pixels:
    """The picture with its sides divided; what is left over at the right and below is cut off.

    OpenCV averages whole blocks many times faster than parts of pixels.
    """
    if factor <= 1:
        return pixels
    height, width = pixels.shape[:2]
    size = (max(1, width // factor), max(1, height // factor))
    whole = pixels[: size[1] * factor, : size[0] * factor]
    return np.asarray(cv2.resize(whole, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def save_jpeg(path: Path, pixels: Pixels) -> None:
    """Write a picture, whole or not at all; raises OSError where the disk refuses."""
    write_picture(path, jpeg_of(pixels))


def jpeg_of(pixels: Pixels, quality: int = 92) -> bytes:
    """A picture as JPEG; raises OSError where it cannot be encoded."""
    ok, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not ok:
        raise OSError("a picture cannot be encoded")
    return data.tobytes()


def write_picture(path: Path, encoded: bytes) -> None:
    """Write an encoded picture, whole or not at all; raises OSError where the disk refuses."""
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_bytes(encoded)
    unfinished.replace(path)


_READ_AS = {
    1: cv2.IMREAD_COLOR,
    2: cv2.IMREAD_REDUCED_COLOR_2,
    4: cv2.IMREAD_REDUCED_COLOR_4,
    8: cv2.IMREAD_REDUCED_COLOR_8,
}


def load_image(path: Path, *, smaller: int = 1) -> Pixels:
    """Read a picture as BGR; raises OSError where it is missing or broken.

    `smaller` 2, 4 or 8 divides its sides: a JPEG is then decoded in a third of the time.
    """
    data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    pixels = cv2.imdecode(data, _READ_AS[smaller]) if data.size else None
    if pixels is None:
        raise OSError(f"{path} is not a picture")
    return np.asarray(pixels, dtype=np.uint8)
