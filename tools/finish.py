"""`finish`: hand in an answer. The graph sends it to verification instead of running it."""

from __future__ import annotations

from pydantic import Field

from admir.tools.base import Arguments, Tool, ToolContext, ToolResult


class Finish(Arguments):
    """Arguments of `finish`."""

    answer: str = Field(min_length=1, max_length=4000, description="in plain words")
    evidence_ids: tuple[str, ...] = Field(max_length=64, description="ids it rests on: e1, e2")
    absent: bool = Field(False, description="default false")


async def run(context: ToolContext, arguments: Finish) -> ToolResult:
    """Nothing to carry out: see the verify node of the graph."""
    return ToolResult(summary=arguments.answer)


TOOL = Tool(name="finish", arguments=Finish, run=run)
