"""What flows through the graph of one ask."""

from __future__ import annotations

from asyncio import Future
from typing import TypedDict

from admir.agent.selection import Judged
from admir.backends.base import Decision, Rejection
from admir.tools.finish import Finish
from admir.types import Answer, Evidence, Span, Step, Subject, Usage, Verdict


class State(TypedDict):
    """What flows through the graph. Every value is frozen; a node returns what it changes."""

    subjects: tuple[Subject, ...]
    steps: tuple[Step, ...]
    ledger: tuple[Evidence, ...]
    weak: frozenset[str]
    looked: tuple[tuple[str, Span], ...]
    """Ranges that were looked at, by the tool that did."""
    rejections: tuple[Rejection, ...]
    constraints: tuple[str, ...]
    first: Future[Decision] | None
    decision: Decision | None
    draft: Finish | None
    verdict: Verdict | None
    best: Judged | None
    spent: str
    prompt_hashes: dict[str, str]
    usage: Usage
    answer: Answer | None


START_STATE: State = {
    "subjects": (),
    "steps": (),
    "ledger": (),
    "weak": frozenset(),
    "looked": (),
    "rejections": (),
    "constraints": (),
    "first": None,
    "decision": None,
    "draft": None,
    "verdict": None,
    "best": None,
    "spent": "",
    "prompt_hashes": {},
    "usage": Usage(),
    "answer": None,
}
