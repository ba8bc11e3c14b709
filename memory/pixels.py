"""Pictures of a memory: decoded again from the source, or the frames kept with the build."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from admir.concurrency import BoundedCache
from admir.errors import VideoError
from admir.perception.decode import MAX_SIDE, Picture, jpeg_of, load_image, shrink
from admir.perception.seek import pictures, prepare
from admir.types import Frame, Memory

_FILL_REACH_S = 1.0

DECODED: BoundedCache[Picture] = BoundedCache(64_000_000)
"""Pictures decoded before: many questions rest on the same lines and look at the same range."""

DRAWN: BoundedCache[bytes] = BoundedCache(32_000_000)
"""The same as JPEG, as they are kept beside an answer."""


def as_jpeg(picture: Picture) -> bytes:
    """A picture as it is kept; one that was drawn before is known by its key.

    Raises OSError where it cannot be encoded.
    """
    if picture.key is None:
        return jpeg_of(picture.pixels)
    return DRAWN.made(picture.key, lambda: jpeg_of(picture.pixels), len)


def frames_at(
    memory: Memory, times_s: Sequence[float], longest: int = MAX_SIDE, *, light: bool = False
) -> list[Picture]:
    """The pictures shown at these times, from the source where it is still the same file.

    Times that the source does not give are filled from the kept frames (their own times tell):
    by the nearest without a source, else by one within a second. Empty for a memory of text alone.
    Their longest side has at most `longest` pixels. A `light` look is quicker and less exact: see
    `admir.perception.seek.pictures`.
    """
    found = _from_source(memory, times_s, longest, light=light)
    given = {picture.time_s for picture in found}
    missing = [time_s for time_s in times_s if time_s not in given]
    kept = _kept(memory, missing, _FILL_REACH_S if found else math.inf)
    kept = [replace(picture, pixels=shrink(picture.pixels, longest)) for picture in kept]
    return sorted(
        found + [picture for picture in kept if picture.time_s not in given],
        key=lambda picture: picture.time_s,
    )


def prepare_looks(memory: Memory) -> None:
    """Find out now what the first look into the source would wait for; in a thread, too."""
    if source_is_there(memory):
        with suppress(VideoError, OSError):
            prepare(Path(memory.video.path))


def _from_source(
    memory: Memory, times_s: Sequence[float], longest: int, *, light: bool
) -> list[Picture]:
    if not source_is_there(memory):
        return []
    path = Path(memory.video.path)
    try:
        changed_ns = path.stat().st_mtime_ns
        keys = {time_s: (str(path), changed_ns, longest, light, time_s) for time_s in times_s}
        kept = {time_s: found for time_s, key in keys.items() if (found := DECODED.get(key))}
        missing = [time_s for time_s in times_s if time_s not in kept]
        fresh = pictures(path, missing, longest, light=light) if missing else []
    except (VideoError, OSError):
        return []
    known = [replace(picture, key=keys.get(picture.time_s)) for picture in fresh]
    for picture in known:
        if picture.key is not None:
            DECODED.put(picture.key, picture, picture.pixels.nbytes)
    return sorted([*kept.values(), *known], key=lambda picture: picture.time_s)


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
