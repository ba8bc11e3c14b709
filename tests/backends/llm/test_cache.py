"""Replies on disk: what is kept, for how long, and that nobody depends on it."""

from __future__ import annotations

import os
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir import ask, build_memory
from admir.backends.llm import Model, cache
from admir.backends.llm.cache import ReplyCache
from admir.backends.llm.client import RawReply
from admir.errors import ModelError
from tests.backends.llm.asking import complete, said
from tests.model_server import Http


def kept(tmp_path):
    return [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_the_second_question_costs_nothing(server, settings):
    first = complete(Model(settings()))
    again = complete(Model(settings()))
    assert again.value == first.value
    assert (again.usage.calls, again.usage.cached, again.usage.cost_usd) == (0, 1, 0.0)
    assert len(server.requests) == 1


def test_without_a_cache_everything_is_asked(server, settings, tmp_path):
    for _ in range(2):
        assert complete(Model(settings(cache=False))).usage.calls == 1
    assert len(server.requests) == 2
    assert kept(tmp_path) == []


@pytest.mark.parametrize(
    "change",
    [
        {"model": "another"},
        {"temperature": 0.7},
        {"max_output_tokens": 99},
        {"base_url": "http://localhost:{port}/v1"},
    ],
)
def test_another_question_is_asked(server, settings, change):
    if "base_url" in change:
        change = {"base_url": change["base_url"].format(port=server.port)}
    said(Model(settings()))
    said(Model(settings(**change)))
    assert len(server.requests) == 2


@pytest.mark.parametrize("refused", [{"json_schema"}, {"json_schema", "temperature"}])
def test_what_a_server_refused_does_not_hide_its_replies(server, settings, refused):
    """A later run has learnt nothing yet: it must find the replies all the same."""
    server.refuses = refused
    texts = [f"Accepted answer: car {n}" for n in range(3)]
    model = Model(settings())
    first = [said(model, text=text) for text in texts]
    sent = len(server.requests)
    later = Model(settings())
    assert [said(later, text=text) for text in texts] == first
    assert len(server.requests) == sent


@pytest.mark.parametrize(
    "content", [b"", b"{", b"null", b'{"content": 7}', b"\xff\xfe", b"[" * 9999]
)
def test_a_file_that_is_no_reply_is_passed_over(server, settings, tmp_path, content):
    said(Model(settings()))
    for path in kept(tmp_path):
        path.write_bytes(content)
    assert said(Model(settings())) == "a red car"
    assert len(server.requests) == 2
    assert complete(Model(settings())).usage.cached == 1, "it is written anew"


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(server, settings, tmp_path):
    (tmp_path / "cache").write_text("a file stands where the folder should be")
    assert said(Model(settings())) == "a red car"


def test_failed_replies_are_not_kept(server, settings, tmp_path):
    server.script["refine"] = ["no JSON"] * 3
    with pytest.raises(ModelError):
        said(Model(settings()))
    server.script["*"] = lambda asked: Http(400)
    with pytest.raises(ModelError):
        said(Model(settings()))
    assert kept(tmp_path) == []
    server.script["*"] = None
    assert said(Model(settings())) == "a red car"


def test_a_corrected_reply_is_found_again_with_its_correction(server, settings):
    server.script["refine"] = ["no JSON"]
    assert said(Model(settings())) == "a red car"
    assert complete(Model(settings())).usage.cached == 2
    assert len(server.requests) == 2


def test_the_replies_used_longest_ago_make_room(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_PUTS_BETWEEN_LOOKS", 1)
    monkeypatch.setattr(cache, "_room_of", lambda facts: facts.st_size)
    replies = ReplyCache(tmp_path, most_bytes=30_000)
    keys = [ReplyCache.key("http://x/v1", {"n": n}) for n in range(40)]
    for age, key in zip(range(40, 0, -1), keys, strict=True):
        replies.put(key, RawReply(content="x" * 1_000))
        path = next(tmp_path.rglob(f"{key}.json"))
        os.utime(path, (time.time() - age, time.time() - age))
        assert replies.get(keys[0]) is not None, "it is used again and again"
        replies.cleaner.join()
        assert sum(p.stat().st_size for p in tmp_path.rglob("*.json")) <= 30_000
    assert replies.get(keys[-1]) is not None
    assert replies.get(keys[1]) is None


def test_a_new_run_cleans_up_behind_older_ones(tmp_path):
    old = tmp_path / "ab"
    old.mkdir()
    for n in range(20):
        (old / f"{n}.json").write_bytes(b"x" * 10_000)
    replies = ReplyCache(tmp_path, most_bytes=60_000)
    replies.put("cd00", RawReply(content="new"))
    replies.cleaner.join()
    assert sum(p.stat().st_size for p in tmp_path.rglob("*.json")) <= 60_000
    assert (tmp_path / "cd" / "cd00.json").is_file()


def test_many_threads_may_write_one_reply(tmp_path):
    replies = ReplyCache(tmp_path, most_bytes=10**9)
    reply = RawReply(content="x" * 100_000)
    seen = []

    def work():
        for _ in range(30):
            replies.put("ab00", reply)
            seen.append(replies.get("ab00"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {found for found in seen if found} == {reply}
    assert replies.get("ab00") == reply
    assert [p.name for p in tmp_path.rglob("*.*") if p.is_file()] == ["ab00.json"]


def test_a_second_build_and_a_second_ask_make_no_call(ramp, server, options, tmp_path):
    memory = build_memory(ramp, **options)
    answer = ask(memory, "What is seen?", **options)
    sent = len(server.requests)
    again = {**options, "memories": tmp_path / "other"}
    rebuilt = build_memory(ramp, **again)
    assert ask(rebuilt, "What is seen?", **again).answer == answer.answer
    assert len(server.requests) == sent
    assert rebuilt.clips == memory.clips
    assert rebuilt.provenance.usage.calls == 0
    assert rebuilt.provenance.usage.cached == memory.provenance.usage.calls


def test_without_a_cache_a_second_build_makes_all_calls(ramp, server, options, tmp_path):
    options["cache"] = False
    build_memory(ramp, **options)
    sent = len(server.requests)
    build_memory(ramp, **{**options, "memories": tmp_path / "other"})
    assert len(server.requests) == 2 * sent


@given(st.text(max_size=20), st.text(max_size=20))
def test_the_address_tells_long_texts_apart(one: str, other: str) -> None:
    """Long ones are hashed once, and stand in the request by their hash."""

    def key(text: str) -> str:
        body = {"messages": [{"content": [{"image_url": {"url": text}}]}], "n": (1, None, 2.5)}
        return ReplyCache.key("http://x/v1", body)

    long_one, long_other = one + "x" * 5_000, other + "x" * 5_000
    assert (key(one) == key(other)) == (one == other)
    assert (key(long_one) == key(long_other)) == (one == other)
    assert key(long_one) == key("".join(list(long_one)))
    assert key(one) != key(long_one)
    assert key("\ud800") != key("\ud800" * 5_000), "half characters are refused when they are sent"
