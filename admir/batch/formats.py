"""Rows of answers: the row of the question with the fields of its Answer, in CSV or JSON Lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader, StringIO
from typing import Any, Protocol

from admir.batch.row import Outcome, Question, RowFailed
from admir.errors import OptionError
from admir.text import to_printable
from admir.trace import to_json, to_plain

ANSWER_FIELDS = (
    *("answer", "grounded", "basis", "claims", "evidence", "usage", "preset", "models"),
    *("prompt_hashes", "reason", "seconds", "trace"),
)
"""What an Answer adds to its row: all but the steps, which stand in its trace."""

ADDED = (*ANSWER_FIELDS, "error", "kind")
IDENTITY = ("video_id", "video", "question")

Fields = dict[str, Any]


def new_names(columns: Sequence[str]) -> dict[str, str]:
    """What each field of the questions is called in the answers: `answer` is `input_answer` there.

    Raises OptionError where that name is taken too.
    """
    names = {name: f"input_{name}" if name in ADDED else name for name in columns}
    for name, new in names.items():
        if name != new and new in names:
            raise OptionError(
                f"the questions have the fields {name!r}, which would become {new!r}, and {new!r}; "
                "rename one"
            )
    return names


def carried(row: Question, names: Mapping[str, str]) -> Fields:
    """The fields of the question under the names that they have in the answers."""
    return {names[name]: value for name, value in row.fields.items()}


def answered(outcome: Outcome, names: Mapping[str, str]) -> Fields:
    """The whole row: with the Answer's fields, or with `error` and `kind`."""
    fields = carried(outcome.row, names)
    if isinstance(outcome, RowFailed):
        return fields | {"error": outcome.error, "kind": outcome.kind}
    plain = to_plain(outcome.answer)
    if not fields.get("video_id"):
        fields["video_id"] = plain["video_id"]
    return fields | {name: plain[name] for name in ANSWER_FIELDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A row of a file of answers, and its place there in bytes. `fields` None: no such row."""

    start: int
    end: int
    fields: Mapping[str, Any] | None


class Form(Protocol):
    """A format of files of answers."""

    head: bytes
    """What the file begins with."""

    def encode(self, fields: Fields) -> bytes:
        """A row with its line end."""

    def plain(self, value: Any) -> Any:
        """A value as it comes back from the file."""

    def records(self, stream: BufferedReader) -> Iterator[Record]:
        """The whole rows from behind the head on; what is torn at the end is none."""


class JsonLines:
    """One object a line."""

    head = b""

    def encode(self, fields: Fields) -> bytes:
        """See `Form`."""
        return to_json(fields).encode() + b"\n"

    def plain(self, value: Any) -> Any:
        """See `Form`."""
        return value

    def records(self, stream: BufferedReader) -> Iterator[Record]:
        """See `Form`."""
        start = stream.tell()
        for line in stream:
            if not line.endswith(b"\n"):
                return
            yield Record(start=start, end=start + len(line), fields=_object(line))
            start += len(line)


def _object(line: bytes) -> Fields | None:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


class Csv:
    """A header and a row a question; what is no plain value is JSON text in its cell."""

    def __init__(self, names: Mapping[str, str]) -> None:
        own = [name for name in ("video_id",) if name not in names.values()]
        self._columns = (*names.values(), *own, *ADDED)
        self.head = _line(self._columns)

    def encode(self, fields: Fields) -> bytes:
        """See `Form`."""
        safe = fields | {
            key: to_printable(fields[key]) for key in ("answer", "reason") if key in fields
        }
        return _line([self.plain(safe.get(column)) for column in self._columns])

    def plain(self, value: Any) -> str:
        """See `Form`. Half characters cannot be written in UTF-8."""
        text = value if isinstance(value, str) else "" if value is None else to_json(value)
        return text.encode("utf-8", "backslashreplace").decode()

    def records(self, stream: BufferedReader) -> Iterator[Record]:
        """See `Form`."""
        csv.field_size_limit(2**31 - 1)
        lines = _Lines(stream)
        reader = csv.reader(lines, strict=True)
        while True:
            start = lines.place
            try:
                cells = next(reader, None)
            except csv.Error:
                if not lines.at_end():
                    yield Record(start=start, end=lines.place, fields=None)
                return
            if cells is None or not lines.last.endswith(b"\n"):
                return
            yield Record(start=start, end=lines.place, fields=self._fields(cells))

    def _fields(self, cells: list[str]) -> Fields | None:
        same = len(cells) == len(self._columns)
        return dict(zip(self._columns, cells, strict=True)) if same else None


class _Lines:
    """The lines of a stream as text, and the place in bytes behind the last one."""

    def __init__(self, stream: BufferedReader) -> None:
        self._stream = stream
        self.place = stream.tell()
        self.last = b""

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._stream)
        self.last, self.place = line, self.place + len(line)
        return line.decode("utf-8", "replace")

    def at_end(self) -> bool:
        """Whether no line is left."""
        return not self._stream.peek(1)


def _line(cells: Sequence[str]) -> bytes:
    text = StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().encode()
