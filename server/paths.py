"""Where the service keeps its own things, and which of several services still live.

memories/.service/
    jobs.sqlite                      the jobs
    uploads/<sha256[:16]>/<name>     files of videos that were sent, one a folder
    uploads/incoming/<server>.<id>.part   what is being received
    servers/<server>.lock            held as long as that server lives
    .lock                            held for a moment by who takes in or clears away files
"""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from admir.errors import MemoryStoreError, writing

_LONGEST_WAIT_S = 30.0
_INCOMING = "incoming"


class ServicePaths:
    """The folder `.service` of one server, which is made when it is first written to."""

    def __init__(self, memories: Path) -> None:
        self.root = memories.resolve() / ".service"
        self.database = self.root / "jobs.sqlite"
        self.uploads = self.root / "uploads"
        self.me = uuid.uuid4().hex[:12]
        self._mine: FileLock | None = None
        self._opening = threading.Lock()

    def begin(self) -> None:
        """Make the folders and say that this server lives; raises MemoryStoreError."""
        with self._opening, writing(self.root):
            if self._mine is not None:
                return
            for folder in (self.uploads / _INCOMING, self.root / "servers"):
                folder.mkdir(parents=True, exist_ok=True)
            mine = self._life(self.me)
            mine.acquire(timeout=0)
            self._mine = mine

    def end(self) -> None:
        """Say that this server lives no more."""
        with self._opening:
            if self._mine is not None:
                self._mine.release()
                Path(self._mine.lock_file).unlink(missing_ok=True)
                self._mine = None

    def lives(self, server: str) -> bool:
        """Whether a server still runs: the system frees the lock of one that was killed."""
        if server == self.me:
            return True
        path = self.root / "servers" / f"{server}.lock"
        if not path.is_file():
            return False
        lock = self._life(server)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
        path.unlink(missing_ok=True)
        return False

    def _life(self, server: str) -> FileLock:
        return FileLock(self.root / "servers" / f"{server}.lock", thread_local=False)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock of whoever takes in or clears away files; raises MemoryStoreError."""
        lock = FileLock(self.root / ".lock")
        try:
            with writing(self.root):
                lock.acquire(timeout=_LONGEST_WAIT_S)
        except Timeout:
            raise MemoryStoreError(
                f"{self.root} has been locked for {_LONGEST_WAIT_S:.0f} s; try again"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def new_part(self) -> Path:
        """A new file name for what is being received."""
        self.begin()
        return self.uploads / _INCOMING / f"{self.me}.{uuid.uuid4().hex[:12]}.part"

    def stale_parts(self) -> list[Path]:
        """What servers that were killed had received in part."""
        parts = (self.uploads / _INCOMING).glob("*.part")
        return [part for part in parts if not self.lives(part.name.partition(".")[0])]

    def stored(self) -> list[Path]:
        """The folders of uploads, one a content."""
        if not self.uploads.is_dir():
            return []
        return sorted(p for p in self.uploads.iterdir() if p.is_dir() and p.name != _INCOMING)

    def folder_of(self, path: Path) -> Path | None:
        """The folder of an upload that a path lies in; None for files that are not ours."""
        return path.parent if path.parent.parent == self.uploads else None

    def forget(self, path: Path) -> bool:
        """Remove the file of an upload; False where it is not ours."""
        folder = self.folder_of(path)
        if folder is None:
            return False
        shutil.rmtree(folder, ignore_errors=True)
        return True
