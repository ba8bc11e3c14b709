"""From a file of questions to a file of answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from admir.batch.answer_file import Results, open_results
from admir.batch.answer_rows import Asker
from admir.batch.formats import answered, new_names
from admir.batch.read_table import read_table
from admir.batch.row import Question, RowEvent, RowFailed
from admir.errors import OptionError, writing
from admir.settings import Settings
from admir.trace import BuildProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKept:
    """The row has its answer from a run before."""

    row: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOpened:
    """The start: how many rows there are."""

    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAnswered:
    """The end: rows that were asked, those that were reused, and those of the asked that failed."""

    asked: int
    reused: int
    failed: int
    out: Path


FileEvent = TableOpened | RowEvent | RowKept | TableAnswered


async def answer_file(
    questions: Path, out: Path, settings: Settings
) -> AsyncGenerator[FileEvent, None]:
    """Ask every row of a table and write the answers beside its fields, in order, row by row.

    Rows that `out` answers already are kept. The last event is `TableAnswered`. Raises OptionError
    where one of the files cannot be used, MemoryStoreError where `out` cannot be written, and
    BackendUnavailable. Closing the iterator keeps what is done.
    """
    table = read_table(questions)
    _check_apart(questions, out)
    asker, names = Asker(settings), new_names(table.columns)
    asked = reused = failed = 0
    with open_results(out, table, settings.preset) as results:
        yield TableOpened(total=len(table.rows))
        for index, row in enumerate(table.rows):
            if results.keep(index):
                reused += 1
                yield RowKept(row=row)
                continue
            async with aclosing(_ask(asker, row, results, names)) as events:
                async for event in events:
                    failed += isinstance(event, RowFailed)
                    yield event
            asked += 1
    yield TableAnswered(asked=asked, reused=reused, failed=failed, out=out)


def _check_apart(questions: Path, out: Path) -> None:
    with writing(out):
        same = out.exists() and out.samefile(questions)
    if same:
        raise OptionError(f"--out {out.name!r} is the file of the questions")


async def _ask(
    asker: Asker, row: Question, results: Results, names: dict[str, str]
) -> AsyncGenerator[RowEvent, None]:
    """Ask one row; its outcome is in the file when it is told."""
    async with aclosing(asker.ask(row)) as events:
        async for event in events:
            if not isinstance(event, BuildProgress):
                results.append(answered(event, names))
            yield event
