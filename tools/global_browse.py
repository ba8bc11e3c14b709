"""`global_browse`: the whole video in time order, from the memory alone (paper 2.3.2)."""

from __future__ import annotations

import asyncio

from pydantic import Field

from admir.memory.text_blocks import text_blocks
from admir.tools.base import (
    Arguments,
    Tool,
    ToolContext,
    ToolResult,
    caption_evidence,
    line_evidence,
    measured_evidence,
    person_evidence,
)


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
    found = [
        *person_evidence(memory),
        *measured_evidence(memory),
        *caption_evidence(clips),
        *line_evidence(memory, blocks, [clip.span for clip in clips]),
    ]
    return ToolResult(
        summary="\n".join(memory.narrative.lines),
        evidence=tuple(sorted(found, key=lambda e: e.span.start_s)),
    )


TOOL = Tool(name="global_browse", arguments=GlobalBrowse, run=run)
