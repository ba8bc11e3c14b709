"""What is paid: list prices, own prices, unknown ones, and where it is written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from admir import ask, build_memory
from admir.backends.llm import Model
from admir.errors import ModelError, OptionError
from tests.backends.llm.asking import complete, said
from tests.model_replies import Say
from tests.model_server import Http

PRICED = Say(content='{"answer": "a red car"}', usage=(1_000, 200, 400))


def beyond_this_machine(server):
    """An address that reaches the server and is none of the loopback."""
    return f"http://0.0.0.0:{server.port}/v1"


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("gpt-4o-mini", (600 * 0.15 + 400 * 0.075 + 200 * 0.6) / 1e6),
        ("gpt-4o-2024-08-06", (600 * 2.5 + 400 * 1.25 + 200 * 10) / 1e6),
        ("my-own", 0.0),
    ],
)
def test_a_reply_costs_its_tokens(server, settings, model, dollars):
    server.script["refine"] = [PRICED]
    usage = complete(Model(settings(model=model))).usage
    assert usage.cost_usd == pytest.approx(dollars)
    assert (usage.input_tokens, usage.output_tokens, usage.unpriced) == (1_000, 200, 0)


def test_own_prices_come_first(server, settings):
    server.script["refine"] = [PRICED]
    prices = {"gpt-4o-mini": {"input": 1, "output": 2}}
    usage = complete(Model(settings(prices=prices))).usage
    assert usage.cost_usd == pytest.approx((1_000 * 1 + 200 * 2) / 1e6)


def test_without_a_price_a_call_is_counted_as_unpriced(server, settings):
    usage = complete(Model(settings(model="my-own", base_url=beyond_this_machine(server)))).usage
    assert (usage.calls, usage.unpriced, usage.cost_usd) == (1, 1, 0.0)


def test_a_server_that_counts_nothing_is_no_fault(server, model):
    server.script["refine"] = [Say(content='{"answer": "yes"}', usage=None)]
    usage = complete(model).usage
    assert (usage.calls, usage.tokens, usage.cost_usd) == (1, 0, 0.0)


def test_corrections_are_paid_too(server, model):
    server.script["refine"] = [Say(content="no JSON", usage=(500, 50, 0))]
    usage = complete(model).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (2, 600, 60)


def test_failures_are_paid_too(server, model):
    server.script["refine"] = [Say(content="no JSON", usage=(500, 50, 0))] * 3
    with pytest.raises(ModelError):
        said(model)
    assert (model.spent().calls, model.spent().input_tokens) == (3, 1_500)


def test_a_budget_of_money_needs_prices(settings):
    with pytest.raises(OptionError, match=r"no price is known of my-own.*ADMIR_PRICES"):
        Model(settings(model="my-own", base_url="https://models.invalid/v1", max_cost=1.0))
    prices = {"my-own": {"input": 1, "output": 2}}
    url = "https://models.invalid/v1"
    assert Model(settings(model="my-own", base_url=url, max_cost=1.0, prices=prices))


def test_money_that_is_spent_ends_the_answer(grey, server, options):
    answer = ask(grey, "What is seen?", **options, max_cost=0.0001)
    assert "budget of $0.0001 is spent" in answer.reason
    assert len(server.asked("controller")) == 1


def test_an_answer_names_all_that_it_cost(grey, server, options):
    answer = ask(grey, "What is seen?", **options)
    assert answer.usage.calls == len(server.requests)
    assert answer.usage.input_tokens == 100 * len(server.requests)
    assert answer.usage.images == sum(len(asked.images) for asked in server.requests)
    assert answer.usage.cost_usd > 0


@pytest.mark.parametrize("role", ["inspect", "verify", "refine"])
def test_an_answer_names_what_failed_calls_cost(grey, server, options, role):
    server.script[role] = ["no JSON"] * 3
    answer = ask(grey, "What is seen?", **options, max_steps=2)
    assert answer.usage.calls == len(server.requests)


def test_a_memory_names_what_it_cost(ramp, server, options):
    server.script["caption"] = [Http(500), "no JSON"]
    made = build_memory(ramp, **options).provenance.usage
    assert made.retries == 1
    assert made.calls == len(server.requests) - 1
    assert made.cost_usd > 0
    assert made.images == sum(
        len(asked.images) for asked in server.requests if asked.role == "caption"
    ) - len(server.asked("caption")[0].images)


def test_the_trace_names_the_cost(grey, server, options):
    answer = ask(grey, "What is seen?", **options)
    last = Path(answer.trace).read_text("utf-8").splitlines()[-1]
    assert json.loads(last)["answer"]["usage"]["calls"] == answer.usage.calls
