"""Small suites in the form of AdsQA, and answers in the layout of its authors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from admir.concurrency import run_sync, run_to_end
from admir.evaluation import Runner, read_adsqa
from admir.evaluation.data import Suite
from admir.evaluation.run_folder import Run, RunInfo, open_folder, read_run
from tests.model_replies import Asked

META = "The ad is about a wall. CANARY-META"


def rows(count: int, a_video: int = 2) -> list[dict[str, Any]]:
    """Items with everything that both files have."""
    return [
        {
            "question_id": f"q{n}",
            "video": f"v{n // a_video}",
            "question": f"What is seen in part {n}?",
            "answer": f"Wall {n}, CANARY-ANSWER",
            "meta_info": META,
            "question_type": [f"Type_{1 + n % 5}"],
        }
        for n in range(count)
    ]


def write_files(folder: Path, items: Sequence[dict[str, Any]]) -> tuple[Path, Path]:
    """The two files of the data set."""
    asked = [{k: row[k] for k in ("question_id", "video", "question")} for row in items]
    questions, truth = folder / "testset_question.json", folder / "testset_groundtruth.json"
    questions.write_text(json.dumps(asked))
    truth.write_text(json.dumps(items))
    return questions, truth


def suite_of(folder: Path, items: Sequence[dict[str, Any]]) -> Suite:
    return read_adsqa(*write_files(folder, items))


def write_answers(folder: Path, name: str, answers: dict[str, tuple[str, str]]) -> Path:
    """`<question_id>/<name>.json` for each (prediction, score)."""
    for case_id, (text, score) in answers.items():
        place = folder / case_id
        place.mkdir(parents=True, exist_ok=True)
        row = {"prediction": text, "score": score}
        (place / f"{name}.json").write_text(json.dumps([row], indent=4))
    return folder


def part_of(asked: Asked) -> int:
    """Which of the items a judge is asked about."""
    return int(asked.text.partition("in part ")[2].partition("?")[0])


def judged(score: str, *, contradicts: bool = False) -> dict[str, Any]:
    return {"reason": "so it is", "contradicts": contradicts, "score": score}


def go(out: Path, suite: Suite, system: Any, scorer: Any, **more: Any) -> Run:
    """Run to the end; the run as it stands on disk."""
    info = RunInfo(
        name="run",
        suite=suite.name,
        dimensions=suite.dimensions,
        config=system.config,
        judge=scorer.id if scorer else "",
    )
    with open_folder(out, info) as folder:
        runner = Runner(suite=suite, system=system, scorer=scorer, folder=folder, info=info,
                        concurrency=4, **more)  # fmt: skip
        run_sync(run_to_end(runner.run()))
    return read_run(out)
