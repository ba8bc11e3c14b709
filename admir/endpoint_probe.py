"""Whether an OpenAI-compatible endpoint answers, and with which models. Keys are never shown."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from admir.concurrency import run_sync
from admir.text import to_printable

TIMEOUT_S = 3.0
MOST_MODELS = 1_000
_MOST_BYTES = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """What came of asking: `url` without user, password and query, `reason` where it failed."""

    state: Literal["none", "ok", "failed"]
    url: str = ""
    models: tuple[str, ...] = ()
    reason: str = ""


class _NoModels(Exception):
    """The endpoint answered otherwise than with a list of models; the message says how."""


def ask_endpoint(url: str | None = None, *, key: str | None = None) -> Endpoint:
    """GET `{url}/models` within 3 s; `OPENAI_BASE_URL` by default, and nothing without that.

    `key`, by default `OPENAI_API_KEY`, goes with the request, which follows no redirect.
    """
    base = (url or os.environ.get("OPENAI_BASE_URL") or "").strip()
    key = (key or os.environ.get("OPENAI_API_KEY") or "").strip()
    if not base:
        hint = "; OPENAI_API_KEY is set, but no endpoint is named" if key else ""
        return Endpoint(state="none", reason=f"none is configured{hint}")
    try:
        parsed = httpx.URL(base)
    except (httpx.InvalidURL, ValueError):
        return Endpoint(state="failed", reason="that is no URL")
    plain = _plain(parsed)
    if parsed.scheme not in ("http", "https") or not parsed.host:
        return Endpoint(state="failed", url=plain, reason="that is no http or https URL")
    try:
        models = run_sync(asyncio.wait_for(_models(parsed, key), TIMEOUT_S))
    except Exception as error:  # noqa: BLE001 - whatever a strange server does, it is told
        return Endpoint(state="failed", url=plain, reason=_reason(error, key))
    return Endpoint(state="ok", url=plain, models=models)


def _plain(url: httpx.URL) -> str:
    """Scheme, host, port and path: the rest may hold secrets."""
    port = f":{url.port}" if url.port else ""
    return to_printable(f"{url.scheme}://{url.host}{port}{url.path}")


async def _models(base: httpx.URL, key: str) -> tuple[str, ...]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    url = base.copy_with(path=f"{base.path.rstrip('/')}/models")
    client = httpx.AsyncClient(timeout=TIMEOUT_S, headers=headers)
    async with client, client.stream("GET", url) as response:
        if response.status_code != httpx.codes.OK:
            raise _NoModels(_refusal(response.status_code, key))
        return _ids(await _body(response))


def _refusal(status: int, key: str) -> str:
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        return f"it refuses OPENAI_API_KEY (HTTP {status})" if key else "it wants OPENAI_API_KEY"
    return f"it answers with HTTP {status}"


async def _body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > _MOST_BYTES:
            raise _NoModels("its list of models has no end")
    return bytes(body)


def _ids(body: bytes) -> tuple[str, ...]:
    """The ids of the answer's `data`."""
    try:
        rows: Any = json.loads(body)["data"]
        names = [to_printable(row["id"]) for row in rows]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise _NoModels("it answers, but not with a list of models") from None
    return tuple(names[:MOST_MODELS])


def _reason(error: Exception, key: str) -> str:
    """In our words: those of a library may repeat the headers, and the key in them."""
    if isinstance(error, _NoModels):
        return str(error)
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return f"no answer within {TIMEOUT_S:g} s"
    if isinstance(error, httpx.ConnectError):
        return "nobody answers there"
    if key and isinstance(error, ValueError | httpx.LocalProtocolError):
        return "OPENAI_API_KEY holds characters that cannot be sent"
    return f"the exchange failed ({type(error).__name__})"
