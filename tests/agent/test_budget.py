"""What an answer may cost: the limits alone, and answers that reach them."""

from __future__ import annotations

import asyncio
import time

import pytest

from admir import ask
from admir.agent.budget import Budget, BudgetSpent
from admir.agent.selection import NO_ANSWER
from admir.concurrency import run_sync
from admir.errors import OptionError
from admir.settings import load_settings
from admir.text import truncate_words
from admir.types import Usage
from tests.model_replies import LONG_DRAFT, Say, calls, evidence_ids, finish, finish_long
from tests.model_server import HANG, play

LOOK = calls(("frame_inspect", {"question": "q", "start_s": 0, "end_s": 2}))
DRAFT = "A grey wall."


def draft(asked):
    return finish(DRAFT, *evidence_ids(asked, "frame")[:1])


# The limits


def test_without_limits_nothing_is_ever_spent():
    assert Budget().spent(Usage(cost_usd=1e9, input_tokens=10**12)) == ""


@pytest.mark.parametrize(
    ("limit", "below", "reached", "said"),
    [
        ({"max_cost": 0.5}, Usage(cost_usd=0.49), Usage(cost_usd=0.5), "$0.5"),
        (
            {"max_tokens": 100},
            Usage(input_tokens=60, output_tokens=39),
            Usage(input_tokens=60, output_tokens=40),
            "100 tokens",
        ),
    ],
)
def test_a_limit_is_spent_when_it_is_reached(limit, below, reached, said):
    budget = Budget(**limit)
    assert budget.spent(below) == ""
    assert said in budget.spent(reached)


def test_time_is_spent_from_the_making_of_the_budget():
    assert Budget(max_seconds=60).spent(Usage()) == ""
    assert "60 s is spent" in Budget(max_seconds=60, started=time.monotonic() - 61).spent(Usage())


def test_the_limits_come_from_the_settings():
    chosen = load_settings(max_cost=1, max_seconds=2, max_tokens=3)
    budget = Budget.of(chosen)
    assert (budget.max_cost, budget.max_seconds, budget.max_tokens) == (1, 2, 3)


def test_work_within_the_time_gives_what_it_returns_and_raises():
    async def five():
        return 5

    async def late():
        raise TimeoutError("of its own")

    assert run_sync(Budget(max_seconds=60).within(five())) == 5
    assert run_sync(Budget().within(five())) == 5
    with pytest.raises(TimeoutError, match="of its own"):
        run_sync(Budget(max_seconds=60).within(late()))


def test_work_beyond_the_time_is_cancelled():
    ended = []

    async def slow():
        try:
            await asyncio.sleep(30)
        finally:
            ended.append(True)

    with pytest.raises(BudgetSpent, match=r"budget of 0\.05 s is spent"):
        run_sync(Budget(max_seconds=0.05).within(slow()))
    assert ended == [True]


@pytest.mark.parametrize("name", ["max_cost", "max_seconds", "max_tokens"])
def test_a_limit_of_nothing_is_refused(name):
    with pytest.raises(OptionError, match=name):
        load_settings(**{name: 0})


# Answers


def test_tokens_that_are_spent_before_a_draft_end_without_one(grey, server, options):
    """Each reply takes 110 tokens: the first turn and the look are the last calls."""
    server.script["controller"] = play(LOOK, draft)
    answer = ask(grey, "What is seen?", **options, max_tokens=150)
    assert [asked.role for asked in server.requests] == ["controller", "inspect"]
    assert (answer.answer, answer.grounded) == (NO_ANSWER, False)
    assert "the budget of 150 tokens is spent" in answer.reason
    assert answer.usage.tokens == 220


def test_tokens_that_are_spent_at_the_check_leave_the_accepted_draft_unworded(
    grey, server, options
):
    server.script["controller"] = play(LOOK, draft)
    answer = ask(grey, "What is seen?", **options, max_tokens=440)
    assert server.asked("refine") == []
    assert (answer.answer, answer.grounded) == (DRAFT, True)
    assert any("440 tokens is spent" in said for said in answer.warnings)


