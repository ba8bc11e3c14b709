"""`POST /ask` over the memories of one folder. Errors are RFC 9457 problem documents."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from admir.api import ask_events
from admir.concurrency import last_of, run_sync
from admir.errors import AdmirError, BackendUnavailable, InputError, ModelError, UnknownVideo
from admir.memory.store import MemoryStore
from admir.settings import Settings, load_settings
from admir.trace import Answered, to_plain

_STATUS: tuple[tuple[type[AdmirError], int], ...] = (
    (UnknownVideo, 404),
    (InputError, 400),
    (BackendUnavailable, 503),
    (ModelError, 502),
    (AdmirError, 500),
)


class AskRequest(BaseModel):
    """Body of `POST /ask`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"video_id": "ad", "question": "What price is shown?"}},
    )

    video_id: str = Field(min_length=1, max_length=200, description="id of a built memory")
    question: str = Field(max_length=10_000, description="the question")


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application over `settings` (default: from the environment).

    Serve it with `uvicorn --factory admir.server:create_app`.
    """
    chosen = settings or load_settings()
    store = MemoryStore(chosen.memories)
    app = FastAPI(title="AD-MIR", description="Answers about advertising videos, with evidence.")
    app.add_exception_handler(AdmirError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_fault)

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Whether the service runs, and with which preset."""
        return {"status": "ok", "preset": chosen.preset}

    @app.get("/videos")
    async def videos() -> dict[str, list[str]]:
        """The ids that can be asked about."""
        return {"videos": list(store.ids())}

    @app.post("/ask")
    def ask(request: AskRequest) -> JSONResponse:
        """Answer a question about a video: the Answer as `admir ask --json` prints it."""
        memory = store.read(request.video_id)
        last = run_sync(last_of(ask_events(memory, request.question, chosen)))
        assert isinstance(last, Answered)
        return JSONResponse(to_plain(last.answer))

    return app


async def _on_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AdmirError)
    status = next(code for kind, code in _STATUS if isinstance(error, kind))
    return _problem(status, error.kind, str(error))


async def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = dict(error.errors()[0])
    where = ".".join(str(part) for part in first["loc"])
    return _problem(422, "bad-request", f"{where}: {first['msg']}")


async def _on_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _problem(error.status_code, "http", str(error.detail))


async def _on_fault(request: Request, error: Exception) -> JSONResponse:
    return _problem(500, "unexpected", f"unexpected {type(error).__name__}; see the server's log")


def _problem(status: int, kind: str, detail: str) -> JSONResponse:
    body = {"type": f"urn:admir:{kind}", "title": kind, "status": status, "detail": detail}
    return JSONResponse(body, status_code=status, media_type="application/problem+json")
