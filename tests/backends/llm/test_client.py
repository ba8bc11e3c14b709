"""Faults of the exchange: statuses, waits, hang-ups, and what is sent where."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings
from itertools import pairwise

import pytest

from admir.backends.llm import Model
from admir.backends.llm.schemas import AnswerForm
from admir.errors import EndpointError, ModelError
from tests.backends.llm.asking import PART, TITLES, complete, said
from tests.model_fixtures import KEY
from tests.model_server import DROP, HANG, Http, ModelServer, Raw


def gaps(server):
    return [b.at_s - a.at_s for a, b in pairwise(server.requests)]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_passing_failure_is_retried(server, model, status):
    server.script["*"] = [Http(status)] * 3
    reply = complete(model)
    assert reply.value.answer == "a red car"
    assert reply.usage.retries == 3
    assert reply.usage.calls == 1
    assert len(server.requests) == 4


def test_after_eight_retries_the_error_has_the_words_of_the_server(server, model):
    server.script["*"] = lambda asked: Http(503, "the oven is cold")
    with pytest.raises(ModelError, match=r"gpt-4o-mini at http.*HTTP 503.*the oven is cold"):
        said(model)
    assert len(server.requests) == 9


def test_words_that_are_no_json_are_told_too(server, model):
    server.script["*"] = lambda asked: Raw("<h1>Bad gateway</h1>", status=502, type="text/html")
    with pytest.raises(ModelError, match="Bad gateway"):
        said(model)


@pytest.mark.parametrize(("header", "value"), [("Retry-After", "0.3"), ("retry-after-ms", "300")])
def test_the_wait_that_a_server_asks_for_is_kept(server, model, header, value):
    server.script["*"] = [Http(429, headers={header: value})] * 2
    assert said(model) == "a red car"
    assert all(0.3 <= gap < 1.5 for gap in gaps(server))
    assert len(gaps(server)) == 2


def test_a_wait_in_words_is_no_fault(server, model):
    server.script["*"] = [Http(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})]
    assert said(model) == "a red car"


def test_nobody_waits_for_hours(server, model):
    server.script["*"] = lambda asked: Http(429, "come back tomorrow", {"Retry-After": "86400"})
    with pytest.raises(ModelError, match="come back tomorrow"):
        said(model)
    assert len(server.requests) == 1


def test_an_empty_purse_is_not_retried(server, model):
    server.script["*"] = lambda asked: Http(429, "you have no money", code="insufficient_quota")
    with pytest.raises(ModelError, match="you have no money"):
        said(model)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (400, ModelError, "the picture is too large"),
        (401, EndpointError, "refuses the key"),
        (403, EndpointError, "refuses the key"),
        (404, EndpointError, "name of the model"),
        (413, ModelError, "HTTP 413"),
    ],
)
def test_what_will_never_pass_is_sent_once(server, model, status, kind, told):
    server.script["*"] = lambda asked: Http(status, "the picture is too large")
    with pytest.raises(kind, match=told) as caught:
        said(model)
    assert "the picture is too large" in str(caught.value)
    assert len(server.requests) == 1


def test_a_server_that_hangs_once_is_asked_again(server, settings):
    server.script["*"] = [HANG]
    assert said(Model(settings(timeout_s=0.3))) == "a red car"
    assert len(server.requests) == 2


def test_a_server_that_hangs_for_good_is_an_error(server, settings):
    server.script["*"] = lambda asked: HANG
    with pytest.raises(ModelError, match=r"no answer within 0\.15 s"):
        said(Model(settings(timeout_s=0.15)))
    assert len(server.requests) == 9


def test_a_dropped_connection_is_made_again(server, model):
    server.script["*"] = [DROP, DROP]
    reply = complete(model)
    assert reply.value.answer == "a red car"
    assert reply.usage.retries == 2


def test_a_known_server_that_drops_everything_gets_all_retries(server, model):
    assert said(model) == "a red car"
    server.script["*"] = lambda asked: DROP
    with pytest.raises(EndpointError, match="cannot be reached"):
        said(model, text="Accepted answer: a blue car")
    assert len(server.requests) == 1 + 9


def test_a_stranger_that_drops_everything_is_given_up_soon(server, model):
    server.script["*"] = lambda asked: DROP
    with pytest.raises(EndpointError, match="cannot be reached"):
        said(model)
    assert len(server.requests) == 3


def test_where_nobody_listens_the_ways_out_are_named_soon(settings):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
        with pytest.raises(EndpointError, match=r"cannot be reached.*--preset offline"):
            said(Model(settings(base_url=url)))


ODD_BODIES = [
    "",
    "null",
    "[]",
    "{}",
    '"yes"',
    '{"choices": []}',
    '{"choices": [null]}',
    '{"choices": [{"message": null}]}',
    '{"choices": [{"finish_reason": "stop"}]}',
    '{"choices": [{"message": {"content": "{\\"answer\\": \\"a r',
    "{" * 5_000,
]


@pytest.mark.parametrize("body", ODD_BODIES)
@pytest.mark.parametrize("type_", ["application/json", "text/html"])
def test_a_body_that_is_no_chat_reply_is_asked_for_again(server, model, body, type_):
    server.script["*"] = [Raw(body, type=type_)]
    assert said(model) == "a red car"
    assert len(server.requests) == 2


@pytest.mark.parametrize("body", ["<html>welcome</html>", '{"object": "list"}', '{"choices'])
def test_a_server_of_something_else_is_an_error(server, model, body):
    server.script["*"] = lambda asked: Raw(body)
    with pytest.raises(ModelError):
        said(model)
    assert len(server.requests) == 9


def test_an_error_that_comes_as_success_is_told_in_the_words_of_the_server(server, model):
    """As some routers do: HTTP 200, and the error of the provider behind them in the body."""
    server.script["*"] = lambda asked: Raw('{"error": {"message": "no room left", "code": 502}}')
    with pytest.raises(ModelError, match="no room left"):
        said(model)


SETTINGS_OF_ROLES = {
    "expert": {"model": "deep", "api_key": "sk-of-the-expert"},
    "verify": {"model": "strict"},
}


def test_each_role_reaches_its_own_server_with_its_own_key(server, settings):
    with ModelServer() as other:
        roles = {
            "expert": {**SETTINGS_OF_ROLES["expert"], "base_url": other.url},
            "verify": SETTINGS_OF_ROLES["verify"],
        }
        model = Model(settings(roles=roles))
        for role in ("expert", "verify", "refine"):
            server.script[role] = other.script[role] = {"answer": role}
            assert said(model, role=role) == role
    seen = [(r.role, r.body["model"], r.key) for r in server.requests]
    assert seen == [("verify", "strict", KEY), ("refine", "gpt-4o-mini", KEY)]
    assert [(r.role, r.body["model"], r.key) for r in other.requests] == [
        ("expert", "deep", "sk-of-the-expert")
    ]


def test_the_common_key_is_not_sent_to_another_host(server, settings, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    with ModelServer() as other:
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        model = Model(settings(roles={"expert": {"model": "deep", "base_url": elsewhere}}))
        other.script["expert"] = {"answer": "yes"}
        said(model, role="expert")
    sent = str([asked.headers for asked in other.requests])
    assert other.requests
    assert KEY not in sent
    assert "sk-of-the-environment" not in sent


def test_the_environment_names_server_and_key(server, settings, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/")
    monkeypatch.setenv("OPENAI_API_KEY", " sk-of-the-environment\n")
    assert said(Model(settings(base_url=None, api_key=None))) == "a red car"
    assert server.requests[0].key == "sk-of-the-environment"


def test_reasoning_models_are_asked_in_their_way(server, settings):
    server.script["expert"] = server.script["verify"] = {"answer": "yes"}
    model = Model(settings(roles={"verify": {"model": "mine", "reasoning": True}}))
    for role in ("expert", "verify", "refine"):
        said(model, role=role)
    o1, mine, plain = (asked.body for asked in server.requests)
    assert o1["model"] == "o1"
    for body in (o1, mine):
        assert "temperature" not in body
        assert "max_tokens" not in body
        assert body["max_completion_tokens"] >= 10_000
    assert plain["temperature"] == 0.0
    assert "max_completion_tokens" not in plain
    assert plain["max_tokens"] > 0


def many(model, count, role="refine"):
    async def all_of_them():
        asks = (
            model.complete(role, TITLES[role], [f"Accepted answer: car {n}"], AnswerForm)
            for n in range(count)
        )
        return [reply.value.answer for reply in await asyncio.gather(*asks)]

    return asyncio.run(all_of_them())


def test_no_more_calls_are_in_flight_than_the_limit(server, settings):
    server.delay_s = 0.05
    server.script["*"] = [Http(500)] * 4
    assert many(Model(settings(concurrency=3)), 12) == [f"car {n}" for n in range(12)]
    assert server.most_in_flight == 3


def test_two_endpoints_do_not_share_a_limit(server, settings):
    server.delay_s = 0.05
    with ModelServer(delay_s=0.05) as other:
        other.script["expert"] = lambda asked: {"answer": "yes"}
        roles = {"expert": {"model": "deep", "base_url": other.url, "concurrency": 2}}
        model = Model(settings(roles=roles, concurrency=4))

        async def both():
            parts = [[f"Accepted answer: {n}"] for n in range(8)]
            asks = [
                model.complete(role, TITLES[role], part, AnswerForm)
                for part in parts
                for role in ("refine", "expert")
            ]
            await asyncio.gather(*asks)

        asyncio.run(both())
        assert (server.most_in_flight, other.most_in_flight) == (4, 2)


def test_one_model_serves_several_event_loops(server, model):
    assert many(model, 2) == ["car 0", "car 1"]
    assert many(model, 3) == ["car 0", "car 1", "car 2"]
    assert said(model, text=PART) == "a red car"


def test_a_cancelled_question_leaves_its_place_to_others(server, settings):
    model = Model(settings(concurrency=1))
    server.script["refine"] = [HANG]

    async def two():
        first = asyncio.create_task(model.complete("refine", TITLES["refine"], [PART], AnswerForm))
        await asyncio.to_thread(server.arrived.wait, 5)
        first.cancel()
        return await model.complete("refine", TITLES["refine"], [PART], AnswerForm)

    assert asyncio.run(two()).value.answer == "a red car"


def test_connections_of_a_mind_that_is_gone_are_closed_before_they_are_collected(server, settings):
    """A build and a question in one loop: the backend of the build is collected while it runs."""

    async def build_then_ask():
        for _ in range(2):
            model = Model(settings(cache=False))
            model.itself = model  # only the collector finds it
            await model.complete("refine", TITLES["refine"], [PART], AnswerForm)
            del model
            gc.collect()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        asyncio.run(build_then_ask())
        gc.collect()
    assert [str(each.message) for each in told] == []
    assert len(server.requests) == 2


def test_a_request_leaves_nothing_that_only_the_garbage_collector_can_free(server, model):
    """Collecting holds every thread of a service: objects of an ask must go when it ends."""
    server.script["*"] = lambda asked: None if len(server.requests) % 2 else Http(503)

    async def ask_often():
        for _ in range(12):
            await model.complete("refine", TITLES["refine"], [PART], AnswerForm)

    async def left_behind():
        await ask_often()
        gc.collect()
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            await ask_often()
            gc.collect()
            return {type(each).__module__.split(".")[0] for each in gc.garbage}
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()

    assert not {"openai", "httpx2", "asyncio", "admir", "tenacity"} & asyncio.run(left_behind())
