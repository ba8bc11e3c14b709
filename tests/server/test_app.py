"""The HTTP service over a real socket, with a real memory."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from admir import Memory
from admir.server import create_app
from admir.settings import load_settings


@pytest.fixture(scope="module")
def client(demo: Memory, memories: Path) -> Iterator[httpx.Client]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    app = create_app(load_settings(memories=memories))
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as session:
        yield session
    server.should_exit = True
    thread.join()


def ask(client: httpx.Client, **body) -> httpx.Response:
    return client.post("/ask", json=body)


def test_ask_answers_with_evidence(client):
    answer = ask(client, video_id="ad", question="What price is shown?").json()
    assert answer["answer"] == "$48"
    assert answer["grounded"] is True
    assert answer["evidence"][0]["start_s"] == pytest.approx(16.28, abs=0.3)


def test_videos_lists_what_can_be_asked_about(client):
    assert client.get("/videos").json() == {"videos": ["ad"]}
    assert client.get("/healthz").json() == {"status": "ok", "preset": "offline"}


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"video_id": "nobody", "question": "What?"}, 404, "unknown-video"),
        ({"video_id": "../../etc/passwd", "question": "What?"}, 404, "unknown-video"),
        ({"video_id": "ad", "question": "  "}, 400, "bad-question"),
        ({"video_id": "ad", "question": "x" * 5_000}, 400, "bad-question"),
        ({"video_id": "ad", "question": "x" * 100_000}, 422, "bad-request"),
        ({"video_id": "ad"}, 422, "bad-request"),
        ({"video_id": "ad", "question": "What?", "preset": "paper"}, 422, "bad-request"),
    ],
)
def test_a_wrong_request_is_a_problem_document(client, body, status, kind):
    reply = ask(client, **body)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["title"] == kind
    assert "Traceback" not in reply.text


def test_a_body_that_is_no_json_is_a_problem_document(client):
    reply = client.post("/ask", content=b"{", headers={"content-type": "application/json"})
    assert (reply.status_code, reply.json()["title"]) == (422, "bad-request")
