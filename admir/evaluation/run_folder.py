"""A run on disk: what it is of, what became of each item, and what is done when it is broken off.

run.json             what was run: suite, system, settings, models, prompts, judge, seed, code
journal.jsonl        every answer and every score as soon as it is there
predictions.jsonl    an item a line, in the order of the suite
<question_id>/<name>.json   the same in the layout of the authors of AdsQA
report.html, report.md      for people
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from admir.errors import OptionError, writing
from admir.evaluation.data import Case, Item, Judgement, Prediction, Reference
from admir.memory.fs import write_whole
from admir.memory.journal import Journal
from admir.trace import to_json, to_plain
from admir.types import Usage

RUN, JOURNAL, PREDICTIONS = "run.json", "journal.jsonl", "predictions.jsonl"
_PREDICTION = TypeAdapter(Prediction)
_JUDGEMENT = TypeAdapter(Judgement)
_USAGE = TypeAdapter(Usage)
_NO_USAGE = Usage()
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """What was run. `config` is what the answers depend on; `judge` is empty where none judged."""

    name: str
    suite: str
    dimensions: tuple[str, ...]
    config: Mapping[str, Any]
    judge: str = ""
    seed: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    admir_version: str = ""
    code: str = ""
    build_usage: Usage = _NO_USAGE
    spent: Usage = _NO_USAGE
    stopped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it stands on disk: perhaps broken off, then `info.stopped` says why."""

    info: RunInfo
    items: tuple[Item, ...]

    @property
    def usage(self) -> Usage:
        """What its answers cost, without judging and without memories."""
        return sum((i.prediction.usage for i in self.items if i.prediction), _NO_USAGE)

    @property
    def is_judged(self) -> bool:
        """Whether there are scores at all: without a judge there are answers alone."""
        return bool(self.info.judge)

    @property
    def judge_usage(self) -> Usage:
        """What its scores cost."""
        return sum((i.judgement.usage for i in self.items if i.judgement), _NO_USAGE)

    @property
    def seconds(self) -> float:
        """How long its answers took, one after another."""
        return sum(i.prediction.seconds for i in self.items if i.prediction)


_INFO = TypeAdapter(RunInfo)


class RunFolder:
    """A run under way. What is kept is on disk at once. Raises MemoryStoreError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal = Journal(path / JOURNAL)

    def prediction(self, case: Case) -> Prediction | None:
        """The answer that is there already; one that failed is asked for again."""
        found = _kept(_PREDICTION, self._journal.get(f"prediction:{case.id}"))
        return None if found is None or found.error else found

    def keep_prediction(self, case: Case, prediction: Prediction) -> None:
        """Write an answer down."""
        self._journal.put(f"prediction:{case.id}", to_jsonable_python(prediction))

    def judgement(self, case: Case, text: str, judge: str) -> Judgement | None:
        """The score that this judge gave this very answer; one that failed is asked for again."""
        found = _kept(_JUDGEMENT, self._journal.get(_judged(case, text, judge)))
        return None if found is None or found.error else found

    def keep_judgement(self, case: Case, text: str, judge: str, judgement: Judgement) -> None:
        """Write a score down."""
        self._journal.put(_judged(case, text, judge), to_jsonable_python(judgement))

    def build_usage(self) -> Usage:
        """What building memories for this run has cost."""
        return _kept(_USAGE, self._journal.get("builds")) or _NO_USAGE

    def spent(self) -> Usage:
        """What all of this run has cost, with what failed and was asked for again."""
        return _kept(_USAGE, self._journal.get("spent")) or _NO_USAGE

    def add_build(self, usage: Usage) -> None:
        """Count a build."""
        if usage != _NO_USAGE:
            self._journal.put("builds", to_jsonable_python(self.build_usage() + usage))
            self.add_spent(usage)

    def add_spent(self, usage: Usage) -> None:
        """Count an answer or a score."""
        if usage != _NO_USAGE:
            self._journal.put("spent", to_jsonable_python(self.spent() + usage))

    def write(self, run: Run) -> None:
        """Write `run.json` and `predictions.jsonl` anew."""
        with writing(self.path):
            write_whole(self.path / RUN, to_json(to_jsonable_python(run.info), indent=1) + "\n")
            lines = "".join(f"{to_json(_row(item))}\n" for item in run.items)
            write_whole(self.path / PREDICTIONS, lines)


def _kept(kind: TypeAdapter[T], value: Any) -> T | None:
    """What was written down; None where there is nothing, or nothing that can be read."""
    try:
        return kind.validate_python(value) if value else None
    except ValidationError:
        return None


def _judged(case: Case, text: str, judge: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"judgement:{case.id}:{digest}:{judge}"


@contextmanager
def open_folder(path: Path, info: RunInfo) -> Iterator[RunFolder]:
    """The folder of a run, new or from before.

    Raises OptionError where it holds another run, or another process writes to it, and
    MemoryStoreError.
    """
    with writing(path):
        if path.exists() and not path.is_dir():
            raise OptionError(f"--out {str(path)!r} is no folder")
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise OptionError(f"--out {path.name!r} is being written by another process") from None
    try:
        _check_same(path, info)
        yield RunFolder(path)
    finally:
        lock.release()


def _check_same(path: Path, info: RunInfo) -> None:
    """Raise OptionError where the folder is of a run whose answers depend on other things."""
    if not (path / RUN).exists():
        with writing(path):
            write_whole(path / RUN, to_json(to_jsonable_python(info), indent=1) + "\n")
        return
    before = _read_info(path)
    for what, old, new in (
        ("suite", before.suite, info.suite),
        ("name", before.name, info.name),
        ("files", before.files, info.files),
        *((key, before.config.get(key), info.config.get(key)) for key in info.config),
    ):
        if to_plain(old) != to_plain(new):
            raise OptionError(
                f"--out {path.name!r} holds a run of another {_where(what, old, new)}; choose "
                "another --out, or remove it"
            )


def _where(what: str, old: Any, new: Any) -> str:
    """Which of the settings differs, where these do."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return what
    keys = {**old, **new}
    name = next(key for key in keys if to_plain(old.get(key)) != to_plain(new.get(key)))
    return f"{what} ({name})"


