"""An OpenAI-compatible server over real HTTP that says what a test scripts, and fails as told.

    with ModelServer() as server:
        server.script["caption"] = [Http(500), "no JSON", {"description": ..., "subjects": []}]
        server.script["controller"] = play([calls(("clip_search", {...}))], ...)

An item of a script is the JSON of a form (dict), a text, a `Say`, a fault (`Http`, `Raw`, `HANG`,
`DROP`) or a function of the request that gives one of them. A list is used up item by item, then
the defaults of tests/model_replies.py answer; a function answers always, by None with
the default. `"*"` is every role.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from admir.perception.embed import HashingEmbedder
from tests.model_replies import ROLES_BY_TITLE, Asked, Say, default_reply, protocol_faults

_REFUSALS = {
    "json_schema": "Invalid parameter: 'response_format' of type 'json_schema' is not supported.",
    "json_object": "'response_format.type' must be 'text'",
    "temperature": "Unsupported value: 'temperature' does not support 0.0 with this model.",
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "max_completion_tokens": "Unrecognized request argument supplied: max_completion_tokens",
    "parallel_tool_calls": "Unknown parameter: 'parallel_tool_calls'.",
}
"""What a server may refuse, with the words that real ones refuse it in."""


@dataclass(frozen=True)
class Http:
    """An error status with the body of an OpenAI error."""

    status: int
    words: str = "scripted failure"
    headers: dict[str, str] = field(default_factory=dict)
    code: str | None = None


@dataclass(frozen=True)
class Raw:
    """A body as it is."""

    body: str
    status: int = 200
    type: str = "application/json"


HANG, DROP = "<hang>", "<drop>"
"""Faults: no answer until the server closes; the connection is cut."""


def play(*steps: Any) -> Callable[[Asked], Any]:
    """A controller that takes these steps in their order, the last again and again."""

    def next_step(asked: Asked) -> Any:
        step = steps[min(asked.step, len(steps) - 1)]
        return step(asked) if callable(step) else step

    return next_step


class ModelServer:
    """See the module. `requests` are all that came, `protocol` what was wrong with them."""

    def __init__(
        self, *, models: Sequence[str] = ("tiny-vl",), delay_s: float = 0.0, port: int = 0
    ) -> None:
        self.models, self.delay_s = list(models), delay_s
        self.script: dict[str, Any] = {}
        self.refuses: set[str] = set()
        self.refusal_status = 400
        self.requests: list[Asked] = []
        self.protocol: list[str] = []
        self._lock = threading.Lock()
        self._in_flight = 0
        self._closing = threading.Event()
        self.arrived = threading.Event()
        """Set when the first request is there."""
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def asked(self, role: str) -> list[Asked]:
        """The requests of a role."""
        return [request for request in self.requests if request.role == role]

    @property
    def most_in_flight(self) -> int:
        return max((request.in_flight for request in self.requests), default=0)

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """One chat request."""
        asked = self._enter(body, handler)
        try:
            if self.delay_s:
                self._closing.wait(self.delay_s)
            self._send(handler, body, self._refusal(body) or self._scripted(asked))
        finally:
            with self._lock:
                self._in_flight -= 1

    def _enter(self, body: dict[str, Any], handler: BaseHTTPRequestHandler) -> Asked:
        key = (handler.headers["Authorization"] or "").removeprefix("Bearer ")
        with self._lock:
            self._in_flight += 1
            asked = Asked(
                role=_role_of(body),
                body=body,
                key=key,
                at_s=time.monotonic(),
                in_flight=self._in_flight,
                headers=dict(handler.headers),
            )
            self.requests.append(asked)
        self.arrived.set()
        return asked

    def _refusal(self, body: dict[str, Any]) -> Http | None:
        """The 400 of a server that is sent something that it does not take."""
        if _role_of(body) == "embed":
            return None if all(body["input"]) else Http(400, "'$.input' is invalid.")
        faults = protocol_faults(body)
        if _role_of(body) not in ROLES_BY_TITLE.values():
            faults += [f"there is no role {_role_of(body)!r}"]
        self.protocol += faults
        if faults:
            return Http(400, f"bad request: {faults[0]}")
        kind = (body.get("response_format") or {}).get("type")
        sent = {*body, kind}
        for name in sorted(self.refuses & sent):
            return Http(self.refusal_status, _REFUSALS[name])
        return None

    def _scripted(self, asked: Asked) -> Any:
        for role in (asked.role, "*"):
            script = self.script.get(role)
            with self._lock:
                item = script.pop(0) if isinstance(script, list) and script else script
            said = item(asked) if callable(item) else item
            if said is not None and said != []:
                return said
        if asked.role == "embed":
            return Raw(json.dumps(embeddings(asked.body["input"])))
        return default_reply(asked)

    def _send(self, handler: Any, body: dict[str, Any], item: Any) -> None:
        if item == HANG:
            self._closing.wait(30)
            item = DROP
        if item == DROP:
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
        elif isinstance(item, Http):
            error = {"message": item.words, "type": "error", "code": item.code}
            handler.write(item.status, json.dumps({"error": error}), headers=item.headers)
        elif isinstance(item, Raw):
            handler.write(item.status, item.body, type_=item.type)
        else:
            said = item if isinstance(item, Say) else Say(content=_as_text(item))
            handler.write(200, json.dumps(said.body(body["model"])))


def embeddings(texts: Sequence[str], width: int = 64) -> dict[str, Any]:
    """The reply of an embedding model, last text first: `index` tells which is which."""
    rows = HashingEmbedder().encode(texts)[:, :width]
    data = [
        {"index": n, "object": "embedding", "embedding": r.tolist()} for n, r in enumerate(rows)
    ]
    used = {"prompt_tokens": sum(map(len, texts)), "total_tokens": sum(map(len, texts))}
    return {"object": "list", "model": "tiny", "data": data[::-1], "usage": used}


def _as_text(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


def _role_of(body: dict[str, Any]) -> str:
    if "input" in body:
        return "embed"
    form = (body.get("response_format") or {}).get("json_schema")
    if form:
        return form["name"]
    if body.get("tools"):
        return "controller"
    title = str(body["messages"][0]["content"]).partition("\n")[0].removeprefix("# ")
    return ROLES_BY_TITLE.get(title, title)


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: else each reply waits 40 ms for an ACK

        def do_GET(self) -> None:
            rows = [{"id": name, "object": "model"} for name in server.models]
            self.write(200, json.dumps({"object": "list", "data": rows}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with suppress(OSError):  # the client has hung up
                server.answer(self, body)

        def write(
            self,
            status: int,
            text: str,
            *,
            headers: dict[str, str] | None = None,
            type_: str = "application/json",
        ) -> None:
            data = text.encode("utf-8", "surrogatepass")
            self.send_response(status)
            for name, value in {"Content-Type": type_, **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()

        def finish(self) -> None:
            with suppress(OSError, ValueError):  # of a connection that was cut on purpose
                super().finish()

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal of the tests."""

    return Handler
