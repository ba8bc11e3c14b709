"""What can be cleared away: what is old, and uploads that no memory needs."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from admir.errors import BuildInProgress, UnknownVideo, writing
from admir.memory.store import MemoryStore
from admir.server.jobs import Jobs
from admir.server.paths import ServicePaths

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What was cleared away, or would be: how many of each, and the bytes of their files."""

    traces: int
    builds: int
    uploads: int
    jobs: int
    freed_bytes: int


def clear_away(memories: Path, days: float | None, *, dry_run: bool = False) -> Cleared:
    """Remove traces, ended jobs and broken-off builds older than `days` (None: none of these).

    Uploads without a use are removed however old they are. An upload is of use to a job that has
    not ended, and to a memory. Raises MemoryStoreError.
    """
    places, store = ServicePaths(memories), MemoryStore(memories)
    jobs = Jobs(places)
    before_s = None if days is None else time.time() - days * _DAY_S
    try:
        traces = [] if before_s is None else list(_old_traces(store, before_s))
        with ExitStack() as locks:
            if places.root.is_dir():  # a folder that no service has used stays as it is
                locks.enter_context(places.alone())
            uploads = _orphans(places, store, jobs)
            builds = [] if before_s is None else list(_broken_off(store, before_s, locks))
            files = [*traces, *builds, *uploads]
            freed = sum(_bytes_of(path) for path in files)
            for path in () if dry_run else files:
                _remove(path)
            ended = 0 if before_s is None else jobs.forget_ended(_text(before_s), dry_run=dry_run)
    finally:
        jobs.close()
        places.end()
    count = sum(1 for path in traces if path.suffix == ".jsonl")
    return Cleared(
        traces=count,
        builds=len(builds),
        uploads=len(uploads),
        jobs=ended,
        freed_bytes=freed,
    )


def _broken_off(store: MemoryStore, before_s: float, locks: ExitStack) -> Iterator[Path]:
    """Builds that nobody has gone on with; their videos' locks are held until `locks` is closed."""
    for journal in sorted(store.root.glob("*/builds/partial-*/journal.jsonl")):
        if journal.stat().st_mtime < before_s:
            with suppress(BuildInProgress, UnknownVideo):
                locks.enter_context(store.building(journal.parents[2].name))
                yield journal.parent


def _old_traces(store: MemoryStore, before_s: float) -> Iterator[Path]:
    """The files of old traces, and the folders of their pictures."""
    for video_id in store.ids():
        for path in sorted((store.root / video_id / "traces").glob("*.jsonl")):
            if path.stat().st_mtime < before_s:
                yield path
                if (pictures := path.with_suffix("")).is_dir():
                    yield pictures


def _orphans(places: ServicePaths, store: MemoryStore, jobs: Jobs) -> list[Path]:
    """Uploads without a use, and what killed services had received in part."""
    owners = store.video_paths()
    # A memory that is too damaged to name its video is built anew from this one.
    done = jobs.done_in(tuple(name for name, path in owners.items() if not path))
    used = (*owners.values(), *(job.path for job in (*jobs.active(), *done)))
    needed = {Path(path).parent.name for path in used}  # their names hold when all was moved
    return [*(p for p in places.stored() if p.name not in needed), *places.stale_parts()]


def _bytes_of(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file())


def _remove(path: Path) -> None:
    with writing(path):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _text(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).isoformat(timespec="milliseconds")
