"""Methods of an agent as nodes of a graph that is compiled once: that takes longer than a question.

The agent of a question comes with each run, as its context.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib.metadata import version
from typing import Any

from langgraph.runtime import Runtime


def telling(step: Callable[..., Awaitable[Any]]) -> Any:
    """A node that tells of what it does while it does it."""

    async def run(state: Any, runtime: Runtime[Any]) -> Any:
        return await step(runtime.context, state, runtime.stream_writer)

    return run


def quiet(step: Callable[..., Awaitable[Any]]) -> Any:
    """A node that only changes the state."""

    async def run(state: Any, runtime: Runtime[Any]) -> Any:
        return await step(runtime.context, state)

    return run


def route(choose: Callable[..., str]) -> Any:
    """Where the graph goes on."""

    def chosen(state: Any, runtime: Runtime[Any]) -> str:
        return choose(runtime.context, state)

    return chosen


@cache
def own_version() -> str:
    """The version of AD-MIR; looking it up reads a file."""
    return version("admir")
