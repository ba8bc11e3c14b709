"""AdsQA: the files of its authors, read and written in their own form (paper 3.1, B.1).

`testset_question.json` lists `question_id`, `video`, `question`; `testset_groundtruth.json` adds
`answer` (or `gt_answer`), `meta_info` and `question_type`. A prediction is a file
`<question_id>/<name>.json` that holds `[{"prediction": ..., "score": "Answer: x"}]`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from admir.batch.folders import VIDEO_SUFFIXES
from admir.errors import OptionError, VideoNotFound, writing
from admir.evaluation.data import Case, Item, Reference, Suite
from admir.trace import to_json

DIMENSIONS = ("VU", "ER", "TE", "PS", "AM")
DIMENSION_NAMES: Mapping[str, str] = {
    "VU": "visual concepts",
    "ER": "emotion",
    "TE": "theme and core message",
    "PS": "persuasion strategy",
    "AM": "audience",
}
MOST_WORDS = 30
"""The authors' scorer reads no more of an answer."""

_TYPES = {f"Type_{n}": name for n, name in enumerate(DIMENSIONS, start=1)}
_ID = re.compile(r"[\w-][\w.-]{0,199}")
_OURS = (".json", ".jsonl", ".html", ".md", ".svg")
"""Endings of files that lie beside the folders of a run, each named by an id."""

_SCORE = re.compile(r"\s*(?:Answer:)?\s*(0\.5|[01](?:\.0)?)\s*\.?\s*")


def read_adsqa(questions: Path, groundtruth: Path) -> Suite:
    """The suite of the two files. The cases are those of the ground truth.

    One that the questions lack counts as wrong and says so; a question without ground truth is
    left out and named. Raises OptionError where a file or one of its items is of another form.
    """
    asked = _by_id(questions, "--questions")
    true = _by_id(groundtruth, "--groundtruth")
    if not true:
        raise OptionError(f"--groundtruth {groundtruth.name!r} holds no items")
    return Suite(
        name="AdsQA",
        dimensions=DIMENSIONS,
        items=tuple(_item(name, asked.get(name), row, groundtruth) for name, row in true.items()),
        left_out=tuple(name for name in asked if name not in true),
        files={"questions": _digest(questions), "ground truth": _digest(groundtruth)},
    )


def _by_id(path: Path, option: str) -> dict[str, Mapping[str, Any]]:
    try:
        rows = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise OptionError(f"{option} {path.name!r} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{option} {path.name!r} is no JSON: {error}") from None
    if not isinstance(rows, list):
        raise OptionError(f"{option} {path.name!r} must hold a list of items")
    found: dict[str, Mapping[str, Any]] = {}
    for number, row in enumerate(rows, start=1):
        name = row.get("question_id") if isinstance(row, dict) else None
        if not isinstance(name, str) or not _ID.fullmatch(name) or name.endswith(_OURS):
            raise OptionError(f"{option} {path.name!r}: item {number} has no usable `question_id`")
        if name in found:
            raise OptionError(f"{option} {path.name!r}: {name!r} stands there twice")
        found[name] = row
    return found


def _item(name: str, asked: Mapping[str, Any] | None, true: Mapping[str, Any], path: Path) -> Item:
    """The case as the questions have it: nothing of the ground truth gets into it."""
    golden = true.get("answer", true.get("gt_answer"))
    if not isinstance(golden, str) or not golden.strip():
        raise OptionError(f"--groundtruth {path.name!r}: {name!r} has no `answer`")
    types = true.get("question_type") or []
    types = [types] if isinstance(types, str) else types
    if not isinstance(types, list) or not all(isinstance(each, str) for each in types):
        raise OptionError(f"--groundtruth {path.name!r}: {name!r} has no usable `question_type`")
    reference = Reference(
        answer=golden,
        meta_info=_text(true.get("meta_info")),
        dimensions=tuple(dict.fromkeys(_TYPES[t] for t in types if t in _TYPES)),
    )
    if asked is None:
        own = str(true.get("video") or name)  # one of its own, where nothing tells
        case = Case(id=name, video=own, question=str(true.get("question") or ""))
        return Item(case=case, reference=reference, fault="the file of questions lacks it")
    video, question = asked.get("video"), asked.get("question")
    if not isinstance(video, str) or not isinstance(question, str) or not video.strip():
        raise OptionError(f"--questions: {name!r} needs the texts `video` and `question`")
    return Item(case=Case(id=name, video=video, question=question), reference=reference)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def video_file(folder: Path, name: str) -> Path:
    """The file of a video of the data set: by its name, with its ending or without.

    Raises VideoNotFound where there is none, or where the name leads out of the folder.
    """
    inside = not Path(name).is_absolute() and ".." not in Path(name).parts
    known = sorted(VIDEO_SUFFIXES)
    for ending in ("", *known, *map(str.upper, known)) if inside else ():
        try:
            if (path := folder / f"{name}{ending}").is_file():
                return path
        except (OSError, ValueError):  # a name that no file can have
            break
    raise VideoNotFound(f"no video {name[:80]!r} in {folder}")


def final_answer(text: str) -> str:
    """What the authors' scorer reads: what stands in `<answer>`, if anything; 30 words of it."""
    start = text.rfind("<answer>")
    end = text.find("</answer>", start)
    inner = text[start + len("<answer>") : end] if 0 <= start < end else text
    return " ".join(inner.split()[:MOST_WORDS])


def read_score(text: str) -> float | None:
    """0, 0.5 or 1 out of `Answer: 0.5`; None where it says something else."""
    found = _SCORE.fullmatch(text)
    return float(found[1]) if found else None


def read_prediction(folder: Path, case_id: str, name: str) -> tuple[str, str] | None:
    """Prediction and score of a file in the authors' layout; None where there is no such file.

    Raises ValueError where it is of another form.
    """
    path = folder / case_id / f"{name}.json"
    try:
        rows = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    first = rows[0] if isinstance(rows, list) and rows else None
    text = first.get("prediction") if isinstance(first, dict) else None
    if first is None or not isinstance(text, str):
        raise ValueError(f"{path} holds no prediction")
    score = first.get("score")
    return text, "" if score is None else str(score)


def write_predictions(folder: Path, name: str, items: Sequence[Item]) -> None:
    """Every answer in the authors' layout, with its score where it has one.

    A case without an answer has no file, which their scorer counts as wrong. Raises
    MemoryStoreError where the disk does not take it.
    """
    for item in items:
        if item.prediction is None or item.prediction.error:
            continue
        told = item.judgement.score if item.judgement else None
        score = "" if told is None else f"Answer: {told:g}"
        row = {"prediction": item.prediction.text, "score": score}
        path = folder / item.case.id / f"{name}.json"
        text = to_json([row], indent=4)
        with writing(path):
            if path.is_file() and path.read_text("utf-8") == text:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
