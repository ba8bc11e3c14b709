"""What the service lets be read."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest

from admir.demo import AD
from admir.settings import load_settings
from admir.tools.registry import TOOLS
from tests.server.running import serving


@pytest.fixture(scope="module")
def client(demo, memories):
    with serving(load_settings(memories=memories)) as session:
        yield session


def test_a_video_in_short_and_whole(client, demo):
    short = client.get("/videos/ad").json()
    assert (short["video_id"], short["clips"], short["media"]) == ("ad", len(demo.clips), True)
    whole = client.get("/videos/ad/memory").json()
    assert "/" not in whole["video"]["path"], "where files lie is nobody's business"
    assert [clip["caption"] for clip in whole["clips"]] == [clip.caption for clip in demo.clips]


@pytest.mark.parametrize(
    "path",
    [
        "/videos/nobody",
        "/videos/nobody/memory",
        "/videos/nobody/media",
        "/videos/nobody/frames/1.jpg",
        "/videos/..%2F..%2Fetc/memory",
        "/videos/ad/traces/..%2F..%2Fowner",
        "/videos/ad/traces/none",
        "/videos/%00/memory",
        "/videos/🎬/memory",
        "/nowhere",
    ],
)
def test_what_is_not_there_is_a_problem_document(client, path):
    missing = client.get(path)
    assert missing.status_code == 404
    assert missing.headers["content-type"] == "application/problem+json"
    assert missing.json()["status"] == 404


def test_a_frame_is_the_picture_of_its_time(client):
    found = client.get("/videos/ad/frames/17.01.jpg")
    assert found.headers["x-frame-time-s"] == "17.000", "its own time"
    assert found.headers["content-type"] == "image/jpeg"
    pixels = cv2.imdecode(np.frombuffer(found.content, np.uint8), cv2.IMREAD_COLOR)
    other = client.get("/videos/ad/frames/1.jpg").content
    assert pixels.shape[1] >= 600
    assert other != found.content
    assert client.get("/videos/ad/frames/99999.jpg").status_code == 200, "after the end: the last"


@pytest.mark.parametrize("time", ["-1", "nan", "inf", "1e9", "x"])
def test_a_time_that_is_none_is_refused(client, time):
    assert client.get(f"/videos/ad/frames/{time}.jpg").status_code in (404, 422)


@pytest.mark.parametrize(
    ("asked", "status", "length"),
    [
        (None, 200, AD.stat().st_size),
        ("bytes=0-99", 206, 100),
        ("bytes=-50", 206, 50),
        ("bytes=100-", 206, AD.stat().st_size - 100),
        ("bytes=999999999-", 416, None),
        ("bytes=9-3", 400, None),
        ("lines=1-2", 400, None),
    ],
)
def test_media_is_given_in_ranges(client, asked, status, length):
    got = client.get("/videos/ad/media", headers={"Range": asked} if asked else {})
    assert got.status_code == status
    if length is not None:
        assert len(got.content) == length
        assert got.headers["content-type"] == "video/mp4"


def test_traces_are_listed_and_read(client):
    answered = client.post("/ask", json={"video_id": "ad", "question": "What price?"}).json()
    name = Path(answered["trace"]).stem
    listed = client.get("/videos/ad/traces").json()["traces"]
    assert listed[0] == name
    lines = client.get(f"/videos/ad/traces/{name}").text.splitlines()
    assert json.loads(lines[-1])["event"] == "answered"


def test_tools_are_those_of_the_registry(client):
    told = client.get("/tools").json()["tools"]
    assert [tool["name"] for tool in told] == list(TOOLS)
    assert all(tool["parameters"]["type"] == "object" for tool in told)


def test_a_damaged_memory_is_told_beside_the_others(demo_copy):
    (demo_copy / "broken").mkdir()
    (demo_copy / "broken" / "current").write_text("7\n")
    with serving(load_settings(memories=demo_copy)) as client:
        told = client.get("/videos").json()
        assert [video["video_id"] for video in told["videos"]] == ["ad"]
        assert "damaged" in told["unreadable"]["broken"]


def test_readiness_follows_the_preset(client, memories, monkeypatch):
    assert client.get("/readyz").json()["status"] == "ready"
    with serving(load_settings(memories=memories, preset="paper")) as other:
        told = other.get("/readyz")
        assert (told.status_code, told.json()["title"]) == (503, "endpoint-error")


def test_the_page_of_documentation_is_there(client: httpx.Client):
    assert client.get("/docs").status_code == 200
    schema = client.get("/openapi.json").json()
    assert {"/ask", "/videos", "/videos/{video_id}/media"} <= schema["paths"].keys()
