"""The five actions, registered once. To add one: write its module and name it here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from admir.errors import AdmirError
from admir.prompts import load_prompt
from admir.tools import clip_search, communication_expert, finish, frame_inspect, global_browse
from admir.tools.base import Tool, ToolContext, ToolResult
from admir.types import Action

TOOLS: Mapping[str, Tool[Any]] = MappingProxyType(
    {
        module.TOOL.name: module.TOOL
        for module in (global_browse, clip_search, frame_inspect, communication_expert, finish)
    }
)


class ToolError(Exception):
    """A tool could not do what was asked; the message goes back to the mind as data."""


def parse(action: Action) -> Any:
    """The arguments of an action, checked; raises ToolError saying what is wrong."""
    tool = TOOLS.get(action.tool)
    if tool is None:
        raise ToolError(f"there is no tool {action.tool!r}; there are {', '.join(TOOLS)}")
    try:
        return tool.arguments.model_validate(dict(action.arguments))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "arguments"
        raise ToolError(f"{action.tool}: {where}: {first['msg']}") from None


async def carry_out(context: ToolContext, action: Action) -> ToolResult:
    """Run an action; raises ToolError where it cannot be done."""
    arguments = parse(action)
    try:
        return await TOOLS[action.tool].run(context, arguments)
    except (ValueError, OSError, AdmirError) as error:
        raise ToolError(f"{action.tool}: {error}") from None


def describe() -> list[dict[str, Any]]:
    """Every tool's name, description and argument schema, for function calling and docs."""
    return [
        {
            "name": tool.name,
            "description": load_prompt(f"tool_{tool.name}").render(),
            "parameters": tool.schema(),
        }
        for tool in TOOLS.values()
    ]
