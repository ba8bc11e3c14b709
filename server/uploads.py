"""Taking a video in: by upload, by path, by URL. Bytes go to the disk as they come, hashed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
from collections.abc import AsyncIterable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from starlette.requests import Request

from admir.batch.folders import VIDEO_SUFFIXES
from admir.errors import (
    Forbidden,
    InputError,
    TooLarge,
    VideoNotFound,
    VideoUnreadable,
    writing,
)
from admir.memory.provenance import check_names, read_source
from admir.memory.store import slug
from admir.server.fetch_url import fetching
from admir.server.multipart import MOST_METADATA_BYTES, FormReader
from admir.server.paths import ServicePaths
from admir.server.validation import HEAD_BYTES, check_head, check_type, check_video
from admir.settings import ServerSettings

_BUFFER = 1 << 20
_LOOK_BYTES = 64_000_000
_MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A checked video: what it is called, where it lies, and its hash.

    `part` is true where it lies among what is being received, and still has to be placed.
    `metadata` is JSON text of text fields.
    """

    name: str
    path: Path
    sha256: str
    metadata: str | None
    part: bool


@dataclass(frozen=True, slots=True)
class Receiver:
    """Takes videos in under the limits of `settings`."""

    places: ServicePaths
    settings: ServerSettings

    @property
    def most_bytes(self) -> int:
        """Bytes that a video may have."""
        return self.settings.upload_mb * _MB

    async def body(self, request: Request, part: Part) -> Received:
        """The raw body of a request, named by `?name=`."""
        check_type(request.headers.get("content-type", ""))
        name = safe_name(request.query_params.get("name", ""))
        await part.fill(request.stream())
        return await self._checked(part, name, None)

    async def form(self, request: Request, part: Part) -> Received:
        """A multipart form with the field `file`, and `metadata` if need be."""
        reader = FormReader(request.headers["content-type"])
        await part.fill(reader.file(request.stream()))
        metadata = metadata_of(reader.metadata) if reader.metadata.strip() else None
        return await self._checked(part, safe_name(reader.name), metadata)

    async def url(self, url: str, metadata: Mapping[str, object] | None, part: Part) -> Received:
        """What a public URL holds, where the service fetches at all."""
        if not self.settings.urls:
            raise Forbidden("this service fetches no URLs (setting server.urls); send the file")
        fields = _plain(metadata)
        async with fetching(url, self.most_bytes) as reply:
            check_type(reply.content_type)
            await part.fill(reply.chunks)
        return await self._checked(part, safe_name(reply.name), fields)

    async def path(self, path: str, metadata: Mapping[str, object] | None) -> Received:
        """A file under one of the roots; it stays where it is."""
        fields = _plain(metadata)
        found = await asyncio.to_thread(self._under_roots, path)
        await check_video(found, found.name, self.settings)
        source = await asyncio.to_thread(read_source, found)
        return Received(
            name=found.name, path=found, sha256=source.sha256, metadata=fields, part=False
        )

    def _under_roots(self, path: str) -> Path:
        """The real path. One outside of the roots is refused whether it is there or not."""
        outside = Forbidden("the path is not in a folder that the service reads (server.roots)")
        try:
            roots = [root.resolve(strict=True) for root in self.settings.roots]
            named = [(root / path).resolve() for root in roots]
        except (OSError, ValueError, RuntimeError):  # a link that goes round; a NUL
            raise outside from None
        pairs = [(root, each) for root in roots for each in named if each.is_relative_to(root)]
        if not pairs:
            raise outside
        found = next((each for _, each in pairs if each.is_file()), None)
        if found is None:
            raise VideoNotFound(f"{path[:200]!r} is not a file in the folders of the service")
        check_names(found, {})
        check_size(found.stat().st_size, self.most_bytes)
        return found

    async def _checked(self, part: Part, name: str, metadata: str | None) -> Received:
        sha256 = await asyncio.to_thread(part.finish)
        await check_video(part.path, name, self.settings)
        return Received(name=name, path=part.path, sha256=sha256, metadata=metadata, part=True)


