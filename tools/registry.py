"""The five actions, registered once. To add one: write its module and name it here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from admir.backends.base import ToolSpec, paid_for
from admir.errors import AdmirError, BackendUnavailable
from admir.prompts import load_prompt
from admir.settings import Settings
from admir.tools import clip_search, communication_expert, finish, frame_inspect, global_browse
from admir.tools.base import Tool, ToolContext, ToolResult
from admir.types import Action, Usage

TOOLS: Mapping[str, Tool[Any]] = MappingProxyType(
    {
        module.TOOL.name: module.TOOL
        for module in (global_browse, clip_search, frame_inspect, communication_expert, finish)
    }
)


class ToolError(Exception):
    """A tool could not do what was asked; the message goes back to the backend as data.

    `usage` is what it cost all the same.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


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


def available(settings: Settings) -> tuple[str, ...]:
    """The names of the tools of an ask: all, or all but the expert (ablation, Fig. 3 c)."""
    left_out = () if settings.communication_expert else (communication_expert.TOOL.name,)
    return tuple(name for name in TOOLS if name not in left_out)


async def run_tool(context: ToolContext, action: Action) -> ToolResult:
    """Run an action; raises ToolError where it cannot be done, BackendUnavailable for good."""
    arguments = parse(action)
    if action.tool not in available(context.settings):
        raise ToolError(f"{action.tool} is switched off for this ask; use another tool")
    try:
        return await TOOLS[action.tool].run(context, arguments)
    except BackendUnavailable:
        raise
    except (ValueError, OSError, AdmirError) as error:
        raise ToolError(f"{action.tool}: {error}", paid_for(error)) from None


def tool_specs(settings: Settings) -> tuple[ToolSpec, ...]:
    """The tools of an ask as a backend is told of them, for function calling."""
    return tuple(_spec(name) for name in available(settings))


@cache
def _spec(name: str) -> ToolSpec:
    description = load_prompt(f"tool_{name}").render()
    return ToolSpec(name=name, description=description, parameters=TOOLS[name].schema())
