"""Whether two grey pictures show one place, whatever moved and however the light changed."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.perception.decode import Pixels

_AROUND = (9, 9)
_FLOOR = 2.0


def likeness(old: Pixels, new: Pixels) -> float:
    """Correlation of detail, from about 0 (unrelated) to 1, of two grey pictures [h, w].

    The old picture is first moved onto the new one by optical flow; detail is what stands out of
    its surroundings, in units of their contrast, so that light does not count. Flat pictures have
    no detail and are unrelated.
    """
    a, b = _detail(_moved(old, new)), _detail(new)
    norm = float(np.sqrt(np.square(a).sum() * np.square(b).sum()))
    return float((a * b).sum()) / norm if norm > 1e-6 else 0.0


def _moved(old: Pixels, new: Pixels) -> Pixels:
    """The old picture, each pixel taken from where the flow says that the new one has it from."""
    height, width = new.shape
    finder = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
    flow = finder.calc(new, old, np.zeros((height, width, 2), np.float32))
    grid = np.dstack(np.meshgrid(np.arange(width), np.arange(height))).astype(np.float32)
    moved = cv2.remap(
        old, grid + flow, np.empty(0), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(moved, dtype=np.uint8)


def _detail(grey: Pixels) -> NDArray[np.float32]:
    picture = grey.astype(np.float32)
    middle = cv2.blur(picture, _AROUND)
    spread = np.sqrt(np.maximum(cv2.blur(picture * picture, _AROUND) - middle * middle, 0))
    return np.asarray((picture - middle) / (spread + _FLOOR), dtype=np.float32)
