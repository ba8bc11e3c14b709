"""Wrong drafts put into the graph are rejected; true ones pass (issue: verification bites).

The drafts replace the answer of the real policy's first finish, with the evidence it cites: the
hardest place to lie, since the evidence is right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from admir import Memory
from admir.agent.controller import Agent
from admir.api import _agent
from admir.backends.base import AgentState, Decision
from admir.settings import load_settings
from admir.trace import StepTaken
from admir.types import Action, Verdict
from tests.agent.drafts import DEMO, TEA, Case, tea_memory


class Liar:
    """The offline reasoner, but its first finish hands in the given draft."""

    def __init__(self, honest, draft: str) -> None:
        self.id, self._honest, self._draft = "liar", honest, draft
        self.check, self.refine = honest.check, honest.refine

    async def decide(self, situation: AgentState) -> Decision:
        decision = await self._honest.decide(situation)
        finish = next((a for a in decision.actions if a.tool == "finish"), None)
        if finish is None or self._draft is None:
            return decision
        ids = finish.arguments["evidence_ids"] or [e.id for e in situation.evidence[:3]]
        lie = {"answer": self._draft, "evidence_ids": ids, "absent": False}
        self._draft = None
        return replace(decision, actions=(Action(tool="finish", arguments=lie),))


def first_verdict(agent: Agent, question: str, draft: str) -> Verdict:
    """Put the draft into the graph; the verdict on it. The stream is closed there."""
    lying = replace(agent.backend, reasoner=Liar(agent.backend.reasoner, draft))

    async def until_verdict() -> Verdict:
        async with aclosing(replace(agent, question=question, backend=lying).events()) as events:
            async for event in events:
                if isinstance(event, StepTaken) and event.step.verdict:
                    return event.step.verdict
        raise AssertionError("no verdict")

    return asyncio.run(until_verdict())


def rejected_share(agent: Agent, cases: tuple[Case, ...], kind: str):
    """(share of the drafts that are rejected, those whose verdict is not as it should be)."""
    odd, rejected, total = [], 0, 0
    for question, draft in pairs(cases, kind):
        verdict = first_verdict(agent, question, draft)
        total += 1
        rejected += not verdict.accepted
        if verdict.accepted == (kind == "wrong"):
            odd.append((question, draft, verdict.reason))
    return rejected / total, odd


def pairs(cases: tuple[Case, ...], kind: str) -> Iterator[tuple[str, str]]:
    for case in cases:
        for draft in getattr(case, kind):
            yield case.question, draft


@pytest.fixture(scope="module")
def ads(demo: Memory, memories: Path):
    """Agent and drafts of each ad; the agent's backend (and its text reader) is made once."""
    settings = load_settings(memories=memories)
    return {
        "demo": (_agent(demo, "-", settings)[0], DEMO),
        "tea": (_agent(tea_memory(), "-", settings)[0], TEA),
    }


@pytest.mark.parametrize("ad", ["demo", "tea"])
def test_at_least_95_percent_of_wrong_drafts_are_rejected(ads, ad):
    share, accepted = rejected_share(*ads[ad], "wrong")
    assert share >= 0.95, accepted


@pytest.mark.parametrize("ad", ["demo", "tea"])
def test_at_most_5_percent_of_true_drafts_are_rejected(ads, ad):
    share, refused = rejected_share(*ads[ad], "true")
    assert share <= 0.05, refused
