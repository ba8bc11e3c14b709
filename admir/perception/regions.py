"""Four-cornered regions of a picture: how they lie, cut upright, and turned with what is near."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.perception.decode import Pixels
from admir.types import Box

Quad = NDArray[np.float32]
"""Four corners [4, 2] in pixels: top left, top right, bottom right, bottom left of the text."""

_TALL = 1.5
_STANDS = 60.0
_SAME_ANGLE = 15.0


def is_tall(quad: Quad) -> bool:
    """Whether it is half as high again as wide."""
    width, height = sides(quad)
    return height >= _TALL * width


def sides(quad: Quad) -> tuple[float, float]:
    """Width and height along its own edges."""
    return float(np.linalg.norm(quad[0] - quad[1])), float(np.linalg.norm(quad[0] - quad[3]))


def slant(quad: Quad) -> float:
    """Degrees that its longer edge leans from the level or, if it is tall, from the plumb."""
    along = quad[3] - quad[0] if is_tall(quad) else quad[1] - quad[0]
    x, y = (along[1], -along[0]) if is_tall(quad) else (along[0], along[1])
    return math.degrees(math.atan2(float(y), float(x)))


def cut(pixels: Pixels, quad: Quad) -> Pixels:
    """The region as an upright rectangle."""
    width, height = (max(2, round(side)) for side in sides(quad))
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    matrix = cv2.getPerspectiveTransform(quad, target)
    upright = cv2.warpPerspective(
        pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(upright, dtype=np.uint8)


def corners_box(quad: Quad, pixels: Pixels) -> Box:
    """The upright box around it, in fractions of the picture's sides."""
    height, width = pixels.shape[:2]
    left, top = quad.min(axis=0) / (width, height)
    right, bottom = quad.max(axis=0) / (width, height)
    box = [round(min(1.0, max(0.0, float(v))), 4) for v in (left, top, right, bottom)]
    return (box[0], box[1], box[2], box[3])


def from_side(quad: Quad, pixels: Pixels) -> Quad:
    """A region of the picture as `np.rot90` lays it on its side, in the picture's coordinates."""
    x, y = quad[:, 1], quad[:, 0]
    upright = np.stack([pixels.shape[1] - 1 - x, y], axis=1)
    return np.asarray(np.roll(upright, 1, axis=0), np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A part of a picture turned so that its text runs level, and the way back."""

    pixels: Pixels
    inverse: NDArray[np.float64]
    vertical: bool

    def back(self, quad: Quad) -> Quad:
        """A region of `pixels` in the coordinates of the whole picture."""
        return np.asarray(cv2.transform(quad[None], self.inverse)[0], np.float32)


def turned_regions(quads: Sequence[Quad], pixels: Pixels) -> list[Region]:
    """The parts of the picture around regions that lean alike, the largest first.

    Text that stands may run up or down: its part comes turned both ways.
    """
    groups = sorted(_groups(quads), key=lambda group: -max(_area(quad) for quad in group))
    regions = []
    for group in groups:
        angle = _angle(group[0])
        ways = (angle, angle + 180) if abs(angle) > _STANDS else (angle,)
        regions += [_region(np.concatenate(group), way, pixels) for way in ways]
    return regions


def _area(quad: Quad) -> float:
    width, height = sides(quad)
    return width * height


def _angle(quad: Quad) -> float:
    """Degrees of its longer edge, -90 to 90."""
    width, height = sides(quad)
    along = quad[1] - quad[0] if width >= height else quad[3] - quad[0]
    degrees = math.degrees(math.atan2(float(along[1]), float(along[0])))
    return (degrees + 90) % 180 - 90


def _groups(quads: Sequence[Quad]) -> list[list[Quad]]:
    """Regions that lean alike and lie near each other."""
    groups: list[list[Quad]] = []
    for quad in sorted(quads, key=lambda quad: -_area(quad)):
        home = next((group for group in groups if any(_akin(quad, q) for q in group)), None)
        if home is None:
            groups.append([quad])
        else:
            home.append(quad)
    return groups


def _akin(a: Quad, b: Quad) -> bool:
    apart = abs((_angle(a) - _angle(b) + 90) % 180 - 90)
    gap = float(np.linalg.norm(a.mean(axis=0) - b.mean(axis=0)))
    return apart < _SAME_ANGLE and gap < 0.7 * max(*sides(a), *sides(b))


def _region(points: Quad, angle: float, pixels: Pixels) -> Region:
    """The rectangle at this angle around the points, with a margin."""
    way = cv2.getRotationMatrix2D((0.0, 0.0), angle, 1.0)
    turned = cv2.transform(points[None], way)[0]
    low, high = turned.min(axis=0), turned.max(axis=0)
    # A torn box is often half of a line: look further along it than across.
    along, across = high - low
    margin = np.array([max(0.7 * along, 24.0), max(0.8 * min(along, across), 24.0)])
    low, high = low - margin, high + margin
    way[:, 2] = -low
    size = (max(32, int(high[0] - low[0])), max(32, int(high[1] - low[1])))
    part = cv2.warpAffine(pixels, way, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    inverse = np.asarray(cv2.invertAffineTransform(way), np.float64)
    vertical = abs((angle + 90) % 180 - 90) > _STANDS
    return Region(pixels=np.asarray(part, np.uint8), inverse=inverse, vertical=vertical)
