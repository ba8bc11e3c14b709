"""A few frames of a video, decoded again for their times (seconds from the first picture)."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import av

from admir.perception.decode import MAX_SIDE, Picture, open_container
from admir.perception.frames import Clock, Scaler, begins_anew, frames_of, picture_track

_Timed = tuple[float, av.VideoFrame]

_SLACK_S = 1e-3
_STEPS_BACK_S = (0.0, 5.0, 15.0)
"""Some containers (MPEG-TS) seek to a key frame after the time: then earlier places are tried."""


def pictures(path: Path, times_s: Sequence[float], longest: int = MAX_SIDE) -> list[Picture]:
    """The frames shown at `times_s`, decoded again from the source, in order of time.

    Their longest side has at most `longest` pixels.

    Returns fewer where the file cannot be read there. Raises VideoNotFound or VideoUnreadable.
    """
    zero_s, backs_s = _ways_in(path, _version(path))
    grabbed = (_grab(path, zero_s, group, backs_s, longest) for group in _near(times_s))
    return [shown for group in grabbed for shown in group]


def _version(path: Path) -> tuple[int, int] | None:
    """What tells a file from the one that stood there before; None where there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=32)
def _ways_in(path: Path, version: tuple[int, int] | None) -> tuple[float, tuple[float, ...]]:
    """The zero of our times in the file's own, and how far back to seek.

    A question looks again and again at one file: each look would open and decode it for these.
    """
    zero_s = _first_stamp_s(path)
    with open_container(path) as container:
        return zero_s, (math.inf,) if _begins_anew(container) else _STEPS_BACK_S


def _begins_anew(container: av.container.InputContainer) -> bool:
    """Whether a time stands for several places, so that only a walk from the start finds it."""
    try:
        return begins_anew(container)
    except (av.error.FFmpegError, OSError):
        return True


def _first_stamp_s(path: Path) -> float:
    """The file's own time of its first picture: the zero of all our times."""
    with closing(_frames_from(path, 0.0, 0.0)) as frames:
        try:
            return next(frames, (0.0, None))[0]
        except (av.error.FFmpegError, OSError):
            return 0.0


def _near(times_s: Sequence[float], reach_s: float = 4.0) -> list[list[float]]:
    """Times split where a new seek is cheaper than decoding on."""
    groups: list[list[float]] = []
    for time_s in sorted(times_s):
        if groups and time_s - groups[-1][-1] < reach_s:
            groups[-1].append(time_s)
        else:
            groups.append([time_s])
    return groups


def _grab(
    path: Path, zero_s: float, times: list[float], backs_s: Sequence[float], longest: int
) -> list[Picture]:
    """Seek to the first of `times`, or earlier until that is early enough, and decode on."""
    starts = {max(0.0, times[0] - back_s) for back_s in backs_s} | {0.0}
    for start_s in sorted(starts, reverse=True):
        with closing(_frames_from(path, zero_s, start_s)) as frames:
            found = _shown(frames, times, longest, late_counts=start_s == 0.0)
        if found:
            return found
    return []


def _frames_from(path: Path, zero_s: float, start_s: float) -> Generator[_Timed]:
    """Frames with their times, from a place near `start_s` on; from the file's start for 0.

    Raises FFmpegError or OSError where the file cannot be read.
    """
    with open_container(path) as container:
        video = picture_track(container)
        assert video is not None  # open_container saw to it
        video.thread_type = "AUTO"
        if start_s > 0:
            container.seek(int((zero_s + start_s) / float(video.time_base or 1)), stream=video)
        clock = Clock(container, unknown_s=math.inf if start_s > 0 else zero_s)
        for frame in frames_of(container, [video]):
            if isinstance(frame, av.VideoFrame):
                yield clock.stamp_s(frame) - zero_s, frame


def _shown(
    frames: Iterable[_Timed], times: list[float], longest: int, *, late_counts: bool
) -> list[Picture]:
    """The picture at each of `times`; after the end it is the last one, after damage none.

    None at all where the frames begin after the first time, unless `late_counts`.
    """
    wanted, found, scaler = list(times), [], Scaler(longest)
    held: av.VideoFrame | None = None
    try:
        for now_s, frame in frames:
            if held is None and not late_counts and now_s > wanted[0] + _SLACK_S:
                return []
            while wanted and held is not None and now_s > wanted[0] + _SLACK_S:
                found.append(Picture(time_s=wanted.pop(0), pixels=scaler.pixels(held)))
            if not wanted:
                return found
            held = frame
    except (av.error.FFmpegError, OSError):
        return found
    if held is None:
        return found
    return found + [Picture(time_s=t, pixels=scaler.pixels(held)) for t in wanted]
