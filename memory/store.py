"""Memories on disk: one folder a video, whole builds, and one small file naming the current one.

    memories/<video_id>/
        current              the number of the build in use
        builds/<n>/          memory.json, frames/, vectors.npy
        builds/partial-<fingerprint>/   a build under way, with its journal
        traces/              one JSON Lines file an ask
        .lock                held while building

A build becomes current by replacing `current`, so a reader sees a whole memory or the old one.
The build before the current one stays, for readers that opened it.
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from admir.errors import (
    BuildInProgress,
    MemoryDamaged,
    MemoryStoreError,
    MemoryVersionError,
    UnknownVideo,
)
from admir.perception.embed import Vectors
from admir.types import FORMAT_VERSION, Memory

_ADAPTER = TypeAdapter(Memory)
_ID = re.compile(r"[\w-]{1,80}", re.UNICODE)
_VERSION = re.compile(rb'"format_version":\s*(\d+)')
_BUILDS_KEPT = 2
_LONGEST_SLUG = 60


def slug(stem: str) -> str:
    """A file's stem as an id: letters, digits, `_` and `-` alone; never empty."""
    plain = unicodedata.normalize("NFKC", stem)
    return re.sub(r"[^\w]+", "-", plain).strip("-")[:_LONGEST_SLUG].strip("-") or "video"


class MemoryStore:
    """The folder of all memories. Nothing is created before something is built."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def ids(self) -> tuple[str, ...]:
        """The videos that have a memory, by name."""
        if not self.root.is_dir():
            return ()
        return tuple(sorted(p.name for p in self.root.iterdir() if (p / "current").is_file()))

    def read(self, video_id: str) -> Memory:
        """The current memory of a video.

        Raises UnknownVideo, MemoryDamaged or MemoryVersionError.
        """
        folder = self._folder(video_id)
        if not (folder / "current").is_file():
            raise UnknownVideo(self._unknown(video_id))
        build = self._current_build(folder)
        memory = _parse(build / "memory.json", video_id)
        missing = [f.file for f in memory.frames if not (build / f.file).is_file()]
        if missing or not (build / "vectors.npy").is_file():
            what = missing[0] if missing else "vectors.npy"
            raise MemoryDamaged(_damaged(video_id, f"{what} is missing"))
        return replace(memory, folder=str(build))

    def vectors(self, memory: Memory) -> Vectors:
        """float32 [clips, d] of a memory that was read here; raises MemoryDamaged."""
        path = Path(memory.folder) / "vectors.npy"
        try:
            rows = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise MemoryDamaged(_damaged(memory.video.id, f"vectors.npy: {error}")) from None
        if rows.ndim != 2 or len(rows) != len(memory.clips):
            raise MemoryDamaged(_damaged(memory.video.id, "vectors.npy does not fit the clips"))
        return np.asarray(rows, dtype=np.float32)

    def id_for(self, path: Path, sha256: str) -> str:
        """The id of a video file: that of its memory, else its stem's slug.

        A slug that another file's memory has already gets `-<sha6>`.
        """
        base = slug(path.stem)
        known = {i: m for i in (base, f"{base}-{sha256[:6]}") if (m := self._peek(i)) is not None}
        source = str(path.resolve())
        for video_id, memory in known.items():
            if memory.video.path == source or memory.video.sha256 == sha256:
                return video_id
        return f"{base}-{sha256[:6]}" if base in known else base

    @contextmanager
    def building(self, video_id: str) -> Iterator[None]:
        """Hold the video's lock; raises BuildInProgress when another builder has it."""
        folder = self._folder(video_id)
        self._make(folder / "builds")
        lock = FileLock(folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            message = f"another process is building {video_id!r} now; wait for it, then ask again"
            raise BuildInProgress(message) from None
        try:
            yield
        finally:
            lock.release()

    def partial(self, video_id: str, fingerprint: str) -> Path:
        """The folder of the build under way; what other attempts left is removed."""
        builds = self._folder(video_id) / "builds"
        mine = builds / f"partial-{fingerprint[:16]}"
        for other in builds.glob("partial-*"):
            if other != mine:
                shutil.rmtree(other, ignore_errors=True)
        self._make(mine / "frames")
        return mine

    def publish(self, partial: Path, memory: Memory, vectors: Vectors) -> Memory:
        """Write the memory into its finished folder and make it the current build."""
        folder = self._folder(memory.video.id)
        np.save(partial / "vectors.npy", vectors)
        (partial / "memory.json").write_bytes(
            _ADAPTER.dump_json(memory, indent=1, exclude={"folder"})
        )
        for path in partial.rglob("*"):
            _sync(path)
        number = 1 + max((int(p.name) for p in _numbered(folder)), default=0)
        final = folder / "builds" / str(number)
        partial.replace(final)
        _sync(final.parent)
        fresh = folder / "current.new"
        fresh.write_text(f"{number}\n", encoding="utf-8")
        _sync(fresh)
        fresh.replace(folder / "current")
        _sync(folder)
        for old in sorted(_numbered(folder), key=lambda p: int(p.name))[:-_BUILDS_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        return replace(memory, folder=str(final))

    def trace_path(self, video_id: str) -> Path:
        """A new file name for a trace; its folder is made."""
        folder = self._folder(video_id) / "traces"
        self._make(folder)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        return folder / f"{stamp}.jsonl"

    def _folder(self, video_id: str) -> Path:
        if not _ID.fullmatch(video_id):
            raise UnknownVideo(self._unknown(video_id))
        return self.root / video_id

    def _make(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MemoryStoreError(f"cannot write to {folder}: {error.strerror}") from None

    def _unknown(self, video_id: str) -> str:
        known = ", ".join(self.ids()[:8]) or "none yet"
        shown = video_id if len(video_id) <= 80 else f"{video_id[:77]}..."
        return (
            f"no memory of {shown!r} in {self.root} (known: {known}); "
            "build one with `admir build-memory VIDEO`"
        )

    def _current_build(self, folder: Path) -> Path:
        number = (folder / "current").read_text("utf-8").strip()
        if not number.isdigit() or not (folder / "builds" / number).is_dir():
            raise MemoryDamaged(_damaged(folder.name, "`current` names no build"))
        return folder / "builds" / number

    def _peek(self, video_id: str) -> Memory | None:
        """The memory, or None where there is none that can be used."""
        try:
            return self.read(video_id)
        except (UnknownVideo, MemoryDamaged):
            return None


def _numbered(folder: Path) -> list[Path]:
    return [p for p in (folder / "builds").iterdir() if p.name.isdigit()]


def _parse(path: Path, video_id: str) -> Memory:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MemoryDamaged(_damaged(video_id, f"memory.json: {error.strerror}")) from None
    version = _VERSION.search(data)
    if version and int(version[1]) > FORMAT_VERSION:
        raise MemoryVersionError(
            f"the memory of {video_id!r} has format {int(version[1])}, this version reads up to "
            f"{FORMAT_VERSION}; upgrade admir, or remove {path.parent.parent.parent} and build anew"
        )
    try:
        return _ADAPTER.validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise MemoryDamaged(_damaged(video_id, f"memory.json: {first['msg']}")) from None


def _damaged(video_id: str, what: str) -> str:
    return f"the memory of {video_id!r} is damaged ({what}); run `admir build-memory` on its video"


def _sync(path: Path) -> None:
    """Force a file or a folder to the disk, where the system can."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
