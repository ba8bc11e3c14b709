"""Tables of questions: CSV (UTF-8, commas, a header) and JSON Lines (one object a line)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from admir.batch.row import VIDEO_COLUMNS, Question, question_of
from admir.errors import OptionError

SUFFIXES = (".csv", ".jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows of a file in order, and the names of all their fields."""

    columns: tuple[str, ...]
    rows: tuple[Question, ...]


def read_table(path: Path) -> Table:
    """Read a file of questions; its suffix says how.

    A row that cannot be read is there, with its `fault`; empty lines are not. Raises OptionError
    where the file cannot be read, or none of its rows could be a question about a video.
    """
    form = suffix_of(path, "--questions")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror or error}") from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _unusable(path, "is UTF-16; save it as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    rows = tuple(_csv_rows(data, path) if form == ".csv" else map(_json_row, _lines(data)))
    if not rows:
        raise _unusable(path, "holds no questions")
    columns = tuple(dict.fromkeys(name for row in rows for name in row.fields))
    _check_columns(columns, rows, path)
    return Table(columns=columns, rows=rows)


def suffix_of(path: Path, option: str) -> str:
    """`.csv` or `.jsonl`; raises OptionError."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise OptionError(f"{option} {path.name!r} must end in {' or '.join(SUFFIXES)}")
    return suffix


def _unusable(path: Path, what: str) -> OptionError:
    return OptionError(f"--questions {path.name!r} {what}")


def _check_columns(columns: Sequence[str], rows: Sequence[Question], path: Path) -> None:
    """Raise where the whole file is of another shape: not a matter of single rows."""
    if "question" in columns and any(name in columns for name in VIDEO_COLUMNS):
        return
    found = ", ".join(map(repr, columns[:8])) or rows[0].fault
    needed = "the fields `question`, and `video_id` or `video`"
    raise _unusable(path, f"must have {needed}; it has {found}")


def broken(where: str, why: str, **fields: Any) -> Question:
    """A row that could not be read."""
    return Question(video="", question="", fields=fields, fault=f"{where}: {why}")


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Numbered lines that are not empty. Texts in JSON may hold other line ends of Unicode."""
    numbered = enumerate(data.split(b"\n"), start=1)
    return ((number, line) for number, line in numbered if line.strip())


def _json_row(numbered: tuple[int, bytes]) -> Question:
    number, line = numbered
    try:
        fields = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return broken(f"line {number}", "is not UTF-8")
    except (ValueError, RecursionError) as error:
        return broken(f"line {number}", f"is not JSON: {error}")
    if not isinstance(fields, dict):
        return broken(f"line {number}", "is not a JSON object")
    return question_of(fields)


def _csv_rows(data: bytes, path: Path) -> Iterator[Question]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise _unusable(path, f"is not UTF-8 (line {line}); save it as UTF-8") from None
    csv.field_size_limit(2**31 - 1)  # the file is in memory already: a limit would guard nothing
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = _header(reader, path)
    yield from _csv_questions(reader, header)


def _header(reader: Any, path: Path) -> list[str]:
    """The first line that is not empty; each name stands once."""
    try:
        header: list[str] = next((cells for cells in reader if cells), [])
    except csv.Error as error:
        raise _unusable(path, f"is no CSV (line {reader.line_num}: {_why(error)})") from None
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise _unusable(path, f"has more than one column {twice[0]!r}")
    if header and "question" not in header:
        hint = "; separate its columns by commas" if len(header) == 1 else ""
        found = ", ".join(map(repr, header[:8]))
        raise _unusable(path, f"has no column `question` (it has {found}){hint}")
    return header


def _csv_questions(reader: Any, header: list[str]) -> Iterator[Question]:
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield broken(_where(start, reader.line_num), _why(error))
            continue
        if cells is None:
            return
        if cells:
            yield _csv_row(cells, header, _where(start, reader.line_num))


def _why(error: csv.Error) -> str:
    text = str(error)
    return "a quotation mark is not closed" if text == "unexpected end of data" else text


def _csv_row(cells: list[str], header: list[str], where: str) -> Question:
    """Cells that lack at the end are empty; with one too many, nobody knows what is what."""
    fields = dict(zip(header, cells + [""] * (len(header) - len(cells)), strict=False))
    if len(cells) > len(header):
        return broken(where, f"has {len(cells)} cells for {len(header)} columns", **fields)
    return question_of(fields)


def _where(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"
