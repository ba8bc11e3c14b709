"""`clip_search`: hybrid search with temporal fusion (paper 2.3.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from admir.memory.text_blocks import text_blocks
from admir.text import content_words, holds_word, normalize
from admir.tools.base import (
    Arguments,
    Tool,
    ToolContext,
    ToolResult,
    caption_evidence,
    line_evidence,
    person_evidence,
)
from admir.types import Evidence, Memory, Moment, ScreenText

_SCRAP_CHARS = 2
"""So short a line is more often a misreading than text: it comes last."""


class ClipSearch(Arguments):
    """Arguments of `clip_search`."""

    query: str = Field(min_length=1, max_length=2000, description="generic keywords")
    top_k: int | None = Field(None, ge=1, le=50, description="default 8")


async def run(context: ToolContext, arguments: ClipSearch) -> ToolResult:
    """The moments that fit the query, best first, with everything shown and said in them."""
    top_k = arguments.top_k or context.settings.search_top_k
    moments = await asyncio.to_thread(context.index.moments, arguments.query, top_k)
    found = await asyncio.to_thread(context.index.find_words, arguments.query)
    blocks = text_blocks(context.memory.screen_text)
    evidence = person_evidence(context.memory)
    for moment in moments:
        evidence += _evidence_of(context.memory, moment, blocks, arguments.query)
    hits = tuple(hit for moment in moments for hit in moment.hits)
    return ToolResult(
        summary="\n".join(_summary(moments, found)), evidence=tuple(evidence), hits=hits
    )


def _summary(moments: Sequence[Moment], found: Mapping[str, frozenset[int]]) -> Iterator[str]:
    """The moments with the words of the query that they hold, and the words that no clip does."""
    if not moments:
        yield "Moments found: none."
        return
    yield "Moments found, best first:"
    for number, moment in enumerate(moments, start=1):
        clips = {hit.clip_index for hit in moment.hits}
        held = [word for word, where in found.items() if where & clips]
        nearest = max(hit.semantic for hit in moment.hits)
        why = f"holds {', '.join(held)}" if held else f"none of the words, similarity {nearest:.2f}"
        yield f"{number}. {moment.span}: {why}"
    missing = [word for word, where in found.items() if not where]
    if missing:
        only = "No clip holds" if len(missing) < len(found) else "No clip holds any of these words:"
        yield f"{only} {', '.join(missing)}."


def _evidence_of(
    memory: Memory, moment: Moment, blocks: Sequence[ScreenText], query: str
) -> list[Evidence]:
    """Captions, best clip first; then its lines, those with words of the query first."""
    best_first = sorted(moment.hits, key=lambda hit: -hit.score)
    captions = caption_evidence(memory.clips[hit.clip_index] for hit in best_first)
    wanted = content_words(query)

    def rank(line: Evidence) -> tuple[int, bool]:
        held = sum(holds_word(line.quote, word) for word in wanted)
        return -held, len(normalize(line.quote)) <= _SCRAP_CHARS

    lines = line_evidence(memory, blocks, [hit.span for hit in moment.hits], moment.score)
    return [*captions, *sorted(lines, key=rank)]


TOOL = Tool(name="clip_search", arguments=ClipSearch, run=run)
