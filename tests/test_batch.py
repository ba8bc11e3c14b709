"""Many questions from Python: outcomes in order, what is opened once, and files that hold."""

from __future__ import annotations

import asyncio
import json
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir import Memory
from admir.batch import Question, RowAnswered, RowFailed, ask_many
from admir.batch import answer_rows as asking_module
from admir.batch.answer_file import open_results
from admir.batch.formats import Csv, Form, JsonLines, new_names
from admir.batch.read_table import Table, read_table
from admir.batch.row import question_of
from admir.errors import BackendUnavailable, MemoryStoreError, OptionError
from admir.settings import load_settings
from admir.trace import BuildProgress
from tests.conftest import flat, write_video
from tests.properties import examples

LAMP = [{"t": second, "ocr": ["Only $48 today"], "asr": ""} for second in range(6)]


def outcomes(rows: Any, settings: Any = None) -> list[Any]:
    """All events of a run."""

    async def run() -> list[Any]:
        return [event async for event in ask_many(rows, settings)]

    return asyncio.run(run())


def timeline(name: str) -> Memory:
    return Memory.from_timeline(name, LAMP)


def test_memories_of_text_are_asked_in_order() -> None:
    a, b = timeline("a"), timeline("b")
    rows = [Question(video=v, question="What does it cost?") for v in (a, b, a)]
    told = outcomes(rows)
    assert all(isinstance(event, RowAnswered) for event in told)
    assert [event.answer.video_id for event in told] == ["a", "b", "a"]
    assert {event.answer.answer for event in told} == {"$48"}


def test_rows_that_cannot_be_asked_fail_alone(tmp_path: Path) -> None:
    settings = load_settings(memories=tmp_path)
    rows = [
        {"video_id": "none", "question": "Why?"},
        {},
        {"video": tmp_path / "none.mp4", "question": "Why?"},
        Question(video=timeline("a"), question=" "),
        Question(video=timeline("a"), question="What does it cost?"),
    ]
    told = outcomes(rows, settings)
    kinds = [event.kind if isinstance(event, RowFailed) else "" for event in told]
    assert kinds == ["unknown-video", "bad-row", "video-not-found", "bad-question", ""]


def test_a_video_is_built_once_and_its_progress_told(tmp_path: Path) -> None:
    video = write_video(tmp_path / "ad.mp4", lambda _: flat((1, 2, 3), (64, 64)), frames=3)
    rows = [{"video": str(video), "question": "Why?"}] * 2
    told = outcomes(rows, load_settings(memories=tmp_path / "m"))
    assert isinstance(told[0], BuildProgress)
    assert [type(event) for event in told[-2:]] == [RowAnswered, RowAnswered]


def test_a_memory_is_opened_once_and_not_all_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, open_one = [], asking_module.open_for_asking

    def counted(memory: Memory, settings: Any) -> Any:
        opened.append(memory.video.id)
        return open_one(memory, settings)

    monkeypatch.setattr(asking_module, "open_for_asking", counted)
    monkeypatch.setattr(asking_module, "MOST_OPEN", 2)
    made = {name: timeline(name) for name in "abc"}
    outcomes([Question(video=made[name], question="Why?") for name in "abababcab"])
    assert opened == ["a", "b", "c", "a", "b"]


def test_a_video_that_failed_is_not_tried_for_every_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, build = [], asking_module.build_events

    def counted(path: Path, *more: Any) -> Any:
        tried.append(path)
        return build(path, *more)

    monkeypatch.setattr(asking_module, "build_events", counted)
    (tmp_path / "bad.mp4").write_text("no video")
    rows = [{"video": str(tmp_path / "bad.mp4"), "question": "Why?"}] * 5
    told = outcomes(rows, load_settings(memories=tmp_path / "m"))
    assert [event.kind for event in told] == ["video-unreadable"] * 5
    assert len(tried) == 1


def test_a_fault_of_ours_costs_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: Any) -> Any:
        raise ZeroDivisionError("a \x1b[31m fault")

    monkeypatch.setattr(asking_module, "ask_opened", faulty)
    (told,) = outcomes([Question(video=timeline("a"), question="Why?")])
    assert (told.kind, told.error) == ("unexpected", "unexpected ZeroDivisionError: a [31m fault")


def test_a_preset_that_cannot_run_is_no_matter_of_rows() -> None:
    with pytest.raises(BackendUnavailable):
        outcomes([{}], load_settings(preset="paper"))


