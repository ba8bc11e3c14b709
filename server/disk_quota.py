"""Whether the disk has room for another video."""

from __future__ import annotations

import os
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

from admir.errors import DiskFull

_GB = 1_000_000_000
_SPARE_BYTES = _GB
_KNOWN_S = 10.0


class DiskQuota:
    """The room of a folder of memories: at most `most_gb` (None: no limit), and what is free."""

    def __init__(self, folder: Path, most_gb: float | None) -> None:
        self._folder, self._most_gb = folder, most_gb
        self._counting = threading.Lock()
        self.forget()

    def check(self, coming_bytes: int = 0) -> None:
        """Raise DiskFull where so many bytes more should not come."""
        if self._most_gb is not None and (held := self._held_bytes()) > self._most_gb * _GB:
            raise DiskFull(
                f"the memories have {held / _GB:,.1f} GB, the limit is {self._most_gb:g} GB; run "
                "`admir gc`, delete videos, or raise the setting server.disk_gb"
            )
        free = shutil.disk_usage(_existing(self._folder)).free
        if free < coming_bytes + _SPARE_BYTES:
            more = f"a video of {coming_bytes / _GB:,.1f} GB" if coming_bytes else "another video"
            raise DiskFull(
                f"the disk has {free / _GB:,.1f} GB left, too few for {more}; "
                "run `admir gc`, delete videos, or use a larger disk"
            )

    def forget(self) -> None:
        """Count anew the next time."""
        self._counted_at = -_KNOWN_S
        self._held = 0

    def _held_bytes(self) -> int:
        """What all files have together; it is counted again after some seconds."""
        with self._counting:
            if time.monotonic() - self._counted_at > _KNOWN_S:
                self._held, self._counted_at = _bytes_under(self._folder), time.monotonic()
            return self._held


def _bytes_under(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # it has gone meanwhile
                total += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118
    return total


def _existing(folder: Path) -> Path:
    """The folder, or the one in which it would be made."""
    whole = folder.absolute()
    return next(path for path in (whole, *whole.parents) if path.is_dir())
