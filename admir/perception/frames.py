"""Frames as FFmpeg gives them: past damage, with their times, and as pixels of one size."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from pathlib import Path

import av
import numpy as np
from av.format import Flags
from av.stream import Disposition
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from admir.errors import VideoUnreadable

MOST_PIXELS = 8192 * 4608
"""Pixels of the largest picture that is decoded."""

_MOST_GROWN_PIXELS = 4096 * 2304
"""Pixels to which pictures may grow on the way, however small the file says they are."""

_HIGHEST_RATE = 300.0
_BACK_S = 0.5
_AHEAD_S = 10.0


def picture_track(container: av.container.InputContainer) -> av.VideoStream | None:
    """The track that players show; None where there is none, or only the cover of a sound file."""
    track = container.streams.best("video")
    if not isinstance(track, av.VideoStream) or track.codec_context is None:
        return None
    return None if track.disposition & Disposition.attached_pic else track


def limit_pixels(video: av.VideoStream) -> None:
    """Let larger pictures fail in the decoder, before they take memory; see `frames_of`."""
    video.codec_context.options = {"max_pixels": str(_most_pixels(video))}


def _most_pixels(video: av.VideoStream) -> int:
    return max(_MOST_GROWN_PIXELS, min(MOST_PIXELS, (video.width or 0) * (video.height or 0)))


def _times_keys_only(container: av.container.InputContainer, video: av.VideoStream) -> bool:
    """AVI stamps packets in decoding order: with B-frames only those of key frames are true."""
    return container.format.name == "avi" and bool(video.codec_context.has_b_frames)


def packets_of(
    container: av.container.InputContainer, streams: Sequence[av.stream.Stream]
) -> Iterator[av.Packet[av.stream.Stream]]:
    """Packets in the file's order; raises FFmpegError or OSError where it cannot be read on."""
    try:
        yield from container.demux(list(streams))
    except IndexError:
        return  # PyAV, at the end, trips over streams that came up while it read


def frames_of(
    container: av.container.InputContainer, streams: Sequence[av.stream.Stream]
) -> Iterator[av.VideoFrame | av.AudioFrame]:
    """Decoded frames in the file's order; packets that cannot be decoded are passed over.

    Raises FFmpegError or OSError where the file cannot be read on, VideoUnreadable at a picture
    that is too large.
    """
    most = max(
        (_most_pixels(each) for each in streams if isinstance(each, av.VideoStream)), default=0
    )
    for packet in packets_of(container, streams):
        try:
            frames = packet.decode()
        except av.error.FFmpegError as error:
            if _was_refused(packet.stream, error, most):
                raise _too_large(container, most) from None
            continue
        for frame in frames:
            if isinstance(frame, av.VideoFrame) and frame.width * frame.height > most:
                raise _too_large(container, most)
            if isinstance(frame, av.VideoFrame | av.AudioFrame):
                yield frame


def _was_refused(stream: av.stream.Stream, error: av.error.FFmpegError, most: int) -> bool:
    """Whether the decoder failed by its limit: it keeps the size that was too large, or none.

    That of AV1 keeps the size before, and has an error of its own.
    """
    if not isinstance(stream, av.VideoStream):
        return False
    size = stream.codec_context.width * stream.codec_context.height
    told = error.errno == (errno.EINVAL if size == 0 else errno.ERANGE)
    return size > most or told


def _too_large(container: av.container.InputContainer, most: int) -> VideoUnreadable:
    return VideoUnreadable(
        f"{Path(container.name).name!r} has a picture of more than {most:,} pixels, or of no size; "
        "convert it to a plain MP4 of at most 4K"
    )


