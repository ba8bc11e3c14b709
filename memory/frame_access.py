"""Pictures of a memory: decoded again from the source, or the frames kept with the build."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from admir.concurrency import BoundedCache
from admir.errors import VideoError
from admir.memory.frame_choice import spread
from admir.perception.decode import (
    MAX_SIDE,
    Picture,
    jpeg_of,
    load_image,
    sample_times,
    shrink,
)
from admir.perception.frame_seek import decode_at, prepare
from admir.types import Frame, Memory, Span

_FILL_REACH_S = 1.0
_ENOUGH_KEPT = 0.9
_READERS = 2

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


def frames_at(memory: Memory, times_s: Sequence[float], longest: int = MAX_SIDE) -> list[Picture]:
    """The frames shown at these times, each once, in order, with their own times.

    They come from the source where it is still the same file. Times that it does not give are
    filled from the kept frames: by the nearest without a source, else by one within a second.
    Empty for a memory of text alone. Their longest side has at most `longest` pixels.
    """
    found = _from_source(memory, times_s, longest)
    missing = [time_s for time_s in times_s if time_s not in found]
    kept = _kept(memory, missing, _FILL_REACH_S if found else math.inf)
    once = {
        picture.time_s: replace(picture, pixels=shrink(picture.pixels, longest)) for picture in kept
    }
    once |= {picture.time_s: picture for picture in found.values()}
    return [once[time_s] for time_s in sorted(once)]


def spread_frames(memory: Memory, span: Span, count: int, longest: int = MAX_SIDE) -> list[Picture]:
    """About `count` frames evenly over a range, in order, with their own times.

    Where nearly so many were kept with the build, it is these: nothing is decoded then.
    """
    kept = [frame for frame in memory.frames if span.contains(frame.time_s)]
    if len(kept) >= _ENOUGH_KEPT * count:
        with ThreadPoolExecutor(_READERS, "admir-frames") as pool:
            loaded = list(pool.map(partial(_load, memory), spread(kept, count)))
        if all(loaded):
            return [replace(p, pixels=shrink(p.pixels, longest)) for p in loaded if p]
    times = sample_times(span, count / max(span.duration_s, 1e-3), count)
    return frames_at(memory, times, longest)


def prepare_looks(memory: Memory) -> None:
    """Find out now what the first look into the source would wait for; in a thread, too."""
    if source_is_there(memory):
        with suppress(VideoError, OSError):
            prepare(Path(memory.video.path))


def _from_source(memory: Memory, times_s: Sequence[float], longest: int) -> dict[float, Picture]:
    """By time asked for; those that were decoded before are not decoded again."""
    if not source_is_there(memory):
        return {}
    path = Path(memory.video.path)
    try:
        source = str(path), path.stat().st_mtime_ns, longest
        found = {time_s: kept for time_s in times_s if (kept := DECODED.get((*source, time_s)))}
        missing = [time_s for time_s in times_s if time_s not in found]
        fresh = decode_at(path, missing, longest) if missing else {}
    except (VideoError, OSError):
        return {}
    for time_s, picture in fresh.items():
        found[time_s] = replace(picture, key=(*source, picture.time_s))
        # Evidence cites a frame by its own time: a check then finds it here.
        for known_s in {time_s, picture.time_s}:
            DECODED.put((*source, known_s), found[time_s], picture.pixels.nbytes)
    return found


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
