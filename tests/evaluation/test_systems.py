"""What is measured, and who judges it: the agent, the baseline, answers in files; the judge."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from admir.api import build_events
from admir.concurrency import run_sync, run_to_end
from admir.errors import OptionError
from admir.evaluation.judge import Judge, WrittenScores
from admir.evaluation.systems import AgentSystem, BaselineSystem, FilesSystem
from admir.memory.corrections import new_correction
from admir.memory.store import MemoryStore
from tests.drawing import flat, write_video
from tests.evaluation.making import go, rows, suite_of, write_answers
from tests.model_server import Http


@pytest.fixture
def suite(tmp_path):
    return suite_of(tmp_path, rows(6))


def test_the_agent_is_measured_with_its_parts_switched_off(tmp_path, grey, server, settings):
    videos = Path(grey.video.path).parent
    suite = suite_of(tmp_path, [row | {"video": "ramp.mp4"} for row in rows(1)])
    plain = settings(communication_expert=False, max_steps=2)
    run = go(tmp_path / "run", suite, AgentSystem(plain, videos), None)
    [item] = run.items
    assert item.prediction.text == "A grey wall."
    assert item.failure == "not judged"
    assert Path(item.prediction.trace).is_file()
    tools = [t["function"]["name"] for t in server.asked("controller")[0].body["tools"]]
    assert "communication_expert" not in tools
    assert run.info.config["settings"]["max_steps"] == 2
    assert run.info.build_usage.calls > 0
    with pytest.raises(OptionError, match=r"another settings \(max_steps\)"):
        go(tmp_path / "run", suite, AgentSystem(settings(max_steps=3), videos), None)


def test_the_baseline_sees_sixteen_frames_with_their_times(tmp_path, grey, server, settings):
    videos = Path(grey.video.path).parent
    suite = suite_of(tmp_path, [row | {"video": "ramp"} for row in rows(1)])
    run = go(tmp_path / "run", suite, BaselineSystem(settings(), videos), Judge(settings()))
    assert run.items[0].score == 1
    [asked] = server.asked("baseline")
    assert asked.body["temperature"] == 0
    times = [float(t) for t in re.findall(r"Frame at (\d+\.\d\d\d) s:", asked.text)]
    assert len(asked.images) == len(times) == 16
    asked_s = [17 / 16 * (n + 0.5) for n in range(16)]
    assert times == pytest.approx([int(10 * t) / 10 for t in asked_s]), "each its own time"
    kinds = [isinstance(part, str) for part in asked.sequence]
    assert kinds == [True, False] * 16 + [True], "a time before each frame, then the question"
    assert asked.sequence[-1] == "Question: What is seen in part 0?"
    levels = [picture.mean() for picture in asked.images]
    assert levels == sorted(levels)


def test_the_offline_preset_has_no_baseline(settings, tmp_path):
    with pytest.raises(OptionError, match="asks a model"):
        BaselineSystem(settings(preset="offline"), tmp_path)


def test_a_video_that_is_not_there_fails_its_items_alone(tmp_path, grey, server, settings):
    videos = Path(grey.video.path).parent
    items = [row | {"video": "ramp" if n else "gone"} for n, row in enumerate(rows(2))]
    suite = suite_of(tmp_path, items)
    run = go(tmp_path / "run", suite, AgentSystem(settings(), videos), Judge(settings()))
    assert [item.score for item in run.items] == [0, 1]
    assert "no video 'gone'" in run.items[0].failure


def test_a_model_that_fails_at_an_item_fails_that_alone(tmp_path, grey, server, settings):
    videos = Path(grey.video.path).parent
    server.script["baseline"] = lambda asked: (
        Http(400, "too long") if "part 1" in asked.text else {"answer": "A wall."}
    )
    suite = suite_of(tmp_path, [row | {"video": "ramp"} for row in rows(3)])
    run = go(tmp_path / "run", suite, BaselineSystem(settings(), videos), Judge(settings()))
    assert [item.score for item in run.items] == [1, 0, 1]
    assert "too long" in run.items[1].failure


def test_scores_that_stand_in_the_files_are_taken(tmp_path, suite):
    scores = ("Answer: 1", "Answer: 0.5", "Answer: 0", "", "Answer: 7", "1")
    told = {f"q{n}": (f"Answer {n}", score) for n, score in enumerate(scores)}
    folder = write_answers(tmp_path / "answers", "x", told)
    run = go(tmp_path / "run", suite, FilesSystem(folder, "x"), WrittenScores(folder, "x"))
    assert [item.score for item in run.items] == [1, 0.5, 0, 0, 0, 1]
    assert [item.case.id for item in run.items if item.failure] == ["q3", "q4"]


def test_answers_in_files_are_read_anew_and_may_be_of_another_folder(tmp_path, suite):
    for name in ("one", "two"):
        told = {f"q{n}": (f"{name} {n}", "Answer: 1" if name == "two" else "0") for n in range(6)}
        folder = write_answers(tmp_path / name, "x", told)
        run = go(tmp_path / "run", suite, FilesSystem(folder, "x"), WrittenScores(folder, "x"))
    assert [item.prediction.text for item in run.items][:2] == ["two 0", "two 1"]
    assert [item.score for item in run.items] == [1] * 6


def test_the_judge_reads_thirty_words_and_is_not_the_model_that_is_measured(
    suite, server, settings
):
    long = " ".join(f"w{n}" for n in range(60))
    [item, *_] = suite.items
    run_sync(Judge(settings(model="o1")).score(item.case, item.reference, long))
    [asked] = server.asked("judge")
    assert "w29" in asked.text
    assert "w30" not in asked.text
    assert asked.body["model"] == "gpt-4o-2024-08-06"


def test_a_local_preset_must_say_which_model_judges(settings):
    with pytest.raises(OptionError, match="which model judges"):
        Judge(settings(preset="local"))


def test_frames_of_the_baseline_have_the_size_of_the_paper(server, settings, tmp_path):
    video = write_video(
        tmp_path / "v0.mp4", lambda _: flat((9, 9, 99), (1280, 720)), frames=16, size=(1280, 720)
    )
    suite = suite_of(tmp_path, rows(1))
    go(tmp_path / "run", suite, BaselineSystem(settings(), video.parent), None)
    [asked] = server.asked("baseline")
    assert {picture.shape[:2] for picture in asked.images} == {(576, 1024)}


def test_corrections_of_people_are_not_measured(tmp_path, grey, server, settings):
    videos = Path(grey.video.path).parent
    suite = suite_of(tmp_path, [row | {"video": "ramp"} for row in rows(1)])
    system = AgentSystem(settings(), videos)
    run_sync(run_to_end(build_events(videos / "ramp.mp4", settings())))
    store = MemoryStore(settings().memories)
    store.correct("ramp", new_correction("brand", "Halden", "grey bottle"))
    go(tmp_path / "run", suite, system, None)
    assert "Halden" not in "".join(asked.text for asked in server.asked("controller"))
