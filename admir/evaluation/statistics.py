"""Shares with their intervals, and whether two runs differ: nothing here knows of questions.

Questions about one video are not independent of each other: whole videos are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROUNDS = 1_000
LEVEL = 0.95
_LEAST_VIDEOS = 2
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A mean from 0 to 1 over `count` items, and its 95% interval.

    Without an interval where the items are of one video, or there are none.
    """

    mean: float
    count: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """How often each video is drawn in each round: int64 [rounds, videos]."""

    counts: NDArray[np.int64]
    of_item: NDArray[np.int64]
    """The index of each item's video, [items]."""

    @classmethod
    def of(cls, videos: Sequence[str], *, rounds: int = ROUNDS, seed: int = 0) -> Draws:
        """`rounds` times as many videos as there are, with replacement. `videos` [items]."""
        names = {name: index for index, name in enumerate(dict.fromkeys(videos))}
        total = len(names)
        evenly = np.full(total, 1 / max(total, 1))
        drawn = np.zeros((rounds, 0), dtype=np.int64)
        if total:
            drawn = np.random.default_rng(seed).multinomial(total, evenly, rounds)
        return cls(counts=drawn, of_item=np.array([names[v] for v in videos], dtype=np.int64))

    @property
    def videos(self) -> int:
        """How many videos there are."""
        return int(self.counts.shape[1])

    def means(self, values: Values, chosen: NDArray[np.bool_]) -> Values:
        """The mean of the chosen items in each round, [rounds]; rounds without any are left out."""
        sums = np.bincount(self.of_item[chosen], values[chosen], minlength=self.videos)
        sizes = np.bincount(self.of_item[chosen], minlength=self.videos)
        total = self.counts @ sizes
        kept = total > 0
        return np.asarray((self.counts @ sums)[kept] / total[kept], dtype=np.float64)


def share(values: Values, chosen: NDArray[np.bool_], draws: Draws) -> Share:
    """The mean of the chosen items (`values` [items] in [0, 1]) with its percentile interval."""
    count = int(chosen.sum())
    mean = float(values[chosen].mean()) if count else 0.0
    if len(set(draws.of_item[chosen].tolist())) < _LEAST_VIDEOS:
        return Share(mean=mean, count=count)
    low, high = _interval(draws.means(values, chosen))
    return Share(mean=mean, count=count, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much more B has than A, with its 95% interval over videos.

    `gained` and `lost` are items that only B, or only A, has wholly right; `p_value` is McNemar's
    exact one for these, which takes items for independent.
    """

    mean: float
    count: int
    low: float | None
    high: float | None
    gained: int
    lost: int
    p_value: float

    @property
    def is_sure(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def difference(a: Values, b: Values, chosen: NDArray[np.bool_], draws: Draws) -> Difference:
    """B against A on the same chosen items, `a` and `b` [items]."""
    gained = int(((b == 1) & (a < 1) & chosen).sum())
    lost = int(((a == 1) & (b < 1) & chosen).sum())
    found = share(b - a, chosen, draws)
    return Difference(
        mean=found.mean,
        count=found.count,
        low=found.low,
        high=found.high,
        gained=gained,
        lost=lost,
        p_value=mcnemar(gained, lost),
    )


def mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided p-value of McNemar's test: a fair coin for each item that changed."""
    total, ways, tail = gained + lost, 1, 0
    for k in range(min(gained, lost) + 1):  # `ways` to choose k of all
        tail += ways
        ways = ways * (total - k) // (k + 1)
    return min(1.0, float(2 * tail / 2**total))


def _interval(means: Values) -> tuple[float, float]:
    edge = (1 - LEVEL) / 2
    low, high = np.quantile(means, [edge, 1 - edge])
    return float(low), float(high)
