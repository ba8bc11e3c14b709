"""Replies of models on disk, by what was asked: a rerun pays nothing."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path
from pydantic import TypeAdapter, ValidationError

from admir.backends.llm.client import RawReply
from admir.concurrency import BoundedCache

_REPLY = TypeAdapter(RawReply)
_ROOM_AFTER_CLEANING = 0.8
_PUTS_BETWEEN_LOOKS = 200
_LOOK_EVERY_S = 24 * 3600.0
_LONG_CHARS = 4_000

_HASHES: BoundedCache[str] = BoundedCache(64_000_000)
"""Of long texts: the pictures of one ad are sent again and again, and weigh most of a request."""


def cache_folder(chosen: Path | None) -> Path:
    """Where replies are kept: the user's cache folder, unless another is chosen."""
    return (chosen or user_cache_path("admir", appauthor=False)) / "replies"


def _room_of(facts: os.stat_result) -> int:
    """What a file takes on the disk, which is more than it holds."""
    return max(facts.st_size, 512 * int(getattr(facts, "st_blocks", 0)))


def _shortened(part: Any) -> Any:
    """What a request says, with the hash of each long text in its place."""
    if isinstance(part, str):
        short = len(part) < _LONG_CHARS
        return part if short else _HASHES.made(part, lambda: _hashed(part), lambda _: len(part))
    if isinstance(part, Mapping):
        return {key: _shortened(item) for key, item in part.items()}
    return [_shortened(item) for item in part] if isinstance(part, list | tuple) else part


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class ReplyCache:
    """A folder of at most `most_bytes`; the replies used longest ago go first.

    What cannot be read or written is as if it were not there: a cache is no reason to fail. The
    thread that makes room, once a day and after every 200 replies, is `cleaner`.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder, self._most_bytes = folder, most_bytes
        self._puts = 0
        self.cleaner: threading.Thread | None = None

    @staticmethod
    def key(base_url: str, body: Mapping[str, Any]) -> str:
        """The address of a request: a hash of where it goes and of all that it says."""
        return _hashed(json.dumps([base_url, _shortened(body)], sort_keys=True))

    def get(self, key: str) -> RawReply | None:
        """The kept reply; it counts as used now."""
        path = self._path(key)
        try:
            reply = _REPLY.validate_json(path.read_bytes())
        except (OSError, ValidationError, ValueError):
            return None
        with suppress(OSError):
            os.utime(path)
        return reply

    def put(self, key: str, reply: RawReply) -> None:
        """Keep a reply."""
        path = self._path(key)
        fresh = path.with_name(f"{path.name}.{os.getpid()}.part")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(_REPLY.dump_json(reply))
            fresh.replace(path)
        if self._puts % _PUTS_BETWEEN_LOOKS == 0 and self._is_due():
            self.cleaner = threading.Thread(target=self._make_room, name="admir-cache")
            self.cleaner.start()
        self._puts += 1

    def _is_due(self) -> bool:
        """Whether nobody has looked at the room today, or this run has put much."""
        stamp = self._folder / "looked"
        with suppress(OSError):
            if self._puts == 0 and time.time() - stamp.stat().st_mtime < _LOOK_EVERY_S:
                return False
        with suppress(OSError):
            stamp.touch()
        return True

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def _make_room(self) -> None:
        kept = sorted(self._kept())
        size = sum(bytes_ for _, bytes_, _ in kept)
        if size <= self._most_bytes:
            return
        for _, bytes_, path in kept:
            if size <= _ROOM_AFTER_CLEANING * self._most_bytes:
                return
            with suppress(OSError):
                path.unlink()
                size -= bytes_

    def _kept(self) -> list[tuple[float, int, Path]]:
        """Time of last use, size and path of every file."""
        found = []
        with suppress(OSError):
            for path in self._folder.rglob("*"):
                with suppress(OSError):
                    facts = path.stat()
                    if path.suffix == ".json":
                        found.append((facts.st_mtime, _room_of(facts), path))
        return found
