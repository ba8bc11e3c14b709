"""Builds of the service, in an event loop and a thread of their own.

What a build computes there does not keep the service waiting.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from admir.api import build_events
from admir.concurrency import LoopThread, run_to_end
from admir.errors import AdmirError, BuildInProgress, TooLarge
from admir.server.jobs import Job, Jobs
from admir.settings import Settings
from admir.trace import BuildEvent, BuildProgress, Built
from admir.views.progress import share_done

_LOG = logging.getLogger("admir.server")
_POLL_S = 1.0
_TELL_S = 0.4
_TAKE_UP_S = 10.0
_LOCKED_WAIT_S = 2.0
_LEAST_SHARE = 0.03


@dataclass
class _Course:
    """How far a build is: the last stage, and the largest share of all, from 0 to 1."""

    most_s: float
    stage: str = "hash"
    share: float = 0.0
    started: float = field(default_factory=time.monotonic)
    told: tuple[str, int, float | None] | None = None

    def see(self, event: BuildEvent) -> None:
        """Take it in; raises TooLarge where the pictures go on longer than the file had said."""
        if isinstance(event, BuildProgress):
            if event.stage == "decode" and event.done > self.most_s:
                raise TooLarge(
                    f"the video has more than {self.most_s:,.0f} s, whatever it says of itself; "
                    "cut it"
                )
            self.stage, self.share = event.stage, max(self.share, share_done(event))

    def state(self) -> tuple[str, int, float | None]:
        """Stage, percent, and about how many seconds are left."""
        passed_s = time.monotonic() - self.started
        known = self.share >= _LEAST_SHARE
        left_s = round(passed_s * (1 - self.share) / self.share, 1) if known else None
        return self.stage, min(99, int(100 * self.share)), left_s


@dataclass
class Workers:
    """Builds waiting videos, as many at once as `settings.server.builds`; `close` ends it."""

    settings: Settings
    jobs: Jobs
    _own: LoopThread = field(default_factory=partial(LoopThread, "admir-builds"))
    _running: dict[str, asyncio.Task[Built]] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self) -> None:
        """Take up what was under way, and begin to build."""
        self._own.start()
        for work in (self._keep_up(), *(self._work() for _ in range(self.settings.server.builds))):
            self._own.run(work)

    def close(self) -> None:
        """Stop building; what is under way goes on at the next start."""
        self._own.close()
        self.jobs.close()
        self.jobs.places.end()

    def wake(self) -> None:
        """There is a new job."""
        self._own.loop.call_soon_threadsafe(self._news.set)

    def cancel(self, job_id: str) -> None:
        """Stop the build of a job that was cancelled, if it runs here."""

        def stop() -> None:
            if (task := self._running.get(job_id)) is not None:
                _stop(task)

        self._own.loop.call_soon_threadsafe(stop)

    async def _keep_up(self) -> None:
        """Remove what killed servers had received, and take up what they were building."""
        while True:
            try:
                for part in await asyncio.to_thread(self.jobs.places.stale_parts):
                    part.unlink(missing_ok=True)
                if await asyncio.to_thread(self.jobs.take_up):
                    self._news.set()
            except (AdmirError, OSError) as error:
                _LOG.error("jobs", extra={"problem": str(error)})
            await asyncio.sleep(_TAKE_UP_S)

    async def _work(self) -> None:
        while True:
            try:
                job = await asyncio.to_thread(self.jobs.claim)
                if job is not None:
                    await self._run(job)
                    continue
            except AdmirError as error:  # the disk is full, say: a later turn may go better
                _LOG.error("jobs", extra={"problem": str(error)})
                await asyncio.sleep(_TAKE_UP_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(_POLL_S):
                    await self._news.wait()
            self._news.clear()

    async def _run(self, job: Job) -> None:
        """Build one video, and record how it ends."""
        course = _Course(self.settings.server.video_s)
        _LOG.info("job begins", extra={"job_id": job.id, "video": job.name})
        task = asyncio.create_task(self._built(job, course))
        watch = asyncio.create_task(self._watch(job, course, task))
        self._running[job.id] = task
        try:
            await asyncio.wait({task}, timeout=self.settings.server.build_s)
            too_slow = not task.done()
            await _ended(task, watch)
            await asyncio.to_thread(self._record, job, course, task, too_slow)
        except asyncio.CancelledError:  # the service ends
            await _ended(task, watch)
            self.jobs.give_back(job.id)
            raise
        finally:
            del self._running[job.id]

    async def _built(self, job: Job, course: _Course) -> Built:
        metadata = json.loads(job.metadata) if job.metadata else None
        path = Path(job.path)
        events = await asyncio.to_thread(build_events, path, self.settings, metadata)
        last = await run_to_end(events, course.see)
        assert isinstance(last, Built)
        return last

    async def _watch(self, job: Job, course: _Course, task: asyncio.Task[Built]) -> None:
        """Record how far a build is; stop it once somebody has cancelled it, here or elsewhere."""
        while True:
            with suppress(AdmirError):
                if not await asyncio.to_thread(self.jobs.tell, job.id, *course.state()):
                    _stop(task)
            await asyncio.sleep(_TELL_S)

    def _record(self, job: Job, course: _Course, task: asyncio.Task[Built], too_slow: bool) -> None:
        seconds = round(time.monotonic() - course.started, 3)
        _LOG.info("job ends", extra={"job_id": job.id, "seconds": seconds})
        if too_slow:
            most_s = self.settings.server.build_s
            self._fail(job, "too-slow", f"the build took more than {most_s:,.0f} s; cut the video")
        elif task.cancelled():
            return
        elif (error := task.exception()) is None:
            built = task.result()
            done = {"video_id": built.memory.video.id, "reused": built.reused, "percent": 100}
            self.jobs.end(job.id, "done", stage="", **done)
        elif isinstance(error, BuildInProgress):
            self.jobs.give_back(job.id, _LOCKED_WAIT_S)
        elif isinstance(error, AdmirError):
            self._fail(job, error.kind, str(error))
        else:
            _LOG.error("job %s failed", job.id, exc_info=error)
            what = f"unexpected {type(error).__name__}; see the server's log"
            self._fail(job, "unexpected", what)

    def _fail(self, job: Job, kind: str, detail: str) -> None:
        self.jobs.end(job.id, "failed", error_kind=kind, error_detail=detail)


async def _ended(*tasks: asyncio.Task[Built] | asyncio.Task[None]) -> None:
    """Cancel and wait; a build's threads have ended then."""
    for task in tasks:
        _stop(task)
    await asyncio.gather(*tasks, return_exceptions=True)


def _stop(task: asyncio.Task[Built] | asyncio.Task[None]) -> None:
    """Cancel once: a second time would break off the waiting for the build's threads."""
    if not task.cancelling():
        task.cancel()
