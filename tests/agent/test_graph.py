"""The loop: faults of the backend become data, budgets end it, backtracking is visible."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from admir import Memory, ask
from admir.agent.selection import NO_ANSWER
from admir.api import _agent, ask_events
from admir.backends.base import Decision
from admir.concurrency import run_sync, run_to_end
from admir.prompts import load_prompt
from admir.settings import load_settings
from admir.trace import Answered, Asked, Backtracked, Oriented, StepTaken
from admir.types import Action, Answer
from tests.model_replies import Say, calls
from tests.model_server import ModelServer
from tests.model_server import play as steps_of
from tests.traces import read_trace

BACKTRACKS = "What does a lamp like this cost, according to the on-screen text?"


class Listening:
    """A backend that remembers what it was told, and plays the steps that it is given."""

    def __init__(self, honest, steps: Sequence[tuple[Action, ...]] = ()) -> None:
        self.id, self._honest, self._steps = "listening", honest, list(steps)
        self.check, self.refine = honest.check, honest.refine
        self.situations = []

    async def decide(self, situation):
        self.situations.append(situation)
        if not self._steps:
            return await self._honest.decide(situation)
        actions = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        return Decision(thought="as scripted", actions=actions)


@pytest.fixture(params=["offline", "models"])
def backend(request):
    """Whose loop it is: a test that takes `play` runs with both."""
    return request.param


@pytest.fixture
def play(backend, demo: Memory, memories: Path, server: ModelServer, options):
    """Play scripted steps for a question; returns the answer and the backend.

    The controller of the model backend is a server that calls them as functions.
    """

    def run(*steps: tuple[Action, ...], question="What price is shown?", **settings):
        reach = {**options, "cache": False} if backend == "models" else {}
        chosen = load_settings(**{**reach, "memories": memories}, **settings)
        agent, _ = _agent(demo, question, chosen)
        server.script["controller"] = steps_of(*map(said, steps))
        listening = Listening(agent.backend.reasoner, steps if backend == "offline" else ())
        last = run_sync(
            run_to_end(replace(agent, backend=replace(agent.backend, reasoner=listening)).events())
        )
        assert isinstance(last, Answered)
        return last.answer, listening

    return run


def said(actions: tuple[Action, ...]) -> Say:
    """The turn of a model that wants these actions."""
    return calls(*((action.tool, action.arguments) for action in actions), thought="as scripted")


def act(tool: str, **arguments) -> Action:
    return Action(tool=tool, arguments=arguments)


def inspect(start_s: float, end_s: float) -> tuple[Action, ...]:
    return (act("frame_inspect", question="?", start_s=start_s, end_s=end_s, mode="semantic"),)


def finish(answer: str, *ids: str, absent: bool = False) -> tuple[Action, ...]:
    return (act("finish", answer=answer, evidence_ids=list(ids), absent=absent),)


SEARCH = (act("clip_search", query="price now $"),)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (act("fly"), "no tool 'fly'"),
        (act("clip_search"), "query: Field required"),
        (act("clip_search", query="x", top_k=0), "top_k"),
        (act("clip_search", query="x", colour="red"), "colour"),
        (act("frame_inspect", question="?", start_s=5, end_s=2), "must be after"),
        (act("frame_inspect", question="?", start_s="soon", end_s=2), "start_s"),
        (act("frame_inspect", question="?", start_s=float("nan"), end_s=2), "frame_inspect"),
    ],
)
def test_a_faulty_action_becomes_an_observation_and_the_loop_goes_on(play, action, says):
    answer, _ = play((action,), SEARCH, finish("nothing"), max_steps=3)
    observation = answer.steps[0].observations[0]
    assert observation.failed
    assert says in observation.text
    assert len(answer.steps) == 3


def test_a_finish_that_cannot_be_read_spends_a_step_and_goes_on(play):
    answer, _ = play((act("finish"),), SEARCH, finish("x"), max_steps=3)
    assert answer.steps[0].observations[0].failed
    assert answer.steps[1].observations[0].tool == "clip_search"


def test_no_action_at_all_becomes_an_observation(play):
    answer, _ = play((), SEARCH, finish("x"), max_steps=3)
    assert answer.steps[0].observations[0].failed


def test_the_budget_ends_the_loop_with_the_best_draft_ungrounded(play):
    answer, _ = play(SEARCH, finish("$99", "e1"), max_steps=3)
    assert len(answer.steps) == 3
    assert (answer.answer, answer.grounded, answer.basis) == ("$99", False, "none")
    assert "3 steps are spent" in answer.reason


def test_a_loop_that_never_finishes_says_that_nothing_was_grounded(play):
    answer, _ = play(SEARCH, max_steps=2)
    assert (answer.answer, answer.grounded) == (NO_ANSWER, False)
    assert "no draft was handed in" in answer.reason


def test_a_rejected_draft_takes_its_evidence_out_until_it_is_seen_again(play):
    answer, script = play(SEARCH, finish("$99", "e1"), SEARCH, finish("$99", "e1"), max_steps=5)
    seen = [[e.id for e in situation.evidence] for situation in script.situations]
    assert "e1" in seen[1]
    assert "e1" not in seen[2]
    assert "e1" in seen[3]
    assert "$99" in script.situations[2].constraints[0]
    assert not answer.grounded


def test_independent_actions_of_one_step_are_all_carried_out(play):
    both = (*SEARCH, act("global_browse", question="?"), act("fly"))
    answer, _ = play(both, finish("x"), max_steps=2)
    assert [o.tool for o in answer.steps[0].observations] == ["clip_search", "global_browse", "fly"]
    ids = [e.id for o in answer.steps[0].observations for e in o.evidence]
    assert len(set(ids)) < len(ids), "evidence that both tools bring has one id"


def test_looking_at_one_place_again_and_again_is_redirected(play):
    answer, _ = play(*[inspect(16, 18)] * 4, finish("x"), max_steps=5)
    moved = answer.steps[3]
    assert "Redirected" in moved.observations[0].text
    assert moved.actions[0].arguments["start_s"] in (0.0, pytest.approx(17.16))
    assert "Redirected" not in answer.steps[2].observations[0].text


@pytest.mark.parametrize("backend", ["offline"], indirect=True)
def test_an_absence_is_refused_when_a_line_answers(play):
    answer, _ = play(SEARCH, finish("Not shown in the video.", absent=True), max_steps=2)
    assert answer.steps[1].verdict.claims[0].status == "contradicted"
    assert not answer.grounded


@pytest.mark.parametrize("backend", ["offline"], indirect=True)
def test_a_reading_by_rule_is_accepted_and_inferred(play):
    expert = (act("communication_expert", focus="persuasion"),)
    answer, _ = play(expert, finish("discount", "e1", "e2", "e3"), question="How does it persuade?")
    assert (answer.basis, answer.grounded) == ("inference", False)
    assert {c.status for c in answer.claims} == {"inferred"}


def test_one_question_backtracks_once_and_then_comes_out_right(demo, memories, facts):
    answer = ask(demo, BACKTRACKS, memories=memories)
    verdicts = [step.verdict.accepted for step in answer.steps if step.verdict]
    assert verdicts == [False, True]
    assert answer.grounded
    assert answer.answer == facts["price"]


def test_the_trace_tells_the_whole_story(demo, memories):
    answer = ask(demo, BACKTRACKS, memories=memories)
    events = read_trace(Path(answer.trace))
    names = [event["event"] for event in events]
    assert names[:2] == ["asked", "oriented"]
    assert names[-1] == "answered"
    assert names.count("backtracked") == 1
    steps = [event["step"] for event in events if event["event"] == "step_taken"]
    assert all(step["thought"] and step["actions"] and step["seconds"] >= 0 for step in steps)
    assert steps[0]["actions"][0]["arguments"]["query"]
    assert steps[0]["observations"][0]["evidence"][0]["id"] == "e1"
    assert json.dumps(events[-1]["answer"]["answer"]) == json.dumps(answer.answer)
    assert answer.prompt_hashes == {"weak_evidence": load_prompt("weak_evidence").sha256}


def test_events_come_in_order_and_closing_the_stream_ends_the_work(demo, memories):
    async def take(count: int):
        stream = ask_events(demo, BACKTRACKS, load_settings(memories=memories))
        seen = [await anext(stream) for _ in range(count)]
        await stream.aclose()
        return seen

    kinds = [type(event) for event in asyncio.run(take(5))]
    assert kinds == [Asked, Oriented, StepTaken, StepTaken, Backtracked]


def test_ask_works_inside_a_running_event_loop(demo, memories):
    async def inside() -> Answer:
        return ask(demo, "What is the slogan?", memories=memories)

    assert asyncio.run(inside()).answer == "Light that listens."
