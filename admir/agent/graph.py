"""The controller as a LangGraph graph (paper Algorithm 1).

orient -> reason -> act ----+
            ^  +- finish    |
            |      v        |
        backtrack <- verify | -> refine -> END
            ^---------------+      budget spent: refine the best draft, ungrounded
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import StreamWriter

from admir.agent.grounding import verify
from admir.agent.guards import redirected
from admir.agent.ledger import described, enter
from admir.agent.wiring import own_version, quiet, route, telling
from admir.backends.base import Decision, Mind, Rejection, Situation
from admir.memory.subjects import active_subjects
from admir.perception.embed import Embedder
from admir.prompts import load_prompt
from admir.settings import Settings
from admir.tools.base import ToolContext, ToolResult
from admir.tools.finish import Finish
from admir.tools.registry import ToolError, carry_out, parse
from admir.trace import Answered, AnswerEvent, Asked, Backtracked, Oriented, StepTaken
from admir.types import (
    Action,
    Answer,
    Basis,
    Evidence,
    Memory,
    Observation,
    Span,
    Step,
    Subject,
    Usage,
    Verdict,
)

NO_ANSWER = "No answer could be grounded."


class State(TypedDict):
    """What flows through the graph. Every value is frozen; a node returns what it changes."""

    subjects: tuple[Subject, ...]
    steps: tuple[Step, ...]
    ledger: tuple[Evidence, ...]
    weak: frozenset[str]
    looked: tuple[Span, ...]
    rejections: tuple[Rejection, ...]
    constraints: tuple[str, ...]
    decision: Decision | None
    draft: Finish | None
    verdict: Verdict | None
    best: tuple[Finish, Verdict] | None
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
    "decision": None,
    "draft": None,
    "verdict": None,
    "best": None,
    "prompt_hashes": {},
    "usage": Usage(),
    "answer": None,
}


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One question about one memory."""

    question: str
    memory: Memory
    mind: Mind
    embedder: Embedder
    tools: ToolContext
    settings: Settings

    async def events(self) -> AsyncIterator[AnswerEvent]:
        """Run the graph; the last event is `Answered`."""
        started = time.monotonic()
        yield self._asked()
        answer: Answer | None = None
        limits = {"recursion_limit": 4 * self.settings.max_steps + 10}
        async for mode, part in self._graph().astream(
            START_STATE, config=limits, context=self, stream_mode=["custom", "values"]
        ):
            if mode == "custom":
                yield part
            else:
                answer = part.get("answer")
        assert answer is not None, "the graph always ends in refine"
        yield Answered(answer=replace(answer, seconds=round(time.monotonic() - started, 3)))

    def _asked(self) -> Asked:
        return Asked(
            video_id=self.memory.video.id,
            question=self.question,
            preset=self.settings.preset,
            models=self.mind.models,
            settings=self.settings.model_dump(mode="json", exclude={"memories"}),
            admir_version=own_version(),
        )

    @staticmethod
    @cache
    def _graph() -> Any:
        graph = StateGraph(State, context_schema=Agent)
        graph.add_sequence([("orient", telling(Agent._orient)), ("reason", quiet(Agent._reason))])
        graph.add_node("act", telling(Agent._act))
        graph.add_node("verify", telling(Agent._verify))
        graph.add_node("backtrack", telling(Agent._backtrack))
        graph.add_node("refine", quiet(Agent._refine))
        graph.add_edge(START, "orient")
        link, next_turn = graph.add_conditional_edges, route(Agent._next_turn)
        link("reason", route(Agent._after_reason), ["act", "verify"])
        link("act", next_turn, ["reason", "refine"])
        link("verify", route(Agent._after_verify), ["backtrack", "refine", "reason"])
        link("backtrack", next_turn, ["reason", "refine"])
        graph.add_edge("refine", END)
        return graph.compile()

    async def _orient(self, state: State, writer: StreamWriter) -> dict[str, Any]:
        """The narrative, and the subjects that the question is about (eq. 3)."""
        subjects = active_subjects(
            self.memory.subjects,
            self.question,
            self.memory.narrative,
            self.embedder,
            self.settings.subject_top_k,
        )
        writer(Oriented(narrative=self.memory.narrative, subjects=subjects))
        return {"subjects": subjects}

    async def _reason(self, state: State) -> dict[str, Any]:
        """Thought and actions, from everything seen but the weak branch."""
        started = time.monotonic()
        decision = await self.mind.reasoner.decide(self._situation(state))
        step = Step(
            index=len(state["steps"]) + 1,
            thought=decision.thought,
            actions=decision.actions,
            usage=decision.usage,
            seconds=time.monotonic() - started,
        )
        return {
            "decision": decision,
            "steps": (*state["steps"], step),
            "usage": state["usage"] + decision.usage,
            "draft": None,
            "verdict": None,
        }

    def _situation(self, state: State) -> Situation:
        return Situation(
            question=self.question,
            video=self.memory.video,
            narrative=self.memory.narrative,
            subjects=state["subjects"],
            steps=state["steps"],
            evidence=tuple(e for e in state["ledger"] if e.id not in state["weak"]),
            rejections=state["rejections"],
            constraints=state["constraints"],
            limits=self.memory.provenance.warnings,
            steps_left=self.settings.max_steps - len(state["steps"]),
        )

    def _after_reason(self, state: State) -> Literal["act", "verify"]:
        decision = state["decision"]
        assert decision is not None
        return "verify" if any(a.tool == "finish" for a in decision.actions) else "act"

    async def _act(self, state: State, writer: StreamWriter) -> dict[str, Any]:
        """Carry out the actions of the step side by side; faults become observations."""
        started = time.monotonic()
        step = state["steps"][-1]
        looked = list(state["looked"])
        actions = [self._guarded(action, looked) for action in step.actions]
        results = await asyncio.gather(*(self._carry_out(action) for action, _ in actions))
        ledger, observations = state["ledger"], []
        for (action, note), result in zip(actions, results, strict=True):
            ledger, observation = _observe(ledger, action, result, note)
            observations.append(observation)
        if not observations:
            fault = ToolError("no action was asked for; call a tool")
            observations.append(_observe(ledger, Action(tool="none"), fault, "")[1])
        done = replace(
            step,
            actions=tuple(action for action, _ in actions),
            observations=tuple(observations),
            seconds=round(step.seconds + time.monotonic() - started, 3),
        )
        writer(StepTaken(step=done))
        seen = {e.id for o in observations for e in o.evidence}
        return {
            "steps": (*state["steps"][:-1], done),
            "ledger": ledger,
            "looked": (*state["looked"], *(o.looked_at for o in observations if o.looked_at)),
            "weak": state["weak"] - seen,
        }

    def _guarded(self, action: Action, looked: list[Span]) -> tuple[Action, str]:
        """The action, moved elsewhere when it goes over the same ground again (B.3.1)."""
        if action.tool != "frame_inspect":
            return action, ""
        try:
            asked = parse(action)
        except ToolError:
            return action, ""
        span = Span(start_s=asked.start_s, end_s=asked.end_s).clamp(self.memory.video.span)
        moved = redirected(span, looked, self.memory.video.duration_s)
        looked.append(moved or span)
        if moved is None:
            return action, ""
        arguments = {**action.arguments, "start_s": moved.start_s, "end_s": moved.end_s}
        note = f"Redirected: {span} was looked at more than twice, so {moved} is shown instead.\n"
        return Action(tool=action.tool, arguments=arguments), note

    async def _carry_out(self, action: Action) -> ToolResult | ToolError:
        try:
            return await carry_out(self.tools, action)
        except ToolError as error:
            return error

    async def _verify(self, state: State, writer: StreamWriter) -> dict[str, Any]:
        """Psi on the handed-in draft. A finish that cannot be read is an observation."""
        started = time.monotonic()
        step = state["steps"][-1]
        action = next(a for a in step.actions if a.tool == "finish")
        try:
            draft: Finish = parse(action)
        except ToolError as error:
            failed = _observe(state["ledger"], action, error, "")[1]
            done = replace(step, observations=(failed,))
            writer(StepTaken(step=done))
            return {"steps": (*state["steps"][:-1], done)}
        verdict, usage = await verify(
            draft, self.question, state["ledger"], self.memory, self.mind.reasoner
        )
        seconds = round(step.seconds + time.monotonic() - started, 3)
        skipped = tuple(
            Observation(tool=a.tool, text="not carried out: finish came with it", failed=True)
            for a in step.actions
            if a is not action
        )
        done = replace(
            step,
            observations=skipped,
            verdict=verdict,
            usage=step.usage + usage,
            seconds=seconds,
        )
        writer(StepTaken(step=done))
        return {
            "steps": (*state["steps"][:-1], done),
            "draft": draft,
            "verdict": verdict,
            "best": _better(state["best"], (draft, verdict)),
            "usage": state["usage"] + usage,
        }

    def _after_verify(self, state: State) -> Literal["backtrack", "refine", "reason"]:
        verdict = state["verdict"]
        if verdict is None:
            return self._next_turn(state)
        return "refine" if verdict.accepted else "backtrack"

    def _next_turn(self, state: State) -> Literal["reason", "refine"]:
        return "reason" if len(state["steps"]) < self.settings.max_steps else "refine"

    async def _backtrack(self, state: State, writer: StreamWriter) -> dict[str, Any]:
        """Forced backtrack (2.3.1): the negative constraint, and the weak branch taken away."""
        draft, verdict = state["draft"], state["verdict"]
        assert draft is not None
        assert verdict is not None
        cited = [e for e in state["ledger"] if e.id in draft.evidence_ids]
        ranges = tuple(dict.fromkeys(e.span for e in cited))
        prompt = load_prompt("weak_evidence")
        constraint = prompt.render(
            draft=draft.answer,
            reasons=verdict.reason,
            ranges=", ".join(str(span) for span in ranges) or "nothing",
        )
        rejection = Rejection(
            draft=draft.answer,
            reason=verdict.reason,
            evidence=tuple(e.id for e in cited),
            ranges=ranges,
        )
        writer(Backtracked(constraint=constraint, ranges=ranges, claims=verdict.claims))
        return {
            "rejections": (*state["rejections"], rejection),
            "constraints": (*state["constraints"], constraint),
            "weak": state["weak"] | {e.id for e in cited},
            "prompt_hashes": {**state["prompt_hashes"], prompt.name: prompt.sha256},
        }

    async def _refine(self, state: State) -> dict[str, Any]:
        """The final wording; where the budget is spent, of the best draft, ungrounded."""
        verdict, draft = state["verdict"], state["draft"]
        if verdict is None or draft is None or not verdict.accepted:
            draft, verdict = state["best"] or (
                Finish(answer=NO_ANSWER, evidence_ids=(), absent=False),
                None,
            )
        ids = {i for claim in verdict.claims for i in claim.evidence} if verdict else set()
        cited = tuple(e for e in state["ledger"] if e.id in ids)
        refined = await self.mind.reasoner.refine(self.question, draft.answer, cited)
        return {"answer": self._answer(state, refined.answer, verdict, cited, refined.usage)}

    def _answer(
        self,
        state: State,
        text: str,
        verdict: Verdict | None,
        cited: tuple[Evidence, ...],
        usage: Usage,
    ) -> Answer:
        grounded = verdict is not None and verdict.accepted and not verdict.absence
        return Answer(
            video_id=self.memory.video.id,
            question=self.question,
            answer=text,
            grounded=grounded,
            basis=_basis(verdict),
            claims=verdict.claims if verdict else (),
            evidence=cited,
            steps=state["steps"],
            usage=state["usage"] + usage,
            preset=self.settings.preset,
            models=self.mind.models,
            prompt_hashes=state["prompt_hashes"],
            reason="" if grounded else self._why(state, verdict),
        )

    def _why(self, state: State, verdict: Verdict | None) -> str:
        """Why the answer is not grounded, and what this memory cannot know."""
        spent = len(state["steps"]) >= self.settings.max_steps and not (
            verdict and verdict.accepted
        )
        parts = [f"{self.settings.max_steps} steps are spent" if spent else ""]
        parts.append(verdict.reason if verdict else "no draft was handed in")
        parts += self.memory.provenance.warnings
        return "; ".join(part for part in parts if part)


