"""What a build has finished, line by line, so that a killed build goes on where it was."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any


class Journal:
    """Keys and JSON values in an append-only file. A torn last line is dropped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._done: dict[str, Any] = dict(_read(path))
        _write_all(path, self._done)

    def __contains__(self, key: str) -> bool:
        return key in self._done

    def __getitem__(self, key: str) -> Any:
        return self._done[key]

    def put(self, key: str, value: Any) -> None:
        """Record a finished piece of work; safe from several threads."""
        line = json.dumps([key, value], ensure_ascii=False)
        with self._lock, self._path.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")
            self._done[key] = value


def _read(path: Path) -> list[tuple[str, Any]]:
    if not path.exists():
        return []
    entries: list[tuple[str, Any]] = []
    for line in path.read_bytes().splitlines():
        try:
            key, value = json.loads(line)
        except (ValueError, TypeError):
            break
        entries.append((str(key), value))
    return entries


def _write_all(path: Path, entries: dict[str, Any]) -> None:
    """Rewrite the file without a torn line, which a later append would be glued to."""
    lines = [json.dumps([key, value], ensure_ascii=False) for key, value in entries.items()]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
