"""A few frames of a video, decoded again for their times (seconds from the first picture)."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path

import av

from admir.perception.decode import MAX_SIDE, Picture, open_container
from admir.perception.frames import (
    Clock,
    Scaler,
    begins_anew,
    frames_of,
    picture_track,
)

_Timed = tuple[float, av.VideoFrame]

_SLACK_S = 1e-3
_HELD_S = 1.0
"""A frame that is shown for longer is labelled with the time it was asked for: see `Picture`."""

_STEPS_BACK_S = (0.0, 5.0, 15.0)
"""Some containers (MPEG-TS) seek to a key frame after the time: then earlier places are tried."""


def decode_at(
    path: Path, times_s: Sequence[float], longest: int = MAX_SIDE
) -> dict[float, Picture]:
    """By time asked for, the frame shown then, decoded again from the source.

    A frame equals that of a full decode, at most `longest` pixels long. Times that the file does
    not give (it cannot be read there) are left out. Raises VideoNotFound or VideoUnreadable.
    """
    zero_s, backs_s = _ways_in(path, _version(path))
    found: dict[float, Picture] = {}
    for group in _group_near(times_s):
        found |= _decode_group(path, zero_s, group, backs_s, longest)
    return found


def prepare(path: Path) -> None:
    """Find out now what the first look into a file would wait for. Raises as `decode_at` does."""
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


def _group_near(times_s: Sequence[float], reach_s: float = 4.0) -> list[list[float]]:
    """Times split where a new seek is cheaper than decoding on."""
    groups: list[list[float]] = []
    for time_s in sorted(set(times_s)):
        if groups and time_s - groups[-1][-1] < reach_s:
            groups[-1].append(time_s)
        else:
            groups.append([time_s])
    return groups


def _decode_group(
    path: Path, zero_s: float, times: list[float], backs_s: Sequence[float], longest: int
) -> dict[float, Picture]:
    """Seek to the first of `times`, or earlier until that is early enough, and decode on."""
    starts = {max(0.0, times[0] - back_s) for back_s in backs_s} | {0.0}
    for start_s in sorted(starts, reverse=True):
        try:
            with closing(_frames_from(path, zero_s, start_s)) as frames:
                found = _pick(frames, times, longest, late_counts=start_s == 0.0)
        except (av.error.FFmpegError, OSError):  # there is no seeking to this place
            continue
        if found:
            return found
    return {}


def _frames_from(path: Path, zero_s: float, start_s: float) -> Generator[_Timed]:
    """Frames with their times, from a key frame near `start_s` on; from the file's start for 0.

    Frames that are shown before that key frame are left out: of an open group of pictures, they
    are made of frames before it. Raises FFmpegError or OSError where the file cannot be read.
    """
    with open_container(path) as container:
        video = picture_track(container)
        assert video is not None  # open_container saw to it
        video.thread_type = "AUTO"
        if start_s > 0:
            container.seek(int((zero_s + start_s) / float(video.time_base or 1)), stream=video)
        clock = Clock(container, unknown_s=math.inf if start_s > 0 else zero_s)
        whole = start_s == 0.0
        for frame in frames_of(container, [video]):
            if isinstance(frame, av.VideoFrame):
                now_s = clock.stamp_s(frame) - zero_s
                whole = whole or frame.key_frame
                if whole:
                    yield now_s, frame


def _pick(
    frames: Iterable[_Timed], times: list[float], longest: int, *, late_counts: bool
) -> dict[float, Picture]:
    """The frame at each of `times`; after the end it is the last one, after damage none.

    None at all where the frames begin after the first time, unless `late_counts`.
    """
    wanted, found, scaler = list(times), dict[float, Picture](), Scaler(longest)
    held: _Timed | None = None
    try:
        for now_s, frame in frames:
            if held is None and not late_counts and now_s > wanted[0] + _SLACK_S:
                return {}
            shown: list[float] = []
            while wanted and held is not None and now_s > wanted[0] + _SLACK_S:
                shown.append(wanted.pop(0))
            if held is not None:
                found |= _labelled(held, shown, scaler, now_s)
            if not wanted:
                return found
            held = now_s, frame
    except (av.error.FFmpegError, OSError):
        return found
    return found if held is None else found | _labelled(held, wanted, scaler, _end_s(held))


def _end_s(last: _Timed) -> float:
    """Until when the last frame is shown, in its own word."""
    now_s, frame = last
    return now_s + float((frame.duration or 0) * (frame.time_base or 0))


def _labelled(
    shown: _Timed, times: list[float], scaler: Scaler, until_s: float
) -> dict[float, Picture]:
    """One frame for all the times at which it was asked for."""
    if not times:
        return {}
    own_s, pixels = round(shown[0], 3), scaler.pixels(shown[1])
    held = until_s - own_s > _HELD_S
    return {
        asked_s: Picture(
            time_s=asked_s if held and own_s <= asked_s < until_s else own_s, pixels=pixels
        )
        for asked_s in times
    }
