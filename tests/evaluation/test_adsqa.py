"""The files of AdsQA's authors: read in their forms, written so that their script reads them."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from admir.demo import AD
from admir.errors import OptionError, VideoNotFound
from admir.evaluation.adsqa import (
    final_answer,
    read_adsqa,
    read_prediction,
    read_score,
    video_file,
    write_predictions,
)
from admir.evaluation.data import Item, Judgement, Prediction
from tests.evaluation.making import META, rows, suite_of, write_files


def test_both_forms_of_the_ground_truth_are_read(tmp_path):
    one, two = rows(2)
    two["gt_answer"] = two.pop("answer")
    two["meta_info"] = {"theme": "Wände"}
    two["question_type"] = "Type_4"
    suite = suite_of(tmp_path, [one, two])
    assert [item.reference.dimensions for item in suite.items] == [("VU",), ("PS",)]
    assert suite.items[0].reference.meta_info == META
    assert suite.items[1].reference.meta_info == '{"theme": "Wände"}'
    assert suite.items[1].reference.answer.startswith("Wall 1")


def test_items_that_only_one_file_has_are_told(tmp_path):
    questions, truth = write_files(tmp_path, rows(3))
    asked = json.loads(questions.read_text())
    questions.write_text(json.dumps([asked[1], asked[2], asked[0] | {"question_id": "extra"}]))
    suite = read_adsqa(questions, truth)
    assert suite.items[0].failure == "the file of questions lacks it"
    assert suite.left_out == ("extra",)


def test_questions_may_say_what_they_must_not(tmp_path):
    """A file of questions that holds the truth gives none of it to a case."""
    items = rows(1)
    questions, truth = write_files(tmp_path, items)
    questions.write_text(json.dumps(items))
    [item] = read_adsqa(questions, truth).items
    assert "CANARY" not in f"{item.case}"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"question_id": "../../etc"}, "no usable `question_id`"),
        ({"question_id": ".."}, "no usable `question_id`"),
        ({"question_id": "a/b"}, "no usable `question_id`"),
        ({"question_id": 5}, "no usable `question_id`"),
        ({"question_id": "q1"}, "stands there twice"),
        ({"answer": ""}, "has no `answer`"),
        ({"video": None}, "needs the texts"),
        ({"question_type": 5}, "no usable `question_type`"),
        ({"question_type": [["Type_1"]]}, "no usable `question_type`"),
        ({"question_id": "run.json"}, "no usable `question_id`"),
    ],
)
def test_items_of_another_form_are_refused_by_name(tmp_path, change, why):
    items = rows(2)
    items[0] |= change
    with pytest.raises(OptionError, match=why):
        suite_of(tmp_path, items)


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b"[]", b"[1]", b"\xff\xfe", b"[" * 9_999])
def test_files_of_another_form_are_refused(tmp_path, data):
    questions, truth = write_files(tmp_path, rows(1))
    truth.write_bytes(data)
    with pytest.raises(OptionError, match="--groundtruth"):
        read_adsqa(questions, truth)


def test_a_video_is_found_with_and_without_its_ending(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a b.mp4").write_bytes(b"x")
    (tmp_path / "out.mp4").write_bytes(b"x")
    assert video_file(tmp_path / "in", "a b").name == "a b.mp4"
    assert video_file(tmp_path / "in", "a b.mp4").name == "a b.mp4"
    for name in ("../out", "../out.mp4", str(tmp_path / "out.mp4"), "", "x\0", "y" * 9_999):
        with pytest.raises(VideoNotFound):
            video_file(tmp_path / "in", name)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("A lamp.", "A lamp."),
        ("<think>A <answer> maybe.</think> <answer> A lamp.\n</answer> bye", "A lamp."),
        (" ".join(map(str, range(40))), " ".join(map(str, range(30)))),
        ("", ""),
    ],
)
def test_the_scorer_reads_the_final_answer_and_thirty_words(text, read):
    assert final_answer(text) == read


@pytest.mark.parametrize(
    ("text", "score"),
    [
        *(("Answer: 1", 1.0), ("Answer: 0.5", 0.5), ("0", 0.0), (" Answer: 1.0. ", 1.0)),
        *(("", None), ("Answer: 10", None), ("Answer: 0.51", None), ("no 1", None), ("0.1", None)),
    ],
)
def test_a_score_is_read_or_it_is_none(text, score):
    assert read_score(text) == score


def theirs(folder: Path, name: str, truth: list[dict]) -> tuple[float, float]:
    """Strict and relaxed accuracy by the arithmetic of the authors' script."""
    strict = relaxed = 0.0
    for item in truth:
        path = folder / item["question_id"] / f"{name}.json"
        if path.exists():
            told = json.loads(path.read_text("utf-8"))[0]["score"].replace("Answer: ", "").strip()
            strict += "1" in told
            relaxed += 1 if "1" in told else 0.5 if "0.5" in told else 0
    return strict / len(truth), relaxed / len(truth)


