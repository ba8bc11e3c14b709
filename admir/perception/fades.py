"""Fades: ramps into or out of a black or white picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from admir.perception.frame_window import (
    Floats,
    FrameWindow,
    Times,
    Transition,
    crossing,
    frames_in,
)

LONGEST_BLANK_S = 2.0
"""A black or white picture that stays longer is a shot of its own."""

_LONGEST_AT_CUT_S = 0.5
"""The same, where a cut and not a second ramp ends it."""

_FLAT = 6.0
_DARK, _LIGHT = 28.0, 228.0
_LONGEST_RAMP_S = 2.5
_LEAST_RAMP_S = 0.06
_LEAST_RAMP_FRAMES, _MOST_RAMP_FRAMES = 4, 150
_STANDSTILL_S = 0.16
_MOST_JUMP = 0.45
_OTHER_LEVEL = 5.0
_LEAST_AREA = 0.3


def fades(
    stretch: FrameWindow, cuts: Sequence[int] = (), *, opens: bool, closes: bool
) -> Iterator[Transition]:
    """Fades through black or white; a ramp does not reach over one of the `cuts` (frame indices).

    `opens` and `closes` say whether the video begins and ends with this stretch. A fade in at the
    beginning is given at time 0; a fade out at the end at infinity.
    """
    times, colours, end = stretch.times_s, stretch.colours, len(stretch.times_s)
    for first, last in _blank_runs(stretch):
        shot_from = max((c for c in cuts if c <= first), default=0)
        shot_to = min((c for c in cuts if c > last), default=end)
        old, new = slice(shot_from, first + 1), slice(last, shot_to)
        before = _ramp(times[old][::-1], colours[old][::-1])
        after = _ramp(times[new], colours[new])
        if opens and first == 0 and after is not None:
            yield Transition(kind="fade", at_s=0.0, start_s=0.0, end_s=after)
        elif closes and last == end - 1 and before is not None:
            yield Transition(kind="fade", at_s=np.inf, start_s=before, end_s=float(times[-1]))
        elif first > 0 and last < end - 1 and (before is not None or after is not None):
            yield from _around(times, first, last, before, after)


def _around(
    times: Times, first: int, last: int, before: float | None, after: float | None
) -> Iterator[Transition]:
    """One fade through a blank picture, or one each side where it stays.

    The boundary is in the middle: of the blank picture, or of all where there is one ramp only.
    """
    out_s, in_s = float(times[first]), float(times[last])
    if before is not None and after is not None and in_s - out_s <= LONGEST_BLANK_S:
        yield Transition(kind="fade", at_s=(out_s + in_s) / 2, start_s=before, end_s=after)
        return
    short = in_s - out_s <= _LONGEST_AT_CUT_S
    if before is not None:
        yield _one_sided(before, in_s if short else out_s)
    if after is not None:
        yield _one_sided(out_s if short else in_s, after)


def _one_sided(start_s: float, end_s: float) -> Transition:
    return Transition(kind="fade", at_s=(start_s + end_s) / 2, start_s=start_s, end_s=end_s)


def _blank_runs(stretch: FrameWindow) -> list[tuple[int, int]]:
    """First and last frame of each stay in black or white; a flicker of light does not end one."""
    colours = stretch.colours
    light = colours.mean(axis=1)
    blank = (stretch.contrast < _FLAT) & ((light < _DARK) | (light > _LIGHT))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], blank, [False])).astype(np.int8)))
    runs: list[tuple[int, int]] = []
    for first, after in edges.reshape(-1, 2).tolist():
        stays = runs and _stays(colours[runs[-1][1] : first + 1])
        runs.append((runs.pop()[0] if stays else first, after - 1))
    return runs


def _stays(colours: Floats) -> bool:
    """Whether pictures between two blank ones never leave them far."""
    return float(np.square(colours - colours[0]).mean(axis=1).max()) < (3 * _FLAT) ** 2


def _ramp(times: Times, colours: Floats) -> float | None:
    """When a ramp that leaves a blank picture (the first) is complete, if it is one.

    The arrays run away from the blank picture, backwards in time for a fade out. Words that fade
    in on black are no fade: the picture stays.
    """
    if len(times) < _LEAST_RAMP_FRAMES:
        return None
    near = np.abs(times - times[0])[:_MOST_RAMP_FRAMES] <= _LONGEST_RAMP_S
    away = np.abs(colours[:_MOST_RAMP_FRAMES][near] - colours[0])
    rising = np.sqrt(np.square(away).mean(axis=1))
    rising = rising[: _top_of(rising, frames_in(times, _STANDSTILL_S))]
    top = float(rising.max())
    if len(rising) < 3 or top < 2 * _FLAT or np.diff(rising).max() > _MOST_JUMP * top:
        return None
    if (away[len(rising) - 1] > _OTHER_LEVEL).mean() < _LEAST_AREA:
        return None
    low, high = (crossing(times, rising, share * top) for share in (0.2, 0.8))
    return high + (high - low) / 3 if abs(high - low) >= _LEAST_RAMP_S else None


def _top_of(rising: Floats, frames: int) -> int:
    """How many values it rises for, before it falls or rests for so many frames."""
    before, after = rising[:-frames], rising[frames:]
    rests = np.flatnonzero(after - before < 0.03 * after)
    return int(np.argmax(rising[: int(rests[0]) + frames + 1])) + 1 if len(rests) else len(rising)
