"""The HTTP service over a real socket, with a real memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from admir import Memory
from admir.backends.llm import endpoints
from admir.settings import load_settings
from tests.model_fixtures import KEY
from tests.model_server import Http, ModelServer
from tests.server.running import serving


@pytest.fixture(scope="module")
def client(demo: Memory, memories: Path) -> Iterator[httpx.Client]:
    with serving(load_settings(memories=memories)) as session:
        yield session


@pytest.fixture
def modelled(grey: Memory, options: dict[str, Any]) -> Iterator[httpx.Client]:
    """The service over the memory of the grey video, with the preset of models."""
    folder = Path(grey.folder).parents[2]
    with serving(load_settings(**{**options, "memories": folder, "cache": False})) as session:
        yield session


def ask(client: httpx.Client, **body) -> httpx.Response:
    return client.post("/ask", json=body)


def test_ask_answers_with_evidence(client):
    answer = ask(client, video_id="ad", question="What price is shown?").json()
    assert answer["answer"] == "$48"
    assert answer["grounded"] is True
    assert answer["evidence"][0]["start_s"] == pytest.approx(16.28, abs=0.3)


def test_videos_lists_what_can_be_asked_about(client):
    told = client.get("/videos").json()
    assert [video["video_id"] for video in told["videos"]] == ["ad"]
    assert told["unreadable"] == {}
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


# With models


def test_a_question_to_models_is_answered_with_evidence(modelled, server: ModelServer):
    assert modelled.get("/healthz").json() == {"status": "ok", "preset": "paper"}
    reply = ask(modelled, video_id="ramp", question="What is seen?")
    assert reply.status_code == 200
    answer = reply.json()
    assert (answer["answer"], answer["grounded"], answer["preset"]) == (
        *("A grey wall.", True),
        "paper",
    )
    assert answer["evidence"][0]["kind"] == "frame"
    assert answer["usage"]["calls"] == len(server.requests) == 4
    assert KEY not in reply.text


def test_the_local_preset_finds_the_server_of_this_machine(grey, options, server, monkeypatch):
    monkeypatch.setattr(endpoints, "LOCAL_URLS", (server.url,))
    folder = Path(grey.folder).parents[2]
    local = {"preset": "local", "base_url": None, "api_key": None, "cache": False}
    with serving(load_settings(**{**options, **local, "memories": folder})) as session:
        assert session.get("/readyz").json() == {"status": "ready", "preset": "local"}
        reply = ask(session, video_id="ramp", question="What is seen?")
    answer = reply.json()
    assert (answer["answer"], answer["grounded"], answer["preset"]) == (
        *("A grey wall.", True),
        "local",
    )
    assert answer["evidence"][0]["kind"] == "frame"
    assert {asked.body["model"] for asked in server.requests} == {"tiny-vl"}
    assert answer["usage"]["cost_usd"] == 0


def problem_of(reply: httpx.Response) -> tuple[int, str, str]:
    """(status, title, detail); asserts the form, and that no key is in it."""
    assert reply.headers["content-type"] == "application/problem+json"
    body = reply.json()
    assert body["status"] == reply.status_code
    assert body["type"] == f"urn:admir:{body['title']}"
    assert KEY not in reply.text
    return reply.status_code, body["title"], body["detail"]


def test_a_model_without_a_usable_answer_is_a_bad_gateway(modelled, server: ModelServer):
    server.script["controller"] = lambda asked: Http(400, "no tools here")
    status, title, detail = problem_of(ask(modelled, video_id="ramp", question="What is seen?"))
    assert (status, title) == (502, "model-error")
    assert "no tools here" in detail
    server.script["controller"] = None
    assert ask(modelled, video_id="ramp", question="What is seen?").status_code == 200


@pytest.mark.parametrize("status", [401, 403])
def test_an_endpoint_that_refuses_is_an_unavailable_service(modelled, server, status):
    server.script["*"] = lambda asked: Http(status, f"who is {asked.key}?")
    got, _, detail = problem_of(ask(modelled, video_id="ramp", question="What is seen?"))
    assert got == 503
    assert "who is" in detail


def test_an_endpoint_that_is_not_there_is_an_unavailable_service(grey, options):
    with ModelServer() as gone:
        url = gone.url
    folder = Path(grey.folder).parents[2]
    with serving(load_settings(**{**options, "base_url": url, "memories": folder})) as session:
        status, _, detail = problem_of(ask(session, video_id="ramp", question="What is seen?"))
    assert status == 503
    assert "127.0.0.1" in detail


def test_a_preset_without_a_key_is_an_unavailable_service(grey):
    folder = Path(grey.folder).parents[2]
    with serving(load_settings(preset="paper", memories=folder)) as session:
        status, _, detail = problem_of(ask(session, video_id="ramp", question="What is seen?"))
    assert status == 503
    assert "OPENAI_API_KEY" in detail
