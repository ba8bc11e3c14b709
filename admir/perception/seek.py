"""A few frames of a video, decoded again for their times (seconds from the first picture)."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import av

from admir.perception.decode import MAX_SIDE, Picture, open_container
from admir.perception.frames import (
    Clock,
    Scaler,
    begins_anew,
    decode_few,
    frames_of,
    picture_track,
)

_Timed = tuple[float, av.VideoFrame]

_SLACK_S = 1e-3
_LIGHT_GAP_S = 0.2
"""Of a light look: where frames are further apart than this, all are decoded."""

_STEPS_BACK_S = (0.0, 5.0, 15.0)
"""Some containers (MPEG-TS) seek to a key frame after the time: then earlier places are tried."""


def pictures(
    path: Path, times_s: Sequence[float], longest: int = MAX_SIDE, *, light: bool = False
) -> list[Picture]:
    """The frames shown at `times_s`, decoded again from the source, in order of time.

    Their longest side has at most `longest` pixels. A `light` look takes less than half of the
    time: it may show a frame of up to 0.2 s before, where no other frame needs the ones between.

    Returns fewer where the file cannot be read there. Raises VideoNotFound or VideoUnreadable.
    """
    zero_s, backs_s = _ways_in(path, _version(path))
    grabbed = (
        _grab(_Source(path=path, zero_s=zero_s, light=light), group, backs_s, longest)
        for group in _near(times_s)
    )
    return [shown for group in grabbed for shown in group]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A file, its own time of our zero, and whether frames that no other needs are left out."""

    path: Path
    zero_s: float
    light: bool = False


def prepare(path: Path) -> None:
    """Find out now what the first look into a file would wait for. Raises as `pictures` does."""
    _ways_in(path, _version(path))


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
    with open_container(path) as container:
        return _first_stamp_s(container), (math.inf,) if _begins_anew(container) else _STEPS_BACK_S


def _first_stamp_s(container: av.container.InputContainer) -> float:
    """The file's own time of its first picture: the zero of all our times."""
    video = picture_track(container)
    assert video is not None  # open_container saw to it
    clock = Clock(container)
    with suppress(av.error.FFmpegError, OSError):
        for frame in frames_of(container, [video]):
            if isinstance(frame, av.VideoFrame):
                return clock.stamp_s(frame)
    return 0.0


def _begins_anew(container: av.container.InputContainer) -> bool:
    """Whether a time stands for several places, so that only a walk from the start finds it."""
    try:
        return begins_anew(container)
    except (av.error.FFmpegError, OSError):
        return True


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
    source: _Source, times: list[float], backs_s: Sequence[float], longest: int
) -> list[Picture]:
    """Seek to the first of `times`, or earlier until that is early enough, and decode on."""
    starts = {max(0.0, times[0] - back_s) for back_s in backs_s} | {0.0}
    for start_s in sorted(starts, reverse=True):
        try:
            with closing(_frames_from(source, start_s)) as frames:
                found = _shown(frames, times, longest, late_counts=start_s == 0.0)
        except _FarApart:
            return _grab(replace(source, light=False), times, backs_s, longest)
        if found:
            return found
    return []


class _FarApart(Exception):
    """The frames that others need are too few for a light look."""


def _frames_from(source: _Source, start_s: float) -> Generator[_Timed]:
    """Frames with their times, from a place near `start_s` on; from the file's start for 0.

    Raises FFmpegError or OSError where the file cannot be read, _FarApart for a light look.
    """
    with open_container(source.path) as container:
        video = picture_track(container)
        assert video is not None  # open_container saw to it
        if source.light:
            decode_few(container, video)
        else:
            video.thread_type = "AUTO"
        if start_s > 0:
            container.seek(
                int((source.zero_s + start_s) / float(video.time_base or 1)), stream=video
            )
        clock = Clock(container, unknown_s=math.inf if start_s > 0 else source.zero_s)
        before_s = math.inf
        for frame in frames_of(container, [video]):
            if isinstance(frame, av.VideoFrame):
                now_s = clock.stamp_s(frame) - source.zero_s
                if source.light and now_s - before_s > _LIGHT_GAP_S:
                    raise _FarApart
                before_s = now_s
                yield now_s, frame


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