def _observe(
    ledger: tuple[Evidence, ...], action: Action, result: ToolResult | ToolError, note: str
) -> tuple[tuple[Evidence, ...], Observation]:
    """The observation of one action, its evidence entered into the ledger."""
    if isinstance(result, ToolError):
        return ledger, Observation(tool=action.tool, text=f"{note}{result}", failed=True)
    ledger, numbered = enter(ledger, result.evidence)
    text = "\n".join(part for part in (f"{note}{result.summary}", described(numbered)) if part)
    return ledger, Observation(
        tool=action.tool, text=text, evidence=numbered, looked_at=result.looked_at
    )


def _better(
    best: tuple[Finish, Verdict] | None, new: tuple[Finish, Verdict]
) -> tuple[Finish, Verdict]:
    """The draft with the larger share of claims that stand; of equals the newer."""
    return new if best is None or _standing(new[1]) >= _standing(best[1]) else best


def _standing(verdict: Verdict) -> float:
    if verdict.absence:
        return -1.0
    good = sum(claim.status in ("verified", "expert") for claim in verdict.claims)
    return good / max(1, len(verdict.claims))


def _basis(verdict: Verdict | None) -> Basis:
    if verdict is None or not verdict.accepted:
        return "none"
    if verdict.absence:
        return "absence"
    return "evidence" if any(c.status == "verified" for c in verdict.claims) else "expert"