class Part:
    """A file that is being received, for a `with`: it is removed at the end, unless it was moved.

    `check` is called now and then while bytes come, and raises where no more should: others come
    at the same time, and not all say how much they will be.
    Raises TooLarge, NotAVideo by its first bytes, VideoUnreadable, or MemoryStoreError.
    """

    def __init__(self, path: Path, most_bytes: int, check: Callable[[], None]) -> None:
        self.path, self._most, self._check = path, most_bytes, check
        self._hash, self._bytes, self._checked_at = hashlib.sha256(), 0, 0
        with writing(path):
            self._file = path.open("xb", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self.path.unlink(missing_ok=True)

    async def fill(self, chunks: AsyncIterable[bytes]) -> None:
        """Write all of it, in a thread, a megabyte at a time."""
        held: list[bytes] = []
        size = 0
        async for chunk in chunks:
            held.append(chunk)
            size += len(chunk)
            if size >= _BUFFER:
                await asyncio.to_thread(self._write, b"".join(held))
                held, size = [], 0
        await asyncio.to_thread(self._write, b"".join(held))

    def _write(self, data: bytes) -> None:
        if self._bytes == 0 and data:
            check_head(data[:HEAD_BYTES])
        self._bytes += len(data)
        check_size(self._bytes, self._most)
        if self._bytes - self._checked_at > _LOOK_BYTES:
            self._check()
            self._checked_at = self._bytes
        self._hash.update(data)
        with writing(self.path):
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]

    def finish(self) -> str:
        """Force it to the disk; its SHA-256."""
        if self._bytes == 0:
            raise VideoUnreadable("nothing was sent; send the bytes of a video")
        with writing(self.path):
            os.fsync(self._file.fileno())
            self._file.close()
        return self._hash.hexdigest()


def check_size(size: int, most: int) -> None:
    """Refuse a video of more bytes than are taken; raises TooLarge."""
    if size > most:
        raise TooLarge(f"a video may have {most:,} bytes at most; send a smaller copy")


def place(places: ServicePaths, received: Received) -> Path:
    """Move what was received to where uploads lie; a file of the same content is taken instead.

    To be called while `places.alone()` is held. Raises MemoryStoreError.
    """
    folder = places.uploads / received.sha256[:16]
    with writing(folder):
        known = next((path for path in sorted(folder.glob("*")) if path.is_file()), None)
        if known is not None:
            return known
        folder.mkdir(exist_ok=True)
        target = folder / received.name
        received.path.replace(target)
        for made in (folder, places.uploads):
            _sync(made)
    return target


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def safe_name(name: str) -> str:
    """A name of a file without anything that leads elsewhere; its ending is that of a video."""
    last = name.replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = last.rpartition(".")
    suffix = f".{ending.lower()}" if dot else ""
    known = suffix in VIDEO_SUFFIXES
    return f"{slug(stem if known else last)}{suffix if known else '.mp4'}"


def metadata_of(text: str) -> str:
    """The JSON object of a text as JSON of text fields; raises InputError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("`metadata` must be one JSON object of text fields")
    return _plain(found) or "{}"


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value)


def _plain(metadata: Mapping[str, object] | None) -> str | None:
    if metadata is None:
        return None
    for key, value in metadata.items():
        if not (isinstance(value, str) or _is_number(value)):
            raise InputError(f"`metadata`: {key[:80]!r} must be a text or a number")
    fields = {key: str(value) for key, value in metadata.items()}
    check_names(Path("video"), fields)
    text = json.dumps(fields, sort_keys=True)
    if len(text) > MOST_METADATA_BYTES:
        raise TooLarge(f"the metadata has more than {MOST_METADATA_BYTES:,} bytes")
    return text
