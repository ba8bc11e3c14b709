"""Where videos are handed in and away."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from admir.errors import AdmirError, BuildInProgress
from admir.memory.store import MemoryStore
from admir.server.disk_quota import DiskQuota
from admir.server.jobs import STATES, Job, Jobs, new_job, now_text
from admir.server.metrics import Metrics
from admir.server.paths import ServicePaths
from admir.server.uploads import Part, Received, Receiver, check_size, place
from admir.server.worker import Workers
from admir.settings import Settings
from admir.types import Memory

_MOST_AROUND = 1_000_000
"""Bytes of a form around its file."""


class VideoRequest(BaseModel):
    """The JSON body of `POST /videos`: a path under the service's roots, or a public URL."""

    model_config = ConfigDict(extra="forbid")

    path: str | None = Field(default=None, min_length=1, max_length=4096)
    url: str | None = Field(default=None, min_length=1, max_length=8192)
    metadata: dict[str, str | int | float] | None = None

    @model_validator(mode="after")
    def _names_one(self) -> VideoRequest:
        if (self.path is None) == (self.url is None):
            raise ValueError("give `path` or `url`")
        return self


@dataclass
class IngestService:
    """Where videos are handed in and away: `start` and `close` stand around its life."""

    settings: Settings
    store: MemoryStore
    jobs: Jobs
    workers: Workers
    receiver: Receiver
    room: DiskQuota
    made_with: str
    receiving: int = 0

    @classmethod
    def of(cls, settings: Settings, store: MemoryStore, metrics: Metrics) -> IngestService:
        """The desk of one application, which tells its figures."""
        places = ServicePaths(settings.memories)
        jobs = Jobs(places)
        for state in STATES:
            metrics.gauge(f"jobs_{state}", f"Jobs that are {state}", _counter(jobs, state))
        desk = cls(
            settings=settings,
            store=store,
            jobs=jobs,
            workers=Workers(settings=settings, jobs=jobs),
            receiver=Receiver(places, settings.server),
            room=DiskQuota(settings.memories, settings.server.disk_gb),
            made_with=_made_with(settings),
        )
        metrics.gauge("videos_being_received", "Uploads under way", lambda: desk.receiving)
        return desk

    def start(self) -> None:
        """Begin to build."""
        self.workers.start()

    def close(self) -> None:
        """Stop building."""
        self.workers.close()

    async def take(self, request: Request) -> Job:
        """Receive a video and make a job of it; `Job.state` is done where nothing is to do."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        most = self.receiver.most_bytes
        told = request.headers.get("content-length", "")
        coming = int(told) if kind != "application/json" and told.isdecimal() else 0
        check_size(coming - _MOST_AROUND, most)
        most_waiting, before = self.settings.server.queue, self.receiving
        self.receiving += 1
        try:
            await asyncio.to_thread(self.jobs.check_room, most_waiting, before)
            await asyncio.to_thread(self.room.check, coming)
            return await self._received(request, kind)
        finally:
            self.receiving -= 1

    async def _received(self, request: Request, kind: str) -> Job:
        asked = await _asked(request) if kind == "application/json" else None
        if asked is not None and asked.path is not None:
            return await self._job(await self.receiver.path(asked.path, asked.metadata))
        new_part = await asyncio.to_thread(self.jobs.places.new_part)
        with Part(new_part, self.receiver.most_bytes, self.room.check) as part:
            if asked is not None:
                received = await self.receiver.url(asked.url or "", asked.metadata, part)
            elif kind == "multipart/form-data":
                received = await self.receiver.form(request, part)
            else:
                received = await self.receiver.body(request, part)
            return await self._job(received)

    async def _job(self, received: Received) -> Job:
        job = await asyncio.to_thread(self._accepted, received)
        self.workers.wake()
        return job

    def _accepted(self, received: Received) -> Job:
        """The job of a received video; nobody else takes in or clears away meanwhile."""
        places = self.jobs.places
        places.begin()
        with places.alone():
            self.jobs.check_room(self.settings.server.queue)
            path = place(places, received) if received.part else received.path
            job = new_job(
                name=received.name,
                path=str(path),
                sha256=received.sha256,
                metadata=received.metadata,
                made_with=self.made_with,
            )
            memory = self._still_good(job)
            if memory is not None:
                job = replace(
                    job,
                    state="done",
                    percent=100,
                    video_id=memory.video.id,
                    reused=True,
                    ended_at=now_text(),
                )
            return self.jobs.add(job)

    def _still_good(self, job: Job) -> Memory | None:
        """The memory that a job like this one has made; None where a build might change it."""
        before = self.jobs.done_like(job)
        try:
            memory = self.store.read(before.video_id or "") if before else None
        except AdmirError:
            return None
        if memory is None or memory.provenance.failed:
            return None
        metadata = json.loads(job.metadata) if job.metadata else memory.video.metadata
        same = memory.video.sha256 == job.sha256 and dict(memory.video.metadata) == metadata
        return memory if same else None

    def delete(self, video_id: str) -> None:
        """Remove a memory, and the file of its video where it was sent to the service.

        Raises UnknownVideo, BuildInProgress or MemoryStoreError.
        """
        with self._alone():
            owner = self.store.video_paths().get(video_id, "")
            if any(job.path == owner for job in self.jobs.active()):
                raise BuildInProgress(f"a job builds {video_id!r}; cancel it, then delete again")
            path = self.store.remove(video_id)
            if path:
                self.jobs.places.forget(Path(path))
        self.room.forget()

    def _alone(self) -> AbstractContextManager[None]:
        """A folder of memories that was never sent a video stays as it is."""
        places = self.jobs.places
        return places.alone() if places.database.is_file() else nullcontext()


async def _asked(request: Request) -> VideoRequest:
    """The JSON body; raises RequestValidationError."""
    body = await request.body()
    try:
        return VideoRequest.model_validate_json(body)
    except ValidationError as error:
        found = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(found) from None


def _made_with(settings: Settings) -> str:
    """A hash of what a build may depend on: with another, the builder says what is still good."""
    text = version("admir") + settings.model_dump_json(exclude={"server", "memories"})
    return hashlib.sha256(text.encode()).hexdigest()


def _counter(jobs: Jobs, state: str) -> Callable[[], float]:
    def count() -> float:
        try:
            return jobs.counts()[state]
        except AdmirError:
            return float("nan")

    return count
