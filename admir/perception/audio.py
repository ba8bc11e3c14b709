"""The sound of a video as samples, in step with its pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

from admir.perception.decode import open_container
from admir.perception.frames import frames_of, jumps, may_begin_anew, picture_track
from admir.perception.sidecars import language_code
from admir.perception.speech import SAMPLE_RATE, Audio

LONGEST_S = 6 * 3600.0
"""Sound behind this is not heard: 6 h of samples take 1.4 GB."""

_OVERHANG_S = 60.0
"""What sound may outlast the stated length of its file by; more is a broken time."""

_RATES = 1_000, 768_000
"""Samples a second that sound can have; a packet at 1 a second would become 16,000 times longer."""

_SLACK_S = 0.05
"""A packet that starts within this of where the last one ended follows it without a seam."""


def decode_audio(
    path: Path, language: str | None = None, stop: Callable[[], bool] = lambda: False
) -> Audio:
    """The sound track as 16 kHz mono, float32 [n] in -1 to 1; empty where there is none.

    Of several, that which says to be in the `language` (`en`), else the first.

    Sample 0 is heard with the first picture: earlier sound is cut, later sound comes after silence.
    What was read before damage is kept, at most `LONGEST_S`. Raises VideoNotFound or
    VideoUnreadable. `stop` is asked now and then; what was decoded by then is returned.
    """
    with open_container(path) as container:
        track = _sound_track(container, language)
        if track is None:
            return np.zeros(0, dtype=np.float32)
        tape = _Tape.for_container(container)
        try:
            for frame in frames_of(container, [track]):
                if stop() or not isinstance(frame, av.AudioFrame):
                    break
                tape.add(frame)
        except (av.error.FFmpegError, OSError, ValueError):
            pass
        return tape.samples()


def _sound_track(container: av.container.InputContainer, language: str | None) -> Any:
    tracks = [track for track in container.streams.audio if track.codec_context]
    wanted = language_code(language)
    spoken = (t for t in tracks if wanted and language_code(t.metadata.get("language")) == wanted)
    return next(spoken, next(iter(tracks), None))


def _room_s(container: av.container.InputContainer) -> float:
    """Seconds of sound there can be, by the stated length."""
    stated_s = (container.duration or 0) / av.time_base
    return min(LONGEST_S, stated_s + _OVERHANG_S) if stated_s > 0 else LONGEST_S


@dataclass
class _Tape:
    """Samples laid down at their times. Zeros that nothing is written on take no memory."""

    room: Audio
    zero_s: float
    begins_anew: bool
    end: int = 0
    next_s: float | None = None
    shift_s: float = 0.0
    head: int = 0
    resampler: av.AudioResampler | None = None

    @classmethod
    def for_container(cls, container: av.container.InputContainer) -> _Tape:
        picture = picture_track(container)
        assert picture is not None  # open_container saw to it
        return cls(
            room=np.zeros(int(_room_s(container) * SAMPLE_RATE), dtype=np.float32),
            zero_s=float((picture.start_time or 0) * (picture.time_base or 0)),
            begins_anew=may_begin_anew(container),
        )

    def add(self, frame: av.AudioFrame) -> None:
        """Lay down the next packet; one that cannot be resampled is passed over."""
        if not _RATES[0] <= frame.sample_rate <= _RATES[1] or not frame.samples:
            return
        told_s = self._told_s(frame)
        if (told_s - self.zero_s) * SAMPLE_RATE >= self.room.size:
            return
        if self.next_s is None or abs(told_s - self.next_s) > _SLACK_S:
            self._start_at(told_s)
        self.next_s = told_s + frame.samples / frame.sample_rate
        self._resample(frame)

    def samples(self) -> Audio:
        """All that was laid down."""
        self._flush()
        return self.room[: self.end]

    def _told_s(self, frame: av.AudioFrame) -> float:
        """The file's time of a packet; where its clock begins anew, that which follows."""
        if frame.time is None:
            return self.next_s if self.next_s is not None else self.zero_s
        told_s = float(frame.time) + self.shift_s
        if self.next_s is not None and self.begins_anew and jumps(told_s - self.next_s):
            self.shift_s += self.next_s - told_s
            return self.next_s
        return told_s

    def _start_at(self, time_s: float) -> None:
        self._flush()
        self.head = round((time_s - self.zero_s) * SAMPLE_RATE)

    def _resample(self, frame: av.AudioFrame) -> None:
        if self.resampler is None:
            self.resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)
        try:
            made = self.resampler.resample(frame)
        except (av.error.FFmpegError, ValueError):  # another format than that of the frame before
            self.resampler = None
            return
        for each in made:
            self._lay(each)

    def _flush(self) -> None:
        """What the resampler still holds."""
        if self.resampler is None:
            return
        try:
            for each in self.resampler.resample(None):
                self._lay(each)
        except (av.error.FFmpegError, ValueError):
            pass
        self.resampler = None

    def _lay(self, frame: Any) -> None:
        """Write samples at the head, as far as they lie on the tape."""
        made = np.nan_to_num(frame.to_ndarray().reshape(-1), nan=0.0, posinf=1.0, neginf=-1.0)
        start, stop = self.head, self.head + made.size
        self.head = stop
        first, last = max(0, start), min(stop, self.room.size)
        if first < last:
            part = made[first - start : last - start]
            np.clip(part, -1.0, 1.0, out=self.room[first:last])
            self.end = max(self.end, last)
