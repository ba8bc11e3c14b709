"""Who may call, how much they may send, and what browsers are told."""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from admir.server.problems import problem, reply
from admir.server.timeouts import LEAST_BYTES_S
from admir.settings import ServerSettings

_LOG = logging.getLogger("admir.server")
_OPEN = frozenset(("/healthz", "/readyz", "/"))
"""What anybody may see: it tells nothing of any video. (The page asks for the key itself.)"""

_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_SMALL_BODY = 4_000_000
_BODY_S, _SILENCE_S = 30.0, 60.0
"""Seconds of waiting for a body beside those of its bytes; the longest wait for a piece of it."""

_UNSAFE = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)


class AuthMiddleware:
    """The outermost layer: a request id, key and origin, bodies, headers, one line of log."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._key = settings.api_key.get_secret_value().encode() if settings.api_key else None
        self._upload = settings.upload_mb * 1_000_000
        self._origins = settings.origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope)
        call = _Call(scope, send, _request_id(given.get("x-request-id")))
        if not self._may_enter(scope["path"], given):
            wrong = problem(401, "no-key", "send the key of the service: Authorization: Bearer KEY")
            await reply(wrong, {"WWW-Authenticate": "Bearer"})(scope, receive, call.send)
        elif scope["method"] in _UNSAFE and not self._is_of_ours(given):
            wrong = problem(403, "forbidden", "pages of other sites may not (server.origins)")
            await reply(wrong)(scope, receive, call.send)
        else:
            body = _Body(receive, self._most(scope, given))
            await self._app(scope, body.receive, call.send)
        call.log()

    def _may_enter(self, path: str, given: Headers) -> bool:
        if self._key is None or path in _OPEN or path.startswith("/static/"):
            return True
        kind, _, key = given.get("authorization", "").partition(" ")
        told = key.strip() if kind.lower() == "bearer" else given.get("x-api-key", "")
        return hmac.compare_digest(told.encode("utf-8", "surrogatepass"), self._key)

    def _is_of_ours(self, given: Headers) -> bool:
        """Whether no page of another site sends this: browsers send forms without asking first."""
        origin = given.get("origin")
        if origin is None or origin in self._origins or "*" in self._origins:
            return True
        site = origin.partition("://")[2]  # none in "null"
        return site != "" and site.lower() == given.get("host", "").lower()

    def _most(self, scope: Scope, given: Headers) -> int:
        uploads = scope["method"] in ("POST", "PUT") and scope["path"].rstrip("/") == "/videos"
        kind = given.get("content-type", "").partition(";")[0].strip().lower()
        return self._upload if uploads and kind != "application/json" else _SMALL_BODY


class _Body:
    """A body as it arrives; the application answers what this raises."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most = receive, most
        self._got, self._waited_s, self._ended = 0, 0.0, False

    async def receive(self) -> Message:
        """The next piece; raises HTTPException 408 or 413."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(None if self._ended else self._read_timeout_s()):
                message = await self._receive()
        except TimeoutError:
            raise _refused(
                408, f"less than {LEAST_BYTES_S:,} bytes a second came; send it again"
            ) from None
        self._waited_s += time.monotonic() - started
        self._got += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        if self._got > self._most:
            raise _refused(413, f"at most {self._most:,} bytes are taken")
        return message

    def _read_timeout_s(self) -> float:
        """How long the next piece may take: what we do with the others is not the client's time."""
        return min(_SILENCE_S, _BODY_S + self._got / LEAST_BYTES_S - self._waited_s)


def _refused(status: int, detail: str) -> HTTPException:
    return HTTPException(status, detail, {"Connection": "close"})


class _Call:
    """One request on its way out."""

    def __init__(self, scope: Scope, send: Send, request_id: str) -> None:
        self._scope, self._send, self._id = scope, send, request_id
        self._started = time.monotonic()
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers["x-request-id"] = self._id
            if headers.get("content-type", "").startswith("text/html") and self._is_page():
                headers["content-security-policy"] = _PAGE_POLICY
        await self._send(message)

    def _is_page(self) -> bool:
        """`/docs` loads its own scripts; all else is ours."""
        return not str(self._scope["path"]).startswith("/docs")

    def log(self) -> None:
        """One line; never a query, a header or a body: they may hold secrets."""
        seconds = time.monotonic() - self._started
        _LOG.info(
            "request",
            extra={
                "request_id": self._id,
                "method": self._scope["method"],
                "path": self._scope["path"],
                "status": self.status,
                "seconds": round(seconds, 4),
            },
        )


def _request_id(given: str | None) -> str:
    """The caller's, where it is plain; else a new one."""
    return given if given and _ID.fullmatch(given) else uuid.uuid4().hex[:16]
