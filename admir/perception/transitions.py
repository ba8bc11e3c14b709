"""Dissolves and fades in a stretch of small frames.

In a dissolve from A to B each picture is (1-a)A + aB while a goes from 0 to 1. Three things follow,
and together they tell it from motion and from light: the picture in the middle is explained by
the two around it; fine detail, being unrelated in A and B, loses half of its energy on the way;
and no motion carries A into B. A fade is a ramp of contrast into or out of a black or white
picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from admir.perception.decode import Pixels
from admir.perception.likeness import likeness
from admir.types import Transition

Floats = NDArray[np.float32]

LONGEST_BLACK_S = 2.0
"""A black or white picture that stays longer is a shot of its own."""

_FLAT = 6.0
_DARK, _LIGHT = 28.0, 228.0
_LONGEST_RAMP_S = 2.5
_LEAST_RAMP_FRAMES, _MOST_RAMP_FRAMES = 4, 150
_SHORTEST_RAMP_S = 0.1
_HALVES_S = (0.1, 0.17, 0.3, 0.5, 0.8, 1.15)
_LEAST_CHANGE = 6.0
_MOST_UNEXPLAINED = 0.2
_MOST_KEPT_DETAIL = 0.55
_MOST_ALIKE = 0.5
_MOST_SAME = 0.85
_LEAST_AREA = 0.5
_LEAST_RAMP_AREA = 0.3
_BLOCK_CHANGE = 5.0
_MOST_STEP = 0.4
_MOST_BACK = 0.12
_SMOOTH_S = 0.16
_STANDSTILL_S = 0.16


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Consecutive frames: times [n], colours [n, pixels * 3], detail [n], grey pictures.

    `colours` are of a picture about 32 pixels wide, of 0 to 255; `detail` is the energy of the
    differences between neighbouring pixels of the thumb; `greys` are half the thumb's size.
    """

    times_s: NDArray[np.float64]
    colours: Floats
    detail: Floats
    greys: Sequence[Pixels]

    def every(self, step: int) -> Stretch:
        """Each `step`-th frame."""
        return Stretch(
            times_s=self.times_s[::step],
            colours=self.colours[::step],
            detail=self.detail[::step],
            greys=self.greys[::step],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A boundary and the time it takes. `at_s` is where the new shot begins."""

    kind: Transition
    at_s: float
    start_s: float
    end_s: float


def fades(
    stretch: Stretch, cuts: Sequence[int] = (), *, opens: bool, closes: bool
) -> Iterator[Change]:
    """Fades through black or white; a ramp does not reach over one of the `cuts` (frame indices).

    `opens` and `closes` say whether the video begins and ends with this stretch. A fade in at the
    beginning is given at time 0; a fade out at the end at infinity.
    """
    times, colours, end = stretch.times_s, stretch.colours, len(stretch.times_s)
    for first, last in _blank_runs(colours):
        shot_from = max((c for c in cuts if c <= first), default=0)
        shot_to = min((c for c in cuts if c > last), default=end)
        old, new = slice(shot_from, first + 1), slice(last, shot_to)
        before = _ramp(times[old][::-1], colours[old][::-1])
        after = _ramp(times[new], colours[new])
        if opens and first == 0 and after is not None:
            yield Change(kind="fade", at_s=0.0, start_s=0.0, end_s=after)
        elif closes and last == end - 1 and before is not None:
            yield Change(kind="fade", at_s=np.inf, start_s=before, end_s=float(times[-1]))
        elif first > 0 and last < end - 1 and not before is after is None:
            yield from _around(times, first, last, before, after)


def _around(
    times: NDArray[np.float64], first: int, last: int, before: float | None, after: float | None
) -> Iterator[Change]:
    """One fade through a blank picture, or one each side where it stays."""
    out_s, in_s = float(times[first]), float(times[last])
    start_s = out_s if before is None else before
    end_s = in_s if after is None else after
    if in_s - out_s <= LONGEST_BLACK_S:
        both = before is not None and after is not None
        at_s = (out_s + in_s) / 2 if both else (start_s + end_s) / 2
        yield Change(kind="fade", at_s=at_s, start_s=start_s, end_s=end_s)
        return
    if before is not None:
        yield Change(kind="fade", at_s=out_s, start_s=before, end_s=out_s)
    if after is not None:
        yield Change(kind="fade", at_s=in_s, start_s=in_s, end_s=after)


def _blank_runs(colours: Floats) -> list[tuple[int, int]]:
    """First and last frame of each stay in black or white; a flicker of light does not end one."""
    picture = colours.reshape(len(colours), -1, 3)
    contrast = np.sqrt(picture.var(axis=1).mean(axis=1))
    light = colours.mean(axis=1)
    blank = (contrast < _FLAT) & ((light < _DARK) | (light > _LIGHT))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], blank, [False])).astype(np.int8)))
    runs: list[tuple[int, int]] = []
    for first, after in edges.reshape(-1, 2).tolist():
        stays = runs and _stays(colours[runs[-1][1] : first + 1])
        runs.append((runs.pop()[0] if stays else first, after - 1))
    return runs


def _stays(colours: Floats) -> bool:
    """Whether pictures between two blank ones never leave them far."""
    return float(np.square(colours - colours[0]).mean(axis=1).max()) < (3 * _FLAT) ** 2


def _ramp(times: NDArray[np.float64], colours: Floats) -> float | None:
    """When a ramp that leaves a blank picture (the first) is complete, if it is one.

    The arrays run away from the blank picture, backwards in time for a fade out. Words that fade
    in on black are no fade: the picture stays.
    """
    if len(times) < _LEAST_RAMP_FRAMES:
        return None
    near = np.abs(times - times[0])[:_MOST_RAMP_FRAMES] <= _LONGEST_RAMP_S
    away = np.abs(colours[:_MOST_RAMP_FRAMES][near] - colours[0])
    rising = np.sqrt(np.square(away).mean(axis=1))
    rising = rising[: _top_of(rising, _frames(times, _STANDSTILL_S))]
    top = float(rising.max())
    if len(rising) < 3 or top < 2 * _FLAT or np.diff(rising).max() > 0.45 * top:
        return None
    if (away[len(rising) - 1] > _BLOCK_CHANGE).mean() < _LEAST_RAMP_AREA:
        return None
    low, high = (_crossing(times, rising, share * top) for share in (0.2, 0.8))
    if abs(high - low) < 0.6 * _SHORTEST_RAMP_S:
        return None
    return float(high + (high - low) / 3)


def _top_of(rising: Floats, frames: int) -> int:
    """How many values it rises for, before it falls or rests for so many frames."""
    before, after = rising[:-frames], rising[frames:]
    rests = np.flatnonzero(after - before < 0.03 * after)
    return int(np.argmax(rising[: int(rests[0]) + frames + 1])) + 1 if len(rests) else len(rising)


def _frames(times: NDArray[np.float64], length_s: float) -> int:
    """How many frames of the stretch last so long; at least one, never all."""
    span_s = abs(float(times[-1] - times[0]))
    return max(1, min(len(times) - 1, round(length_s * (len(times) - 1) / max(span_s, 1e-6))))


def _crossing(times: NDArray[np.float64], rising: Floats, level: float) -> float:
    """The time at which a rising course passes a level."""
    after = max(1, int(np.argmax(rising >= level)))
    a, b = float(rising[after - 1]), float(rising[after])
    share = (level - a) / (b - a) if b > a else 0.0
    return float(times[after - 1] + min(1.0, max(0.0, share)) * (times[after] - times[after - 1]))


def dissolves(stretch: Stretch, cuts_s: Sequence[float] = ()) -> Iterator[Change]:
    """Dissolves without a cut in them, the clearest first where two overlap."""
    taken: list[Change] = []
    for middle, first, last in _candidates(stretch):
        if any(c.start_s <= stretch.times_s[middle] <= c.end_s for c in taken):
            continue
        change = _judge(stretch, first, last)
        if change and any(change.start_s < c < change.end_s for c in cuts_s):
            continue
        if change and not any(c.start_s < change.end_s and change.start_s < c.end_s for c in taken):
            taken.append(change)
            yield change


def _candidates(stretch: Stretch) -> list[tuple[int, int, int]]:
    """(middle, first, last) frames where the middle is half of each end, the clearest first."""
    times, colours = stretch.times_s, stretch.colours
    scored: list[tuple[float, int, int, int]] = []
    for half_s in _HALVES_S:
        first = np.searchsorted(times, times - half_s - 1e-6)
        last = np.minimum(np.searchsorted(times, times + half_s - 1e-6), len(times) - 1)
        share, unexplained, change = _mixture(colours, colours[first], colours[last])
        score = change * (1 - 3 * unexplained)
        good = (np.abs(share - 0.5) < 0.15) & (score > 0.4 * change) & (change > _LEAST_CHANGE)
        peaks = good & (score >= _around_max(np.where(good, score, 0)))
        scored += [
            (float(score[i]), int(i), int(first[i]), int(last[i])) for i in np.flatnonzero(peaks)
        ]
    return [(middle, first, last) for _, middle, first, last in sorted(scored, reverse=True)]


def _around_max(score: Floats) -> Floats:
    """[n]: the largest of a frame and its two neighbours."""
    return np.maximum(score, np.maximum(np.roll(score, 1), np.roll(score, -1)))


def _mixture(middle: Floats, old: Floats, new: Floats) -> tuple[Floats, Floats, Floats]:
    """How each middle follows from old and new, all [n].

    How far it lies on the way from old to new; the share of energy that this leaves unexplained;
    how much old and new differ, in levels.
    """
    way = new - old
    energy = np.einsum("nd,nd->n", way, way) + 1e-3
    moved = middle - old
    share = np.einsum("nd,nd->n", moved, way) / energy
    moved -= share[:, None] * way
    unexplained = np.einsum("nd,nd->n", moved, moved) / energy
    return share, unexplained, np.sqrt(energy / way.shape[1])


def _judge(stretch: Stretch, first: int, last: int) -> Change | None:
    """The dissolve between two frames, or None where motion or light explains the change."""
    inner = slice(first, last + 1)
    colours, times = stretch.colours[inner], stretch.times_s[inner]
    ends = (np.broadcast_to(colours[k], colours.shape) for k in (0, -1))
    share, unexplained, _ = _mixture(colours, *ends)
    midst = (share > 0.2) & (share < 0.8)
    if not _is_gradual(times, share) or unexplained[midst].mean() > _MOST_UNEXPLAINED:
        return None
    if _kept_detail(share, stretch.detail[inner]) > _MOST_KEPT_DETAIL:
        return None
    if _area(colours) < _LEAST_AREA or _correlation(colours[0], colours[-1]) > _MOST_SAME:
        return None
    if likeness(stretch.greys[first], stretch.greys[last]) > _MOST_ALIKE:
        return None
    return _timed(times, share)


def _is_gradual(times: NDArray[np.float64], share: Floats) -> bool:
    """Without a jump, and never far back; flicker is smoothed away."""
    if np.abs(np.diff(share)).max() > _MOST_STEP:
        return False
    frames = _frames(times, _SMOOTH_S)
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
    """Of the pictures without their mean colours; 0 where one is plain."""
    a, b = (c.reshape(-1, 3) - c.reshape(-1, 3).mean(axis=0) for c in (old, new))
    norm = float(np.sqrt(np.square(a).sum() * np.square(b).sum()))
    return float((a * b).sum()) / norm if norm > a.size else 0.0


def _area(colours: Floats) -> float:
    """The share of the picture that changes."""
    change = np.abs(colours[-1] - colours[0]).reshape(-1, 3).max(axis=1)
    return float((change > max(_BLOCK_CHANGE, 0.2 * float(change.mean()))).mean())


def _timed(times: NDArray[np.float64], share: Floats) -> Change | None:
    """Its span, from when a fifth and four fifths of the way are gone."""
    rising = np.maximum.accumulate(share)
    low, high = (_crossing(times, rising, level) for level in (0.2, 0.8))
    if high - low < 0.6 * _SHORTEST_RAMP_S:
        return None
    margin_s = (high - low) / 3
    middle_s = _crossing(times, rising, 0.5)
    at_s = float(times[min(len(times) - 1, int(np.searchsorted(times, middle_s)))])
    return Change(kind="dissolve", at_s=at_s, start_s=low - margin_s, end_s=high + margin_s)
