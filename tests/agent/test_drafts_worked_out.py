"""No wrong draft about what is measured, counted, compared or read is accepted; true ones are.

For each question the offline backend looks for itself up to its first finish. The drafts then go
through the real verification, with the evidence that it would cite, and with all of it.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from admir.agent.controller import Agent
from admir.agent.grounding import verify
from admir.api import _agent
from admir.concurrency import run_sync
from admir.settings import load_settings
from admir.tools.finish import Finish
from admir.types import Evidence, Memory, Span
from tests.agent.worked_out_drafts import WORKED_OUT


class Watched:
    """The offline reasoner; keeps the situation of its first finish and what that cites."""

    def __init__(self, honest) -> None:
        self.id, self._honest = honest.id, honest
        self.check, self.refine = honest.check, honest.refine
        self.evidence: tuple[Evidence, ...] = ()
        self.cited: list[str] = []

    async def decide(self, situation):
        decision = await self._honest.decide(situation)
        finish = next((a for a in decision.actions if a.tool == "finish"), None)
        if finish and not self.evidence:
            self.evidence = situation.evidence
            self.cited = list(finish.arguments["evidence_ids"])
        return decision


def looked(agent: Agent, question: str) -> Watched:
    """What the offline backend saw of the ad before it first finished."""
    watched = Watched(agent.backend.reasoner)
    watching = replace(agent, question=question, backend=replace(agent.backend, reasoner=watched))

    async def to_the_end() -> None:
        async with aclosing(watching.events()) as events:
            async for _ in events:
                pass

    asyncio.run(to_the_end())
    assert watched.evidence
    return watched


def accepted(agent: Agent, question: str, text: str, evidence, cite: list[str]) -> bool:
    draft = Finish(answer=text, evidence_ids=cite, absent=False)
    verdict, _ = run_sync(verify(draft, question, evidence, agent.memory, agent.backend.reasoner))
    return verdict.accepted


@pytest.fixture(scope="module")
def agent(demo: Memory, memories) -> Agent:
    return _agent(demo, "-", load_settings(memories=memories))[0]


@pytest.mark.parametrize("case", WORKED_OUT, ids=lambda case: case.question)
def test_true_drafts_stand_and_wrong_ones_do_not(agent, case):
    seen = looked(agent, case.question)
    ids = [e.id for e in seen.evidence]

    def stand(drafts, cite):
        return [d for d in drafts if accepted(agent, case.question, d, seen.evidence, cite)]

    assert stand(case.true, seen.cited) == list(case.true)
    assert stand(case.wrong, seen.cited or ids[:3]) == []
    assert stand(case.wrong, ids) == []


def test_a_true_figure_that_cites_the_measurement_of_something_else_is_refused(agent):
    question = "How many shots are there in the ad?"
    seen = looked(agent, question)
    length = next(e.id for e in seen.evidence if e.quote.endswith("s long"))
    line = next(e.id for e in seen.evidence if e.kind == "screen_text")
    for cite in ([length], [line]):
        assert not accepted(agent, question, "7 shots", seen.evidence, cite)
    assert accepted(agent, question, "7 shots", seen.evidence, seen.cited)


def measured(quote: str, name: str, start_s: float = 0.0, end_s: float = 20.0) -> Evidence:
    span = Span(start_s=start_s, end_s=end_s)
    return Evidence(video_id="v", kind="measurement", span=span, quote=quote, id=name)


PEOPLE = (
    measured("woman in red: seen for 3.0 s", "e1", 1, 4),
    measured("man in green: seen for 2.0 s", "e2", 5, 7),
    measured("2 shots, 1 cut, the first at 4.5 s, the last at 4.5 s", "e3"),
)
FACES = (
    measured("2 faces", "e1", 2.0, 2.0),
    measured("1 face", "e2", 9.0, 9.0),
    measured("colours: red, white; bright", "e3", 2.0, 2.0),
)
ONE_SHOT = (measured("20.0 s long", "e1"), measured("1 shot", "e2"))


@pytest.mark.parametrize(
    ("evidence", "question", "cite", "true", "wrong"),
    [
        (PEOPLE, "How many people are in the ad?", ["e1", "e2"],
         ("At least two, by the faces that were found", "Two people", "At least 2 people."),
         ("three people", "Two dogs", "No people", "2 shots", "Anna and Ben", "At least twenty",
          "a woman in blue")),
        (PEOPLE, "How many people are in the ad?", ["e3"], (), ("At least two people",)),
        (PEOPLE, "When is a person first seen?", ["e1"], ("At 1.0 s",), ("At 4.5 s", "At 5 s")),
        (FACES, "How many faces are seen at 2 s?", ["e1"],
         ("At least 2: faces found at 2.0 s", "2 faces", "Two faces are seen."),
         ("1 face", "three faces", "no face", "2 faces at 9 s", "2 colours")),
        (FACES, "How many faces are seen at 2 s?", ["e2"], (), ("1 face", "2 faces")),
        (FACES, "Is a face seen at 2 s?", ["e1"], ("Yes, 2: found at 2.0 s", "Yes, two faces."),
         ("No, 2 faces.", "Yes, 5 faces.", "No face is seen.")),
        (ONE_SHOT, "How many cuts does the ad have?", ["e2"], ("no cut: it is one shot",),
         ("1 cut", "one cut", "two cuts")),
        (ONE_SHOT, "How many shots does the ad have?", ["e2"], ("1 shot", "One shot."),
         ("no shot", "2 shots", "20 shots")),
    ],
)  # fmt: skip
def test_measurements_of_an_ad_without_pictures(agent, evidence, question, cite, true, wrong):
    memory = Memory.from_timeline("v", [{"t": 19, "ocr": ["x"], "asr": ""}])
    plain = replace(agent, memory=memory)
    for text in true:
        assert accepted(plain, question, text, evidence, cite), text
    for text in wrong:
        assert not accepted(plain, question, text, evidence, cite), text
