"""`frame_inspect`: look at frames again, dense and literal or sparse and semantic (2.3.2)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import Field, model_validator

from admir.backends.base import Finding, InspectRequest
from admir.memory.corrections import Phrases, phrases_of, reread, reword
from admir.memory.frame_access import frames_at
from admir.memory.frame_choice import spread
from admir.perception.decode import sample_times
from admir.tools.base import Arguments, Tool, ToolContext, ToolResult, refuse_beyond_end
from admir.types import Evidence, InspectMode, Memory, Span

LITERAL_FPS = 4.0
"""Frames a second of a literal look, at least; fewer than eight frames are never asked for."""

LEAST_LITERAL_FRAMES = 8
MOST_LITERAL_S = 20.0
LEAST_SEMANTIC_FRAMES, MOST_SEMANTIC_FRAMES = 3, 8
"""One a second up to so many (the paper's sparse keyframes, 2.3.2); three show a change."""


class FrameInspect(Arguments):
    """Arguments of `frame_inspect`."""

    question: str = Field(min_length=1, max_length=2000, description="what to look for")
    start_s: float = Field(ge=0, description="seconds")
    end_s: float = Field(gt=0, description="seconds")
    mode: InspectMode = Field("literal", description="default literal")

    @model_validator(mode="after")
    def _ordered(self) -> FrameInspect:
        if self.end_s <= self.start_s:
            raise ValueError(f"end_s {self.end_s:g} must be after start_s {self.start_s:g}")
        return self


async def run(context: ToolContext, arguments: FrameInspect) -> ToolResult:
    """Decode the range at the mode's density and look. The sampled times stand in `grids_s`."""
    refuse_beyond_end(context.memory, arguments.start_s)
    asked = Span(start_s=arguments.start_s, end_s=arguments.end_s)
    span, note = _fit(asked.clamp(context.memory.video.span), context.memory, arguments.mode)
    times = plan_times(context.memory, span, arguments.mode)
    pictures = await asyncio.to_thread(frames_at, context.memory, times)
    if not pictures:
        raise ValueError("there are no pictures: this memory is of text alone")
    report = await context.perceiver.inspect(
        InspectRequest(
            question=arguments.question, span=span, mode=arguments.mode, pictures=tuple(pictures)
        )
    )
    phrases = phrases_of(context.memory)
    findings = tuple(_put_right(report.findings, context.memory, phrases))
    return ToolResult(
        summary=f"{len(pictures)} frames of {span}.{note}\n{reword(report.text, phrases)}",
        evidence=tuple(_evidence(context, finding) for finding in findings),
        looked_at=span,
        grids_s=report.grids_s or (tuple(picture.time_s for picture in pictures),),
        usage=report.usage,
    )


def _fit(span: Span, memory: Memory, mode: InspectMode) -> tuple[Span, str]:
    """A range that the mode can look at: not too long, nor shorter than its frames; and a note."""
    if mode != "literal":
        return span, ""
    if span.duration_s > MOST_LITERAL_S:
        first = Span(start_s=span.start_s, end_s=span.start_s + MOST_LITERAL_S)
        rest = Span(start_s=first.end_s, end_s=span.end_s)
        return first, f" A literal look takes {MOST_LITERAL_S:g} s: {rest} was not looked at."
    least_s = (LEAST_LITERAL_FRAMES + 1) / max(memory.video.fps, 1.0)
    if span.duration_s < least_s:
        middle_s = (span.start_s + span.end_s) / 2
        start_s = min(max(0.0, middle_s - least_s / 2), max(0.0, memory.video.duration_s - least_s))
        wider = Span(start_s=start_s, end_s=start_s + least_s)
        return wider.clamp(memory.video.span), ""
    return span, ""


def plan_times(memory: Memory, span: Span, mode: InspectMode) -> list[float]:
    """When to look, in seconds: see the constants above. A narrow range gives every frame.

    A semantic look has a key frame of each shot of the range, and frames between them.
    """
    if mode == "literal":
        count = max(LEAST_LITERAL_FRAMES, math.ceil(span.duration_s * LITERAL_FPS))
        return sample_times(span, count / max(span.duration_s, 1e-3), count)
    count = min(MOST_SEMANTIC_FRAMES, max(LEAST_SEMANTIC_FRAMES, math.ceil(span.duration_s)))
    shots = [shot.span.clamp(span) for shot in memory.shots if shot.span.overlap_s(span) > 0]
    chosen = spread([(s.start_s + s.end_s) / 2 for s in shots], MOST_SEMANTIC_FRAMES)
    between = sample_times(span, count / max(span.duration_s, 1e-3), count)
    while between and len(chosen) < count:
        farthest = max(between, key=lambda t: min((abs(t - c) for c in chosen), default=0.0))
        between.remove(farthest)
        chosen.append(farthest)
    return sorted(chosen)


def _put_right(findings: Sequence[Finding], memory: Memory, phrases: Phrases) -> Iterator[Finding]:
    """What is read again, as people have corrected it."""
    for finding in findings:
        text = reread(finding.text, memory, phrases)
        if text:
            wrong = text != finding.text
            yield replace(finding, text=text, corrected=True) if wrong else finding


def _evidence(context: ToolContext, finding: Finding) -> Evidence:
    return Evidence(
        video_id=context.memory.video.id,
        kind="measurement" if finding.measured else "frame",
        span=finding.span,
        quote=finding.text,
        frame=context.keep(finding.picture) if finding.picture else None,
        frame_s=finding.picture.time_s if finding.picture else None,
        box=finding.box,
        score=1.0,
        corrected=finding.corrected,
    )


TOOL = Tool(name="frame_inspect", arguments=FrameInspect, run=run)
