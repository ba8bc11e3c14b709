"""What is there to read: videos, their memories, frames, media and traces, and the tools."""

from __future__ import annotations

import asyncio
import mimetypes
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from admir.errors import AdmirError
from admir.memory.frame_access import frames_at
from admir.memory.store import MemoryStore
from admir.perception.decode import jpeg_of
from admir.server.problems import responses
from admir.server.serialization import json_reply, to_api_json
from admir.settings import Settings
from admir.tools.registry import tool_specs
from admir.types import Memory

_FRAME_SIDE, _QUALITY = 960, 88
_TRACE = re.compile(r"[0-9A-Za-z-]{1,40}")
_KEPT = {"Cache-Control": "private, max-age=31536000, immutable"}

VideoId = Annotated[str, InPath(max_length=200, description="id of a memory")]


class Video(BaseModel):
    """A video that can be asked about."""

    video_id: str
    duration_s: float
    width: int
    height: int
    clips: int
    shots: int
    screen_texts: int
    utterances: int
    preset: str
    built_at: str
    summary: str
    warnings: tuple[str, ...] = ()
    media: bool = Field(description="whether the video file is still there")


class Videos(BaseModel):
    """What `GET /videos` says; `unreadable` are memories that are damaged or newer."""

    videos: list[Video]
    unreadable: dict[str, str]


def library_router(store: MemoryStore, settings: Settings) -> APIRouter:
    """Routes that only read."""
    router = APIRouter(tags=["library"])
    _add_videos(router, store)
    _add_pictures(router, store)
    _add_traces(router, store)

    @router.get("/tools")
    def tools() -> dict[str, Any]:
        """The actions of the agent, with the JSON Schema of their arguments."""
        return {"tools": [to_api_json(spec) for spec in tool_specs(settings)]}

    return router


def _add_videos(router: APIRouter, store: MemoryStore) -> None:
    @router.get("/videos")
    def videos() -> Videos:
        """The videos that can be asked about, by their ids."""
        return _videos(store)

    @router.get("/videos/{video_id}", responses=responses(404, 422, 500))
    async def video(video_id: VideoId) -> Video:
        """One video, in short."""
        return video_of(await asyncio.to_thread(store.read, video_id))

    @router.get(
        "/videos/{video_id}/memory",
        response_model=None,
        responses={
            200: {
                "description": "The memory",
                "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Memory"}}
                },
            },
            **responses(404, 422, 500),
        },
    )
    async def memory(video_id: VideoId) -> Response:
        """The whole memory, as `admir show --json` prints it."""
        found = await asyncio.to_thread(store.read, video_id)
        shown = replace(found, folder="", video=replace(found.video, path=_name(found)))
        return await json_reply(shown)


def _add_pictures(router: APIRouter, store: MemoryStore) -> None:
    @router.get(
        "/videos/{video_id}/media",
        response_class=FileResponse,
        responses={206: {"description": "a range of it"}, **responses(404, 416, 500)},
    )
    async def media(video_id: VideoId) -> Response:
        """The video file; byte ranges are honoured."""
        path = Path((await asyncio.to_thread(store.read, video_id)).video.path)
        if not await asyncio.to_thread(path.is_file):
            raise HTTPException(404, f"the video file of {video_id!r} is not there any more")
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return FileResponse(path, media_type=kind if kind.startswith("video/") else "video/mp4")

    @router.get(
        "/videos/{video_id}/frames/{time_s}.jpg",
        response_class=Response,
        responses={200: {"content": {"image/jpeg": {}}}, **responses(404, 422, 500)},
    )
    async def frame(
        video_id: VideoId, time_s: Annotated[float, InPath(ge=0, le=1e6, allow_inf_nan=False)]
    ) -> Response:
        """The frame that is shown at a time, in seconds; its own time is in `X-Frame-Time-S`."""
        found = await asyncio.to_thread(store.read, video_id)
        own_s, data = await asyncio.to_thread(_jpeg, found, time_s)
        headers = {**_KEPT, "X-Frame-Time-S": f"{own_s:.3f}"}
        return Response(data, media_type="image/jpeg", headers=headers)


def _add_traces(router: APIRouter, store: MemoryStore) -> None:
    @router.get("/videos/{video_id}/traces", responses=responses(404, 422, 500))
    async def traces(video_id: VideoId) -> dict[str, list[str]]:
        """The ids of the traces of a video, the newest first."""
        await asyncio.to_thread(store.read, video_id)
        folder = store.root / video_id / "traces"
        names = await asyncio.to_thread(lambda: [path.stem for path in folder.glob("*.jsonl")])
        return {"traces": sorted(names, reverse=True)}

    @router.get(
        "/videos/{video_id}/traces/{trace_id}",
        response_class=FileResponse,
        responses={200: {"content": {"application/jsonl": {}}}, **responses(404, 422, 500)},
    )
    async def trace(video_id: VideoId, trace_id: str) -> Response:
        """The events of one answer as JSON Lines."""
        await asyncio.to_thread(store.read, video_id)
        path = store.root / video_id / "traces" / f"{trace_id}.jsonl"
        if not _TRACE.fullmatch(trace_id) or not await asyncio.to_thread(path.is_file):
            raise HTTPException(404, f"there is no trace {trace_id!r} of {video_id!r}")
        return FileResponse(path, media_type="application/jsonl")


def _name(memory: Memory) -> str:
    """The name of the file alone: where it lies is nobody's business."""
    return Path(memory.video.path).name


def _videos(store: MemoryStore) -> Videos:
    found, unreadable = [], {}
    for video_id in store.ids():
        try:
            found.append(video_of(store.read(video_id)))
        except AdmirError as error:
            unreadable[video_id] = str(error)
    return Videos(videos=found, unreadable=unreadable)


def video_of(memory: Memory) -> Video:
    """A memory in short."""
    made = memory.provenance
    return Video(
        video_id=memory.video.id,
        duration_s=memory.video.duration_s,
        width=memory.video.width,
        height=memory.video.height,
        clips=len(memory.clips),
        shots=len(memory.shots),
        screen_texts=len(memory.screen_text),
        utterances=len(memory.utterances),
        preset=made.preset,
        built_at=made.built_at,
        summary=memory.narrative.summary,
        warnings=tuple(made.warnings),
        media=Path(memory.video.path).is_file(),
    )


def _jpeg(memory: Memory, time_s: float) -> tuple[float, bytes]:
    """The frame shown at a time, with its own time; raises HTTPException where there is none."""
    pictures = frames_at(memory, [min(time_s, memory.video.duration_s)], _FRAME_SIDE)
    if not pictures:
        raise HTTPException(404, f"there is no picture of {memory.video.id!r} at {time_s:g} s")
    return pictures[0].time_s, jpeg_of(pictures[0].pixels, _QUALITY)
