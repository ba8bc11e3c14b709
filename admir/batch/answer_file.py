"""The file of answers: written row by row, and gone on with after whatever ended the run before.

A row that failed is asked again. For it the file is cut before the first such row, and all that
was there waits in `<name>.before` until its turn comes, so that no answer is lost at any time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from admir.batch.formats import IDENTITY, Csv, Fields, Form, JsonLines, Record, carried, new_names
from admir.batch.read_table import Table, suffix_of
from admir.batch.row import Question
from admir.errors import OptionError, writing


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a row stands in its file, and whether it holds an answer."""

    start: int
    end: int
    good: bool


class Results:
    """The open file of answers; its rows come in order, each either kept or appended.

    Raises MemoryStoreError where it cannot be written.
    """

    def __init__(self, path: Path, form: Form, there: int, before: Sequence[_Place]) -> None:
        self._path = path
        self._form = form
        self._there = there
        self._before = before
        self._stream = FileIO(path, "ab")

    def keep(self, index: int) -> bool:
        """Whether the row has its answer from a run before; then it stands in the file."""
        if index < self._there:
            return True
        if index >= len(self._before) or not self._before[index].good:
            return False
        with writing(self._path):
            self._write(_bytes_of(_before(self._path), self._before[index]))
        return True

    def append(self, fields: Fields) -> None:
        """Write the next row through to the file."""
        with writing(self._path):
            self._write(self._form.encode(fields))

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._stream.write(rest) :]

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


@contextmanager
def open_results(path: Path, table: Table, preset: str) -> Iterator[Results]:
    """The file of answers to a table, new or from a run before; what is torn is cut off.

    Raises OptionError where the file is not about these questions: it is left as it is. Raises
    MemoryStoreError where it cannot be written.
    """
    with writing(path):
        form = _form_of(path, table)
    with writing(path), _locked(path):
        scan = _Scan(table=table, form=form, preset=preset)
        results = _resumed(path, scan)
        try:
            yield results
        finally:
            results.close()
        _before(path).unlink(missing_ok=True)


def _form_of(path: Path, table: Table) -> Form:
    suffix, names = suffix_of(path, "--out"), new_names(table.columns)
    if not path.parent.is_dir():
        raise OptionError(f"--out {path.name!r}: there is no folder {str(path.parent)!r}")
    if path.exists() and not path.is_file():
        raise OptionError(f"--out {path.name!r} is no file")
    return Csv(names) if suffix == ".csv" else JsonLines()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = FileLock(path.with_name(f"{path.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise OptionError(f"--out {path.name!r} is being written by another process") from None
    try:
        yield
    finally:
        with suppress(OSError):  # held until it is gone: else a third process could take it too
            Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def _before(path: Path) -> Path:
    return path.with_name(f"{path.name}.before")


def _resumed(path: Path, scan: _Scan) -> Results:
    """The file cut behind its last row before the first that failed."""
    now, old = scan.places(path), scan.places(_before(path))
    there = next((i for i, place in enumerate(now) if not place.good), len(now))
    if there < len(now):
        _set_aside(path, now, old)
        old = scan.places(_before(path))
    if now:
        os.truncate(path, now[there].start if there < len(now) else now[-1].end)
    else:
        path.write_bytes(scan.form.head)
    return Results(path, scan.form, there, old)


def _set_aside(path: Path, now: Sequence[_Place], old: Sequence[_Place]) -> None:
    """All rows of both files as `<name>.before`, the good one of two."""
    fresh = path.with_name(f"{path.name}.before.new")
    head = now[0].start
    with fresh.open("wb") as stream:
        stream.write(_bytes_of(path, _Place(0, head, good=True)))
        for index in range(max(len(now), len(old))):
            newer = index < len(now) and (now[index].good or index >= len(old))
            source = (path, now[index]) if newer else (_before(path), old[index])
            stream.write(_bytes_of(*source))
    fresh.replace(_before(path))


def _bytes_of(path: Path, place: _Place) -> bytes:
    with path.open("rb") as stream:
        stream.seek(place.start)
        return stream.read(place.end - place.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scan:
    """Reads a file of answers to a table."""

    table: Table
    form: Form
    preset: str

    def places(self, path: Path) -> list[_Place]:
        """Its whole rows, none where there is no file; raises OptionError where it is another's."""
        if not path.exists():
            return []
        with path.open("rb") as stream:
            if not self._begins_well(stream):
                raise _foreign(path, "it begins otherwise")
            return [
                self._place(path, index, record)
                for index, record in enumerate(self.form.records(stream))
            ]

    def _begins_well(self, stream: BufferedReader) -> bool:
        """Whether the file has the head and a row, or is the torn beginning of that."""
        head = stream.read(len(self.form.head))
        if head != self.form.head:
            return self.form.head.startswith(head)
        line = stream.readline()
        stream.seek(len(head))
        names = new_names(self.table.columns)
        first = self.form.encode(carried(self.table.rows[0], names)).rstrip(b",}\r\n")
        return line.endswith(b"\n") or first.startswith(line) or line.startswith(first)

    def _place(self, path: Path, index: int, record: Record) -> _Place:
        """Raises OptionError where the record is not of the row with that index."""
        if index >= len(self.table.rows):
            raise _foreign(path, f"it has more than {len(self.table.rows)} rows")
        row, fields = self.table.rows[index], record.fields
        if fields is None or not self._same(row, fields):
            raise _foreign(path, f"its row {index + 1} is of another question")
        good = not row.fault and bool(fields.get("answer")) and not fields.get("error")
        if good and fields.get("preset") != self.preset:
            raise _foreign(path, f"its row {index + 1} is of preset {fields.get('preset')!r}")
        return _Place(record.start, record.end, good)

    def _same(self, row: Question, fields: Mapping[str, Any]) -> bool:
        asked = {name: row.fields[name] for name in IDENTITY if row.fields.get(name)}
        return all(fields.get(name) == self.form.plain(value) for name, value in asked.items())


def _foreign(path: Path, why: str) -> OptionError:
    message = f"{path.name!r} is not about these questions ({why}); choose another --out"
    return OptionError(f"--out: {message}, or remove it")
