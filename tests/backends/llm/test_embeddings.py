"""Embeddings of an endpoint, over real HTTP."""

from __future__ import annotations

import json

import numpy as np
import pytest

from admir.api import ask, build_memory, open_memory
from admir.backends.factory import open_embedder
from admir.backends.llm.embeddings import EndpointEmbedder
from admir.cli.costs import report_question_destination, warn_of_word_search
from admir.errors import EndpointError, ModelError
from admir.perception.embed import HashingEmbedder, unit
from admir.settings import load_settings
from tests.model_fixtures import KEY
from tests.model_server import DROP, Http, Raw, embeddings

TEXT = "a blue lamp on the desk costs $48 now"


@pytest.fixture
def embedder(settings):
    return EndpointEmbedder("tiny", settings())


def test_rows_stand_in_the_order_of_the_texts_and_have_unit_length(server, embedder):
    texts = ["blue lamp", "soup", "", "now $48"]
    rows = embedder.encode(texts)
    assert np.allclose(rows, unit(HashingEmbedder().encode(texts)[:, :64]), atol=1e-5)
    assert not rows[2].any()
    [asked] = server.asked("embed")
    assert asked.body["input"] == ["blue lamp", "soup", "now $48"], "an empty text is refused"
    assert (asked.body["model"], asked.key) == ("tiny", KEY)


def test_many_texts_go_in_several_calls_and_all_are_counted(server, embedder):
    texts = [f"text {n}" for n in range(150)]
    assert np.allclose(embedder.encode(texts), unit(HashingEmbedder().encode(texts)[:, :64]))
    assert [len(asked.body["input"]) for asked in server.asked("embed")] == [64, 64, 22]
    spent = embedder.spent()
    assert (spent.calls, spent.input_tokens) == (3, sum(map(len, texts)))


def test_no_text_asks_nobody(server, embedder):
    assert embedder.encode(["", " "]).shape[0] == 2
    assert server.requests == []


def test_a_price_is_counted(server, settings):
    embedder = EndpointEmbedder("text-embedding-3-small", settings())
    embedder.encode(["x" * 1000])
    assert embedder.spent().cost_usd == pytest.approx(1000 * 0.02 / 1e6)


@pytest.mark.parametrize("fault", [Http(500), Http(429, headers={"Retry-After": "0"}), DROP])
def test_what_may_pass_is_tried_again(server, embedder, fault):
    server.script["embed"] = [fault, fault]
    assert embedder.encode([TEXT]).any()
    assert len(server.asked("embed")) == 3


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Raw("no JSON"), "tiny"),
        (Raw(json.dumps({"data": []})), "no embeddings"),
        (Raw(json.dumps({"data": [{"index": 0, "embedding": "abc"}]})), "embeddings|vectors"),
        (Raw('{"data": [{"index": 0, "embedding": [NaN]}]}'), "vectors|tiny"),
        (Raw(json.dumps({"data": [{"index": 0, "embedding": []}]})), "other things than vectors"),
        (Raw(json.dumps({"data": [{"index": 0, "embedding": [1e300, 1]}]})), "other things"),
        (Raw(json.dumps({"data": [{"index": 7, "embedding": [1.0]}]})), "no embeddings"),
        (Raw("[]"), "no embeddings"),
        (Http(400, "input is too long"), "input is too long"),
    ],
)
def test_an_answer_that_is_no_embedding_is_an_error_of_one_line(server, embedder, said, words):
    server.script["embed"] = lambda asked: said
    with pytest.raises(ModelError, match=words):
        embedder.encode([TEXT])


@pytest.mark.parametrize("status", [401, 404])
def test_a_refusal_is_told_at_once(server, embedder, status):
    server.script["embed"] = lambda asked: Http(status, "who are you?")
    with pytest.raises(EndpointError, match=r"who are you\?"):
        embedder.encode([TEXT])
    assert len(server.asked("embed")) == 1


def test_widths_that_differ_are_an_error(server, embedder):
    server.script["embed"] = lambda asked: Raw(
        json.dumps(embeddings(asked.body["input"], width=64 if len(asked.body["input"]) > 9 else 8))
    )
    with pytest.raises(ModelError, match="different widths"):
        embedder.encode([f"text {n}" for n in range(66)])


def test_nobody_there_is_told_after_three_attempts(quick_retries):
    settings = load_settings(base_url="http://127.0.0.1:9/v1", embedder="endpoint:tiny")
    with pytest.raises(EndpointError, match="cannot be reached"):
        open_embedder(settings).encode([TEXT])


def test_the_role_has_its_own_server_and_key(server, settings):
    roles = {"embed": {"base_url": server.url, "api_key": "sk-embed-7777"}}
    chosen = settings(base_url="http://127.0.0.1:9/v1", roles=roles, embedder="endpoint:tiny")
    open_embedder(chosen).encode([TEXT])
    assert server.asked("embed")[0].key == "sk-embed-7777"


def test_a_memory_is_embedded_and_asked_by_the_endpoint(server, ramp, options):
    asked_by = {**options, "embedder": "endpoint:tiny"}
    memory = build_memory(ramp, **asked_by)
    made = memory.provenance
    assert (made.embedder, made.dimensions) == ("endpoint:tiny", 64)
    before = len(server.asked("embed"))
    assert made.usage.calls == len(server.requests), "calls for embeddings are counted too"
    by_default = {**options, "embedder": "auto"}
    ask(memory, "What is shown?", **by_default)
    queries = [text for each in server.asked("embed")[before:] for text in each.body["input"]]
    assert queries, "by default the memory's own embedder is asked"
    assert open_memory(memory.video.id, memories=options["memories"]) == memory


@pytest.mark.parametrize(
    ("served", "chosen"),
    [
        (["gpt-4o", "text-embedding-3-large", "bge-m3"], "bge-m3"),
        (["gpt-4o", "text-embedding-3-small", "text-embedding-3-large"], "text-embedding-3-large"),
        (["qwen2.5vl:7b", "nomic-embed-text"], "nomic-embed-text"),
        (["qwen2.5vl:7b", "bge-reranker-v2-m3"], ""),
        (["qwen2.5vl:7b"], ""),
    ],
)
def test_without_bge_m3_here_the_endpoint_embeds_where_it_can(
    server, options, monkeypatch, served, chosen
):
    monkeypatch.setattr("admir.backends.factory.find_spec", lambda name: None)
    server.models = served
    found = open_embedder(load_settings(**{**options, "embedder": "auto"}))
    assert found.id == (f"endpoint:{chosen}" if chosen else HashingEmbedder.id)
    assert any("words alone" in warning for warning in found.warnings) is not bool(chosen)


def test_that_search_compares_words_alone_is_said_at_the_start(
    server, ramp, options, monkeypatch, capsys
):
    monkeypatch.setattr("admir.backends.factory.find_spec", lambda name: None)
    settings = load_settings(**{**options, "embedder": "auto"})
    warn_of_word_search(settings)
    assert "search compares words alone, not meaning" in capsys.readouterr().err
    memory = build_memory(ramp, **{**options, "embedder": "auto"})
    report_question_destination(settings, memory)
    assert "search compares words alone" in capsys.readouterr().err
