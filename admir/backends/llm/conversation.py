"""What the controller has seen and done, as the messages of a chat with function calls.

It begins alike at every step, so that servers can reuse what they have read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from admir.backends.base import AgentState
from admir.backends.llm.content import clean, data_block, user
from admir.backends.llm.quirks import Message
from admir.text import excerpt
from admir.types import Evidence, Observation, Step, Subject, Turn

# Of an observation in the conversation; the trace and the evidence keep all of it.
MOST_LINE_CHARS = 300
MOST_FIRST_CHARS = 1_500
"""The best result of a search stands whole, up to so much."""

ROOM_OF_SUMMARY_CHARS, ROOM_OF_EVIDENCE_CHARS = 2_500, 5_000
LEAST_LINE_CHARS = 160
MOST_TURNS = 8

_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_EVIDENCE = re.compile(r"^\[(e\d+)\]")


def messages_of(situation: AgentState, instructions: str) -> list[Message]:
    """System, the question with what is known at the start, then each step with its results."""
    standing = {evidence.id for evidence in situation.evidence}
    messages: list[Message] = [{"role": "system", "content": instructions}, _opening(situation)]
    for step in situation.steps:
        messages += _turn(step, standing, situation)
    if situation.steps_left <= 1:
        messages.append(
            user(["This is the last step: call the `finish` tool with what the evidence supports."])
        )
    return messages


def _opening(situation: AgentState) -> Message:
    video = situation.video
    known = [*situation.narrative.lines, *map(_subject_line, situation.subjects)]
    known = [excerpt(line, MOST_FIRST_CHARS, situation.question) for line in known]
    about = [f"{key}: {value}" for key, value in video.metadata.items()]
    parts = [
        f"The video is {video.duration_s:.1f} s long.",
        data_block("summary and subjects", known),
    ]
    if about:
        parts.append(data_block("what the uploader says", about))
    if situation.limits:
        parts.append(f"Limits of what is known: {'; '.join(map(clean, situation.limits))}.")
    if situation.earlier:
        parts.append(_earlier(situation.earlier))
    return user([*parts, f"Question: {clean(situation.question)}"])


def _earlier(turns: Sequence[Turn]) -> str:
    """What the question may go on from. Answers rest on what a video says: they are fenced."""
    said = [f"Q: {turn.question} A: {turn.answer}" for turn in turns[-MOST_TURNS:]]
    lines = [excerpt(line, MOST_LINE_CHARS) for line in said]
    return data_block("earlier in this conversation, no evidence", lines)


def _subject_line(subject: Subject) -> str:
    """Who it is, then what they look like: what is cut off is the least telling."""
    who = "; ".join((*subject.identity, *subject.appearance))
    return excerpt(f"{subject.kind} {subject.name}: {who}", MOST_LINE_CHARS)


def _turn(step: Step, standing: set[str], situation: AgentState) -> Iterator[Message]:
    """The calls of a step, and a result for each of them, as the protocol wants it."""
    if not step.actions:
        yield {"role": "assistant", "content": clean(step.thought) or "(nothing)"}
        yield user([_results(step, standing, situation)[0]])
        return
    calls = [
        {
            "id": f"s{step.index}a{n}",
            "type": "function",
            "function": {"name": _name(action.tool), "arguments": _arguments(action.arguments)},
        }
        for n, action in enumerate(step.actions)
    ]
    yield {"role": "assistant", "content": clean(step.thought), "tool_calls": calls}
    results = _results(step, standing, situation)
    for call, result in zip(calls, results, strict=True):
        yield {"role": "tool", "tool_call_id": call["id"], "content": result}


def _name(tool: str) -> str:
    """The name as services take one: a model may have called what is no tool."""
    return _NO_NAME.sub("_", tool)[:64] or "unnamed"


def _arguments(arguments: object) -> str:
    return clean(json.dumps(arguments, ensure_ascii=False, default=str))


def _results(step: Step, standing: set[str], situation: AgentState) -> list[str]:
    """A text for each action; that of a rejected draft is the constraint it brought."""
    told = list(step.observations)
    results = []
    for action in step.actions or (None,):
        if action is not None and action.tool == "finish" and step.verdict is not None:
            results.append(_rejection(step, situation))
        elif told:
            asked = " ".join(str(v) for v in action.arguments.values()) if action else ""
            about = f"{asked} {situation.question}"
            results.append(_result(told.pop(0), standing, about))
        else:
            results.append("Nothing came back.")
    return results


def _rejection(step: Step, situation: AgentState) -> str:
    """The negative constraint of the rejected draft of this step (2.3.1)."""
    number = sum(s.verdict is not None for s in situation.steps if s.index <= step.index)
    constraints = situation.constraints[number - 1 : number]
    return clean(constraints[0]) if constraints else "The draft was rejected."


def _result(observation: Observation, standing: set[str], about: str) -> str:
    """An observation without the evidence of a weak branch, in bearable length.

    What is too long is cut around the words of `about`; the first evidence is the best.
    """
    if observation.failed:
        return clean(observation.text)
    told = [
        line for line in observation.text.splitlines() if line.strip() and not _EVIDENCE.match(line)
    ]
    lines = [_whole_line(e) for e in observation.evidence if e.id in standing]
    first = [excerpt(line, MOST_FIRST_CHARS, about) for line in lines[:1]]
    room = ROOM_OF_EVIDENCE_CHARS - sum(map(len, first))
    return data_block(
        "observation",
        [
            *_fit(told, ROOM_OF_SUMMARY_CHARS, about),
            *first,
            *_fit(lines[1:], room, about),
        ],
    )


def _fit(lines: list[str], room: int, about: str) -> list[str]:
    """Long lines cut to one length, so that all fit their room; short ones stay whole.

    Where there are too many for that, the last are left out, and their number is said.
    """
    kept = lines[: max(1, room // LEAST_LINE_CHARS)] if sum(map(len, lines)) > room else lines
    left, longest, free = len(kept), LEAST_LINE_CHARS, room
    for length in sorted(map(len, kept)):
        longest = max(LEAST_LINE_CHARS, free // left)
        if length > longest:
            break
        free, left = free - length, left - 1
    shown = [excerpt(line, longest, about) for line in kept]
    more = len(lines) - len(kept)
    return [*shown, f"({more} more lines; search or look closer)"] if more else shown


def evidence_line(evidence: Evidence) -> str:
    """Evidence as checks and the final wording are shown it."""
    return _whole_line(replace(evidence, quote=excerpt(evidence.quote, MOST_LINE_CHARS)))


def _whole_line(evidence: Evidence) -> str:
    return f"[{evidence.id}] {evidence.span} {evidence.source}: {evidence.quote}"
