"""What the controller has seen and done, as the messages of a chat with function calls.

It begins alike at every step, so that servers can reuse what they have read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from admir.backends.base import Situation
from admir.backends.llm.parts import clean, data_block, user
from admir.backends.llm.quirks import Message
from admir.text import shortened
from admir.types import Evidence, Observation, Step, Subject, Turn

# Of an observation in the conversation; the trace and the evidence keep all of it.
MOST_LINE_CHARS = 300
MOST_SUMMARY_CHARS = 1_200
MOST_EVIDENCE_CHARS = 6_000
ROOM_OF_EVIDENCE_CHARS = 1_500
ROOM_OF_LISTS_CHARS = 5_000
LEAST_LINE_CHARS = 120
MOST_TURNS = 8
_FEW_LINES = 4

_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_EVIDENCE = re.compile(r"^\[(e\d+)\]")


def messages_of(situation: Situation, instructions: str) -> list[Message]:
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


def _opening(situation: Situation) -> Message:
    video = situation.video
    known = [situation.narrative.text, *map(_subject_line, situation.subjects)]
    about = [f"{key}: {value}" for key, value in video.metadata.items()]
    parts = [
        f"The video is {video.duration_s:.1f} s long.",
        data_block("summary and subjects", [line for line in known if line]),
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
    lines = [shortened(line, MOST_LINE_CHARS) for line in said]
    return data_block("earlier in this conversation, no evidence", lines)


def _subject_line(subject: Subject) -> str:
    looks = "; ".join((*subject.appearance, *subject.identity))
    return shortened(f"{subject.kind} {subject.name}: {looks}", MOST_LINE_CHARS)


def _turn(step: Step, standing: set[str], situation: Situation) -> Iterator[Message]:
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


def _results(step: Step, standing: set[str], situation: Situation) -> list[str]:
    """A text for each action; that of a rejected draft is the constraint it brought."""
    told = list(step.observations)
    results = []
    for action in step.actions or (None,):
        if action is not None and action.tool == "finish" and step.verdict is not None:
            results.append(_rejection(step, situation))
        elif told:
            results.append(_result(told.pop(0), standing))
        else:
            results.append("Nothing came back.")
    return results


def _rejection(step: Step, situation: Situation) -> str:
    """The negative constraint of the rejected draft of this step (2.3.1)."""
    number = sum(s.verdict is not None for s in situation.steps if s.index <= step.index)
    constraints = situation.constraints[number - 1 : number]
    return clean(constraints[0]) if constraints else "The draft was rejected."


def _result(observation: Observation, standing: set[str]) -> str:
    """An observation without the evidence of a weak branch, in bearable length."""
    if observation.failed:
        return clean(observation.text)
    told = [
        line for line in observation.text.splitlines() if line.strip() and not _EVIDENCE.match(line)
    ]
    lines = [_whole_line(e) for e in observation.evidence if e.id in standing]
    room = MOST_SUMMARY_CHARS if len(told) <= _FEW_LINES else ROOM_OF_LISTS_CHARS
    shown = [*_evened(told, room), *_evened(lines, ROOM_OF_EVIDENCE_CHARS)]
    return data_block("observation", _whole_lines(shown))


def _evened(lines: list[str], room: int) -> list[str]:
    """Long lines cut to one length, so that all fit their room; short ones stay whole."""
    left = len(lines)
    longest = LEAST_LINE_CHARS
    for length in sorted(map(len, lines)):
        longest = max(LEAST_LINE_CHARS, room // left)
        if length > longest:
            break
        room, left = room - length, left - 1
    return [shortened(line, longest) for line in lines]


def _whole_lines(lines: list[str]) -> list[str]:
    kept: list[str] = []
    room = MOST_EVIDENCE_CHARS
    for line in lines:
        room -= len(line)
        if room < 0:
            return [*kept, f"({len(lines) - len(kept)} more lines; search or look closer)"]
        kept.append(line)
    return kept


def evidence_line(evidence: Evidence) -> str:
    """Evidence as checks and the final wording are shown it."""
    return _whole_line(replace(evidence, quote=shortened(evidence.quote, MOST_LINE_CHARS)))


def _whole_line(evidence: Evidence) -> str:
    return f"[{evidence.id}] {evidence.span} {evidence.source}: {evidence.quote}"
