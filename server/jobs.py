"""Jobs of the service in SQLite: what is to be built, is being built, and was."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    MetaData,
    Row,
    Table,
    Text,
    case,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from admir.errors import MemoryStoreError, ServerBusy, UnknownJob
from admir.server.paths import ServicePaths

State = Literal["queued", "running", "done", "failed", "cancelled"]
STATES: tuple[State, ...] = ("queued", "running", "done", "failed", "cancelled")
ACTIVE = ("queued", "running")
_MOST_KILLS = 3
_RETRY_AFTER_S = 30
_BUSY_MS = 10_000

_TABLE = Table(
    "jobs",
    MetaData(),
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("path", Text, nullable=False, index=True),
    Column("sha256", Text, nullable=False),
    Column("metadata", Text),
    Column("made_with", Text, nullable=False),
    Column("state", Text, nullable=False, index=True),
    Column("stage", Text, nullable=False),
    Column("percent", Integer, nullable=False),
    Column("left_s", Float),
    Column("video_id", Text),
    Column("reused", Boolean, nullable=False),
    Column("error_kind", Text),
    Column("error_detail", Text),
    Column("created_at", Text, nullable=False),
    Column("ended_at", Text),
    Column("server", Text),
    Column("reached", Integer, nullable=False, default=0),
    Column("kills", Integer, nullable=False, default=0),
    Column("not_before", Float, nullable=False, default=0.0),
)
_IN = _TABLE.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One video on its way to a memory. `metadata` is JSON text; times are ISO 8601 in UTC.

    `made_with` is a hash of the settings. `left_s` is an estimate; `reused` is true where the
    stored memory was still good.
    """

    id: str
    name: str
    path: str
    sha256: str
    created_at: str
    made_with: str
    metadata: str | None = None
    state: State = "queued"
    stage: str = ""
    percent: int = 0
    left_s: float | None = None
    video_id: str | None = None
    reused: bool = False
    error_kind: str | None = None
    error_detail: str | None = None
    ended_at: str | None = None


_FIELDS = tuple(_IN[field.name] for field in fields(Job))


def new_job(*, name: str, path: str, sha256: str, metadata: str | None, made_with: str) -> Job:
    """A job that has just been asked for."""
    return Job(
        id=uuid.uuid4().hex,
        name=name,
        path=path,
        sha256=sha256,
        metadata=metadata,
        made_with=made_with,
        created_at=now_text(),
    )


