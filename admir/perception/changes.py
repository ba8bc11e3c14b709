"""Whether two pictures differ enough to be read again."""

from __future__ import annotations

import cv2
import numpy as np

from admir.perception.decode import Pixels

_SIDE = 192
_BLOCKS = 24
_LEAST_CHANGE = 4.0


def differs(before: Pixels, after: Pixels) -> bool:
    """True when some block of the picture (1/24 of each side) changed its mean brightness."""
    a, b = _grey(before), _grey(after)
    if a.shape != b.shape:
        return True
    change = cv2.absdiff(a, b).astype(np.float32)
    blocks = cv2.resize(change, (_BLOCKS, _BLOCKS), interpolation=cv2.INTER_AREA)
    return bool(blocks.max() > _LEAST_CHANGE)


def motion(before: Pixels, after: Pixels) -> float:
    """Mean change of brightness between two pictures, 0 to 1."""
    a, b = _grey(before), _grey(after)
    return float(cv2.absdiff(a, b).mean()) / 255 if a.shape == b.shape else 1.0


def _grey(pixels: Pixels) -> Pixels:
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(grey, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA), dtype=np.uint8)