def test_what_we_write_their_script_scores_as_we_do(tmp_path):
    truth = rows(6)
    scores = [1.0, 0.5, 0.0, 1.0, None, None]
    items = [
        Item(
            case=item.case,
            reference=item.reference,
            prediction=Prediction(text="Ja, „so“.", error="" if n < 5 else "failed"),
            judgement=Judgement(score=scores[n]) if n < 4 else None,
        )
        for n, item in enumerate(suite_of(tmp_path, truth).items)
    ]
    write_predictions(tmp_path, "ours", items)
    assert theirs(tmp_path, "ours", truth) == (2 / 6, 2.5 / 6)
    assert read_prediction(tmp_path, "q1", "ours") == ("Ja, „so“.", "Answer: 0.5")
    assert read_prediction(tmp_path, "q4", "ours") == ("Ja, „so“.", ""), "theirs may judge it"
    assert read_prediction(tmp_path, "q5", "ours") is None, "no answer, no file"


@pytest.mark.parametrize("data", ["", "{}", "[]", "[1]", '[{"score": "Answer: 1"}]', "[{}]"])
def test_prediction_files_of_another_form_are_refused(tmp_path, data):
    (tmp_path / "q0").mkdir()
    (tmp_path / "q0/x.json").write_text(data)
    with pytest.raises(ValueError, match=r"x\.json"):
        read_prediction(tmp_path, "q0", "x")


def test_a_long_answer_without_an_end_is_read_at_once():
    started = time.monotonic()
    assert final_answer("<answer>" + " " * 200_000) == "<answer>"
    assert time.monotonic() - started < 1


def test_half_a_character_is_written_too(tmp_path):
    [item, *_] = suite_of(tmp_path, rows(1)).items
    write_predictions(tmp_path, "x", [replace(item, prediction=Prediction(text="a \ud83d"))])
    assert read_prediction(tmp_path, "q0", "x") == ("a \ud83d", "")


def test_a_score_may_be_a_number(tmp_path):
    (tmp_path / "q0").mkdir()
    (tmp_path / "q0/x.json").write_text('[{"prediction": "a", "score": 0}]')
    assert read_prediction(tmp_path, "q0", "x") == ("a", "0")


def test_a_video_may_be_a_link_with_a_loud_ending(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "film.bin").write_bytes(b"x")
    (tmp_path / "in/a.MP4").symlink_to(tmp_path / "film.bin")
    assert video_file(tmp_path / "in", "a").name == "a.MP4"


def test_the_bundled_set_is_of_the_form_and_of_the_bundled_ad():
    folder = AD.parent
    suite = read_adsqa(folder / "testset_question.json", folder / "testset_groundtruth.json")
    assert len(suite.items) == 20
    assert {video_file(folder, item.case.video) for item in suite.items} == {AD}
    assert {d for item in suite.items for d in item.reference.dimensions} == {*suite.dimensions}
