"""`global_browse`: the whole video in time order, from the memory alone (paper 2.3.2)."""

from __future__ import annotations

import asyncio

from pydantic import Field

from admir.memory.blocks import text_blocks
from admir.tools.base import (
    Arguments,
    Tool,
    ToolContext,
    ToolResult,
    line_evidence,
    measured_evidence,
    person_evidence,
)
from admir.types import Clip, Narrative


class GlobalBrowse(Arguments):
    """Arguments of `global_browse`."""

    question: str = Field(min_length=1, max_length=2000, description="what the browse is for")


async def run(context: ToolContext, arguments: GlobalBrowse) -> ToolResult:
    """The narrative and the clips that fit the question best, as many as `browse_top_k`."""
    memory = context.memory
    hits = await asyncio.to_thread(
        context.index.search, arguments.question, context.settings.browse_top_k
    )
    chosen = {hit.clip_index for hit in hits}
    clips = [clip for clip in memory.clips if clip.index in chosen]
    blocks = text_blocks(memory.screen_text)
    lines = line_evidence(memory, blocks, [clip.span for clip in clips])
    measured = [*person_evidence(memory), *measured_evidence(memory)]
    return ToolResult(
        summary="\n".join([*_narrative(memory.narrative), *map(_clip_line, clips)]),
        evidence=tuple(sorted([*measured, *lines], key=lambda e: e.span.start_s)),
    )


def _narrative(narrative: Narrative) -> list[str]:
    mismatch = f"Mismatches: {'; '.join(narrative.mismatches)}." if narrative.mismatches else ""
    return [part for part in (narrative.text, mismatch) if part]


def _clip_line(clip: Clip) -> str:
    return f"[{clip.span}] {clip.caption}".rstrip()


TOOL = Tool(name="global_browse", arguments=GlobalBrowse, run=run)
