"""`frame_inspect`: look at frames again, dense and literal or sparse and semantic (2.3.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import Field, model_validator

from admir.backends.base import Finding, Inspection
from admir.memory.corrections import Phrases, phrases_of, reread, reworded
from admir.memory.pixels import frames_at
from admir.perception.decode import MAX_SIDE, sample_times
from admir.tools.base import Arguments, Tool, ToolContext, ToolResult
from admir.types import Evidence, InspectMode, Memory, Span

LITERAL_FPS = 4.0
MOST_LITERAL_S = 20.0
MOST_KEYFRAMES = 8


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
    asked = Span(start_s=arguments.start_s, end_s=arguments.end_s)
    span = asked.clamp(context.memory.video.span)
    if arguments.mode == "literal" and span.duration_s > MOST_LITERAL_S:
        raise ValueError(f"a literal look takes at most {MOST_LITERAL_S:g} s; narrow {span}")
    times = _times(context, span, arguments.mode)
    dense = arguments.mode == "literal" and context.perceiver.looks
    video = context.memory.video
    side = context.perceiver.cell_side(video.width, video.height) if dense else MAX_SIDE
    pictures = await asyncio.to_thread(frames_at, context.memory, times, side)
    if not pictures:
        raise ValueError("there are no pictures: this memory is of text alone")
    report = await context.perceiver.inspect(
        Inspection(
            question=arguments.question, span=span, mode=arguments.mode, pictures=tuple(pictures)
        )
    )
    phrases = phrases_of(context.memory)
    findings = tuple(_put_right(report.findings, context.memory, phrases))
    if dense:
        findings = await asyncio.to_thread(_in_full_size, context, findings)
    return ToolResult(
        summary=f"{len(pictures)} frames of {span}.\n{reworded(report.text, phrases)}",
        evidence=tuple(_evidence(context, finding) for finding in findings),
        looked_at=span,
        grids_s=report.grids_s or (tuple(picture.time_s for picture in pictures),),
        usage=report.usage,
    )


def _put_right(findings: Sequence[Finding], memory: Memory, phrases: Phrases) -> Iterator[Finding]:
    """What is read again, as people have corrected it."""
    for finding in findings:
        text = reread(finding.text, memory, phrases)
        if text:
            wrong = text != finding.text
            yield replace(finding, text=text, corrected=True) if wrong else finding


def _in_full_size(context: ToolContext, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings with their pictures as large as those of other evidence: they are its proof."""
    times = sorted({f.picture.time_s for f in findings if f.picture})
    large = {picture.time_s: picture for picture in frames_at(context.memory, times)}
    return tuple(
        replace(f, picture=large.get(f.picture.time_s, f.picture)) if f.picture else f
        for f in findings
    )


def _times(context: ToolContext, span: Span, mode: InspectMode) -> list[float]:
    if mode == "literal":
        return sample_times(span, LITERAL_FPS, int(MOST_LITERAL_S * LITERAL_FPS))
    shots = [shot.span.clamp(span) for shot in context.memory.shots]
    middles = [(s.start_s + s.end_s) / 2 for s in shots if s.duration_s > 0]
    return _thinned(middles) or sample_times(span, 1.0, MOST_KEYFRAMES)


def _thinned(times: list[float]) -> list[float]:
    """At most eight, evenly chosen."""
    if len(times) <= MOST_KEYFRAMES:
        return times
    return [times[i * len(times) // MOST_KEYFRAMES] for i in range(MOST_KEYFRAMES)]


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
