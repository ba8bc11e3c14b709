"""Which proposed cuts are true: not a flash, not light, not motion, not words."""

from __future__ import annotations

import numpy as np

from admir.perception.frame_window import FrameWindow, area_changed
from admir.perception.similarity import likeness

_FLASH_S = 0.13
_RETURNS = 0.4
_MOST_ALIKE = 0.45
_STANDS_OUT = 0.25
_OTHER_COLOUR = 20.0
_COLOUR_AREA = 0.7
_LEAST_AREA = 0.2


def is_cut(stretch: FrameWindow, number: int) -> bool:
    """Whether a new shot begins with this frame of the stretch."""
    area = area_changed(stretch.colours[number - 1], stretch.colours[number])
    if area < _LEAST_AREA or _is_flash(stretch, number):
        return False
    return _is_new_place(stretch, number)


def _is_flash(stretch: FrameWindow, number: int) -> bool:
    """Whether the picture before comes back at once, or the new one was there just before."""
    times, colours = stretch.times_s, stretch.colours
    old, new = colours[number - 1], colours[number]
    step = np.abs(new - old).mean()
    near = np.abs(times - times[number]) <= _FLASH_S
    index = np.arange(len(times))
    after = colours[near & (index > number)]
    before = colours[(np.abs(times - times[number - 1]) <= _FLASH_S) & (index < number - 1)]
    back = [np.abs(after - old).mean(axis=1), np.abs(before - new).mean(axis=1)]
    return any(len(d) and d.min() < _RETURNS * step for d in back)


def _is_new_place(stretch: FrameWindow, number: int) -> bool:
    """Whether the step joins unrelated pictures, and those beside it do not."""
    greys = stretch.greys
    across = likeness(greys[number - 1], greys[number])
    if across > _MOST_ALIKE:
        return False
    beside = [
        likeness(greys[k - 1], greys[k]) for k in (number - 1, number + 1) if 0 < k < len(greys)
    ]
    return across < min([1.0, *beside]) - _STANDS_OUT or _colour_alone(stretch, number)


def _colour_alone(stretch: FrameWindow, number: int) -> bool:
    """Plain pictures differ in colour, all over."""
    change = np.abs(stretch.colours[number] - stretch.colours[number - 1]).reshape(-1, 3)
    return float((change.max(axis=1) > _OTHER_COLOUR).mean()) > _COLOUR_AREA
