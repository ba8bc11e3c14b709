"""Text along an arc, as on a badge, a bottle or a dial: found in the detector's map, cut straight.

The detector marks the core of a line wherever it runs, but its boxes are straight: that of an arc
is mostly empty, so that it counts for little, and what is cut from it is crooked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.perception.decode import Pixels
from admir.perception.regions import Quad

Points = NDArray[np.float64]

_CORE = 0.3  # from this value on the map says text: RapidOCR's own threshold
_HEIGHT = 2.6  # of letters against the core of their line, which the detector is taught to shrink
_FULL = 0.75
_LEAST_RISE = 0.5
_LEAST_LENGTH = 3.0
_LEAST_THICK = 2.0
_MOST_SWEEP = math.radians(300)
_MOST_OUTLINES = 80
_MOST_BENDS = 8
_ROOM = 0.7
_LARGEST = 1e5
_STEPS = 6
_PIECES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class TextArc:
    """A line of text around a circle, in pixels; angles in radians, growing with the clock."""

    x: float
    y: float
    radius: float
    first: float
    last: float
    height: float

    def cut(self, pixels: Pixels) -> Pixels:
        """The line made straight: the circle's outside is up, its way with the clock is right."""
        width, height = round((self.last - self.first) * self.radius), round(self.height)
        way = np.linspace(self.first, self.last, max(2, width))
        out = np.linspace(0.5, -0.5, max(2, height)) * self.height
        places = self._at(way[None, :], out[:, None]).astype(np.float32)
        straight = cv2.remap(
            pixels, places[..., 0], places[..., 1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        )
        return np.asarray(straight, np.uint8)

    def longer(self) -> Iterator[TextArc]:
        """The line with room for a letter more at both ends, then for two, and so on."""
        for number in count(1):
            room = number * _ROOM * self.height / self.radius
            if self.last - self.first + 2 * room > math.tau:
                return
            yield replace(self, first=self.first - room, last=self.last + room)

    def pieces(self) -> tuple[Quad, ...]:
        """Straight regions that together cover it."""
        way = np.linspace(self.first, self.last, _PIECES + 1)
        high, low = self._at(way, self.height / 2), self._at(way, -self.height / 2)
        corners = (high[:-1], high[1:], low[1:], low[:-1])
        return tuple(np.stack(corners, axis=1).astype(np.float32))

    def quad(self) -> Quad:
        """The straight region around all of it, its corners ordered as in the picture."""
        around = cv2.boxPoints(cv2.minAreaRect(np.concatenate(self.pieces())))
        left, right = np.split(around[np.argsort(around[:, 0], kind="stable")], 2)
        (top_left, low_left), (top_right, low_right) = (
            side[np.argsort(side[:, 1])] for side in (left, right)
        )
        return np.asarray([top_left, top_right, low_right, low_left], np.float32)

    def _at(self, way: Points, out: Points | float) -> Points:
        reach = self.radius + out
        return np.stack([self.x + reach * np.cos(way), self.y + reach * np.sin(way)], axis=-1)


def find_bends(shares: NDArray[np.float32], width: int, height: int) -> list[TextArc]:
    """The bent lines in the detector's map of a picture of this size, the largest first."""
    core = (shares > _CORE).astype(np.uint8)
    outlines, _ = cv2.findContours(core, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    scale = np.array([width / shares.shape[1], height / shares.shape[0]])
    bends = []
    for outline in sorted(outlines, key=len, reverse=True)[:_MOST_OUTLINES]:
        area = cv2.contourArea(outline)
        along, across = cv2.minAreaRect(outline)[1]
        if area > 0 and area < _FULL * along * across:
            points = (outline[:, 0, :] + 0.5) * scale
            bends.append(bend_of(points, area * float(scale.prod())))
    whole = [bend for bend in bends if bend is not None]
    return sorted(whole, key=lambda bend: -bend.radius * (bend.last - bend.first))[:_MOST_BENDS]


def bend_of(outline: Points, area: float) -> TextArc | None:
    """The line whose core has this outline [n, 2] and area; None where it is no bent band."""
    x, y, radius = _circle(outline)
    if not 0 < radius < _LARGEST:
        return None
    away = outline - (x, y)
    middle = away.mean(axis=0)
    centre = math.atan2(middle[1], middle[0])
    turn = (np.arctan2(away[:, 1], away[:, 0]) - centre + math.pi) % math.tau - math.pi
    sweep = float(turn.max() - turn.min())
    thick = area / max(1e-6, sweep * radius)
    off = np.abs(np.hypot(away[:, 0], away[:, 1]) - radius)
    rise = radius * (1 - math.cos(min(sweep, math.tau) / 2))
    is_band = np.percentile(off, 95) < thick and sweep * radius > _LEAST_LENGTH * thick
    if not is_band or thick < _LEAST_THICK or rise < _LEAST_RISE * thick or sweep > _MOST_SWEEP:
        return None
    margin = (_HEIGHT - 1) / 2 * thick / radius
    first, last = centre + float(turn.min()) - margin, centre + float(turn.max()) + margin
    # Letters that stand on a small circle cannot reach beyond its middle.
    height = min(_HEIGHT * thick, 1.8 * radius)
    return TextArc(x=x, y=y, radius=radius, first=first, last=last, height=height)


def _circle(points: Points) -> tuple[float, float, float]:
    """The circle from which the points lie least away: middle and radius."""
    shift = points.mean(axis=0)
    near = points - shift
    sums = np.column_stack([2 * near, np.ones(len(near))])
    (x, y, rest), *_ = np.linalg.lstsq(sums, np.square(near).sum(axis=1), rcond=None)
    radius = math.sqrt(max(0.0, rest + x * x + y * y))
    for _ in range(_STEPS):  # the first answer favours small circles
        if not radius < _LARGEST:  # as good as straight; further steps would only run away
            break
        away = near - (x, y)
        far = np.maximum(1e-6, np.hypot(away[:, 0], away[:, 1]))
        slopes = np.column_stack([-away / far[:, None], -np.ones(len(near))])
        step, *_ = np.linalg.lstsq(slopes, radius - far, rcond=None)
        x, y, radius = x + step[0], y + step[1], radius + step[2]
    return float(x + shift[0]), float(y + shift[1]), float(radius)
