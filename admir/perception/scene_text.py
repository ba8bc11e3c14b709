"""Lines that belong to a thing in the picture told from lines laid over it.

What is laid over stands still, or slides in and then stands; what is in the scene goes where the
camera and the thing go. Only clear movement counts: in a still picture every line is an overlay.
"""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.types import Box, Span

_REACH_S = 0.5
_LEAST_REACH_S = 0.15
_SEARCH = 8
_LEAST_SHIFT = 1.5
_BETTER_THERE = 0.6
_LEAST_HEIGHT = 2.5
_MOVED = 0.02
_LEANS = 5.0


def wanders(boxes: list[Box]) -> bool:
    """Whether the middle of a line (boxes of equal readings, in order) keeps changing its place.

    A line that slides in and stays moves once; one of the scene moves from sample to sample.
    """
    middles = [np.array([(b[0] + b[2]) / 2, (b[1] + b[3]) / 2]) for b in boxes]
    steps = [float(np.abs(b - a).max()) for a, b in pairwise(middles)]
    return bool(steps) and float(np.median(steps)) > _MOVED


def drifts(
    box: Box, time_s: float, span: Span, times_s: NDArray[np.float64], thumbs: NDArray[np.uint8]
) -> bool:
    """Whether what stands in the box at `time_s` is elsewhere a moment before and after.

    `thumbs` [n, h, w] at `times_s`; only those within `span` are looked at.
    """
    inside = np.flatnonzero(
        (np.abs(times_s - time_s) <= _REACH_S)
        & (times_s >= span.start_s + 0.04)
        & (times_s < span.end_s - 0.04)
    )
    if len(inside) < 2:
        return False
    here = inside[np.argmin(np.abs(times_s[inside] - time_s))]
    ends = [n for n in (inside[0], inside[-1]) if abs(times_s[n] - times_s[here]) > _LEAST_REACH_S]
    return bool(ends) and all(_moved(thumbs[here], thumbs[n], box) for n in ends)


def leans(tilt: float) -> bool:
    """Whether a line at so many degrees clearly stands aslant."""
    return abs(tilt) > _LEANS


def _moved(here: NDArray[np.uint8], there: NDArray[np.uint8], box: Box) -> bool:
    """Whether the box's content fits another place of `there` far better than its own."""
    height, width = here.shape
    left, top = max(0, int(box[0] * width) - 1), max(0, int(box[1] * height) - 1)
    right, bottom = min(width, int(box[2] * width) + 2), min(height, int(box[3] * height) + 2)
    part = here[top:bottom, left:right]
    if (box[3] - box[1]) * height < _LEAST_HEIGHT or part.std() < 4:
        return False  # too small or too plain: what moves would be the picture behind it
    x0, y0 = max(0, left - _SEARCH), max(0, top - _SEARCH)
    around = there[y0 : bottom + _SEARCH, x0 : right + _SEARCH]
    errors = cv2.matchTemplate(around, part, cv2.TM_SQDIFF)
    y, x = np.unravel_index(int(np.argmin(errors)), errors.shape)
    shift = np.hypot(x + x0 - left, y + y0 - top)
    own = float(errors[top - y0, left - x0])
    return bool(shift >= _LEAST_SHIFT and float(errors[y, x]) < _BETTER_THERE * own)
