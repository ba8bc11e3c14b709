"""An answer and the steps that led to it, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from admir.errors import AdmirError
from admir.memory.store import MemoryStore
from admir.trace import Backtracked
from admir.trace_reader import Trace
from admir.types import Action, Answer, Memory, Observation, Step, Verdict
from admir.views.labels import cost_words, sign_of, standing_words, verdict_sign
from admir.views.notebook.evidence import cards, claims, evidence_timeline, frames
from admir.views.notebook.markup import (
    Html,
    cut,
    div,
    facts,
    folded,
    joined,
    more,
    page,
    section,
    span,
)
from admir.views.notebook.timeline import Mark

_MOST_STEPS, _LONGEST, _LONGEST_ARGUMENT = 40, 4000, 600
_SIGNS = {"verified": "grounded", "inferred": "inferred", "unverified": "not grounded"}
_VERDICTS = {
    "verified": "draft accepted",
    "inferred": "draft accepted as quoted",
    "contradicted": "draft rejected",
}


def answer_html(answer: Answer, memory: Memory | None = None) -> str:
    """The answer, what it rests on, its evidence with frames, and the steps to unfold.

    Without `memory` the one beside the answer's trace serves, for the shots and the length.
    """
    known = memory or _memory_beside(answer)
    return page(
        div("head", answer.question),
        div("answer", answer.answer),
        _standing(answer),
        section("Claims", claims(answer.claims)),
        evidence_timeline(answer.evidence, _looked(answer.steps), known),
        cards(answer.evidence, known),
        _steps(answer.steps),
        div("part", folded("How it was made", div("inside", _origin(answer)))),
    )


def step_html(step: Step) -> str:
    """One turn of the loop, unfolded: thought, tool calls, what came back, the verdict."""
    return page(_step(step, is_open=True))


def trace_html(trace: Trace) -> str:
    """A trace file: the question, every step to unfold, each rejection, and the end."""
    if trace.answer is None:
        end = div("warn", "This trace has no end: the run was broken off, or is still going on.")
    else:
        head = div("answer", trace.answer.answer)
        end = joined((head, _standing(trace.answer), claims(trace.answer.claims)))
    return page(
        div("head", trace.question),
        _steps(trace.steps),
        section("Backtracked", *map(_backtrack, trace.backtracks[:_MOST_STEPS])),
        section("End", end),
        div("soft", trace.path),
    )


def backtracked_html(event: Backtracked) -> str:
    """A rejected draft: what the agent is told, and the ranges tried."""
    return page(_backtrack(event))


def _memory_beside(answer: Answer) -> Memory | None:
    """The memory that the trace lies with, when it is still there."""
    if not answer.trace or len(Path(answer.trace).parents) < 3:
        return None
    try:
        return MemoryStore(Path(answer.trace).parents[2]).read(answer.video_id)
    except AdmirError:
        return None


def _standing(answer: Answer) -> Html:
    """Whether it is grounded and on what, in words."""
    sign = sign_of(answer)
    word, told = _SIGNS[sign], standing_words(answer)
    row = div("row", span(f"chip {sign}", word), span("", "" if told == word else told))
    return joined((row, div("soft", answer.reason))) if answer.reason else row


def _looked(steps: Sequence[Step]) -> list[Mark]:
    """The ranges that steps looked at, for the time line."""
    return [
        Mark(
            span=seen.looked_at,
            label=f"step {step.index}",
            title=f"step {step.index} looked at {seen.looked_at} with {seen.tool}",
            tone="looked",
        )
        for step in steps
        for seen in step.observations
        if seen.looked_at is not None
    ]


def _steps(steps: Sequence[Step]) -> Html:
    shown = [_step(step) for step in steps[:_MOST_STEPS]]
    return section("Steps", *shown, more(len(steps) - _MOST_STEPS, "steps"))


def _step(step: Step, *, is_open: bool = False) -> Html:
    tools = ", ".join(action.tool for action in step.actions) or "no tool"
    end = "" if step.verdict is None else f", {_verdict_word(step.verdict)}"
    body = [div("row text", cut(step.thought, _LONGEST)), *map(_action, step.actions)]
    body += map(_observation, step.observations)
    if step.verdict is not None:
        body.append(_verdict(step.verdict))
    if cost_words(step.usage):
        body.append(div("soft", _cost(step)))
    summary = f"Step {step.index}: {tools}{end} ({step.seconds:.2f} s)"
    return folded(summary, div("inside", *body), is_open=is_open)


def _action(action: Action) -> Html:
    """The call as it would be written, one argument a line."""
    given = [f"\n  {k} = {cut(repr(v), _LONGEST_ARGUMENT)}" for k, v in action.arguments.items()]
    return div("mono", f"{action.tool}({','.join(given)}{chr(10) if given else ''})")


def _observation(observation: Observation) -> Html:
    seen = f", looked at {observation.looked_at}" if observation.looked_at else ""
    state = "failed" if observation.failed else "brought"
    return div(
        "row",
        div("soft", f"{observation.tool} {state}{seen}:"),
        div("mono", cut(observation.text, _LONGEST)),
        frames(observation.evidence),
    )


def _verdict_word(verdict: Verdict) -> str:
    return _VERDICTS[verdict_sign(verdict)]


def _verdict(verdict: Verdict) -> Html:
    chip = span(f"chip {verdict_sign(verdict)}", _verdict_word(verdict))
    anchors = ", ".join(verdict.anchors)
    told = (
        [div("soft", cut(f"Visual anchors of the check: {anchors}", _LONGEST))] if anchors else []
    )
    reason = span("", verdict.reason)
    return joined((div("row", chip, reason), claims(verdict.claims), *told))


def _backtrack(event: Backtracked) -> Html:
    ranges = ", ".join(map(str, event.ranges)) or "none"
    return div(
        "back",
        div("text", cut(event.constraint, _LONGEST)),
        div("soft", f"Ranges tried: {ranges}"),
    )


def _cost(step: Step) -> str:
    return cost_words(step.usage)


def _origin(answer: Answer) -> Html:
    return facts(
        (
            ("video", answer.video_id),
            ("preset", answer.preset),
            ("models", ", ".join(f"{role}: {name}" for role, name in answer.models.items())),
            ("time", f"{answer.seconds:.2f} s"),
            ("models asked", cost_words(answer.usage) or "none"),
            ("prompts", ", ".join(f"{n} {h[:12]}" for n, h in answer.prompt_hashes.items())),
            ("trace file", answer.trace or ""),
        )
    )
