"""Colour and light by name, from pixels alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.perception.decode import Pixels
from admir.types import Look

_HUES = (
    (8, "red"),
    (21, "orange"),
    (34, "yellow"),
    (85, "green"),
    (97, "teal"),
    (128, "blue"),
    (148, "purple"),
    (170, "pink"),
    (180, "red"),
)
_NAMES = np.array([name for _, name in _HUES])
_EDGES = np.array([edge for edge, _ in _HUES])
_LEAST_SHARE = 0.08


def look_at(pixels: Pixels, motion: float = 0.0) -> Look:
    """The look of one BGR picture: up to three colours that fill it most, light and warmth."""
    small = cv2.resize(pixels, (64, 64), interpolation=cv2.INTER_AREA)
    hsv = cv2.cvtColor(small, cv2.COLOR_BGR2HSV).reshape(-1, 3)
    names = _names(hsv)
    counts = Counter(names.tolist())
    common = [name for name, n in counts.most_common(3) if n >= _LEAST_SHARE * len(names)]
    return Look(
        colours=tuple(common or [counts.most_common(1)[0][0]]),
        light=_light(float(hsv[:, 2].mean())),
        warmth=_warmth(small),
        motion=round(motion, 3),
    )


def _names(hsv: NDArray[Any]) -> NDArray[np.str_]:
    """A colour name for each pixel."""
    hue, saturation, value = hsv[:, 0], hsv[:, 1], hsv[:, 2]
    names = _NAMES[np.searchsorted(_EDGES, hue, side="right").clip(max=len(_NAMES) - 1)]
    names = names.astype("<U8")
    earthy = (names == "orange") | ((names == "red") & (saturation <= 140))
    names[earthy & (value < 150) & (saturation > 60)] = "brown"
    grey = saturation < 40
    names[grey] = "grey"
    names[grey & (value > 200)] = "white"
    names[value < 45] = "black"
    return np.asarray(names)


def _light(mean_value: float) -> Literal["dark", "dim", "bright"]:
    return "dark" if mean_value < 70 else "dim" if mean_value < 120 else "bright"


def _warmth(bgr: NDArray[Any]) -> Literal["warm", "cool", "neutral"]:
    blue, red = float(bgr[..., 0].mean()), float(bgr[..., 2].mean())
    return "warm" if red - blue > 18 else "cool" if blue - red > 12 else "neutral"


def merge_looks(looks: Sequence[Look]) -> Look | None:
    """The look of several pictures together; None of none."""
    if not looks:
        return None
    colours = Counter(name for look in looks for name in look.colours)
    return Look(
        colours=tuple(name for name, _ in colours.most_common(3)),
        light=Counter(look.light for look in looks).most_common(1)[0][0],
        warmth=Counter(look.warmth for look in looks).most_common(1)[0][0],
        motion=round(sum(look.motion for look in looks) / len(looks), 3),
    )
