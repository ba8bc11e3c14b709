"""The controller's steps as nodes of a LangGraph graph (paper Algorithm 1).

It is compiled once, which takes longer than a question; the agent of a question comes with each
run, as its context.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from admir.agent.controller import Agent
from admir.agent.state import State


@cache
def compile_graph() -> Any:
    """The graph that `Agent.events` runs."""
    graph = StateGraph(State, context_schema=Agent)
    graph.add_node("reason", _quiet(Agent.reason))
    graph.add_node("act", _telling(Agent.act))
    graph.add_node("verify", _telling(Agent.verify))
    graph.add_node("backtrack", _telling(Agent.backtrack))
    graph.add_node("refine", _telling(Agent.refine))
    graph.add_edge(START, "reason")
    link, next_turn = graph.add_conditional_edges, _route(Agent.next_turn)
    link("reason", _route(Agent.after_reason), ["act", "verify", "refine"])
    link("act", next_turn, ["reason", "refine"])
    link("verify", _route(Agent.after_verify), ["backtrack", "refine", "reason"])
    link("backtrack", next_turn, ["reason", "refine"])
    graph.add_edge("refine", END)
    return graph.compile()


def _telling(step: Callable[..., Awaitable[Any]]) -> Any:
    """A node that tells of what it does while it does it."""

    async def run(state: Any, runtime: Runtime[Any]) -> Any:
        return await step(runtime.context, state, runtime.stream_writer)

    return run


def _quiet(step: Callable[..., Awaitable[Any]]) -> Any:
    """A node that only changes the state."""

    async def run(state: Any, runtime: Runtime[Any]) -> Any:
        return await step(runtime.context, state)

    return run


def _route(choose: Callable[..., str]) -> Any:
    """Where the graph goes on."""

    def chosen(state: Any, runtime: Runtime[Any]) -> str:
        return choose(runtime.context, state)

    return chosen
