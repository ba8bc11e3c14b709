"""Who may call, and what browsers and logs are told."""

from __future__ import annotations

import json
import logging

import httpx
import pytest

from admir.server.logs import JsonLines
from admir.settings import load_settings
from tests.server.running import serving, until

KEY = "sk-service-77b1"


@pytest.fixture(scope="module")
def locked(demo, memories):
    """A service with a key, and a client without."""
    with serving(load_settings(memories=memories, server={"api_key": KEY})) as session:
        yield session


@pytest.fixture(scope="module")
def client(demo, memories):
    with serving(load_settings(memories=memories)) as session:
        yield session


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {KEY}"},
        {"X-API-Key": KEY[:-1]},
        {"Authorization": "Bearer ÿÿ".encode("latin-1")},
    ],
)
@pytest.mark.parametrize("path", ["/videos", "/metrics", "/tools", "/openapi.json", "/nowhere"])
def test_without_the_key_nothing_is_told(locked, path, headers):
    refused = locked.get(path, headers=headers)
    assert (refused.status_code, refused.json()["title"]) == (401, "no-key")
    assert refused.headers["www-authenticate"] == "Bearer"
    assert KEY not in refused.text


@pytest.mark.parametrize("headers", [{"Authorization": f"Bearer {KEY}"}, {"X-API-Key": KEY}])
def test_the_key_opens(locked, headers):
    assert locked.get("/videos", headers=headers).status_code == 200
    assert locked.get("/healthz").status_code == 200, "health needs no key"


def test_a_body_that_is_too_large_is_refused_as_it_comes(client):
    body = json.dumps({"video_id": "ad", "question": "x" * 5_000_000})
    refused = client.post("/ask", content=body, headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["title"]) == (413, "too-large")


def test_a_body_without_a_stated_length_is_counted(client):
    def parts():
        yield b'{"video_id": "ad", "question": "'
        for _ in range(60):
            yield b"x" * 100_000
        yield b'"}'

    try:
        refused = client.post("/ask", content=parts())
    except httpx.WriteError:
        return  # the connection was closed in the middle
    assert refused.status_code == 413


def test_browsers_are_told_to_be_careful(client):
    headers = client.get("/videos").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "access-control-allow-origin" not in headers
    other = {"Origin": "https://other.example"}
    assert "access-control-allow-origin" not in client.get("/videos", headers=other).headers


def test_an_origin_that_is_named_may_call(demo, memories):
    named = {"origins": ["https://brand.example"]}
    with serving(load_settings(memories=memories, server=named)) as client:
        for origin, allowed in (("https://brand.example", True), ("https://other.example", False)):
            told = client.get("/videos", headers={"Origin": origin}).headers
            assert ("access-control-allow-origin" in told) is allowed


_CHANGES = [
    ("POST", "/ask"),
    ("POST", "/videos"),
    ("DELETE", "/videos/ad"),
    ("DELETE", "/jobs/x"),
    ("PUT", "/videos"),
    ("PATCH", "/nowhere"),
]


@pytest.mark.parametrize(("method", "path"), _CHANGES)
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://[", "http://127.0.0.1"])
def test_a_page_of_another_site_changes_nothing(client, method, path, origin):
    refused = client.request(method, path, json={}, headers={"Origin": origin})
    assert (refused.status_code, refused.json()["title"]) == (403, "forbidden")
    assert refused.headers["content-type"] == "application/problem+json"
    assert client.get("/videos/ad", headers={"Origin": origin}).status_code == 200


@pytest.mark.parametrize(
    ("origins", "origin", "host"),
    [
        ((), None, None),
        ((), "https://ads.example", "ads.example"),
        ((), "https://ads.example:8443", "Ads.example:8443"),
        (("https://brand.example",), "https://brand.example", None),
        (("*",), "null", None),
    ],
)
def test_our_own_page_and_named_origins_change_things(memories, origins, origin, host):
    """A proxy that ends TLS hands on the host that the browser asked for."""
    headers = {k: v for k, v in (("Origin", origin), ("Host", host)) if v}
    with serving(load_settings(memories=memories, server={"origins": origins})) as client:
        assert client.delete("/jobs/x", headers=headers).json()["title"] == "unknown-job"


@pytest.mark.parametrize(("given", "kept"), [("abc-1", True), ("a b\\n", False), ("x" * 65, False)])
def test_the_id_of_a_request_is_told_back(client, given, kept):
    told = client.get("/healthz", headers={"X-Request-ID": given}).headers["x-request-id"]
    assert (told == given) is kept
    assert told


def test_requests_are_logged_without_secrets(locked, caplog):
    caplog.set_level(logging.INFO, "admir.server")
    locked.get(f"/videos?key={KEY}", headers={"Authorization": f"Bearer {KEY}"})
    until(lambda: caplog.records)  # the line follows the reply
    lines = [JsonLines().format(record) for record in caplog.records]
    told = json.loads(lines[-1])
    assert (told["method"], told["path"], told["status"]) == ("GET", "/videos", 200)
    assert told["request_id"]
    assert not any(KEY in line for line in lines)