class Clock:
    """The file's own times of frames, in seconds. A frame without one follows the one before.

    So does one whose time begins anew, where the format allows that: files joined end to end.
    `unknown_s` is the time of a first frame that has none.
    """

    def __init__(self, container: av.container.InputContainer, unknown_s: float = 0.0) -> None:
        video = picture_track(container)
        assert video is not None
        self._step_s = 1 / frame_rate(video)
        self._next_s = unknown_s
        self._begins_anew = may_begin_anew(container)
        self._shift_s = 0.0
        self._first = True
        self._keys_only = _times_keys_only(container, video)

    def stamp_s(self, frame: av.VideoFrame) -> float:
        """The time of the next frame."""
        told = frame.time is not None and (frame.key_frame or not self._keys_only)
        stamp_s = self._shifted_s(float(frame.time or 0.0)) if told else self._next_s
        self._first = False
        self._next_s = stamp_s + self._step_s
        return stamp_s

    def _shifted_s(self, told_s: float) -> float:
        stamp_s = told_s + self._shift_s
        if not self._first and self._begins_anew and jumps(stamp_s - self._next_s):
            self._shift_s += self._next_s - stamp_s
            return self._next_s
        return stamp_s


def begins_anew(container: av.container.InputContainer) -> bool:
    """Whether the times of the pictures begin anew somewhere; reads through the file if need be."""
    if not may_begin_anew(container):
        return False
    before_s: float | None = None
    video = picture_track(container)
    for packet in packets_of(container, [video] if video else []):
        if packet.dts is None or packet.time_base is None:
            continue
        now_s = float(packet.dts * packet.time_base)
        if before_s is not None and jumps(now_s - before_s):
            return True
        before_s = now_s
    return False


def may_begin_anew(container: av.container.InputContainer) -> bool:
    """Whether the format allows times to begin anew: files joined end to end."""
    return Flags.ts_discont in Flags(container.format.flags)


def jumps(step_s: float) -> bool:
    """Whether times so far apart do not follow one another."""
    return not -_BACK_S <= step_s <= _AHEAD_S


def length_s(container: av.container.InputContainer, video: av.VideoStream) -> float:
    """The stated length; where none is, that of the packets, which are read but not decoded.

    Raises FFmpegError or OSError where the file cannot be read on.
    """
    if container.duration:
        return container.duration / av.time_base
    packets = [packet for packet in packets_of(container, [video]) if packet.size]
    times = [float(p.pts * p.time_base) for p in packets if p.pts is not None and p.time_base]
    step_s = 1 / frame_rate(video)
    return max(times) - min(times) + step_s if times else len(packets) * step_s


def frame_rate(video: av.VideoStream) -> float:
    """Frames a second, on average; 25 where the file states none that can be true."""
    return stated_rate(video) or 25.0


def stated_rate(video: av.VideoStream) -> float | None:
    """Frames a second in the file's word; some state their clock's ticks or nothing: then None."""
    rates = (float(r) for r in (video.average_rate, video.guessed_rate, video.base_rate) if r)
    return next((rate for rate in rates if 1 / 60 <= rate <= _HIGHEST_RATE), None)


class Scaler:
    """Frames as BGR pixels, all in the size of the first, whose longest side is at most `longest`.

    Its swscale context is made once: that is the cost.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._shown: tuple[int, int] | None = None
        self._reformatter = VideoReformatter()

    def pixels(self, frame: av.VideoFrame) -> NDArray[np.uint8]:
        """The frame [height, width, 3], turned as the file's rotation mark says."""
        if self._shown is None:
            width, height = shown_size(frame)
            scale = min(1.0, self._longest / max(width, height))
            self._shown = _even(width * scale), _even(height * scale)
        size = self._shown[::-1] if _lies(frame) else self._shown
        scaled = self._reformatter.reformat(frame, *size, "bgr24", interpolation="AREA")
        pixels = np.asarray(scaled.to_ndarray(), dtype=np.uint8)
        turns = int(frame.rotation) // 90
        return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels


def shown_size(frame: av.VideoFrame) -> tuple[int, int]:
    """Width and height in pixels as players show the frame."""
    return (frame.height, frame.width) if _lies(frame) else (frame.width, frame.height)


def _lies(frame: av.VideoFrame) -> bool:
    """Whether the frame is marked to be turned by a quarter."""
    return int(frame.rotation) // 90 % 2 != 0


def _even(value: float) -> int:
    return max(2, 2 * round(value / 2))