def read_run(path: Path) -> Run:
    """A run from its folder; raises OptionError where that holds none."""
    info = _read_info(path)
    try:
        lines = (path / PREDICTIONS).read_text("utf-8").splitlines()
        return Run(info=info, items=tuple(_item(json.loads(line)) for line in lines))
    except OSError as error:
        raise OptionError(f"{str(path)!r} holds no whole run: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise OptionError(f"{path / PREDICTIONS} cannot be read: {error}") from None


def _read_info(path: Path) -> RunInfo:
    try:
        return _INFO.validate_json((path / RUN).read_bytes())
    except OSError as error:
        raise OptionError(f"{str(path)!r} holds no run: {error.strerror}") from None
    except ValidationError as error:
        raise OptionError(f"{path / RUN} cannot be read: {error.errors()[0]['msg']}") from None


def _row(item: Item) -> dict[str, Any]:
    """An item as people read it. The meta-information stays with its owners."""
    prediction = item.prediction or Prediction()
    return {
        "question_id": item.case.id,
        "video": item.case.video,
        "question": item.case.question,
        "dimensions": list(item.reference.dimensions),
        "answer": item.reference.answer,
        "prediction": prediction.text,
        "score": item.score,
        "failure": item.failure,
        "reason": item.judgement.reason if item.judgement else "",
        "fault": item.fault,
        "outcome": to_jsonable_python(item.prediction),
        "judgement": to_jsonable_python(item.judgement),
    }


def _item(row: Mapping[str, Any]) -> Item:
    outcome, judgement = row["outcome"], row["judgement"]
    return Item(
        case=Case(id=row["question_id"], video=row["video"], question=row["question"]),
        reference=Reference(
            answer=row["answer"], meta_info="", dimensions=tuple(row["dimensions"])
        ),
        prediction=_PREDICTION.validate_python(outcome) if outcome else None,
        judgement=_JUDGEMENT.validate_python(judgement) if judgement else None,
        fault=row["fault"],
    )


def without_meta(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items as they are written: what only a judge may see is left out."""
    return tuple(replace(item, reference=replace(item.reference, meta_info="")) for item in items)


@cache
def own_code() -> str:
    """A short hash of the sources of this program: two runs of one version may differ in it."""
    digest = hashlib.sha256()
    for path in _sources(files("admir")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _sources(folder: Traversable) -> Iterator[Traversable]:
    for path in sorted(folder.iterdir(), key=lambda each: each.name):
        if path.is_dir():
            yield from _sources(path)
        elif path.name.endswith((".py", ".md", ".toml", ".txt")):
            yield path
