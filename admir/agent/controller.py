"""The controller: the steps of an answer (paper Algorithm 1); `graph.py` says how they follow.

orient -> reason -> act ----+
            ^  +- finish    |
            |      v        |
        backtrack <- verify | -> refine -> END
            ^---------------+      budget spent: refine the best draft, ungrounded
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from admir.agent.budget import Budget, BudgetSpent
from admir.agent.grounding import verify, visual_anchors
from admir.agent.ledger import skipped, to_observation
from admir.agent.selection import (
    basis_of,
    better_draft,
    cited_by,
    has_searched,
    is_grounded,
    is_last,
    limits_of,
    memory_warnings,
    reject,
    rejection_words,
    select_draft,
    unverified_draft,
    weak_evidence,
)
from admir.agent.stagnation import guard
from admir.agent.state import START_STATE, State
from admir.backends.base import AgentState, Backend, Decision, RefineRequest, paid_for
from admir.concurrency import gather_all
from admir.errors import ModelError
from admir.memory.subjects import SubjectIndex
from admir.prompts import load_prompt
from admir.settings import Settings
from admir.text import truncate_words
from admir.tools.base import ToolContext, ToolResult
from admir.tools.finish import Finish
from admir.tools.registry import ToolError, parse, run_tool, tool_specs
from admir.trace import (
    Answered,
    AnswerEvent,
    Asked,
    Backtracked,
    Oriented,
    Reworded,
    StepTaken,
)
from admir.types import (
    Action,
    Answer,
    Evidence,
    Memory,
    Step,
    Turn,
    Usage,
    Verdict,
)

if TYPE_CHECKING:
    from langgraph.types import StreamWriter


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One question about one memory."""

    question: str
    memory: Memory
    backend: Backend
    subjects: SubjectIndex
    tools: ToolContext
    settings: Settings
    budget: Budget = field(default_factory=Budget)
    earlier: tuple[Turn, ...] = ()

    async def events(self) -> AsyncIterator[AnswerEvent]:
        """Run the graph; the last event is `Answered`."""
        started = time.monotonic()
        yield self._asked()
        oriented = await asyncio.to_thread(self._orient)
        yield oriented
        answer: Answer | None = None
        limits = {"recursion_limit": 4 * self.settings.max_steps + 10}
        state: State = {**START_STATE, "subjects": oriented.subjects}
        first = asyncio.ensure_future(self._decide(state))
        try:
            graph = await asyncio.to_thread(_load_graph)
            async for mode, part in graph.astream(
                {**state, "first": first}, limits, context=self, stream_mode=["custom", "values"]
            ):
                if mode == "custom":
                    yield part
                else:
                    answer = part.get("answer")
        finally:
            first.cancel()
        assert answer is not None, "the graph always ends in refine"
        yield Answered(answer=replace(answer, seconds=round(time.monotonic() - started, 3)))

    def _asked(self) -> Asked:
        return Asked(
            video_id=self.memory.video.id,
            question=self.question,
            preset=self.settings.preset,
            models=self.backend.models,
            settings=self.settings.model_dump(mode="json", exclude={"memories"}),
            admir_version=_own_version(),
        )

    def _orient(self) -> Oriented:
        """The narrative, and the subjects that the question is about (eq. 3)."""
        top_k = self.settings.subject_top_k if self.settings.subject_registry else 0
        active = self.subjects.active(self.question, self.memory.narrative, top_k)
        subjects = tuple(subject for subject, _ in active)
        scores = tuple(score for _, score in active)
        return Oriented(narrative=self.memory.narrative, subjects=subjects, scores=scores)

    async def _decide(self, state: State) -> Decision:
        """Thought and actions, from everything seen but the weak branch."""
        return await self.budget.within(self.backend.reasoner.decide(self._situation(state)))

    async def reason(self, state: State) -> dict[str, Any]:
        """The next step; the first one was begun while the graph was loaded."""
        started = time.monotonic()
        try:
            decision = await (state["first"] or self._decide(state))
        except BudgetSpent as stop:
            return {"spent": str(stop), "draft": None, "verdict": None}
        except ModelError as error:
            if state["best"] is None:
                raise
            usage = state["usage"] + paid_for(error)
            return {"spent": str(error), "usage": usage, "draft": None, "verdict": None}
        step = Step(
            index=len(state["steps"]) + 1,
            thought=decision.thought,
            actions=decision.actions,
            usage=decision.usage,
            seconds=time.monotonic() - started,
        )
        return {
            "first": None,
            "decision": decision,
            "steps": (*state["steps"], step),
            "usage": state["usage"] + decision.usage,
            "draft": None,
            "verdict": None,
        }

    def _situation(self, state: State) -> AgentState:
        return AgentState(
            question=self.question,
            video=self.memory.video,
            narrative=self.memory.narrative,
            subjects=state["subjects"],
            steps=state["steps"],
            evidence=tuple(e for e in state["ledger"] if e.id not in state["weak"]),
            rejections=state["rejections"],
            constraints=state["constraints"],
            limits=limits_of(self.memory, self.question),
            steps_left=self.settings.max_steps - len(state["steps"]),
            tools=tool_specs(self.settings),
            earlier=self.earlier,
        )

    def after_reason(self, state: State) -> Literal["act", "verify", "refine"]:
        """Act, or check the draft that is handed in."""
        if state["spent"]:
            return "refine"
        decision = state["decision"]
        assert decision is not None
        return "verify" if any(a.tool == "finish" for a in decision.actions) else "act"

    async def act(self, state: State, writer: StreamWriter) -> dict[str, Any]:
        """Carry out the actions of the step side by side; faults become observations."""
        started = time.monotonic()
        step = state["steps"][-1]
        looked = list(state["looked"])
        actions = [
            guard(action, looked, state["steps"][:-1], self.memory.video.span)
            for action in step.actions
        ]
        results = await self._carry_out_all([action for action, _ in actions], state["usage"])
        usage = sum((r.usage for r in results), Usage())
        ledger, observations = state["ledger"], []
        for (action, note), result in zip(actions, results, strict=True):
            ledger, observation = to_observation(ledger, action, result, note)
            observations.append(observation)
        if not observations:
            fault = ToolError("no action was asked for; call a tool")
            observations.append(to_observation(ledger, Action(tool="none"), fault, "")[1])
        done = replace(
            step,
            actions=tuple(action for action, _ in actions),
            observations=tuple(observations),
            usage=step.usage + usage,
            seconds=round(step.seconds + time.monotonic() - started, 3),
        )
        writer(StepTaken(step=done))
        seen = {e.id for o in observations for e in o.evidence}
        return {
            "steps": (*state["steps"][:-1], done),
            "ledger": ledger,
            "usage": state["usage"] + usage,
            "looked": (
                *state["looked"],
                *((o.tool, o.looked_at) for o in observations if o.looked_at),
            ),
            "weak": state["weak"] - seen,
        }

    async def _carry_out_all(
        self, actions: Sequence[Action], used: Usage
    ) -> list[ToolResult | ToolError]:
        """Side by side; where tokens or money are counted, one by one until they are spent."""
        if not self.budget.counts:
            return await gather_all([self._carry_out(action) for action in actions])
        results: list[ToolResult | ToolError] = []
        for action in actions:
            spent = self.budget.spent(sum((r.usage for r in results), used))
            stop = ToolError(f"{action.tool}: not carried out, {spent}")
            results.append(stop if spent else await self._carry_out(action))
        return results

    async def _carry_out(self, action: Action) -> ToolResult | ToolError:
        try:
            return await self.budget.within(run_tool(self.tools, action))
        except ToolError as error:
            return error
        except BudgetSpent as stop:
            return ToolError(f"{action.tool}: {stop}")

    async def verify(self, state: State, writer: StreamWriter) -> dict[str, Any]:
        """Psi on the handed-in draft. A finish that cannot be read is an observation."""
        started = time.monotonic()
        step = state["steps"][-1]
        action = next(a for a in step.actions if a.tool == "finish")
        try:
            draft: Finish = parse(action)
        except ToolError as error:
            failed = to_observation(state["ledger"], action, error, "")[1]
            told = tuple(failed if a is action else skipped(a) for a in step.actions)
            done = replace(step, observations=told)
            writer(StepTaken(step=done))
            return {"steps": (*state["steps"][:-1], done)}
        checking = verify(
            draft,
            self.question,
            state["ledger"],
            self.memory,
            self.backend.reasoner,
            looks=self.settings.visual_anchor,
            searched=has_searched(state["steps"], state["rejections"]),
            rejections=state["rejections"],
        )
        try:
            verdict, usage = await self.budget.within(checking)
        except BudgetSpent as stop:
            writer(StepTaken(step=step))
            best = state["best"] or unverified_draft(draft, str(stop))
            return {"spent": str(stop), "best": best, "draft": None, "verdict": None}
        seconds = round(step.seconds + time.monotonic() - started, 3)
        others = tuple(skipped(a) for a in step.actions if a is not action)
        done = replace(
            step,
            observations=others,
            verdict=verdict,
            usage=step.usage + usage,
            seconds=seconds,
        )
        writer(StepTaken(step=done))
        return {
            "steps": (*state["steps"][:-1], done),
            "draft": draft,
            "verdict": verdict,
            "best": better_draft(state["best"], (draft, verdict)),
            "usage": state["usage"] + usage,
        }

    def after_verify(self, state: State) -> Literal["backtrack", "refine", "reason"]:
        """End with a draft that stands; else go back. A finish that nobody can read is a step."""
        verdict = state["verdict"]
        if verdict is None:
            return self.next_turn(state)
        ends = verdict.accepted or is_last(state["decision"], verdict)
        return "refine" if ends else "backtrack"

    def next_turn(self, state: State) -> Literal["reason", "refine"]:
        """Go on while there are steps and budget."""
        spent = state["spent"] or self.budget.spent(state["usage"])
        left = len(state["steps"]) < self.settings.max_steps and not spent
        return "reason" if left else "refine"

    async def backtrack(self, state: State, writer: StreamWriter) -> dict[str, Any]:
        """Forced backtrack (2.3.1): the negative constraint, and the weak evidence taken away.

        Weak is what was cited for claims that nothing settled. Where only words of a claim failed,
        or the evidence speaks against it, the evidence is good, and stays.
        """
        draft, verdict = state["draft"], state["verdict"]
        assert draft is not None
        assert verdict is not None
        prompt = load_prompt("weak_evidence")
        rejection = reject(draft, verdict, state["ledger"], step=len(state["steps"]))
        ranges = rejection.ranges
        constraint = prompt.render(**rejection_words(rejection))
        writer(Backtracked(constraint=constraint, ranges=ranges, claims=verdict.claims))
        return {
            "rejections": (*state["rejections"], rejection),
            "constraints": (*state["constraints"], constraint),
            "weak": state["weak"] | weak_evidence(verdict),
            "prompt_hashes": {**state["prompt_hashes"], prompt.name: prompt.sha256},
        }

    async def refine(self, state: State, writer: StreamWriter) -> dict[str, Any]:
        """The final wording; where the budget is spent, of the best draft, ungrounded."""
        last = is_last(state["decision"], state["verdict"])
        draft, verdict = select_draft(state["draft"], state["verdict"], state["best"], last=last)
        cited = cited_by(verdict, state["ledger"])
        spent = state["spent"] or self.budget.spent(state["usage"])
        anchors = visual_anchors(cited, self.memory) if self.settings.visual_anchor else ()
        text, usage, warning = draft.answer, Usage(), ""
        if verdict is not None and not spent:
            accepted = RefineRequest(
                question=self.question, answer=draft.answer, evidence=cited, anchors=anchors
            )
            try:
                refined = await self.budget.within(self.backend.reasoner.refine(accepted))
                text, usage, warning = refined.answer, refined.usage, refined.warning
                writer(Reworded(draft=draft.answer, answer=text, anchors=anchors, usage=usage))
            except BudgetSpent as stop:
                spent = str(stop)
        answer = self._answer(
            state, truncate_words(text, self.settings.answer_words), verdict, cited
        )
        warnings = [warning] if warning else []
        if spent and verdict:
            warnings.append(f"{spent}: the answer is not reworded")
        warnings += memory_warnings(self.memory, self.settings)
        if self.earlier and self.settings.preset == "offline":
            warnings.append("preset 'offline' takes each question alone, without those before it")
        return {"answer": replace(answer, usage=answer.usage + usage, warnings=tuple(warnings))}

    def _answer(
        self, state: State, text: str, verdict: Verdict | None, cited: tuple[Evidence, ...]
    ) -> Answer:
        grounded = is_grounded(verdict)
        return Answer(
            video_id=self.memory.video.id,
            question=self.question,
            answer=text,
            grounded=grounded,
            basis=basis_of(verdict),
            claims=verdict.claims if verdict else (),
            evidence=cited,
            steps=state["steps"],
            usage=state["usage"],
            preset=self.settings.preset,
            models=self.backend.models,
            prompt_hashes={**self.backend.prompts, **state["prompt_hashes"]},
            reason="" if grounded else self._why(state, verdict),
        )

    def _why(self, state: State, verdict: Verdict | None) -> str:
        """Why the answer is not grounded, and what this memory cannot know."""
        accepted = verdict is not None and verdict.accepted
        steps = len(state["steps"]) >= self.settings.max_steps and not accepted
        parts = [f"{self.settings.max_steps} steps are spent" if steps else ""]
        parts.append(state["spent"] or self.budget.spent(state["usage"]))
        parts.append(verdict.reason if verdict else "no draft was handed in")
        parts += limits_of(self.memory, self.question)
        return "; ".join(part for part in parts if part)


def _load_graph() -> Any:
    """The compiled graph. LangGraph takes a second: the first call is under way meanwhile."""
    from admir.agent.graph import compile_graph

    return compile_graph()


@cache
def _own_version() -> str:
    """The version of AD-MIR; looking it up reads a file."""
    return version("admir")
