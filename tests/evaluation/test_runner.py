"""Runs: exact scores from known replies, nothing asked twice, failures told, money kept."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from admir.errors import EndpointError, OptionError
from admir.evaluation import scores_of
from admir.evaluation.data import Prediction
from admir.evaluation.judge import Judge, WrittenScores
from admir.evaluation.run_folder import open_folder, read_run
from admir.evaluation.scores import RELAXED, RELAXED_PAPER, STRICT, compare
from admir.evaluation.systems import AgentSystem, FilesSystem
from admir.types import Usage
from tests.evaluation.making import go, judged, part_of, rows, suite_of, write_answers, write_files
from tests.model_replies import finish
from tests.model_server import Http

ADMIR = Path(sys.executable).parent / "admir"


@pytest.fixture
def answers(tmp_path):
    """Answers to six items, by somebody else."""
    told = {f"q{n}": (f"<answer>Answer {n}</answer>", "") for n in range(6)}
    return FilesSystem(write_answers(tmp_path / "answers", "x", told), "x")


@pytest.fixture
def suite(tmp_path):
    return suite_of(tmp_path, rows(6))


SCORES = ("1", "0.5", "0", "1", "1", "0.5")


def test_known_replies_give_exact_scores(tmp_path, suite, answers, server, settings):
    server.script["judge"] = lambda asked: judged(
        SCORES[part_of(asked)], contradicts=part_of(asked) == 4
    )
    run = go(tmp_path / "run", suite, answers, Judge(settings()))
    assert [item.score for item in run.items] == [1, 0.5, 0, 1, 0, 0.5], "a contradiction is 0"
    overall = scores_of(run).rows[0].shares
    assert [overall[m].mean for m in (STRICT, RELAXED, RELAXED_PAPER)] == [2 / 6, 0.5, 4 / 6]
    by_ability = {row.name: row.shares[STRICT].mean for row in scores_of(run).rows}
    assert by_ability == {"overall": 2 / 6, "VU": 0.5, "ER": 0, "TE": 0, "PS": 1, "AM": 0}
    [asked, *_] = server.asked("judge")
    for told in ("CANARY-META", "CANARY-ANSWER", "Answer 0", "What is seen in part"):
        assert told in "".join(a.text for a in server.asked("judge"))
    assert "CANARY" not in asked.system


def test_a_judge_that_fails_is_listed_counted_wrong_and_asked_again(
    tmp_path, suite, answers, server, settings
):
    faults = {1: Http(400, "refused"), 2: "no JSON", 3: {"score": "2"}}
    server.script["judge"] = lambda asked: faults.get(part_of(asked), judged("1"))
    run = go(tmp_path / "run", suite, answers, Judge(settings()))
    assert [item.score for item in run.items] == [1, 0, 0, 0, 1, 1]
    failures = dict(scores_of(run).failures)
    assert failures.keys() == {"q1", "q2", "q3"}
    assert "refused" in failures["q1"]
    assert len([a for a in server.asked("judge") if part_of(a) == 2]) == 3, "corrected twice"
    faults.clear()
    before = len(server.asked("judge"))
    again = go(tmp_path / "run", suite, answers, Judge(settings()))
    assert [item.score for item in again.items] == [1] * 6
    assert len(server.asked("judge")) - before == 3, "only those that had failed"


def test_another_judge_judges_anew_and_the_old_scores_stay(
    tmp_path, suite, answers, server, settings
):
    go(tmp_path / "run", suite, answers, Judge(settings()))
    role = {"judge": {"model": "other"}}
    go(tmp_path / "run", suite, answers, Judge(settings(roles=role)))
    assert len(server.asked("judge")) == 12
    go(tmp_path / "run", suite, answers, Judge(settings(cache=False)))
    assert len(server.asked("judge")) == 12


def test_what_is_true_reaches_the_judge_alone(tmp_path, grey, server, settings):
    videos = Path(grey.video.path).parent
    suite = suite_of(tmp_path, [row | {"video": "ramp"} for row in rows(2)])
    run = go(tmp_path / "run", suite, AgentSystem(settings(), videos), Judge(settings()))
    assert [item.failure for item in run.items] == ["", ""]
    assert {asked.role for asked in server.requests} >= {"controller", "caption", "judge"}
    for asked in server.requests:
        assert ("CANARY" in json.dumps(asked.body)) == (asked.role == "judge")
    for path in (settings().memories).rglob("*"):
        assert not path.is_file() or b"CANARY" not in path.read_bytes(), path
    told = (tmp_path / "run/predictions.jsonl").read_text()
    assert "CANARY-ANSWER" in told
    assert "CANARY-META" not in told


def test_an_endpoint_that_refuses_the_key_ends_the_run_and_keeps_what_is_done(
    tmp_path, suite, answers, server, settings
):
    server.script["judge"] = lambda asked: (
        Http(401, "wrong key") if part_of(asked) > 3 else judged("1")
    )
    with pytest.raises(EndpointError, match="wrong key"):
        go(tmp_path / "run", suite, answers, Judge(settings()))
    kept = sum(item.score for item in read_run(tmp_path / "run").items)
    assert 1 <= kept <= 4


def test_a_limit_of_money_ends_the_run_and_the_next_one_goes_on(
    tmp_path, suite, answers, server, settings
):
    prices = {"gpt-4o-2024-08-06": {"input": 1_000, "output": 0}}  # 100 tokens: 10 cents a score
    judge = Judge(settings(prices=prices))
    run = go(tmp_path / "run", suite, answers, judge, spend_limit=0.05)
    done = [item for item in run.items if not item.failure]
    assert 1 <= len(done) <= 4, "no more than are under way at once"
    assert re.fullmatch(r"\$0\.\d\d of \$0\.05 are spent", run.info.stopped)
    assert {item.failure for item in run.items} <= {"", "not judged", "not asked"}
    run = go(tmp_path / "run", suite, answers, judge, spend_limit=10)
    assert [item.failure for item in run.items] == [""] * 6
    assert len(server.asked("judge")) == 6
    assert run.info.stopped == ""


def test_two_runs_are_compared_item_by_item(tmp_path, suite, answers, server, settings):
    server.script["judge"] = lambda asked: judged(SCORES[part_of(asked)])
    a = go(tmp_path / "a", suite, answers, Judge(settings()))
    server.script["judge"] = lambda asked: judged("1" if part_of(asked) < 5 else "0")
    b = go(tmp_path / "b", suite, answers, Judge(settings(cache=False)))
    found = compare(a, b)
    strict = found.groups["overall"][STRICT]
    assert (strict.gained, strict.lost, strict.mean) == (2, 0, pytest.approx(2 / 6))
    assert [flip.after.case.id for flip in found.flips] == ["q5", "q1", "q2"], "losses first"
    shorter = go(tmp_path / "c", suite.first(3), answers, None)
    with pytest.raises(OptionError, match="not of the same questions"):
        compare(a, shorter)


# On disk


def test_a_folder_of_another_run_is_left_alone(tmp_path, suite, answers):
    go(tmp_path / "run", suite, answers, None)
    before = (tmp_path / "run/run.json").read_bytes()
    other = FilesSystem(tmp_path, "y")
    with pytest.raises(OptionError, match="another predictions"):
        go(tmp_path / "run", suite, other, None)
    assert (tmp_path / "run/run.json").read_bytes() == before
    info = read_run(tmp_path / "run").info
    with (
        open_folder(tmp_path / "run", info),
        pytest.raises(OptionError, match="another process"),
    ):
        go(tmp_path / "run", suite, answers, None)


@pytest.mark.parametrize("name", ["run.json", "predictions.jsonl"])
@pytest.mark.parametrize("data", [b"", b"{", b"[]\n", b"\xff", None])
def test_a_folder_that_is_no_run_is_told(tmp_path, suite, answers, name, data):
    go(tmp_path / "run", suite, answers, None)
    path = tmp_path / "run" / name
    path.unlink() if data is None else path.write_bytes(data)
    if name == "predictions.jsonl" and data == b"":
        assert read_run(tmp_path / "run").items == ()
        return
    with pytest.raises(OptionError, match="run"):
        read_run(tmp_path / "run")


def test_a_run_that_is_killed_goes_on_and_judges_nothing_twice(tmp_path, server):
    """Killed without warning in the middle; a judge's word that came in is never asked again."""
    questions, truth = write_files(tmp_path, rows(24))
    told = {f"q{n}": (f"Answer {n}", "") for n in range(24)}
    write_answers(tmp_path / "answers", "x", told)

    def slow(asked):
        time.sleep(0.05)
        return judged("1")

    server.script["judge"] = slow
    command = [
        *(ADMIR, "eval", "adsqa", "--questions", questions, "--groundtruth", truth),
        *("--videos", tmp_path, "--predictions", tmp_path / "answers", "--name", "x"),
        *("--out", tmp_path / "run", "--judge-url", server.url, "--concurrency", "2"),
        *("--no-cache", "--json"),
    ]
    child = subprocess.Popen(command, cwd=tmp_path, env=_plain_environment())
    end = time.monotonic() + 30
    while len(server.asked("judge")) < 6:
        assert time.monotonic() < end
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    time.sleep(0.2)  # what was in flight ends
    journaled = (tmp_path / "run/journal.jsonl").read_text().count('["judgement:')
    before = len(server.asked("judge"))
    assert journaled < 24
    done = subprocess.run(
        command, cwd=tmp_path, env=_plain_environment(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(server.asked("judge")) - before == 24 - journaled
    assert json.loads(done.stdout)["scores"]["rows"][0]["shares"][STRICT]["mean"] == 1.0
    assert json.loads((tmp_path / "run/q7/x.json").read_text()) == [
        {"prediction": "Answer 7", "score": "Answer: 1"}
    ]


def _plain_environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(("ADMIR_", "OPENAI_"))}


def test_an_answer_that_ends_early_is_an_answer(tmp_path, grey, server, settings):
    """What the agent cannot ground is judged all the same."""
    videos = Path(grey.video.path).parent
    server.script["controller"] = lambda asked: finish("A door.")
    suite = suite_of(tmp_path, [row | {"video": "ramp"} for row in rows(1)])
    run = go(tmp_path / "run", suite, AgentSystem(settings(max_steps=2), videos), Judge(settings()))
    assert run.items[0].prediction.grounded is False
    assert run.items[0].score == 1


def test_money_is_kept_to_the_last_digit(tmp_path, suite, answers, server, settings):
    prices = {"gpt-4o-2024-08-06": {"input": 1.23, "output": 0}}  # 100 tokens: 0.000123 a score
    run = go(tmp_path / "run", suite, answers, Judge(settings(prices=prices)))
    assert run.judge_usage.cost_usd == pytest.approx(6 * 0.000123, rel=1e-9)
    again = go(tmp_path / "run", suite, answers, Judge(settings(prices=prices)))
    assert again.judge_usage == run.judge_usage


def test_what_failed_has_cost_something_too(tmp_path, suite, answers, server, settings):
    """A judge that never says what can be read: the limit is that of all runs together."""
    server.script["judge"] = lambda asked: "no JSON"
    prices = {"gpt-4o-2024-08-06": {"input": 1_000, "output": 0}}  # three tries: 30 cents an item
    judge = Judge(settings(prices=prices, cache=False))
    for _ in range(4):
        run = go(tmp_path / "run", suite, answers, judge, spend_limit=2)
    assert len(server.asked("judge")) <= 3 * (7 + 3)
    assert run.info.stopped.endswith("of $2.00 are spent")
    assert run.info.spent.cost_usd == pytest.approx(0.1 * len(server.asked("judge")))


def test_memories_are_built_one_by_one_until_the_money_is_spent(tmp_path):
    class Dear:
        name, lasting, config, opened = "dear", True, {"system": "dear"}, 0

        async def open(self, video, tell):
            self.opened += 1
            await asyncio.sleep(0.01)

            async def answer(case):
                return Prediction(text="so")

            return answer, Usage(calls=1, cost_usd=5.0)

    system = Dear()
    run = go(tmp_path / "run", suite_of(tmp_path, rows(12)), system, None, spend_limit=5)
    assert system.opened == 1
    assert run.info.spent.cost_usd == 5.0
    assert [bool(i.prediction) for i in run.items].count(True) == 0, "what is spent is spent"


@pytest.mark.parametrize("at", ["open", "score"])
def test_a_fault_of_ours_fails_an_item_and_not_the_run(tmp_path, suite, answers, at, monkeypatch):
    class Faulty(WrittenScores):
        async def score(self, case, reference, text):
            raise KeyError("x")

    async def broken(video, tell):
        raise KeyError("x")

    if at == "open":
        monkeypatch.setattr(answers, "open", broken)
    run = go(tmp_path / "run", suite, answers, Faulty(tmp_path, "x"))
    assert all("unexpected KeyError" in item.failure for item in run.items)
