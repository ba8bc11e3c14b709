"""What a build has finished, line by line, so that a killed build goes on where it was."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from admir.errors import writing


class Journal:
    """Keys and JSON values in an append-only file; the last value of a key counts.

    The first line that is torn or no entry ends the journal: it and all behind it are cut off.
    Raises MemoryStoreError where the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        with writing(path):
            self._done = _read(path)

    def __contains__(self, key: str) -> bool:
        return key in self._done

    def __getitem__(self, key: str) -> Any:
        return self._done[key]

    def get(self, key: str) -> Any:
        """The value, or None where there is none yet."""
        return self._done.get(key)

    def put(self, key: str, value: Any) -> None:
        """Record a finished piece of work; safe from several threads."""
        line = json.dumps([key, value]) + "\n"
        with self._lock, writing(self._path), self._path.open("ab") as stream:
            stream.write(line.encode("ascii"))
            self._done[key] = value


def _read(path: Path) -> dict[str, Any]:
    """The entries of the file, which ends behind the last good line from then on."""
    path.touch()
    entries: dict[str, Any] = {}
    good = 0
    for line in path.read_bytes().splitlines(keepends=True):
        entry = _entry(line)
        if entry is None:
            break
        entries[entry[0]] = entry[1]
        good += len(line)
    os.truncate(path, good)
    return entries


def _entry(line: bytes) -> tuple[str, Any] | None:
    """Key and value of a whole line, else None."""
    if not line.endswith(b"\n"):
        return None
    try:
        key, value = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return None
    return str(key), value
