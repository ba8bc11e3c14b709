"""What is evaluated, as data: questions, what is known of their answers, predictions, scores.

A system sees a `Case` alone. What is true of it stands in its `Reference`, which only a judge sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from admir.types import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question about a video, by the video's name in the data set."""

    id: str
    video: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What is true of a case: the golden answer, facts of the video, the abilities it asks for.

    Nothing that answers may see it.
    """

    answer: str
    meta_info: str
    dimensions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a system answers. Where it failed, `error` says why and `kind` is that of the error.

    `trace` is the file of the agent's trace, where it has one.
    """

    text: str = ""
    grounded: bool | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    trace: str = ""
    error: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The word of a judge on a prediction: `score` 0, 0.5 or 1, None where it failed (`error`)."""

    score: float | None
    reason: str = ""
    usage: Usage = field(default_factory=Usage)
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A case with what became of it. `fault` says why it cannot be asked, where it cannot."""

    case: Case
    reference: Reference
    prediction: Prediction | None = None
    judgement: Judgement | None = None
    fault: str = ""

    @property
    def score(self) -> float:
        """0, 0.5 or 1; what failed or is missing is wrong."""
        if self.judgement is None or self.judgement.score is None:
            return 0.0
        return self.judgement.score

    @property
    def failure(self) -> str:
        """Why there is no score; empty where there is one."""
        if self.fault:
            return self.fault
        if self.prediction is None:
            return "not asked"
        if self.prediction.error:
            return f"no answer: {self.prediction.error}"
        if self.judgement is None:
            return "not judged"
        return f"no score: {self.judgement.error}" if self.judgement.score is None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The cases of a benchmark in their order, each with its reference, and what does not fit.

    `dimensions` are the abilities it tells apart; `left_out` are questions that nobody can score.
    """

    name: str
    dimensions: tuple[str, ...]
    items: tuple[Item, ...]
    left_out: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def first(self, count: int | None) -> Suite:
        """The first so many of its cases."""
        return self if count is None else replace(self, items=self.items[:count])


def by_video(items: Sequence[Item]) -> dict[str, list[Item]]:
    """The items by their videos, in the order in which these come."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.case.video, []).append(item)
    return groups
