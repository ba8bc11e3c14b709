"""Whether two pictures differ enough to be read again."""

from __future__ import annotations

import cv2
import numpy as np

from admir.perception.decode import Pixels

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
