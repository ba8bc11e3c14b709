"""`communication_expert`: up to 64 frames in 2x2 grids, read for persuasion (2.3.2, B.4)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from pydantic import Field, model_validator

from admir.backends.base import ExpertRequest, Finding
from admir.memory.corrections import phrases_of, reword
from admir.memory.frame_access import spread_frames
from admir.memory.text_blocks import text_blocks
from admir.perception.grids import (
    EXPERT_FPS,
    EXPERT_FRAMES,
    GRID_CELLS,
    drop_repeats,
    make_grids,
)
from admir.text import contains, normalize, words
from admir.tools.base import (
    Arguments,
    Tool,
    ToolContext,
    ToolResult,
    line_evidence,
    refuse_beyond_end,
)
from admir.types import Evidence, Memory, Span

_MOST_OF = 0.6
"""Share of a phrase that lines hold together, where none holds it whole."""


class CommunicationExpert(Arguments):
    """Arguments of `communication_expert`."""

    focus: str = Field(min_length=1, max_length=2000, description="what to decode")
    start_s: float = Field(0.0, ge=0, description="seconds")
    end_s: float | None = Field(None, gt=0, description="default: the end")

    @model_validator(mode="after")
    def _ordered(self) -> CommunicationExpert:
        if self.end_s is not None and self.end_s <= self.start_s:
            raise ValueError(f"end_s {self.end_s:g} must be after start_s {self.start_s:g}")
        return self


async def run(context: ToolContext, arguments: CommunicationExpert) -> ToolResult:
    """Grids over the range alone, with the speech and the clips of that range."""
    memory = context.memory
    refuse_beyond_end(memory, arguments.start_s)
    end_s = memory.video.duration_s if arguments.end_s is None else arguments.end_s
    span = Span(start_s=arguments.start_s, end_s=end_s).clamp(memory.video.span)
    count = max(GRID_CELLS, min(EXPERT_FRAMES, int(span.duration_s * EXPERT_FPS)))
    side = context.perceiver.cell_side(memory.video.width, memory.video.height)
    decoded = await asyncio.to_thread(spread_frames, memory, span, count, side)
    pictures = await asyncio.to_thread(drop_repeats, decoded)
    report = await context.perceiver.read_grids(
        ExpertRequest(
            focus=arguments.focus,
            span=span,
            grids=make_grids(pictures, side),
            utterances=tuple(u for u in memory.utterances if u.span.overlap_s(span) > 0),
            clips=tuple(c for c in memory.clips if c.span.overlap_s(span) > 0),
            narrative=memory.narrative,
            speech_known=memory.speech_is_known,
            screen_text=text_blocks(
                [line for line in memory.screen_text if line.span.overlap_s(span) > 0]
            ),
        )
    )
    phrases = phrases_of(memory)
    whole = [Finding(text=report.reading, span=span)] if report.reading else []
    evidence = tuple(
        replace(each, quote=reword(each.quote, phrases))
        for finding in (*whole, *report.findings)
        for each in _evidence(memory, finding, span)
    )
    repeats = len(decoded) - len(pictures)
    left_out = f" {repeats} more hardly differ from these." if repeats else ""
    seen = f"{len(pictures)} frames of {span} in {-(-len(pictures) // GRID_CELLS)} grids.{left_out}"
    return ToolResult(
        summary="\n".join(filter(None, [seen, reword(report.text, phrases)])),
        evidence=evidence,
        looked_at=span,
        grids_s=report.grids_s,
        usage=report.usage,
    )


def _evidence(memory: Memory, finding: Finding, span: Span) -> list[Evidence]:
    """A finding, and the lines that it rests on.

    Written words are no matter of opinion (B.3.2 names proper names, metaphors and strategies): the
    lines that hold them stand in their place; where none does, it is a caption, and proves nothing.
    """
    where = finding.span.clamp(span)
    phrase = finding.tied_to or (finding.text.partition(": ")[2] if finding.written else "")
    tied = _lines_holding(memory, phrase, where) if normalize(phrase) else []
    if finding.written and tied:
        return tied
    own = Evidence(
        video_id=memory.video.id,
        kind="caption" if finding.written else "expert",
        span=where,
        quote=finding.text,
        score=1.0,
    )
    return [own, *tied]


def _lines_holding(memory: Memory, phrase: str, span: Span) -> list[Evidence]:
    """The lines of a range that hold the phrase, or each a part of it and together most."""
    lines = line_evidence(memory, memory.screen_text, [span])
    whole = [e for e in lines if contains(e.quote, phrase)]
    if whole:
        return whole
    wanted = set(words(phrase))
    parts = [e for e in lines if words(e.quote) and set(words(e.quote)) <= wanted]
    held = {word for part in parts for word in words(part.quote)}
    return parts if len(held) >= _MOST_OF * len(wanted) else []


TOOL = Tool(name="communication_expert", arguments=CommunicationExpert, run=run)
