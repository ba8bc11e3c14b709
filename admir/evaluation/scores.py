"""The table of a run: strict and relaxed, overall and by ability, each with its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from admir.errors import OptionError
from admir.evaluation.data import Item
from admir.evaluation.run_folder import Run
from admir.evaluation.statistics import (
    Difference,
    Draws,
    Share,
    Values,
    difference,
    share,
)

OVERALL = "overall"
STRICT = "strict"
RELAXED = "relaxed (0.5 counts half)"
RELAXED_PAPER = "relaxed (0.5 or more)"
METRICS: Mapping[str, Callable[[Values], Values]] = {
    STRICT: lambda scores: (scores == 1.0).astype(np.float64),
    RELAXED: lambda scores: scores,
    RELAXED_PAPER: lambda scores: (scores >= 0.5).astype(np.float64),
}
"""From scores to what is averaged. The authors of AdsQA report the first two; AD-MIR defines its
relaxed accuracy as the third."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The shares of a group of items, by metric."""

    name: str
    shares: Mapping[str, Share]

    @property
    def count(self) -> int:
        """How many items there are."""
        return self.shares[STRICT].count


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The rows of a run (overall first), and what counts as wrong because it has no score."""

    rows: tuple[Row, ...]
    videos: int
    failures: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """An item that two runs answer differently well."""

    before: Item
    after: Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Run B against run A on the same items: by group and metric, and the items that changed.

    `judges` are those of A and B: another one is a difference of its own.
    """

    groups: Mapping[str, Mapping[str, Difference]]
    flips: tuple[Flip, ...]
    videos: int
    judges: tuple[str, str]


def scores_of(run: Run) -> Scores:
    """The table of a run; its seed draws the intervals."""
    items = run.items
    draws = Draws.of([item.case.video for item in items], seed=run.info.seed)
    values = _values(items)
    rows = [
        Row(name=name, shares={m: share(f(values), chosen, draws) for m, f in METRICS.items()})
        for name, chosen in _groups(items, run.info.dimensions).items()
    ]
    failures = tuple((item.case.id, item.failure) for item in items if item.failure)
    return Scores(rows=tuple(rows), videos=draws.videos, failures=failures)


def compare(a: Run, b: Run) -> Comparison:
    """B against A; raises OptionError where they are not of the same items."""
    after = {item.case.id: item for item in b.items}
    asked = {i.case.id: (i.case.question, i.reference.answer) for i in a.items}
    same = {name: (i.case.question, i.reference.answer) for name, i in after.items()}
    if a.info.suite != b.info.suite or asked != same:
        raise OptionError(
            f"the runs {a.info.name!r} and {b.info.name!r} are not of the same questions"
        )
    pairs = [Flip(before=item, after=after[item.case.id]) for item in a.items]
    draws = Draws.of([item.case.video for item in a.items], seed=a.info.seed)
    old, new = _values(a.items), _values([pair.after for pair in pairs])
    groups = {
        name: {m: difference(f(old), f(new), chosen, draws) for m, f in METRICS.items()}
        for name, chosen in _groups(a.items, a.info.dimensions).items()
    }
    flips = [pair for pair in pairs if pair.before.score != pair.after.score]
    flips.sort(key=lambda pair: pair.after.score - pair.before.score)
    return Comparison(
        groups=groups,
        flips=tuple(flips),
        videos=draws.videos,
        judges=(a.info.judge, b.info.judge),
    )


def worst(run: Run, most: int) -> list[Item]:
    """Answered items with the lowest scores, those first that were sure of themselves."""
    wrong = [i for i in run.items if not i.failure and i.score < 1]
    wrong.sort(key=lambda i: (i.score, not (i.prediction and i.prediction.grounded), i.case.id))
    return wrong[:most]


def _values(items: Sequence[Item]) -> Values:
    return np.array([item.score for item in items], dtype=np.float64)


def _groups(items: Sequence[Item], dimensions: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """All items, then those of each ability that any item asks for."""
    groups = {OVERALL: np.ones(len(items), dtype=np.bool_)}
    for name in dimensions:
        chosen = np.array([name in item.reference.dimensions for item in items], dtype=np.bool_)
        if chosen.any():
            groups[name] = chosen
    return groups
