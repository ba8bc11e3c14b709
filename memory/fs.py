"""Small things about files that a store needs."""

from __future__ import annotations

import os
from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether there is a file that may be looked at."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_dir(path: Path) -> bool:
    """Whether there is a folder that may be looked at."""
    try:
        return path.is_dir()
    except OSError:
        return False


def version_of(path: Path) -> tuple[int, int, int] | None:
    """What tells a file from the one that stood there before; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def write_whole(path: Path, text: str) -> None:
    """Write a small file so that a reader sees the old one or the new one."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    sync(fresh)
    fresh.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Force a file or a folder to the disk, where the system can."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
