"""`admir reindex` and `admir fetch-models`, as a person uses them."""

from __future__ import annotations

import shutil

import pytest

from tests.model_server import ModelServer
from tests.test_download import REPO, Hub


@pytest.fixture
def own(memories, demo, tmp_path):
    """A copy of the demo's memories, and the id of the one in it."""
    shutil.copytree(memories, tmp_path / "m")
    return tmp_path / "m", demo.video.id


@pytest.fixture
def embedding(monkeypatch):
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def test_a_memory_is_embedded_anew_and_asked_with_its_own(call, own, embedding):
    root, video_id = own
    done = call("reindex", video_id, "--memories", root, "--embedder", "endpoint:tiny", "--json")
    assert done.json == {
        "video_id": video_id,
        "embedder": "endpoint:tiny",
        "dimensions": 64,
        "warnings": [],
    }
    question = ("ask", video_id, "What does the lamp cost?", "--memories", root)
    call(*question, "--embedder", "hashing").failed(
        5, "'endpoint:tiny'", "'hashing-1024-v1'", f"admir reindex {video_id}"
    )
    call(*question, "--embedder", "auto").failed(5, "sends nothing out", "--embedder endpoint:tiny")
    answered = call(*question, "--embedder", "endpoint:tiny", "--json")
    assert "$48" in answered.json["answer"]
    back = call("reindex", video_id, "--memories", root, "--embedder", "hashing")
    assert back.words == f"{video_id}: 7 clips embedded by hashing-1024-v1"


def test_a_question_that_leaves_the_machine_is_told(call, own, embedding, monkeypatch):
    root, video_id = own
    call("reindex", video_id, "--memories", root, "--embedder", "endpoint:tiny")
    monkeypatch.setenv("OPENAI_BASE_URL", embedding.url.replace("127.0.0.1", "0.0.0.0"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
    ran = call(
        *("ask", video_id, "What does the lamp cost?", "--memories", root),
        *("--embedder", "endpoint:tiny"),
    )
    assert "$48" in ran.out
    assert ran.err == "warning: captions, speech and on-screen text go to 0.0.0.0\n"


def test_a_build_that_only_embeds_says_so(call, plain_video, embedding, tmp_path):
    build = ("build-memory", plain_video, "--memories", tmp_path / "m", "--embedder")
    assert ": built in " in call(*build, "hashing").out
    again = call(*build, "endpoint:tiny").out
    assert ": embedded anew in " in again
    assert "built in" not in again
    assert ": unchanged" in call(*build, "endpoint:tiny").out


def test_one_of_several_that_fails_does_not_stop_the_others(call, own):
    root, video_id = own
    ran = call("reindex", "nope", video_id, "--memories", root)
    assert ran.code == 8
    assert "no memory of 'nope'" in ran.err
    assert "7 clips embedded" in ran.out


def test_what_cannot_be_embedded_leaves_the_memory_as_it_was(call, own):
    root, video_id = own
    before = sorted(path.name for path in (root / video_id / "builds").iterdir())
    ran = call("reindex", video_id, "--memories", root, "--embedder", "./nowhere")
    ran.failed(7, "'./nowhere'", "hashing")
    assert sorted(path.name for path in (root / video_id / "builds").iterdir()) == before


def test_the_offline_preset_needs_no_weights_but_those_of_speech(call):
    assert "needs no weights" in call("fetch-models", "--embedder", "auto", "--speech", "none").out


@pytest.mark.extra("embed")
def test_weights_are_fetched_once(call, monkeypatch, tmp_path):
    hub = Hub()
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    fetch = ("fetch-models", "--speech", "none", "--embedder", REPO)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    assert call(*fetch).out == f"{REPO}: fetched\n"
    assert call(*fetch).out == f"{REPO}: there already\n"
    [row] = call(*fetch, "--json").json["fetched"]
    assert row["folder"].startswith(str(tmp_path / "hub"))
    hub.close()
    call(*fetch[:-1], "acme/other").failed(7, "acme/other", "HF_ENDPOINT")
