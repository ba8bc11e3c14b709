"""`admir ask --questions`: tables in, tables out, bad rows, interrupted runs, and wrong use."""

from __future__ import annotations

import csv
import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call, Ran, ended, start, wait_for

WHY = "Why is it red?"
NOT_FOUND = "Nothing that was read or heard answers this."
NESTED = {"answer", "grounded", "basis", "claims", "evidence", "reason", "seconds", "trace"}
ESCAPES = "red \x1b[31m title \x1b]0;owned\x07 csi \x9b31m \u202eend"


def write_csv(path: Path, header: Sequence[str], *rows: Sequence[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def write_lines(path: Path, *rows: Any) -> Path:
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def asked(call: Call, plain_copy: Path, tmp_path: Path) -> Any:
    """`asked(questions)`: ask that table; `out` is `answers.jsonl` unless said otherwise."""

    def run(questions: Path, out: str = "answers.jsonl", *more: str) -> Ran:
        rest = ("--out", tmp_path / out, "--memories", plain_copy, *more)
        return call("ask", "--questions", questions, *rest)

    return run


def test_the_rows_are_carried_through_beside_their_answers(asked: Any, tmp_path: Path) -> None:
    note = 'two\nlines, "quoted"'
    path = write_csv(
        tmp_path / "q.csv",
        ("video_id", "note", "question", "answer"),
        ("plain", note, WHY, "the truth"),
        ("plain", "", WHY, ""),
    )
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    ran = asked(path)
    assert (ran.code, ran.err) == (0, "")
    assert "2 rows: 2 asked, 0 there already, 0 failed" in ran.words
    first, second = read(tmp_path / "answers.jsonl")
    assert first.keys() >= NESTED
    assert (first["video_id"], first["question"], first["note"]) == ("plain", WHY, note)
    assert (first["input_answer"], second["input_answer"]) == ("the truth", "")
    assert first["answer"] == second["answer"] == NOT_FOUND
    assert (first["grounded"], first["preset"], first["claims"][0]["status"]) == (
        False,
        "offline",
        "unverified",
    )
    assert Path(first["trace"]).is_file()
    assert first["trace"] != second["trace"]
    assert "error" not in first
    assert {path.name for path in tmp_path.glob("answers*")} == {"answers.jsonl"}


def test_flat_rows_in_csv(asked: Any, tmp_path: Path) -> None:
    rows = (
        {"question": WHY, "video_id": "plain", "n": 0.12345, "options": ["a", "灯"]},
        {"question": WHY, "video_id": "nope", "more": None},
    )
    assert asked(write_lines(tmp_path / "q.jsonl", *rows), "a.csv").code == 8
    good, bad = read(tmp_path / "a.csv")
    assert list(good)[:5] == ["question", "video_id", "n", "options", "more"]
    assert (good["n"], json.loads(good["options"]), good["more"]) == ("0.12345", ["a", "灯"], "")
    assert (good["grounded"], good["error"], good["kind"]) == ("false", "", "")
    assert json.loads(good["claims"])[0]["status"] == "unverified"
    assert json.loads(good["evidence"]) == []
    assert (bad["answer"], bad["kind"]) == ("", "unknown-video")
    assert asked(tmp_path / "q.jsonl", "a.csv", "--json").json["reused"] == 1


def test_a_bad_row_does_not_end_the_run(asked: Any, tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "q.jsonl",
        {"video_id": "nope", "question": WHY},
        {"video_id": "plain", "question": "  "},
        '{"video_id": "plain", "question',
        "",
        "[1, 2]",
        {"video_id": "", "question": WHY},
        {"video_id": ["plain"], "question": WHY},
        {"video_id": "plain", "question": 7},
        {"video": "no\0ne.mp4", "question": WHY},
        {"video": "none.mp4", "question": WHY},
        {"video_id": "../../etc", "question": WHY},
        {"video_id": "plain", "question": "q" * 3000},
        {"video_id": "plain", "question": WHY},
    )
    ran = asked(path, "a.jsonl", "--json")
    assert (ran.code, ran.err) == (8, "")
    out = str(tmp_path / "a.jsonl")
    assert ran.json == {"asked": 12, "reused": 0, "failed": 11, "out": out}
    rows = read(tmp_path / "a.jsonl")
    assert [row.get("kind") for row in rows] == [
        "unknown-video",
        "bad-question",
        *("bad-row",) * 6,
        "video-not-found",
        "unknown-video",
        "bad-question",
        None,
    ]
    assert all(row["error"] for row in rows[:-1])
    assert rows[2]["error"].startswith("line 3: is not JSON")
    assert "answer" in rows[-1]


def test_bad_rows_of_csv(asked: Any, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    lines = ("video_id,question,n", f"plain,{WHY}", "plain,Why, oh why,1,2", "", ",,", "")
    path.write_text("\n".join((*lines, f'plain,"{WHY}"x,3', f"plain,{WHY},4", 'plain,"open\n')))
    ran = asked(path, "a.csv")
    assert ran.code == 8
    rows = read(tmp_path / "a.csv")
    assert [row["kind"] for row in rows] == ["", "bad-row", "bad-row", "bad-row", "", "bad-row"]
    assert "line 3: has 5 cells for 3 columns" in ran.words
    assert "row 6: line 9" in ran.words


def test_rows_that_failed_are_asked_again_and_no_others(
    call: Call, asked: Any, plain_video: Path, plain_copy: Path, tmp_path: Path
) -> None:
    rows = [{"video_id": name, "question": WHY} for name in ("plain", "new", "plain", "new")]
    path, out = write_lines(tmp_path / "q.jsonl", *rows), tmp_path / "answers.jsonl"
    assert asked(path, "answers.jsonl", "--json").json["failed"] == 2
    before = read(out)
    new = tmp_path / "new.mp4"
    new.write_bytes(plain_video.read_bytes() + b"\0")
    assert call("build-memory", new, "--memories", plain_copy).code == 0
    ran = asked(path, "answers.jsonl", "--json")
    assert (ran.code, ran.json["asked"], ran.json["reused"]) == (0, 2, 2)
    after = read(out)
    assert [row["video_id"] for row in after] == ["plain", "new", "plain", "new"]
    assert [after[0], after[2]] == [before[0], before[2]]
    assert asked(path, "answers.jsonl", "--json").json == ran.json | {"asked": 0, "reused": 4}
    assert read(out) == after


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_wherever_a_run_broke_off_the_next_one_completes_it(
    asked: Any, tmp_path: Path, suffix: str
) -> None:
    """Cut in a row, at its end, in the head, and with a row before that failed."""
    rows = [("plain", "Why\nnot?"), ("nope", WHY), ("plain", 'Is "this" it?')]
    path = write_csv(tmp_path / "q.csv", ("video_id", "question"), *rows)
    out = tmp_path / f"a.{suffix}"
    assert asked(path, out.name).code == 8
    whole = out.read_bytes()
    for cut in sorted({0, 1, 9, 30, len(whole) - 2, len(whole) - 1, *range(40, len(whole), 211)}):
        out.write_bytes(whole[:cut])
        ran = asked(path, out.name, "--json")
        assert (ran.code, ran.json["asked"] + ran.json["reused"]) == (8, 3), cut
        assert [row["question"] for row in read(out)] == [row[1] for row in rows], cut
        assert [bool(row.get("error")) for row in read(out)] == [False, True, False], cut


def test_a_killed_run_goes_on_where_it_was(call: Call, plain_copy: Path, tmp_path: Path) -> None:
    rows = [{"video_id": "plain", "question": WHY, "n": n} for n in range(200)]
    path, out = write_lines(tmp_path / "q.jsonl", *rows), tmp_path / "a.jsonl"
    command = ("ask", "--questions", path, "--out", out, "--json", "--memories", plain_copy)
    for end in (signal.SIGKILL, signal.SIGINT):
        known = out.read_bytes().count(b"\n") if out.exists() else 0
        process = start(*command)
        wait_for(lambda n=known: out.exists() and out.read_bytes().count(b"\n") > n + 3, process)
        process.send_signal(end)
        ran = ended(process)
        assert ran.code in (-signal.SIGKILL, 130)
        assert "Traceback" not in ran.err
    kept = len([line for line in out.read_bytes().split(b"\n")[:-1] if json.loads(line)])
    write_lines(path, *rows[: kept + 2])
    ran = call(*command)
    assert (ran.code, ran.json["asked"], ran.json["reused"]) == (0, 2, kept)
    assert [row["n"] for row in read(out)] == list(range(kept + 2))


def test_a_file_is_built_first(
    asked: Any, plain_video: Path, plain_copy: Path, tmp_path: Path
) -> None:
    video = tmp_path / "fresh.mp4"
    video.write_bytes(plain_video.read_bytes() + b"\0")
    header = ("video", "question")
    path = write_csv(tmp_path / "q.csv", header, (str(video), WHY), (str(video), "Who?"))
    assert asked(path).code == 0
    assert [row["video_id"] for row in read(tmp_path / "answers.jsonl")] == ["fresh", "fresh"]
    assert [p.name for p in (plain_copy / "fresh" / "builds").iterdir()] == ["1"]
    assert asked(path, "answers.jsonl", "--json").json["reused"] == 2


FOREIGN = {
    "text": b"my notes",
    "other rows": b'{"video_id": "plain", "question": "Who?", "answer": "me"}\n',
    "other preset": b'{"video_id": "plain", "question": "Why is it red?", "answer": "x", '
    b'"preset": "paper"}\n',
    "no objects": b"[1]\n",
    "more rows": b'{"video_id": "plain", "question": "Why is it red?", "error": "x"}\n' * 2,
    "nulls": b"\0" * 100,
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_file_of_something_else_is_left_as_it_is(
    asked: Any, tmp_path: Path, content: bytes
) -> None:
    path = write_lines(tmp_path / "q.jsonl", {"video_id": "plain", "question": WHY})
    (tmp_path / "a.jsonl").write_bytes(content)
    asked(path, "a.jsonl").failed(2, "'a.jsonl' is not about these questions")
    assert (tmp_path / "a.jsonl").read_bytes() == content


def test_a_csv_of_something_else_is_left_as_it_is(asked: Any, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "q.jsonl", {"video_id": "plain", "question": WHY})
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    asked(path, "a.csv").failed(2, "'a.csv' is not about these questions")
    assert (tmp_path / "a.csv").read_text() == "a,b\n1,2\n"


SHAPES = {
    "empty": ("q.csv", b"", "holds no questions"),
    "head alone": ("q.csv", b"video_id,question\n", "holds no questions"),
    "blank lines": ("q.jsonl", b"\n \n", "holds no questions"),
    "no question": ("q.csv", b"video_id,text\na,b\n", "has no column `question`"),
    "semicolons": ("q.csv", b"video_id;question\na;b\n", "separate its columns by commas"),
    "no video": ("q.csv", b"question\nWhy?\n", "`video_id` or `video`"),
    "no video in json": ("q.jsonl", b'{"question": "Why?"}\n', "`video_id` or `video`"),
    "csv in json": ("q.jsonl", b"video_id,question\nplain,Why?\n", "is not JSON"),
    "twice": ("q.csv", b"video_id,question,question\na,b,c\n", "more than one column 'question'"),
    "latin": ("q.csv", b"video_id,question\nplain,caf\xe9?\n", "is not UTF-8 (line 2)"),
    "utf-16": ("q.csv", "video_id,question\n".encode("utf-16"), "is UTF-16"),
    "open quote": ("q.csv", b'"video_id,question\n', "is no CSV"),
    "suffix": ("q.xlsx", b"", "must end in .csv or .jsonl"),
    "both names": (
        "q.csv",
        b"video_id,question,answer,input_answer\na,b,c,d\n",
        "'answer', which would become 'input_answer'",
    ),
}


@pytest.mark.parametrize(("name", "content", "says"), SHAPES.values(), ids=SHAPES)
def test_a_file_of_another_shape_is_one_error(
    asked: Any, tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    (tmp_path / name).write_bytes(content)
    asked(tmp_path / name).failed(2, says)
    assert not list(tmp_path.glob("answers*"))


def test_paths_that_cannot_be_used(asked: Any, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "q.jsonl", {"video_id": "plain", "question": WHY})
    (tmp_path / "folder.jsonl").mkdir()
    asked(tmp_path / "none.csv").failed(2, "'none.csv' cannot be read: No such file")
    asked(tmp_path / "folder.jsonl").failed(2, "cannot be read")
    asked(path, "q.jsonl").failed(2, "is the file of the questions")
    asked(path, "folder.jsonl").failed(2, "is no file")
    asked(path, "no/where.csv").failed(2, "there is no folder")
    asked(path, "answers.txt").failed(2, "must end in .csv or .jsonl")
    asked(path, f"{'x' * 300}.csv").failed(5, "cannot write to")
    assert json.loads(path.read_text())["question"] == WHY


MIXED = {
    "a video too": ("plain", "--questions", "q.csv", "--out", "a.csv"),
    "no out": ("--questions", "q.csv"),
    "no questions": ("--out", "a.csv"),
    "out of one": ("plain", "Why?", "--out", "a.csv"),
    "trace": ("--questions", "q.csv", "--out", "a.csv", "--trace"),
    "nothing": (),
    "no question": ("plain",),
}


@pytest.mark.parametrize("arguments", MIXED.values(), ids=MIXED)
def test_what_does_not_go_together(call: Call, arguments: tuple[str, ...]) -> None:
    call("ask", *arguments).failed(2, "Usage: ", "ask [OPTIONS] [VIDEO] [QUESTION]")


def test_a_preset_that_cannot_run_ends_it_before_it_begins(asked: Any, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "q.jsonl", {"video_id": "plain", "question": WHY})
    asked(path, "a.jsonl", "--preset", "paper").failed(7, "paper")
    assert not list(tmp_path.glob("a.jsonl*"))


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_escapes_do_not_reach_the_terminal(asked: Any, tmp_path: Path, suffix: str) -> None:
    path = write_lines(
        tmp_path / "q.jsonl",
        {"video_id": ESCAPES, "question": WHY, ESCAPES: ESCAPES},
        {"video_id": "plain", "question": ESCAPES, "half": "\ud800"},
        f'{{"video_id": "{ESCAPES}',
        {"video": f"{ESCAPES}.mp4", "question": WHY},
    )
    for _ in range(2):
        ran = asked(path, f"a.{suffix}")
        assert ran.code == 8
        assert not set("\x1b\x07\x9b\u202e") & set(ran.out + ran.err)
    first, second, *_ = read(tmp_path / f"a.{suffix}")
    assert first[ESCAPES] == ESCAPES, "the input is unchanged"
    assert "\x1b" not in first["error"]
    assert second["answer"] == "Nothing that was read or heard answers this."
