"""`admir ask` and `admir demo`: answers for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from admir import Memory
from admir.demo import QUESTIONS
from tests.cli.conftest import Call, Ran, admir, whole_ids

FIELDS = {
    "answer",
    "grounded",
    "basis",
    "claims",
    "evidence",
    "steps",
    "usage",
    "preset",
    "models",
    "prompt_hashes",
    "reason",
    "seconds",
    "trace",
}
BRAND = "Which brand is advertised?"


def test_an_answer_for_people(call: Call, demo: Memory, memories: Path) -> None:
    ran = call("ask", demo.video.id, BRAND, "--memories", memories)
    assert (ran.code, ran.err) == (0, "")
    for said in (BRAND, "LUMIVO", "Quoted, not proved", "≈ inferred", "or: ", "frames/"):
        assert said in ran.out
    ran = call("ask", demo.video.id, "What price is shown?", "--memories", memories)
    for said in ("$48", "grounded in the video", "✓ verified"):
        assert said in ran.out
    assert "\x1b" not in ran.out


def test_an_answer_for_programs(demo: Memory, memories: Path) -> None:
    ran = admir("ask", demo.video.id, BRAND, "--json", "--memories", memories)
    assert (ran.code, ran.err) == (0, "")
    answer = ran.json
    assert answer.keys() >= FIELDS
    assert (answer["question"], answer["answer"]) == (BRAND, "LUMIVO")
    assert (answer["grounded"], answer["basis"], answer["preset"]) == (
        False,
        "inference",
        "offline",
    )
    assert 0 < answer["claims"][0]["confidence"] < 1
    assert answer["claims"][0]["alternatives"]
    known = {evidence["id"] for evidence in answer["evidence"]}
    assert all(set(claim["evidence"]) <= known for claim in answer["claims"])
    assert all(Path(e["frame"]).is_file() for e in answer["evidence"] if e["frame"])
    assert Path(answer["trace"]).is_file()


def test_the_trace_as_a_tree(call: Call, demo: Memory, memories: Path) -> None:
    ran = call("ask", demo.video.id, BRAND, "--trace", "--memories", memories)
    for said in ("step 1", "verdict: accepted", "finish(", "trace file:"):
        assert said in ran.words


def test_a_file_without_a_memory_gets_one(call: Call, plain_video: Path, tmp_path: Path) -> None:
    ran = call("ask", plain_video, BRAND, "--json", "--memories", tmp_path / "m")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["basis"] == "none"
    assert whole_ids(call, tmp_path / "m") == ["plain"]


def test_a_file_with_a_memory_is_not_built_again(
    call: Call, plain_video: Path, plain_copy: Path
) -> None:
    assert call("ask", plain_video, BRAND, "--memories", plain_copy).code == 0
    assert [p.name for p in (plain_copy / "plain" / "builds").iterdir()] == ["1"]


def test_the_video_file_may_be_gone(call: Call, plain_video: Path, tmp_path: Path) -> None:
    video = tmp_path / "gone.mp4"
    video.write_bytes(plain_video.read_bytes())
    assert call("build-memory", video, "--memories", tmp_path / "m").code == 0
    video.unlink()
    assert call("ask", "gone", BRAND, "--memories", tmp_path / "m").code == 0
    call("build-memory", video, "--memories", tmp_path / "m").failed(3, "does not exist")
    assert whole_ids(call, tmp_path / "m") == ["gone"]


@pytest.fixture(scope="module")
def told(demo: Memory, memories: Path) -> Ran:
    """`admir demo --json`, where the memory is there already."""
    return admir("demo", "--json", "--memories", memories)


@pytest.fixture(scope="module")
def answers(told: Ran) -> list[dict[str, Any]]:
    """The answers of the demo."""
    return told.json["answers"]


def test_the_demo_prints_one_object(told: Ran) -> None:
    assert (told.code, told.err) == (0, "")
    assert told.json.keys() == {"answers"}


def test_the_demo_answers_its_questions(answers: list[dict[str, Any]]) -> None:
    assert len(answers) >= 6
    assert [answer["question"] for answer in answers] == list(QUESTIONS)
    assert all(answer.keys() >= FIELDS for answer in answers)


def test_the_demo_tells_proof_from_choice_and_absence(answers: list[dict[str, Any]]) -> None:
    bases = [answer["basis"] for answer in answers]
    assert bases.count("absence") == 1
    assert bases.count("inference") == 2, "no line says which name is the brand, or the slogan"
    assert all(answer["grounded"] == (answer["basis"] == "evidence") for answer in answers)


def test_the_demo_backtracks_and_then_finds(answers: list[dict[str, Any]]) -> None:
    verdicts = [
        [step["verdict"]["accepted"] for step in answer["steps"] if step["verdict"]]
        for answer in answers
    ]
    assert any(False in found and found[-1] for found in verdicts)


def test_a_question_about_the_file_keeps_the_metadata(
    call: Call, plain_video: Path, tmp_path: Path
) -> None:
    (tmp_path / "meta.json").write_text('{"product": "Lamp"}')
    rest = ("--memories", tmp_path / "m")
    assert call("build-memory", plain_video, "--meta", tmp_path / "meta.json", *rest).code == 0
    assert call("ask", plain_video, BRAND, *rest).code == 0
    memory = call("show", "plain", "--json", *rest).json
    assert memory["video"]["metadata"] == {"product": "Lamp"}
    assert [p.name for p in (tmp_path / "m" / "plain" / "builds").iterdir()] == ["1"]
