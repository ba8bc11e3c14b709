"""Every error as a problem document (RFC 9457), from one table."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from admir.errors import (
    AdmirError,
    BackendUnavailable,
    BuildInProgress,
    DiskFull,
    Forbidden,
    InputError,
    ModelError,
    NotAVideo,
    ServerBusy,
    TooLarge,
    UnknownCorrection,
    UnknownJob,
    UnknownVideo,
)

MEDIA_TYPE = "application/problem+json"
_LOG = logging.getLogger("admir.server")
_STATUS: tuple[tuple[type[AdmirError], int], ...] = (
    (UnknownVideo, 404),
    (UnknownJob, 404),
    (UnknownCorrection, 404),
    (Forbidden, 403),
    (TooLarge, 413),
    (NotAVideo, 415),
    (InputError, 400),
    (BuildInProgress, 409),
    (ServerBusy, 429),
    (DiskFull, 507),
    (BackendUnavailable, 503),
    (ModelError, 502),
    (AdmirError, 500),
)
_KINDS = {
    400: "bad-request",
    401: "no-key",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    408: "too-slow",
    413: "too-large",
    415: "unsupported-media-type",
    416: "bad-range",
    422: "bad-request",
    507: "disk-full",
}


class Problem(BaseModel):
    """A problem document: `title` is a stable name, `detail` one line for people."""

    type: str = Field(examples=["urn:admir:unknown-video"])
    title: str = Field(examples=["unknown-video"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["no memory of 'nope' in memories (known: ad)"])


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The entry of the OpenAPI document for these failures."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": _KINDS.get(status, "failed"), "content": content}
        for status in statuses
    }


def document_problems(document: dict[str, Any]) -> None:
    """Let the OpenAPI document say of every failure that it is a problem document."""
    for route in document["paths"].values():
        for operation in route.values():
            for status in [s for s in operation["responses"] if s >= "400"]:
                operation["responses"][status] = responses(int(status))[int(status)]
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = Problem.model_json_schema()


def problem_of(error: BaseException) -> Problem:
    """The document of an error; one that is not ours says nothing of itself."""
    if isinstance(error, AdmirError):
        status = next(code for kind, code in _STATUS if isinstance(error, kind))
        return problem(status, error.kind, str(error))
    kind = type(error).__name__
    return problem(500, "unexpected", f"unexpected {kind}; see the server's log")


def problem(status: int, kind: str, detail: str) -> Problem:
    """A document of these parts."""
    return Problem(type=f"urn:admir:{kind}", title=kind, status=status, detail=detail)


def reply(found: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    """The document as a response."""
    return JSONResponse(
        found.model_dump(), status_code=found.status, media_type=MEDIA_TYPE, headers=headers
    )


def handle_problems(app: FastAPI) -> None:
    """Let every error of the application become a problem document."""
    app.add_exception_handler(AdmirError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_fault)


async def _on_error(_: Request, error: Exception) -> JSONResponse:
    wait_s = getattr(error, "retry_after_s", None)
    return reply(problem_of(error), {"Retry-After": str(wait_s)} if wait_s else None)


async def _on_invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = dict(error.errors()[0])
    where = ".".join(str(part) for part in first["loc"])
    return reply(problem(422, "bad-request", f"{where}: {first['msg']}"))


async def _on_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    kind = _KINDS.get(error.status_code, "http")
    found = problem(error.status_code, kind, str(error.detail))
    return reply(found, dict(error.headers or {}))


async def _on_fault(request: Request, error: Exception) -> JSONResponse:
    _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return reply(problem_of(error))
