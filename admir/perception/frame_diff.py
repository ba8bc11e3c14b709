"""Whether two pictures differ enough to be read again, and which moments pass between samples."""

from __future__ import annotations

from collections import deque
from statistics import median

import cv2
import numpy as np

from admir.perception.decode import Choice, Pixels

_SIDE = 192
_BLOCKS = 24
_LEAST_CHANGE = 4.0


def signature(pixels: Pixels) -> Pixels:
    """A picture small and grey [192, 192], for comparing."""
    small = cv2.resize(pixels, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def differs(before: Pixels, after: Pixels) -> bool:
    """True when some block (1/24 of each side) of two signatures changed in mean brightness."""
    change = cv2.absdiff(before, after).astype(np.float32)
    blocks = cv2.resize(change, (_BLOCKS, _BLOCKS), interpolation=cv2.INTER_AREA)
    return bool(blocks.max() > _LEAST_CHANGE)


_LOOK_BACK_S = 0.1
_SETTLED_S = 0.12
_SERVED_S = 0.08
_LEAST_JUMP = 9.0
_JUMP_OVER_USUAL = 3.0
_USUAL_OVER = 25
_HELD_MOST = 4.0


class BriefSights:
    """Tells which frames to keep of what comes and goes between two regular samples.

    Feed it the grey thumb of every frame, and the time of every sample. Jumps of the picture (a
    cut, a caption that pops up) part the video into stretches; a stretch that ends without a
    sample in it is worth one. Jumps are measured against the usual motion of the last second. On
    a longer run at most one extra sample for each `every_s` seconds is asked for.
    """

    def __init__(self, every_s: float = 2.0) -> None:
        self._every_s = every_s
        self._recent: deque[tuple[float, Pixels]] = deque()
        self._usual: deque[float] = deque(maxlen=_USUAL_OVER)
        self._sampled: Pixels | None = None
        self._held: Pixels | None = None
        self._start_s = self._next_hold_s = 0.0
        self._served = False
        self._credit = _HELD_MOST
        self._last_s = 0.0

    def see(self, time_s: float, grey: Pixels) -> Choice:
        """What to do at this frame: `hold` it, `give` the one held before, or `pass`."""
        self._credit = min(_HELD_MOST, self._credit + (time_s - self._last_s) / self._every_s)
        self._last_s = time_s
        jumped = self._jumped(time_s, grey)
        self._recent.append((time_s, grey))
        if jumped:
            return self._part(time_s)
        if self._served or time_s < self._next_hold_s:
            return "pass"
        self._held = grey
        self._next_hold_s = self._start_s + 1.6 * max(_SETTLED_S, time_s - self._start_s)
        return "hold"

    def sampled(self, time_s: float) -> None:
        """A sample was taken: of the frame seen last, or of the one given before it."""
        if time_s < self._last_s or not self._recent:
            return
        self._sampled = self._recent[-1][1]
        if time_s - self._start_s >= _SERVED_S:
            self._served, self._held = True, None

    def _part(self, time_s: float) -> Choice:
        """End the stretch at a jump; give what was held of it, if that is news and affordable."""
        held, self._held = self._held, None
        self._start_s, self._next_hold_s, self._served = time_s, time_s + _SETTLED_S, False
        if held is None or self._credit < 1 or not self._is_news(held):
            return "pass"
        self._credit -= 1
        self._sampled = held
        return "give"

    def _is_news(self, grey: Pixels) -> bool:
        return self._sampled is None or _most_changed(self._sampled, grey) > _LEAST_JUMP

    def _jumped(self, time_s: float, grey: Pixels) -> bool:
        while len(self._recent) > 1 and self._recent[1][0] <= time_s - _LOOK_BACK_S + 1e-6:
            self._recent.popleft()
        if not self._recent:
            return False
        change = _most_changed(self._recent[0][1], grey)
        usual = median(self._usual) if self._usual else 0.0
        self._usual.append(change)
        return change > max(_LEAST_JUMP, _JUMP_OVER_USUAL * usual)


def _most_changed(before: Pixels, after: Pixels) -> float:
    """The mean change, 0 to 255, of the block (1/24 of each side) that changed most."""
    if before.shape != after.shape:
        return 255.0
    change = cv2.absdiff(before, after)
    blocks = cv2.resize(change, (_BLOCKS, _BLOCKS), interpolation=cv2.INTER_AREA)
    return float(blocks.max())
