"""Builds and memories in short, as the JSON rows that programs read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from admir.trace import Built
from admir.types import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A memory that cannot be read, and why."""

    video_id: str
    reason: str


def of_build(built: Built) -> dict[str, Any]:
    """What `build-memory --json` says of a video; `seconds` and `stages` are of this run."""
    memory = built.memory
    return {
        "video_id": memory.video.id,
        "folder": memory.folder,
        "reused": built.reused,
        "rebuilt_because": built.rebuilt_because,
        "seconds": round(sum(built.stage_seconds.values()), 3),
        "stages": dict(built.stage_seconds),
        "duration_s": memory.video.duration_s,
        "frames_sampled": memory.provenance.frames_sampled,
        "frames_read": memory.provenance.frames_read,
        "warnings": list(memory.provenance.warnings),
    }


def of_memory(memory: Memory | Unreadable) -> dict[str, Any]:
    """What `list --json` says of a memory."""
    if isinstance(memory, Unreadable):
        return {"video_id": memory.video_id, "error": memory.reason}
    return {
        "video_id": memory.video.id,
        "path": memory.video.path,
        "duration_s": memory.video.duration_s,
        "preset": memory.provenance.preset,
        "built_at": memory.provenance.built_at,
        "warnings": list(memory.provenance.warnings),
    }
