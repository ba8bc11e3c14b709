"""`POST /videos`, `DELETE /videos/{id}`, and the jobs between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from admir.errors import AdmirError
from admir.server.ask import EVENT_STREAM
from admir.server.ingest import IngestService, VideoRequest
from admir.server.jobs import ACTIVE, Job, Jobs, State
from admir.server.problems import problem_of, responses
from admir.server.read_routes import VideoId

_MOST_LISTED = 200
_LOOK_S = 0.3
_PING_S = 15

JobId = Annotated[str, InPath(max_length=64, description="id of a job")]


class JobError(BaseModel):
    """Why a job failed: `kind` is a stable name, `detail` one line for people."""

    kind: str
    detail: str


class JobView(BaseModel):
    """A video on its way to a memory."""

    id: str
    name: str
    state: State
    stage: str = Field(description="of the build, as `build-memory` shows it")
    percent: int = Field(ge=0, le=100)
    left_s: float | None = Field(description="seconds left, about")
    video_id: str | None = Field(description="id of the memory, once it is done")
    reused: bool = Field(description="the memory was there already, and good")
    error: JobError | None
    created_at: str
    ended_at: str | None


class JobList(BaseModel):
    """The last jobs, the newest first."""

    jobs: list[JobView]


def videos_router(desk: IngestService) -> APIRouter:
    """Routes that change what there is."""
    router = APIRouter(tags=["videos"])
    _add_videos(router, desk)
    _add_jobs(router, desk)
    return router


_RAW = {"schema": {"type": "string", "format": "binary"}}
_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {"type": "string", "format": "binary"},
        "metadata": {"type": "string", "description": "JSON object of text fields"},
    },
}
_BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {"schema": _FORM},
        "video/*": _RAW,
        "application/octet-stream": _RAW,
        "application/json": {"schema": VideoRequest.model_json_schema()},
    },
}
_NAME = {
    "name": "name",
    "in": "query",
    "required": False,
    "schema": {"type": "string"},
    "description": "name of the file, for a raw body",
}


def _add_videos(router: APIRouter, desk: IngestService) -> None:
    @router.post(
        "/videos",
        status_code=202,
        response_model=JobView,
        responses={
            200: {"model": JobView, "description": "its memory is there already"},
            **responses(400, 403, 408, 413, 415, 422, 429, 500, 507),
        },
        openapi_extra={"requestBody": _BODY, "parameters": [_NAME]},
    )
    async def send(request: Request) -> Response:
        """Send a video: as a form, as a raw body, as a path or a URL.

        The same content again gives the same video.
        """
        try:
            job = await desk.take(request)
        except ClientDisconnect:
            return Response(status_code=499)
        status = 200 if job.state == "done" else 202
        headers = {"Location": f"/jobs/{job.id}"}
        return JSONResponse(view_of(job).model_dump(), status, headers=headers)

    @router.delete("/videos/{video_id}", status_code=204, responses=responses(404, 409, 500))
    async def remove(video_id: VideoId) -> Response:
        """Remove a memory with its traces, and the video's file where it was sent here."""
        await asyncio.to_thread(desk.delete, video_id)
        return Response(status_code=204)


def _add_jobs(router: APIRouter, desk: IngestService) -> None:
    @router.get("/jobs", responses=responses(500))
    def jobs() -> JobList:
        """The last jobs, the newest first."""
        return JobList(jobs=[view_of(job) for job in desk.jobs.recent(_MOST_LISTED)])

    @router.get(
        "/jobs/{job_id}",
        response_model=JobView,
        responses={
            200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}},
            **responses(404, 500),
        },
    )
    async def job(job_id: JobId, request: Request) -> Response:
        """A job. With `Accept: text/event-stream`: an event `job` on each change, to its end."""
        found = await asyncio.to_thread(desk.jobs.get, job_id)
        if EVENT_STREAM in request.headers.get("accept", ""):
            return EventSourceResponse(_changes(desk.jobs, found), ping=_PING_S)
        return JSONResponse(view_of(found).model_dump())

    @router.delete("/jobs/{job_id}", responses=responses(404, 500))
    async def cancel(job_id: JobId) -> JobView:
        """Cancel a job; one that has ended stays as it is."""
        cancelled = await asyncio.to_thread(desk.jobs.cancel, job_id)
        desk.workers.cancel(job_id)
        return view_of(cancelled)


async def _changes(jobs: Jobs, job: Job) -> AsyncIterator[ServerSentEvent]:
    """The job whenever it has changed, until it has ended."""
    last: JobView | None = None
    while True:
        shown = view_of(job)
        if shown != last:
            yield ServerSentEvent(data=shown.model_dump_json(), event="job")
            last = shown
        if job.state not in ACTIVE:
            return
        await asyncio.sleep(_LOOK_S)
        try:
            job = await asyncio.to_thread(jobs.get, job.id)
        except AdmirError as error:  # the stream has begun: it tells what failed
            yield ServerSentEvent(data=problem_of(error).model_dump_json(), event="problem")
            return


def view_of(job: Job) -> JobView:
    """A job as the API shows it."""
    error = None
    if job.error_kind is not None:
        error = JobError(kind=job.error_kind, detail=job.error_detail or "")
    plain = {name: getattr(job, name) for name in JobView.model_fields if name != "error"}
    return JobView(**plain, error=error)