def test_the_best_draft_is_kept_where_a_later_one_is_not_reached(grey, server, options):
    server.script["controller"] = play(LOOK, finish("A wall of 7 m.", "e1"), LOOK, draft)
    answer = ask(grey, "What is seen?", **options, max_tokens=300)
    assert (answer.answer, answer.grounded) == ("A wall of 7 m.", False)
    assert "300 tokens is spent" in answer.reason
    assert "7" in answer.reason, "and what was wrong with it"
    assert len(server.asked("controller")) == 2


def test_money_is_counted_by_the_prices_of_the_settings(grey, server, options):
    """A dollar a token: the first turn takes 110 of them."""
    server.script["controller"] = play(LOOK, draft)
    dear = {name: {"input": 1e6, "output": 1e6} for name in ("gpt-4o", "gpt-4o-mini", "o1")}
    answer = ask(grey, "What is seen?", **options, prices=dear, max_cost=200.0)
    assert [asked.role for asked in server.requests] == ["controller", "inspect"]
    assert "the budget of $200 is spent" in answer.reason
    assert answer.usage.cost_usd == pytest.approx(220.0)


def test_replies_that_are_known_cost_nothing(grey, server, options):
    """A rerun from the cache stays within a budget that the first run has spent."""
    whole = ask(grey, "What is seen?", **options)
    server.requests.clear()
    again = ask(grey, "What is seen?", **options, max_tokens=10)
    assert server.requests == []
    assert (again.answer, again.grounded, again.usage.tokens) == (whole.answer, True, 0)


HANGING = {
    "controller": (0.5, [lambda asked: HANG], NO_ANSWER, "no draft was handed in"),
    "inspect": (2.0, [LOOK, draft], NO_ANSWER, "no draft was handed in"),
    "verify": (3.0, [LOOK, draft], DRAFT, "the draft was not checked"),
}
"""By role: the seconds allowed, which must do for the calls before it; what the answer says."""


@pytest.mark.parametrize("role", HANGING)
def test_a_call_that_hangs_is_given_up_when_the_time_is_spent(grey, server, options, role):
    seconds, steps, said, reason = HANGING[role]
    server.script["controller"] = play(*steps)
    if role != "controller":
        server.script[role] = lambda asked: HANG
    started = time.monotonic()
    answer = ask(grey, "What is seen?", **{**options, "timeout_s": 60.0}, max_seconds=seconds)
    assert time.monotonic() - started < 10
    assert (answer.answer, answer.grounded) == (said, False)
    assert f"the budget of {seconds:g} s is spent" in answer.reason
    assert reason in answer.reason
    assert server.requests[-1].role == role, "no call comes after it"
    assert len(server.asked(role)) == 1


def test_a_wording_that_hangs_leaves_the_accepted_draft(grey, server, options):
    server.script["controller"] = play(LOOK, finish_long)
    server.script["refine"] = lambda asked: HANG
    answer = ask(grey, "What is seen?", **{**options, "timeout_s": 60.0}, max_seconds=4.0)
    assert (answer.answer, answer.grounded) == (truncate_words(LONG_DRAFT, 29), True)
    assert any("4 s is spent" in said for said in answer.warnings)


def test_a_slow_server_stops_between_the_steps(grey, server, options):
    server.delay_s = 0.4
    server.script["controller"] = lambda asked: LOOK
    answer = ask(grey, "What is seen?", **options, max_seconds=2.0, max_steps=50)
    assert 1 <= len(server.asked("controller")) < 6
    assert "the budget of 2 s is spent" in answer.reason


def test_an_unreadable_turn_is_paid_for_too(grey, server, options):
    server.script["controller"] = [Say(content="I think."), Say(content="I still think.")]
    answer = ask(grey, "What is seen?", **options, max_tokens=200)
    assert len(server.asked("controller")) == 2
    assert "200 tokens is spent" in answer.reason


def test_the_offline_mind_keeps_to_seconds_too(demo, memories):
    answer = ask(demo, "What price is shown?", memories=memories, max_seconds=1e-6)
    assert (answer.answer, answer.grounded) == (NO_ANSWER, False)
    assert "s is spent" in answer.reason