def test_numbers_are_ids_and_an_id_goes_before_a_file() -> None:
    assert question_of({"video_id": 17, "question": "Why?"}).video == "17"
    assert question_of({"video_id": " ad ", "video": "x.mp4", "question": "?"}).video == "ad"
    assert question_of({"video_id": True, "question": "Why?"}).fault


TEXT = st.text(max_size=30)
VALUES = TEXT | st.integers() | st.booleans() | st.none() | st.lists(TEXT, max_size=3)
ROWS = st.lists(st.dictionaries(st.sampled_from(["a", "b", 'c"\n,']), VALUES), min_size=1)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@examples(60)
@given(rows=ROWS, cut=st.integers(0, 40))
def test_rows_come_back_whatever_they_hold_and_a_torn_one_does_not(kind, rows, cut):
    names = new_names(list(dict.fromkeys(name for row in rows for name in row)))
    form: Form = Csv(names) if kind == "csv" else JsonLines()
    coded = [form.encode(dict(row)) for row in rows]
    torn = coded[-1][: min(cut, len(coded[-1]) - 1)]
    with tempfile.TemporaryFile() as stream:
        stream.write(form.head + b"".join(coded) + torn)
        stream.seek(len(form.head))
        found = list(form.records(stream))
    assert [record.end - record.start for record in found] == [len(code) for code in coded]
    for record, row in zip(found, rows, strict=True):
        assert record.fields is not None
        for name, value in row.items():
            assert record.fields[name] == form.plain(value)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """What a full disk does: a write comes back with an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_one_error_and_what_was_written_is_kept(tmp_path: Path) -> None:
    fields = {"video_id": "a", "question": "Why?"}
    table = Table(columns=tuple(fields), rows=(question_of(fields),) * 3)
    good = fields | {"answer": "x" * 100, "preset": "offline"}
    out = tmp_path / "a.jsonl"
    says = r"cannot write to .*a\.jsonl"
    with files_of_at_most(250), pytest.raises(MemoryStoreError, match=says):
        _append(out, table, good)
    assert 150 < out.stat().st_size <= 250
    with open_results(out, table, "offline") as results:
        kept = [results.keep(index) for index in range(3)]
        results.append(good)
        results.append(good)
    assert kept == [True, False, False]
    assert len(out.read_bytes().splitlines()) == 3


def _append(out: Path, table: Table, row: dict[str, Any]) -> None:
    with open_results(out, table, "offline") as results:
        for _ in table.rows:
            results.append(dict(row))


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    table = Table(columns=("video_id",), rows=(question_of({"video_id": "a"}),))
    says = "being written by another process"
    with (
        open_results(tmp_path / "a.csv", table, "offline"),
        pytest.raises(OptionError, match=says),
        open_results(tmp_path / "a.csv", table, "offline"),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_run_that_is_cut_while_it_repairs_loses_no_answer(tmp_path: Path) -> None:
    rows = [{"video_id": str(n), "question": "Why?"} for n in range(6)]
    table = Table(columns=("video_id", "question"), rows=tuple(map(question_of, rows)))
    out = tmp_path / "a.jsonl"
    done = [row | {"answer": f"of {row['video_id']}", "preset": "offline"} for row in rows]
    with open_results(out, table, "offline") as results:
        for n in range(6):
            results.append(rows[n] | {"error": "no", "kind": "x"} if n in (1, 3) else done[n])
    for repaired in (1, 3):
        with pytest.raises(Killed):
            _repair(out, table, done[: repaired + 1])
    with open_results(out, table, "offline") as results:
        assert [results.keep(n) for n in range(6)] == [True] * 6
    assert [row["answer"] for row in _answers(out)] == [f"of {n}" for n in range(6)]
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


class Killed(Exception):
    """The end of a run that tidies nothing up."""


def _repair(out: Path, table: Table, rows: list[dict[str, Any]]) -> None:
    with open_results(out, table, "offline") as results:
        for n, row in enumerate(rows):
            if not results.keep(n):
                results.append(row)
        raise Killed


def _answers(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_bytes().splitlines()]


def test_a_huge_cell_is_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(f"video_id,question,text\na,Why?,{'x' * 300_000}\n")
    (row,) = read_table(path).rows
    assert len(row.fields["text"]) == 300_000
