"""`clip_search`: hybrid search with temporal fusion (paper 2.3.2)."""

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
    person_evidence,
)
from admir.types import Evidence, Moment


class ClipSearch(Arguments):
    """Arguments of `clip_search`."""

    query: str = Field(min_length=1, max_length=2000, description="generic keywords")
    top_k: int | None = Field(None, ge=1, le=50, description="default 8")


async def run(context: ToolContext, arguments: ClipSearch) -> ToolResult:
    """The moments that fit the query, with everything shown and said in them."""
    top_k = arguments.top_k or context.settings.search_top_k
    moments = await asyncio.to_thread(context.index.moments, arguments.query, top_k)
    blocks = text_blocks(context.memory.screen_text)
    evidence = person_evidence(context.memory)
    for moment in moments:
        spans = [hit.span for hit in moment.hits]
        evidence += line_evidence(context.memory, blocks, spans, moment.score)
        evidence += _captions(context, moment)
    summary = f"Moments found: {', '.join(str(m.span) for m in moments) or 'none'}."
    hits = tuple(hit for moment in moments for hit in moment.hits)
    return ToolResult(summary=summary, evidence=tuple(evidence), hits=hits)


def _captions(context: ToolContext, moment: Moment) -> list[Evidence]:
    clips = [context.memory.clips[hit.clip_index] for hit in moment.hits]
    return [
        Evidence(video_id=c.video_id, kind="caption", span=c.span, quote=c.caption)
        for c in clips
        if c.caption
    ]


TOOL = Tool(name="clip_search", arguments=ClipSearch, run=run)
