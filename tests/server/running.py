"""The service on a real socket."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from admir.server import create_app
from admir.server.timeouts import TimeoutProtocol
from admir.settings import Settings


@contextmanager
def serving(settings: Settings, **headers: str) -> Iterator[httpx.Client]:
    """The service on a free port; its client sends these headers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = uvicorn.Config(
        create_app(settings), port=port, http=TimeoutProtocol, log_level="error", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=url, timeout=30, headers=headers) as session:
            yield session
    finally:
        server.should_exit = True
        thread.join()


def sse(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    """(event, its data) of an event stream, as they come."""
    name = ""
    for line in response.iter_lines():
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            yield name, json.loads(line.removeprefix("data:"))


def until(happened: Any, seconds: float = 10.0) -> None:
    """Wait for a condition; fails where it does not come."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
