"""Events of a build and of an answer, as data and as JSON Lines.

A build yields `BuildProgress` and ends with `Built`. An answer yields `Asked`, `Oriented`, then
`StepTaken` and `Backtracked`, then `Reworded`, and ends with `Answered`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import IO, Any, Self

import orjson

from admir.types import Answer, Claim, Memory, Narrative, Span, Step, Subject, Usage

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, line ends, marks of direction and half characters: JSON leaves them as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildProgress:
    """`done` of `total` units of a stage; `total` 0 means unknown."""

    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The end of a build. `reused` is true where the stored memory was still good.

    `rebuilt_because` says why one that was there was built again.
    """

    memory: Memory
    reused: bool
    stage_seconds: Mapping[str, float]
    rebuilt_because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The start of an ask: what was asked, of which backend, with which settings."""

    video_id: str
    question: str
    preset: str
    models: Mapping[str, str]
    settings: Mapping[str, Any]
    admir_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Oriented:
    """What the agent starts from: the narrative, the active subjects and their rho (eq. 3)."""

    narrative: Narrative
    subjects: tuple[Subject, ...]
    scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTaken:
    """One turn of the loop is over."""

    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtracked:
    """A draft was rejected: the negative constraint, the ranges tried, the claims."""

    constraint: str
    ranges: tuple[Span, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reworded:
    """The accepted draft and its final wording (B.3.3); `anchors` were there to be named."""

    draft: str
    answer: str
    anchors: tuple[str, ...]
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The end of an ask."""

    answer: Answer


STAGES = (
    "hash",
    "speech",
    "decode",
    "read text",
    "faces",
    "caption",
    "merge",
    "narrate",
    "embed",
    "store",
)
"""The stages of a build, in order; `BuildProgress.stage` is one of them."""

BuildEvent = BuildProgress | Built
AnswerEvent = Asked | Oriented | StepTaken | Backtracked | Reworded | Answered


def to_plain(value: Any) -> Any:
    """Data as the JSON that programs read: command line, HTTP and traces.

    A `span` becomes `start_s` and `end_s` of what it belongs to. Numbers have three digits behind
    the point, money has six.
    """
    kind: Any = type(value)
    if kind is str or value is None:
        return value
    if kind is float:
        return round(value, 3)
    if (names := _names_of(kind)) is not None:
        plain: dict[str, Any] = {}
        for name in names:
            item = getattr(value, name)
            if name == "span":
                plain.update(to_plain(item))
            else:
                plain[name] = round(item, 6) if name == "cost_usd" else to_plain(item)
        return plain
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, Path) else value


@cache
def _names_of(kind: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass; None of anything else."""
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else None


def to_json(
    plain: Any, *, indent: int | None = None, default: Callable[[Any], Any] | None = None
) -> str:
    """JSON that a terminal, a line reader and a UTF-8 file take, whatever its texts hold.

    `default` makes plain what is not.
    """
    if indent is None:
        text = _one_line(plain, default)
    else:
        text = json.dumps(plain, ensure_ascii=False, indent=indent, default=default)
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _one_line(plain: Any, default: Callable[[Any], Any] | None) -> str:
    try:
        return orjson.dumps(plain, default=default).decode()
    except TypeError:  # half characters, and numbers of more than 64 bits
        return json.dumps(plain, ensure_ascii=False, default=default)


def event_name(event: object) -> str:
    """`StepTaken` -> `step_taken`."""
    return _snake_case(type(event).__name__)


@cache
def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def write_event(stream: IO[str], event: object) -> None:
    """One line of JSON, written through at once so that a killed run leaves its trace."""
    plain = {"event": event_name(event), **to_plain(event)}
    stream.write(to_json(plain) + "\n")
    stream.flush()


class TraceFile:
    """The events of one ask, written as they come; `path` None keeps none.

    What cannot be written is no reason to lose the answer: it is told in `Answer.warnings`.
    """

    def __init__(self, path: Path | None, warning: str = "") -> None:
        self._path, self._warning = path, warning
        self._stream: IO[str] | None = None

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                self._stream = self._path.open("w", encoding="utf-8")
            except OSError as error:
                self._fail(error)
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            with suppress(OSError):
                self._stream.close()

    def write(self, event: AnswerEvent) -> AnswerEvent:
        """Write the event; returns it, the last with where the trace is, or why there is none."""
        told = self._with_trace(event)
        if self._stream is None or self._warning:
            return told
        try:
            write_event(self._stream, told)
        except OSError as error:
            self._fail(error)
        return self._with_trace(event)

    def _with_trace(self, event: AnswerEvent) -> AnswerEvent:
        if not isinstance(event, Answered):
            return event
        trace = str(self._path) if self._path and not self._warning else None
        told = event.answer.warnings
        warnings = (*told, self._warning) if self._warning else told
        return Answered(answer=replace(event.answer, trace=trace, warnings=warnings))

    def _fail(self, error: OSError) -> None:
        what = error.strerror or error
        self._warning = f"no trace is kept: cannot write to {self._path}: {what}"
