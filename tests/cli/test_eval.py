"""`admir eval` as a person runs it, on the set that ships with the project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from admir.demo import AD
from tests.cli.conftest import Call
from tests.evaluation.making import judged, rows, write_answers, write_files
from tests.model_server import Http, ModelServer

HERE = AD.parent
FILES = ("--questions", HERE / "testset_question.json",
         "--groundtruth", HERE / "testset_groundtruth.json", "--videos", HERE)  # fmt: skip


@pytest.fixture
def bundled(demo: Any, memories: Path, server: ModelServer, tmp_path: Path) -> tuple[Any, ...]:
    """Arguments for the bundled set, with a judge that likes answers about lamps and prices."""
    server.script["judge"] = lambda asked: judged("1" if "LUMIVO" in asked.text[-200:] else "0.5")
    return (*FILES, "--memories", memories, "--judge-url", server.url,
            "--set", f"cache_folder={tmp_path / 'cache'}")  # fmt: skip


def test_the_bundled_set_is_answered_offline_and_judged(
    call: Call, bundled: tuple[Any, ...], server: ModelServer, tmp_path: Path
) -> None:
    first = call("eval", "adsqa", *bundled, "--out", tmp_path / "one")
    assert first.code == 0, first.out
    assert [line.rpartition(" ")[2] for line in first.err.splitlines()] == [
        f"{n}/20" for n in range(2, 21, 2)
    ], "progress, a line at each tenth"
    for said in ("overall 20", "All items are of one video", "AD-MIR (o1) 38.1", "report.html"):
        assert said in first.words
    assert len(server.asked("judge")) == 20
    again = call("eval", "adsqa", *bundled, "--out", tmp_path / "two")
    assert len(server.asked("judge")) == 20, "the second run is judged from the cache"
    tables = [ran.out.partition("Cost")[0] for ran in (first, again)]
    assert tables[0] == tables[1]
    page = (tmp_path / "one/report.html").read_text("utf-8")
    assert "clip_search" in page, "the worst answers come with their traces"
    diff = call("eval", "diff", tmp_path / "one", tmp_path / "two")
    assert "0 answers changed" in diff.words
    assert diff.code == 0


def test_a_sweep_draws_the_figures(call: Call, bundled: tuple[Any, ...], tmp_path: Path) -> None:
    ran = call("eval", "sweep", *bundled, "--out", tmp_path / "sweep", "--limit", "2",
               "--beta", "0,2", "--max-steps", "8", "--no-components")  # fmt: skip
    assert ran.code == 0
    assert ran.err.splitlines()[-1] == "beta=0: 2/2"
    assert "beta=0" in ran.words
    assert (tmp_path / "sweep/sweep.html").is_file()
    assert (tmp_path / "sweep/beta=0/report.html").is_file()


def test_a_judge_that_fails_is_told_and_the_exit_code_says_so(
    call: Call, server: ModelServer, tmp_path: Path
) -> None:
    questions, truth = write_files(tmp_path, rows(2))
    write_answers(tmp_path / "answers", "x", {f"q{n}": ("A wall.", "") for n in range(2)})
    server.script["judge"] = lambda asked: "no JSON" if "part 1" in asked.text else judged("1")
    ran = call("eval", "adsqa", "--questions", questions, "--groundtruth", truth, "--videos",
               tmp_path, "--predictions", tmp_path / "answers", "--name", "x", "--out",
               tmp_path / "run", "--judge-url", server.url, "--no-cache")  # fmt: skip
    assert ran.code == 8
    assert "q1: no score: " in ran.words
    assert "1 item without a score counts as wrong" in ran.words


def test_a_judge_that_refuses_ends_the_run_in_one_line(
    call: Call, bundled: tuple[Any, ...], server: ModelServer, tmp_path: Path
) -> None:
    server.script["judge"] = lambda asked: Http(401, "wrong key")
    ran = call("eval", "adsqa", *bundled, "--out", tmp_path / "run", "--limit", "1")
    ran.failed(7, "wrong key")
    assert "LUMIVO" in (tmp_path / "run/predictions.jsonl").read_text("utf-8"), "answers are kept"


def test_what_leaves_this_machine_is_said_first(call: Call, tmp_path: Path) -> None:
    questions, truth = write_files(tmp_path, rows(1))
    files = ("--questions", questions, "--groundtruth", truth, "--videos", tmp_path)
    answers = ("--predictions", write_answers(tmp_path / "answers", "x", {}), "--name", "x")
    judge = ("--set", 'roles={"judge": {"base_url": "http://judge.invalid/v1", "api_key": "k"}}')
    (tmp_path / "answers").mkdir()
    ran = call("eval", "adsqa", *files, *answers, *judge, "--out", tmp_path / "run")
    assert "what is true of them go to judge.invalid" in ran.err
    assert (ran.code, "there is no x.json" in ran.words) == (8, True)


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--no-judge", "--system", "end-to-end"), 2, "asks a model"),
        (("--no-judge", "--predictions", "nowhere", "--name", "x"), 2, "there is no folder"),
        (("--no-judge", "--predictions", "."), 2, "--predictions needs --name"),
        (("--no-judge", "--predictions", ".", "--name", "x", "--out", "."), 2, "written over"),
        (("--judge", "x", "--set", "roles=5"), 2, "must be a JSON object"),
        (("--no-judge", "--videos", "nowhere"), 2, "--videos: there is no folder"),
        (("--no-judge", "--questions", "nowhere"), 2, "'nowhere' cannot be read"),
        (("--no-judge", "--name", "../x"), 2, "--name '../x' must be"),
        (("--no-judge", "--limit", "0"), 2, "--limit"),
        (("--no-judge", "--set", "beta=-1"), 2, "beta"),
    ],
)
def test_wrong_use_is_one_line(
    call: Call, tmp_path: Path, more: tuple[str, ...], code: int, said: str
) -> None:
    files = (*FILES, "--out", tmp_path / "run", "--memories", tmp_path / "m")
    call("eval", "adsqa", *files, *more).failed(code, said)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("beta", "said"), [("0,x", "numbers with commas"), ("-1", "beta")])
def test_wrong_values_of_a_sweep_are_one_line(
    call: Call, tmp_path: Path, beta: str, said: str
) -> None:
    ran = call("eval", "sweep", *FILES, "--out", tmp_path / "s", "--beta", beta)
    ran.failed(2, said)


def test_what_is_no_run_cannot_be_compared(call: Call, tmp_path: Path) -> None:
    call("eval", "diff", tmp_path, tmp_path).failed(2, "holds no run")
    call("eval", "diff", tmp_path, tmp_path, "--out", tmp_path / "x").failed(
        2, "there is no folder"
    )


def test_without_a_judge_there_are_answers_and_costs_and_nothing_looks_like_a_score(
    call: Call, bundled: tuple[Any, ...], server: ModelServer, tmp_path: Path
) -> None:
    ran = call("eval", "adsqa", *bundled, "--out", tmp_path / "run", "--limit", "3", "--no-judge")
    assert ran.code == 0
    assert server.asked("judge") == []
    assert "LUMIVO" in ran.words
    assert "Cost" in ran.words
    assert "Nothing was judged" in ran.words
    texts = (
        ran.out,
        *((tmp_path / f"run/report.{end}").read_text("utf-8") for end in ("md", "html")),
    )
    for text in texts:
        for score in ("Accuracy", "strict", "relaxed", "38.1", "worst answers", "counted as wrong"):
            assert score not in text, score
    again = call("eval", "adsqa", *bundled, "--out", tmp_path / "run", "--limit", "3", "--no-judge",
                 "--json")  # fmt: skip
    assert again.json["scores"] is None
