"""Memories on disk: one folder a video, whole builds, and one small file naming the current one.

    memories/<video_id>/
        current              the number of the build in use
        owner.json           path and SHA-256 of the video that the id belongs to
        builds/<n>/          memory.json, frames/, vectors.npy
        builds/partial-<fingerprint>/   a build under way, with its journal
        traces/              one JSON Lines file an ask
        corrections.json     what people have corrected, laid over whatever build is current
        .lock                held while building

A build becomes current by replacing `current`, so a reader sees a whole memory or the old one.
The build before the current one stays, for readers that opened it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import unicodedata
from collections.abc import Callable, Hashable, Iterator
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
    UnknownCorrection,
    UnknownVideo,
    writing,
)
from admir.memory.corrections import Corrections, added, corrected, from_json, to_json
from admir.memory.fs import is_dir, is_file, sync, version_of, write_whole
from admir.memory.video_identity import Owner, read_owner, same_subtitles
from admir.perception.embed import Vectors
from admir.types import FORMAT_VERSION, Correction, Memory

_ADAPTER = TypeAdapter(Memory)
_ID = re.compile(r"[\w-]{1,80}", re.UNICODE)
_VERSION = re.compile(rb'"format_version":\s*(\d{1,9})')
_NUMBER = re.compile(rb"\d{1,9}\s{0,2}")
_LONGEST_SLUG = 60
_MOST_ID_BYTES = 255


def slug(stem: str) -> str:
    """A file's stem as an id: letters, digits, `_` and `-` alone; never empty."""
    plain = unicodedata.normalize("NFKC", stem)
    return re.sub(r"[^\w]+", "-", plain).strip("-")[:_LONGEST_SLUG].strip("-") or "video"


