"""Pictures of a memory: decoded again from the source, or the frames kept with the build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from admir.errors import VideoError
from admir.perception.decode import Picture, load_image, pictures
from admir.types import Frame, Memory


def frames_at(memory: Memory, times_s: Sequence[float]) -> list[Picture]:
    """The pictures shown at these times, from the source where it is still the same file.

    Falls back on the kept frames nearest to the times (their own times tell). Empty for a
    memory of text alone.
    """
    if source_is_there(memory):
        try:
            if found := pictures(Path(memory.video.path), list(times_s)):
                return found
        except VideoError:
            pass
    return _kept(memory, times_s)


def source_is_there(memory: Memory) -> bool:
    """Whether the video file still stands where it was, in its size."""
    path = Path(memory.video.path)
    return (
        bool(memory.video.path)
        and path.is_file()
        and path.stat().st_size == memory.video.file_bytes
    )


def _kept(memory: Memory, times_s: Sequence[float]) -> list[Picture]:
    near = [frame for time_s in times_s if (frame := nearest_frame(memory, time_s))]
    unique = list(dict.fromkeys(near))
    return [
        Picture(time_s=frame.time_s, pixels=load_image(Path(memory.folder) / frame.file))
        for frame in unique
    ]


def nearest_frame(memory: Memory, time_s: float) -> Frame | None:
    """The kept frame nearest to a time."""
    return min(memory.frames, key=lambda frame: abs(frame.time_s - time_s), default=None)
