"""A trace file read back as the events that were written, to walk through an ask again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from admir.errors import MemoryStoreError
from admir.trace import (
    Answered,
    AnswerEvent,
    Asked,
    Backtracked,
    Oriented,
    Reworded,
    StepTaken,
)
from admir.types import Answer, Step

E = TypeVar("E", bound=AnswerEvent)

_KINDS: dict[str, type[AnswerEvent]] = {
    "asked": Asked,
    "oriented": Oriented,
    "step_taken": StepTaken,
    "backtracked": Backtracked,
    "reworded": Reworded,
    "answered": Answered,
}
_ADAPTERS: dict[type[AnswerEvent], TypeAdapter[Any]] = {
    kind: TypeAdapter(kind) for kind in _KINDS.values()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The events of one ask, oldest first. A run that was broken off has no `answer`."""

    path: str
    events: tuple[AnswerEvent, ...]

    @property
    def question(self) -> str:
        """What was asked; empty where the run ended before it was written."""
        return next((event.question for event in self._of(Asked)), "")

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every turn of the loop, in order."""
        return tuple(event.step for event in self._of(StepTaken))

    @property
    def backtracks(self) -> tuple[Backtracked, ...]:
        """Every rejected draft, in order."""
        return self._of(Backtracked)

    @property
    def answer(self) -> Answer | None:
        """The end of the ask."""
        return next((event.answer for event in self._of(Answered)), None)

    def steps_of(self, tool: str) -> tuple[Step, ...]:
        """The steps that called this tool, `finish` included."""
        return tuple(s for s in self.steps if any(a.tool == tool for a in s.actions))

    def _of(self, kind: type[E]) -> tuple[E, ...]:
        return tuple(event for event in self.events if isinstance(event, kind))


def open_trace(path: str | Path) -> Trace:
    """The trace in this file (`Answer.trace` names it).

    A last line that a killed run left unfinished is left out. Raises MemoryStoreError where the
    file cannot be read or is no trace.
    """
    try:
        # What follows the last line end is empty, or the torn line of a killed run.
        lines = Path(path).read_bytes().split(b"\n")[:-1]
    except (OSError, ValueError) as error:
        raise MemoryStoreError(f"cannot read the trace {path}: {error}") from None
    events = tuple(_event(path, n, line) for n, line in enumerate(lines, start=1) if line)
    if not events:
        raise MemoryStoreError(f"{path} holds no event of a trace")
    return Trace(path=str(path), events=events)


def _event(path: str | Path, number: int, line: bytes) -> AnswerEvent:
    try:
        plain = json.loads(line)
        kind = _KINDS[plain["event"]]
        event: AnswerEvent = _ADAPTERS[kind].validate_python(_nested(kind, plain))
    except (ValueError, ValidationError, KeyError, TypeError, RecursionError) as error:
        why = type(error).__name__
        raise MemoryStoreError(f"line {number} of {path} is no event of a trace ({why})") from None
    return event


def _nested(kind: Any, plain: Any) -> Any:
    """The reverse of `to_plain`: `start_s` and `end_s` of a thing become its `span` again."""
    if is_dataclass(kind) and isinstance(plain, Mapping):
        hints = get_type_hints(kind)
        return {
            name: _nested(hints[name], plain if name == "span" else plain[name])
            for name in (field.name for field in fields(kind))
            if name == "span" or name in plain
        }
    inner = next((each for each in get_args(kind) if is_dataclass(each)), None)
    if inner is None:
        return plain
    if get_origin(kind) is tuple:
        return [_nested(inner, item) for item in plain]
    return _nested(inner, plain)
