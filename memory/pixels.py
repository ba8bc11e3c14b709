"""Pictures of a memory: decoded again from the source, or the frames kept with the build."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from admir.errors import VideoError
from admir.perception.decode import MAX_SIDE, Picture, load_image, shrink
from admir.perception.seek import pictures
from admir.types import Frame, Memory

_FILL_REACH_S = 1.0
_FEW = 2


def frames_at(memory: Memory, times_s: Sequence[float], longest: int = MAX_SIDE) -> list[Picture]:
    """The pictures shown at these times, from the source where it is still the same file.

    Times that the source does not give are filled from the kept frames (their own times tell):
    by the nearest without a source, else by one within a second. Empty for a memory of text alone.
    Their longest side has at most `longest` pixels.
    """
    found = _from_source(memory, times_s, longest)
    given = {picture.time_s for picture in found}
    missing = [time_s for time_s in times_s if time_s not in given]
    kept = _kept(memory, missing, _FILL_REACH_S if found else math.inf)
    kept = [replace(picture, pixels=shrink(picture.pixels, longest)) for picture in kept]
    return sorted(
        found + [picture for picture in kept if picture.time_s not in given],
        key=lambda picture: picture.time_s,
    )


def _from_source(memory: Memory, times_s: Sequence[float], longest: int) -> list[Picture]:
    if not source_is_there(memory):
        return []
    path = Path(memory.video.path)
    try:
        if len(times_s) > _FEW:
            return pictures(path, times_s, longest)
        return list(_few_pictures(path, path.stat().st_mtime_ns, tuple(times_s), longest))
    except (VideoError, OSError):
        return []


@lru_cache(maxsize=32)
def _few_pictures(
    path: Path, changed_ns: int, times_s: tuple[float, ...], longest: int
) -> tuple[Picture, ...]:
    """Many questions rest on the same lines, so verification looks at the same frames."""
    return tuple(pictures(path, times_s, longest))


def source_is_there(memory: Memory) -> bool:
    """Whether the video file still stands where it was, in its size."""
    path = Path(memory.video.path)
    try:
        return (
            bool(memory.video.path)
            and path.is_file()
            and path.stat().st_size == memory.video.file_bytes
        )
    except OSError:
        return False


def _kept(memory: Memory, times_s: Sequence[float], reach_s: float) -> list[Picture]:
    """The readable kept frames nearest to the times, each at most `reach_s` away, each once."""
    near = [
        frame
        for time_s in times_s
        if (frame := nearest_frame(memory, time_s)) and abs(frame.time_s - time_s) <= reach_s
    ]
    loaded = [_load(memory, frame) for frame in dict.fromkeys(near)]
    return [picture for picture in loaded if picture]


def _load(memory: Memory, frame: Frame) -> Picture | None:
    try:
        pixels = load_image(Path(memory.folder) / frame.file)
    except OSError:
        return None
    return Picture(time_s=frame.time_s, pixels=pixels)


def nearest_frame(memory: Memory, time_s: float) -> Frame | None:
    """The kept frame nearest to a time."""
    return min(memory.frames, key=lambda frame: abs(frame.time_s - time_s), default=None)