class MemoryStore:
    """The folder of all memories. Nothing is created before something is built."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def ids(self) -> tuple[str, ...]:
        """The videos that have a memory, by name; raises MemoryStoreError."""
        return tuple(sorted(p.name for p in self._folders() if is_file(p / "current")))

    def read(self, video_id: str) -> Memory:
        """The current memory of a video, as people have corrected it.

        Raises UnknownVideo, MemoryDamaged, MemoryVersionError or MemoryStoreError.
        """
        return self.corrected(self.read_built(video_id))

    def state(self, video_id: str) -> tuple[Hashable, ...]:
        """What changes whenever `read` would give another memory; found without reading it.

        Raises UnknownVideo or MemoryDamaged.
        """
        folder = self._folder(video_id)
        if not is_file(folder / "current"):
            raise UnknownVideo(self._unknown(video_id))
        build = self._current_build(folder)
        changing = (build / "memory.json", folder / "corrections.json")
        return (str(build), *map(version_of, changing))

    def read_built(self, video_id: str) -> Memory:
        """The current memory of a video, as its builder wrote it.

        Raises UnknownVideo, MemoryDamaged, MemoryVersionError or MemoryStoreError.
        """
        folder = self._folder(video_id)
        if not is_file(folder / "current"):
            raise UnknownVideo(self._unknown(video_id))
        build = self._current_build(folder)
        memory = _parse(build / "memory.json", video_id)
        missing = [f.file for f in memory.frames if not is_file(build / f.file)]
        if missing or not is_file(build / "vectors.npy"):
            what = missing[0] if missing else "vectors.npy"
            raise damaged(video_id, f"{what} is missing")
        return replace(memory, folder=str(build))

    def corrected(self, memory: Memory) -> Memory:
        """A memory as it was built, with what people have corrected; raises MemoryDamaged."""
        kept = self._corrections(memory.video.id)
        return corrected(memory, tuple(c for c in kept if c.video_sha256 == memory.video.sha256))

    def correct(self, video_id: str, new: Correction) -> Memory:
        """Keep a correction, and give the memory with it.

        Raises CorrectionError and what `read` raises.
        """
        memory = self.read_built(video_id)
        mine = replace(new, video_sha256=memory.video.sha256)
        return self._with_corrections(memory, lambda known: added(memory, known, mine))

    def withdraw(self, video_id: str, correction_id: str) -> Memory:
        """Take a correction back; raises UnknownCorrection and what `correct` raises."""

        def others(known: Corrections) -> Corrections:
            kept = tuple(c for c in known if c.id != correction_id)
            if len(kept) == len(known):
                raise UnknownCorrection(f"{video_id!r} has no correction {correction_id[:80]!r}")
            return kept

        return self._with_corrections(self.read_built(video_id), others)

    def _with_corrections(
        self, memory: Memory, change: Callable[[Corrections], Corrections]
    ) -> Memory:
        """Change the corrections of a memory while nobody else does, or removes it."""
        video_id, film = memory.video.id, memory.video.sha256
        folder = self._folder(video_id)
        with writing(folder), FileLock(self.root / ".corrections.lock"):
            if not is_file(folder / "current"):
                raise UnknownVideo(self._unknown(video_id))
            kept = self._corrections(video_id)
            others = tuple(c for c in kept if c.video_sha256 != film)
            changed = change(tuple(c for c in kept if c.video_sha256 == film))
            write_whole(folder / "corrections.json", to_json((*others, *changed)))
        return corrected(memory, changed)

    def _corrections(self, video_id: str) -> Corrections:
        path = self._folder(video_id) / "corrections.json"
        try:
            return from_json(path.read_bytes()) if is_file(path) else ()
        except (OSError, ValueError) as error:
            raise MemoryDamaged(f"{path} cannot be read ({error}); mend it or remove it") from None

    def vectors(self, memory: Memory) -> Vectors:
        """float32 [clips, d] of a memory that was read here; raises MemoryDamaged."""
        path = Path(memory.folder) / "vectors.npy"
        try:
            rows = np.load(path, allow_pickle=False)
        except Exception as error:  # noqa: BLE001 - a torn header raises even tokenize.TokenError
            raise damaged(memory.video.id, f"vectors.npy: {error}") from None
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or len(rows) != len(memory.clips):
            raise damaged(memory.video.id, "vectors.npy does not fit the clips")
        if rows.dtype != np.float32 or not np.isfinite(rows).all():
            raise damaged(memory.video.id, "vectors.npy holds other things than vectors")
        return np.asarray(rows, dtype=np.float32)

    def id_for(self, path: Path, sha256: str) -> str:
        """The id of a video file: the one it has already, else its stem's slug.

        A byte-identical file is the same video, unless other subtitles lie beside it. A slug
        that another file has already gets `-<six digits of a hash>`. Raises MemoryStoreError.
        """
        source = str(path.resolve())
        base = slug(path.stem)
        owners = {name: owner for name in self._alike(base) if (owner := self._owner(name))}
        for name, owner in owners.items():
            if owner.path == source:
                return name
        for name, owner in owners.items():
            if owner.sha256 == sha256 and same_subtitles(Path(owner.path), path):
                return name
        by_path = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()
        names = (base, *(f"{base}-{h[n : n + 6]}" for h in (sha256, by_path) for n in (0, 6)))
        return next((name for name in names if name not in owners), names[-1])

    def _alike(self, base: str) -> list[str]:
        """The ids in use that a file with this slug may have."""
        pattern = re.compile(re.escape(base) + "(-[0-9a-f]{6})?")
        return sorted(p.name for p in self._folders() if pattern.fullmatch(p.name))

    def _owner(self, video_id: str) -> Owner | None:
        """Who the id belongs to, also where its memory is damaged; None where it is free."""
        folder = self.root / video_id
        builds = sorted(_numbered(folder), key=lambda p: -int(p.name))
        for path in (folder / "owner.json", *(build / "memory.json" for build in builds)):
            if (owner := read_owner(path)) is not None:
                return owner
        return Owner("", "") if builds or is_file(folder / "current") else None

    @contextmanager
    def building(self, video_id: str) -> Iterator[None]:
        """Hold the video's lock.

        Raises BuildInProgress when another builder has it, and MemoryStoreError.
        """
        folder = self._folder(video_id)
        self._make(folder / "builds")
        lock = FileLock(folder / ".lock")
        with writing(folder / ".lock"):
            _acquire(lock, video_id)
        try:
            yield
        finally:
            lock.release()

    def partial(self, video_id: str, fingerprint: str, before: Memory | None = None) -> Path:
        """The folder of the build under way; what other attempts left is removed.

        A new one begins as a copy of the build `before`, where that is to be gone on from.
        """
        builds = self._folder(video_id) / "builds"
        mine = builds / f"partial-{fingerprint[:16]}"
        for other in builds.glob("partial-*"):
            if other != mine:
                shutil.rmtree(other, ignore_errors=True)
        if before is not None and not is_dir(mine):
            self.copied(before).replace(mine)
        self._make(mine / "frames")
        return mine

    def copied(self, memory: Memory) -> Path:
        """A copy of a stored build, in a folder that no reader looks into."""
        copy = self._folder(memory.video.id) / "builds" / "partial-copy"
        with writing(copy):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(memory.folder, copy)
        return copy

    def publish(self, partial: Path, memory: Memory, vectors: Vectors) -> Memory:
        """Write the memory into its finished folder and make it the current build.

        The build that was current before stays. Raises MemoryStoreError.
        """
        folder = self._folder(memory.video.id)
        with writing(folder):
            np.save(partial / "vectors.npy", np.asarray(vectors, dtype=np.float32))
            (partial / "memory.json").write_bytes(
                _ADAPTER.dump_json(memory, indent=1, exclude={"folder", "corrections"})
            )
            for path in partial.rglob("*"):
                sync(path)
            before = _current_number(folder)
            number = 1 + max((int(p.name) for p in _numbered(folder)), default=0)
            final = folder / "builds" / str(number)
            partial.replace(final)
            sync(final.parent)
            owner = {"path": memory.video.path, "sha256": memory.video.sha256}
            write_whole(folder / "owner.json", json.dumps(owner))
            write_whole(folder / "current", f"{number}\n")
        for old in _numbered(folder):
            if old.name not in (before, str(number)):
                shutil.rmtree(old, ignore_errors=True)
        return replace(memory, folder=str(final))

    def remove(self, video_id: str) -> str:
        """Remove a memory with its traces, also a damaged one; the path of its video.

        That is empty where nothing tells it. Raises UnknownVideo, BuildInProgress or
        MemoryStoreError.
        """
        folder = self._folder(video_id)
        if not is_dir(folder):
            raise UnknownVideo(self._unknown(video_id))
        corrections = FileLock(self.root / ".corrections.lock")
        with self.building(video_id), writing(folder), corrections:
            owner = self._owner(video_id)
            if owner is None:
                raise UnknownVideo(self._unknown(video_id))
            (folder / "current").unlink(missing_ok=True)  # first: no reader sees half of a memory
            shutil.rmtree(folder)
        return owner.path

    def video_paths(self) -> dict[str, str]:
        """The path of the video that each id belongs to; empty where nothing tells it."""
        owners = {p.name: self._owner(p.name) for p in self._folders() if _ID.fullmatch(p.name)}
        return {name: owner.path for name, owner in owners.items() if owner is not None}

    def trace_path(self, video_id: str) -> Path:
        """A new file name for a trace; its folder is made."""
        folder = self._folder(video_id) / "traces"
        self._make(folder)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        return folder / f"{stamp}.jsonl"

    def _folder(self, video_id: str) -> Path:
        if not _ID.fullmatch(video_id) or len(video_id.encode()) > _MOST_ID_BYTES:
            raise UnknownVideo(self._unknown(video_id))
        return self.root / video_id

    def _folders(self) -> list[Path]:
        """All that lies in the root."""
        if not is_dir(self.root):
            return []
        try:
            return list(self.root.iterdir())
        except OSError as error:
            raise MemoryStoreError(f"cannot read {self.root}: {error.strerror}") from None

    def _make(self, folder: Path) -> None:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def _unknown(self, video_id: str) -> str:
        known = ", ".join(self.ids()[:8]) or "none yet"
        shown = video_id if len(video_id) <= 80 else f"{video_id[:77]}..."
        return (
            f"no memory of {shown!r} in {self.root} (known: {known}); "
            "build one with `admir build-memory VIDEO`"
        )

    def _current_build(self, folder: Path) -> Path:
        number = _current_number(folder)
        if number is None or not is_dir(folder / "builds" / number):
            raise damaged(folder.name, "`current` names no build")
        return folder / "builds" / number


def _acquire(lock: FileLock, video_id: str) -> None:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        message = f"another process is building {video_id!r} now; wait for it, then ask again"
        raise BuildInProgress(message) from None
    except NotImplementedError as error:  # a file system without locks
        raise OSError(str(error)) from None


def _current_number(folder: Path) -> str | None:
    """What `current` says, or None where it names no build."""
    try:
        with (folder / "current").open("rb") as stream:
            found = _NUMBER.fullmatch(stream.read(32))
    except OSError:
        return None
    return found[0].decode().strip() if found else None


def _numbered(folder: Path) -> list[Path]:
    """The finished builds, in no order."""
    return [p for p in (folder / "builds").glob("*") if re.fullmatch(r"[0-9]{1,9}", p.name)]


def _parse(path: Path, video_id: str) -> Memory:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise damaged(video_id, f"memory.json: {error.strerror}") from None
    version = _VERSION.search(data)
    if version and int(version[1]) > FORMAT_VERSION:
        raise MemoryVersionError(
            f"the memory of {video_id!r} has format {int(version[1])}, this version reads up to "
            f"{FORMAT_VERSION}; upgrade admir, or remove {path.parent.parent.parent} and build anew"
        )
    try:
        return _ADAPTER.validate_json(data)
    except ValidationError as error:
        raise damaged(video_id, f"memory.json: {error.errors()[0]['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise damaged(video_id, f"memory.json: {error}") from None


def damaged(video_id: str, what: str) -> MemoryDamaged:
    """The error that says what is wrong with a memory, and what to do."""
    message = f"the memory of {video_id!r} is damaged ({what})"
    return MemoryDamaged(f"{message}; run `admir build-memory` on its video")
