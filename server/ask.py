"""`POST /ask`: a question, answered at once or event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from admir.server.ask_service import AskService
from admir.server.metrics import Metrics
from admir.server.problems import problem_of, responses
from admir.server.serialization import json_reply, to_api_json
from admir.settings import Settings
from admir.trace import Answered, AnswerEvent, event_name, to_json
from admir.types import Answer, Turn

EVENT_STREAM = "text/event-stream"
_PING_S = 15
_GONE = 499
"""The status of a request whose client has left, in the logs: nobody reads it."""


class AskOptions(BaseModel):
    """What one question may change of the settings of the service."""

    model_config = ConfigDict(extra="forbid")

    beta: float | None = Field(default=None, ge=0, le=100)
    max_steps: int | None = Field(default=None, ge=1, le=50)
    answer_words: int | None = Field(default=None, ge=5, le=500)
    max_cost: float | None = Field(default=None, gt=0, le=1e6, description="US dollars")
    max_seconds: float | None = Field(default=None, gt=0, le=86_400)
    max_tokens: int | None = Field(default=None, gt=0, le=1_000_000_000)
    hybrid_index: bool | None = None
    subject_registry: bool | None = None
    communication_expert: bool | None = None
    visual_anchor: bool | None = None


class EarlierTurn(BaseModel):
    """A question of the same conversation, and its answer."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=2_000)
    answer: str = Field(max_length=5_000)


class AskRequest(BaseModel):
    """Body of `POST /ask`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"video_id": "ad", "question": "What price is shown?"}},
    )

    video_id: str = Field(min_length=1, max_length=200, description="id of a built memory")
    question: str = Field(max_length=10_000, description="the question")
    options: AskOptions = AskOptions()
    earlier: list[EarlierTurn] = Field(
        default=[], max_length=50, description="the conversation so far; models go on from it"
    )


def ask_router(asks: AskService, metrics: Metrics) -> APIRouter:
    """The route of questions."""
    router = APIRouter(tags=["ask"])

    @router.post(
        "/ask",
        response_model=None,
        responses={
            200: {
                "description": "The answer, or its events",
                "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Answer"}},
                    EVENT_STREAM: {"schema": {"type": "string"}},
                },
            },
            **responses(400, 404, 422, 429, 500, 502, 503),
        },
    )
    async def ask(body: AskRequest, request: Request) -> Response:
        """Answer a question about a video.

        With `Accept: text/event-stream` every event of the trace is sent as it happens (`asked`,
        `oriented`, `step_taken`, `backtracked`, `reword`), and `answered` or `problem` at last.
        A client that goes away ends the work.
        """
        settings = _settings(asks.settings, body.options)
        earlier = [Turn(question=turn.question, answer=turn.answer) for turn in body.earlier]
        events = metrics.watched(asks.events(body.video_id, body.question, settings, earlier))
        if EVENT_STREAM in request.headers.get("accept", ""):
            return EventSourceResponse(_told(events), ping=_PING_S)
        return await _whole(events, request)

    return router


def _settings(common: Settings, options: AskOptions) -> Settings:
    changed = options.model_dump(exclude_none=True)
    return common.model_copy(update=changed) if changed else common


async def _whole(events: AsyncGenerator[AnswerEvent, None], request: Request) -> Response:
    """The Answer alone; the work ends early where nobody waits for it any more."""
    work = asyncio.create_task(_answer_of(events))
    gone = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            return Response(status_code=_GONE)
        return await json_reply(work.result())
    finally:
        for task in (work, gone):
            task.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)


async def _answer_of(events: AsyncGenerator[AnswerEvent, None]) -> Answer:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Answered):
                return event.answer
    raise AssertionError("a stream of events ends with the answer")


async def _disconnected(request: Request) -> None:
    """Until the client has hung up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _told(events: AsyncGenerator[AnswerEvent, None]) -> AsyncIterator[ServerSentEvent]:
    """The events as a browser reads them."""
    async with aclosing(events):
        try:
            async for event in events:
                yield ServerSentEvent(data=to_json(to_api_json(event)), event=event_name(event))
        except Exception as error:  # noqa: BLE001 - the stream has begun: it tells what failed
            yield ServerSentEvent(data=problem_of(error).model_dump_json(), event="problem")