def now_text() -> str:
    """The time, as jobs record it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Jobs:
    """The table of jobs. Nothing is created before the first job; every call is one transaction.

    Every call raises MemoryStoreError where the table cannot be read or written.
    """

    def __init__(self, places: ServicePaths) -> None:
        self.places = places
        self._engine: Engine | None = None
        self._opening = threading.Lock()

    def close(self) -> None:
        """Close the table; a later call opens it again."""
        with self._opening:
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None

    def add(self, job: Job) -> Job:
        """Record a job; the one that is under way already for this file and metadata, if any."""
        same = (_IN.path == job.path, _IN.sha256 == job.sha256, _IN.metadata.is_(job.metadata))
        with self._writing() as table:
            found = table.execute(select(*_FIELDS).where(*same, _IN.state.in_(ACTIVE))).first()
            if found is not None:
                return _job(found)
            table.execute(
                insert(_TABLE).values(**{f.name: getattr(job, f.name) for f in fields(Job)})
            )
        return job

    def check_room(self, most: int, coming: int = 0) -> None:
        """Raise ServerBusy where so many jobs wait already; `coming` are being received."""
        waiting = self.counts()["queued"] + coming
        if waiting >= most:
            raise ServerBusy(
                f"{waiting} videos are waiting to be built; send this one again later",
                retry_after_s=_RETRY_AFTER_S,
            )

    def get(self, job_id: str) -> Job:
        """The job of an id; raises UnknownJob."""
        found = self._rows(select(*_FIELDS).where(_IN.id == job_id))
        if not found:
            raise UnknownJob(f"there is no job {job_id[:64]!r}; `GET /jobs` lists them")
        return _job(found[0])

    def recent(self, most: int) -> list[Job]:
        """The jobs, the newest first."""
        chosen = select(*_FIELDS).order_by(_IN.number.desc()).limit(most)
        return [_job(row) for row in self._rows(chosen)]

    def active(self) -> list[Job]:
        """The jobs that have not ended."""
        return [_job(row) for row in self._rows(select(*_FIELDS).where(_IN.state.in_(ACTIVE)))]

    def done_like(self, job: Job) -> Job | None:
        """The last job that made a memory of the same file with the same settings."""
        same = (_IN[name] == getattr(job, name) for name in ("path", "sha256", "made_with"))
        chosen = (
            select(*_FIELDS).where(*same, _IN.state == "done").order_by(_IN.number.desc()).limit(1)
        )
        return next((_job(row) for row in self._rows(chosen)), None)

    def done_in(self, video_ids: Sequence[str]) -> list[Job]:
        """The jobs that made memories of these ids."""
        chosen = select(*_FIELDS).where(_IN.state == "done", _IN.video_id.in_(video_ids))
        return [_job(row) for row in self._rows(chosen)]

    def counts(self) -> dict[str, int]:
        """How many jobs there are, by state."""
        rows = self._rows(select(_IN.state, func.count()).group_by(_IN.state))
        found = {str(row[0]): int(row[1]) for row in rows}
        return {state: found.get(state, 0) for state in STATES}

    def claim(self) -> Job | None:
        """Take the job that has waited longest; None where none waits."""
        if not self.places.database.is_file():
            return None
        ready = (_IN.state == "queued", _IN.not_before <= time.time())
        with self._writing() as table:
            first = select(*_FIELDS).where(*ready).order_by(_IN.number).limit(1)
            found = table.execute(first).first()
            if found is not None:
                changed = {"state": "running", "server": self.places.me, "left_s": None}
                table.execute(update(_TABLE).where(_IN.id == found.id).values(changed))
        return _job(found) if found is not None else None

    def tell(self, job_id: str, stage: str, percent: int, left_s: float | None) -> bool:
        """Record how far a job is; False where it is not ours any more: somebody cancelled it."""
        told = {"stage": stage, "percent": percent, "left_s": left_s}
        further = {
            "kills": case((_IN.reached < percent, 0), else_=_IN.kills),
            "reached": func.max(_IN.reached, percent),
        }
        return self._change_mine(job_id, told | further)

    def end(self, job_id: str, state: State, **more: Any) -> bool:
        """Record the end of a job that runs here."""
        ended = {"state": state, "ended_at": now_text(), "left_s": None, "server": None}
        return self._change_mine(job_id, {**ended, **more})

    def give_back(self, job_id: str, wait_s: float = 0.0) -> None:
        """Let a job that runs here wait again, for so many seconds at least."""
        waits = {"state": "queued", "server": None, "not_before": time.time() + wait_s}
        self._change_mine(job_id, waits)

    def cancel(self, job_id: str) -> Job:
        """End a job that has not ended; raises UnknownJob."""
        ended = {"state": "cancelled", "ended_at": now_text(), "left_s": None, "server": None}
        self._change(ended, _IN.id == job_id, _IN.state.in_(ACTIVE))
        return self.get(job_id)

    def take_up(self) -> int:
        """Let jobs whose server was killed wait again; how many.

        One whose server was killed three times before it came any further fails: it may be what
        kills it.
        """
        rows = self._rows(select(_IN.server).where(_IN.state == "running").distinct())
        dead = [server for (server,) in rows if not self.places.lives(str(server))]
        if not dead:
            return 0
        orphaned = (_IN.state == "running", _IN.server.in_(dead))
        failed = {
            "state": "failed",
            "ended_at": now_text(),
            "error_kind": "killed",
            "error_detail": f"the service was killed {_MOST_KILLS} times at the same point of this "
            "build; send the video again, or convert it to a plain MP4",
        }
        self._change(failed, *orphaned, _IN.kills >= _MOST_KILLS - 1)
        again = {"state": "queued", "server": None, "kills": _IN.kills + 1}
        return self._change(again, *orphaned)

    def forget_ended(self, before: str, *, dry_run: bool = False) -> int:
        """Remove the jobs that ended before a time; how many."""
        old = (_IN.ended_at.is_not(None), _IN.ended_at < before)
        if dry_run or not self.places.database.is_file():
            rows = self._rows(select(func.count()).select_from(_TABLE).where(*old))
            return int(rows[0][0]) if rows else 0
        with self._writing() as table:
            return int(table.execute(delete(_TABLE).where(*old)).rowcount)

    def _change_mine(self, job_id: str, values: Mapping[str, Any]) -> bool:
        mine = (_IN.id == job_id, _IN.state == "running", _IN.server == self.places.me)
        return self._change(values, *mine) > 0

    def _change(self, values: Mapping[str, Any], *where: Any) -> int:
        if not self.places.database.is_file():
            return 0
        with self._writing() as table:
            return int(table.execute(update(_TABLE).where(*where).values(**values)).rowcount)

    def _rows(self, chosen: Any) -> Sequence[Any]:
        """What a query finds; nothing where there is no table yet."""
        if not self.places.database.is_file():
            return []
        with _translated(self.places), self._opened().connect() as table:
            return table.execution_options(reads=True).execute(chosen).all()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with _translated(self.places), self._opened().begin() as table:
            yield table

    def _opened(self) -> Engine:
        self.places.begin()
        with self._opening:
            if self._engine is None:
                engine = create_engine(f"sqlite:///{self.places.database}")
                event.listen(engine, "connect", _prepare)
                event.listen(engine, "begin", _begin)
                _TABLE.metadata.create_all(engine)
                self._engine = engine
            return self._engine


def _prepare(connection: Any, _: Any) -> None:
    """WAL lets readers read while somebody writes; FULL keeps an accepted job past a power cut."""
    connection.isolation_level = None  # SQLAlchemy begins transactions itself, see `_begin`
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_BUSY_MS}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    """One who reads and then writes takes the lock first: two of them could not go on."""
    reads = connection.get_execution_options().get("reads")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


@contextmanager
def _translated(places: ServicePaths) -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        why = str(getattr(error, "orig", None) or error)
        raise MemoryStoreError(
            f"the jobs in {places.database} cannot be used: {why}; see that its disk has room, or "
            "move the file away while no service runs"
        ) from None


def _job(row: Row[Any]) -> Job:
    return Job(**{field.name: getattr(row, field.name) for field in fields(Job)})
