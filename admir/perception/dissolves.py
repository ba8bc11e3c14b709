"""Dissolves: one picture turns into another while both are seen.

In a dissolve from A to B each picture is (1-a)A + aB while a goes from 0 to 1. Three things follow,
and together they tell it from motion and from light: the picture in the middle is explained by
the two around it; fine detail, being unrelated in A and B, loses half of its energy on the way;
and no motion carries A into B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from admir.perception.frame_window import (
    Floats,
    FrameWindow,
    Times,
    Transition,
    area_changed,
    crossing,
    frames_in,
)
from admir.perception.similarity import likeness

_HALVES_S = (0.1, 0.17, 0.3, 0.5, 0.8, 1.15)
_BLOCK = 64
_LEAST_CHANGE = 6.0
_MOST_UNEXPLAINED = 0.2
_MOST_KEPT_DETAIL = 0.55
_MOST_ALIKE = 0.42
_MOST_SAME = 0.85
_LEAST_AREA = 0.5
_MOST_STEP = 0.4
_MOST_BACK = 0.12
_SMOOTH_S = 0.16
_LEAST_S = 0.06

Candidate = tuple[int, int, int]
"""The frames in the middle, before and after."""


def dissolves(
    stretch: FrameWindow, from_s: float, to_s: float, cuts_s: Sequence[float] = ()
) -> Iterator[Transition]:
    """Dissolves around these times, without a cut in them, the clearest first where two overlap."""
    taken: list[Transition] = []
    for middle, first, last in _candidates(stretch, from_s, to_s):
        if any(c.start_s <= stretch.times_s[middle] <= c.end_s for c in taken):
            continue
        change = _judge(stretch, first, last)
        if change and _is_free(change, taken, cuts_s):
            taken.append(change)
            yield change


def _is_free(change: Transition, taken: Sequence[Transition], cuts_s: Sequence[float]) -> bool:
    """Whether it overlaps none that is taken, and no cut lies in it."""
    overlaps = any(c.start_s < change.end_s and change.start_s < c.end_s for c in taken)
    return not overlaps and not any(change.start_s < cut_s < change.end_s for cut_s in cuts_s)


def _candidates(stretch: FrameWindow, from_s: float, to_s: float) -> list[Candidate]:
    """Where the middle is half of each end, the clearest first."""
    begin, end = np.searchsorted(stretch.times_s, (from_s, to_s)).tolist()
    scored = [
        found
        for start in range(begin, end, _BLOCK)
        for found in _scored(stretch, start, min(end, start + _BLOCK))
    ]
    return [candidate for _, candidate in sorted(scored, reverse=True)]


def _scored(stretch: FrameWindow, begin: int, end: int) -> Iterator[tuple[float, Candidate]]:
    """Candidates among these middles, with their scores."""
    times, middle = stretch.times_s, np.arange(begin, end)
    for half_s in _HALVES_S:
        first = np.searchsorted(times, times[middle] - half_s - 1e-6)
        last = np.minimum(np.searchsorted(times, times[middle] + half_s - 1e-6), len(times) - 1)
        score = _score(*(stretch.colours[k] for k in (middle, first, last)))
        for i in np.flatnonzero(_peaks(score)):
            yield float(score[i]), (int(middle[i]), int(first[i]), int(last[i]))


def _score(middle: Floats, old: Floats, new: Floats) -> Floats:
    """Energy per value of the change, less what a mixture leaves unexplained; 0 for no mixture."""
    way, moved = new - old, middle - old
    energy = _products(way, way) + 1e-3
    share = _products(moved, way) / energy
    unexplained = np.maximum(0, _products(moved, moved) / energy - share**2)
    good = (np.abs(share - 0.5) < 0.15) & (unexplained < _MOST_UNEXPLAINED)
    return np.where(good, energy / way.shape[1] * (1 - 3 * unexplained) ** 2, 0)


def _products(a: Floats, b: Floats) -> Floats:
    """[n] of two [n, d], on this thread alone: BLAS would wake others, which decode meanwhile."""
    return np.asarray(np.einsum("nd,nd->n", a, b), dtype=np.float32)


def _peaks(score: Floats) -> NDArray[np.bool_]:
    """[n]: whether a score counts and is no less than the two beside it."""
    beside = np.maximum(np.append(score[1:], 0), np.append(0, score[:-1]))
    return np.asarray((score > _LEAST_CHANGE**2) & (score >= beside))


def _judge(stretch: FrameWindow, first: int, last: int) -> Transition | None:
    """The dissolve between two frames, or None where motion or light explains the change."""
    inner = slice(first, last + 1)
    colours, times = stretch.colours[inner], stretch.times_s[inner]
    if (
        area_changed(colours[0], colours[-1]) < _LEAST_AREA
        or _correlation(colours[0], colours[-1]) > _MOST_SAME
    ):
        return None
    share, unexplained = _course(colours)
    midst = (share > 0.2) & (share < 0.8)
    if not _is_gradual(times, share) or unexplained[midst].mean() > _MOST_UNEXPLAINED:
        return None
    if _kept_detail(share, stretch.detail[inner]) > _MOST_KEPT_DETAIL:
        return None
    if likeness(stretch.greys[first], stretch.greys[last]) > _MOST_ALIKE:
        return None
    return _timed(times, share)


def _course(colours: Floats) -> tuple[Floats, Floats]:
    """How far each picture is on the way from the first to the last, and what is unexplained."""
    way, moved = colours[-1] - colours[0], colours - colours[0]
    energy = float(way @ way) + 1e-3
    share = moved @ way / energy
    moved -= share[:, None] * way
    return share, np.einsum("nd,nd->n", moved, moved) / energy


def _is_gradual(times: Times, share: Floats) -> bool:
    """Without a jump, and never far back; flicker is smoothed away."""
    if np.abs(np.diff(share)).max() > _MOST_STEP:
        return False
    frames = frames_in(times, _SMOOTH_S)
    smooth = np.convolve(share, np.full(frames, 1 / frames), "valid")
    return float((np.maximum.accumulate(smooth) - smooth).max()) < _MOST_BACK


def _kept_detail(share: Floats, detail: Floats) -> float:
    """0 where detail of old and new is unrelated, as in a dissolve; 1 where it is the same.

    The energy of a mixture is (1-a)^2 E_old + a^2 E_new + 2 a(1-a) C; C is fitted.
    """
    shared = 2 * share * (1 - share)
    rest = detail - (1 - share) ** 2 * detail[0] - share**2 * detail[-1]
    fitted = float(rest @ shared) / max(1e-6, float(shared @ shared))
    return fitted / max(1.0, float(detail[0] + detail[-1]) / 2)


def _correlation(old: Floats, new: Floats) -> float:
    """Of the pictures without their mean colours; 0 where they are plain."""
    a, b = (c.reshape(-1, 3) - c.reshape(-1, 3).mean(axis=0) for c in (old, new))
    norm = float(np.sqrt(np.square(a).sum() * np.square(b).sum()))
    return float((a * b).sum()) / norm if norm > a.size else 0.0


def _timed(times: Times, share: Floats) -> Transition | None:
    """Its span, from when a fifth and four fifths of the way are gone."""
    rising = np.maximum.accumulate(share)
    low, middle, high = (crossing(times, rising, level) for level in (0.2, 0.5, 0.8))
    if high - low < _LEAST_S:
        return None
    margin_s = (high - low) / 3
    at_s = float(times[min(len(times) - 1, int(np.searchsorted(times, middle)))])
    return Transition(kind="dissolve", at_s=at_s, start_s=low - margin_s, end_s=high + margin_s)
