"""What people correct in a memory: `/videos/{id}/corrections`."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from admir.memory.corrections import MOST_CHARS, new_correction
from admir.memory.store import MemoryStore
from admir.server.problems import responses
from admir.server.read_routes import VideoId
from admir.types import Correction, CorrectionKind

CorrectionId = Annotated[str, InPath(max_length=64, description="id of a correction")]


class CorrectionRequest(BaseModel):
    """Body of `POST /videos/{id}/corrections`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"kind": "screen_text", "was": "LUMIV0", "text": "LUMIVO"},
        },
    )

    kind: CorrectionKind
    text: str = Field(
        max_length=MOST_CHARS, description="what it is; of a line empty: it is no text"
    )
    was: str = Field(
        default="",
        max_length=MOST_CHARS,
        description="the line of on-screen text as it was read, or the wrong brand",
    )


class Corrections(BaseModel):
    """The corrections of a video, the oldest first."""

    corrections: list[Correction]


def corrections_router(store: MemoryStore) -> APIRouter:
    """The routes of corrections."""
    router = APIRouter(tags=["corrections"])

    @router.get("/videos/{video_id}/corrections", responses=responses(404, 422, 500))
    async def corrections(video_id: VideoId) -> Corrections:
        """What people have corrected in a memory."""
        memory = await asyncio.to_thread(store.read, video_id)
        return Corrections(corrections=list(memory.corrections))

    @router.post(
        "/videos/{video_id}/corrections",
        status_code=201,
        responses=responses(400, 404, 422, 500),
    )
    async def correct(video_id: VideoId, body: CorrectionRequest) -> Corrections:
        """Correct a line of on-screen text, or the brand: all corrections then.

        The next answer has it. `was` is what was read: a later correction of that takes the place
        of the one before.
        """
        new = new_correction(body.kind, body.text, body.was)
        memory = await asyncio.to_thread(store.correct, video_id, new)
        return Corrections(corrections=list(memory.corrections))

    @router.delete(
        "/videos/{video_id}/corrections/{correction_id}",
        status_code=204,
        responses=responses(404, 422, 500),
    )
    async def withdraw(video_id: VideoId, correction_id: CorrectionId) -> Response:
        """Take a correction back."""
        await asyncio.to_thread(store.withdraw, video_id, correction_id)
        return Response(status_code=204)

    return router
