"""Which video file an id belongs to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from admir.memory.fs import is_file
from admir.perception.sidecars import sidecar_of


@dataclass(frozen=True, slots=True)
class Owner:
    """The video file that an id belongs to; texts that fit no file where nothing tells."""

    path: str
    sha256: str


def read_owner(path: Path) -> Owner | None:
    """Path and SHA-256 from `owner.json`, or from a `memory.json`; None where it has none."""
    try:
        plain = json.loads(path.read_bytes())
        video = plain.get("video", plain)
        return Owner(str(video["path"]), str(video["sha256"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def same_subtitles(owner: Path, path: Path) -> bool:
    """Whether equal subtitles lie beside two files; those of a file that has gone tell nothing."""
    return not is_file(owner) or _subtitles(owner) == _subtitles(path)


def _subtitles(video: Path) -> bytes | None:
    sidecar = sidecar_of(video)
    try:
        return sidecar.read_bytes() if sidecar else None
    except OSError:
        return None
