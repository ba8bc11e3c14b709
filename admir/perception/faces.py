"""Faces in a picture, by the cascades that OpenCV 4 carries.

One cascade alone takes watches, trees and letters for faces. Three of them, asked at many sizes and
mirrored, seldom agree on anything else; what they agree on upside down too is a ring or a wheel.
Skin colour plays no part; shadows are lifted first, because the cascades were made on bright faces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import cv2
import numpy as np

from admir.perception.decode import Pixels, shrink
from admir.types import Box

SURE = 1.0
"""A face of this score counts by itself; a lower one needs a second sight."""

_LEAST_SCORE = 0.55
_SEARCH_SIDE, _SIDE_VIEW_SIDE = 480, 240
_LEAST_WINDOW, _LEAST_SIDE_VIEW = 20, 36
_STEP, _FINE_STEP = 1.25, 1.05
_FACE = 64  # pixels of a candidate when it is asked about again
_MARGIN = 0.35
_SAME_PLACE = 0.45
_FRONT_VOTES, _SIDE_VOTES = 23.0, 40.0
_UPSIDE_DOWN = 0.35
_LIFT = np.array([round(255 * (level / 255) ** 0.5) for level in range(256)], dtype=np.uint8)

Rect = tuple[float, float, float, float]  # left, top, width, height in pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """Where a face is (box in shares of the picture), how sure, and from which side it is seen.

    A score of `SURE` or more stands alone.
    """

    box: Box
    score: float
    view: Literal["front", "side"]


def count_sure(faces: Sequence[Face]) -> int:
    """How many of the faces stand alone."""
    return sum(face.score >= SURE for face in faces)


class FaceDetector(Protocol):
    """Finds faces."""

    def find(self, pixels: Pixels) -> tuple[Face, ...]:
        """The faces of a BGR picture, the surest first. Boxes do not overlap by much."""


class CascadeFaces:
    """`FaceDetector` by four Haar cascades. Not for several threads at once."""

    def __init__(self) -> None:
        self._search = _cascade("frontalface_alt2")
        self._others = (_cascade("frontalface_alt"), _cascade("frontalface_default"))
        self._profile = _cascade("profileface")

    def find(self, pixels: Pixels) -> tuple[Face, ...]:
        """See `FaceDetector`."""
        lifted = cv2.LUT(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), _LIFT)
        grey = np.asarray(lifted, dtype=np.uint8)
        faces = [*self._fronts(grey), *self._sides(grey)]
        return tuple(_apart(face for face in faces if face.score >= _LEAST_SCORE))

    def _fronts(self, grey: Pixels) -> Iterator[Face]:
        for rect in _windows(self._search, shrink(grey, _SEARCH_SIDE), grey, _LEAST_WINDOW):
            crop = _crop(grey, rect)
            score = self._front_score(crop)
            if score >= _LEAST_SCORE and not self._is_wheel(crop):
                yield _face(rect, grey, score, "front")

    def _front_score(self, crop: Pixels) -> float:
        """The geometric mean of what each cascade says, so that all must agree."""
        product = _mean_votes(self._search, crop)
        for cascade in self._others:
            if product == 0:
                return 0.0
            product *= _mean_votes(cascade, crop)
        return float(np.cbrt(product)) / _FRONT_VOTES

    def _is_wheel(self, crop: Pixels) -> bool:
        upside_down = _mean_votes(self._search, crop[::-1])
        return upside_down > _UPSIDE_DOWN * _mean_votes(self._search, crop)

    def _sides(self, grey: Pixels) -> Iterator[Face]:
        """Large profiles: the cascade knows one side, so the picture is mirrored for the other."""
        for mirrored in (False, True):
            whole = np.ascontiguousarray(grey[:, ::-1]) if mirrored else grey
            small = shrink(whole, _SIDE_VIEW_SIDE)
            for rect in _windows(self._profile, small, whole, _LEAST_SIDE_VIEW):
                crop = _crop(whole, rect)
                score = _votes(self._profile, crop) / _SIDE_VOTES
                score -= _votes(self._profile, crop[::-1]) / _SIDE_VOTES
                left = whole.shape[1] - rect[0] - rect[2] if mirrored else rect[0]
                yield _face((left, *rect[1:]), grey, score, "side")


def _cascade(name: str) -> cv2.CascadeClassifier:
    folder = Path(cv2.__file__).parent / "data"
    return cv2.CascadeClassifier(str(folder / f"haarcascade_{name}.xml"))


def _windows(
    cascade: cv2.CascadeClassifier, small: Pixels, whole: Pixels, least: int
) -> list[Rect]:
    """Candidates found in the small picture, in pixels of the whole one, in a stable order."""
    found = cascade.detectMultiScale(small, _STEP, 1, minSize=(least, least))
    scale = whole.shape[1] / small.shape[1]
    return sorted((x * scale, y * scale, w * scale, h * scale) for x, y, w, h in found)


def _crop(grey: Pixels, rect: Rect) -> Pixels:
    """The candidate with a margin, its face `_FACE` pixels wide; edges are repeated outwards."""
    left, top, width, _ = rect
    scale = _FACE / width
    side = round(_FACE * (1 + 2 * _MARGIN))
    shift = np.array(
        [
            [scale, 0.0, (_MARGIN * width - left) * scale],
            [0.0, scale, (_MARGIN * width - top) * scale],
        ]
    )
    if scale < 0.5:
        grey = np.asarray(cv2.blur(grey, (round(0.8 / scale),) * 2), dtype=np.uint8)
    crop = cv2.warpAffine(grey, shift, (side, side), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(crop, dtype=np.uint8)


def _mean_votes(cascade: cv2.CascadeClassifier, crop: Pixels) -> float:
    return (_votes(cascade, crop) + _votes(cascade, crop[:, ::-1])) / 2


def _votes(cascade: cv2.CascadeClassifier, crop: Pixels) -> int:
    """How many windows about the middle of the crop the cascade takes for a face."""
    least, most = round(0.7 * _FACE), round(1.4 * _FACE)
    found = cascade.detectMultiScale(
        np.ascontiguousarray(crop), _FINE_STEP, 0, minSize=(least, least), maxSize=(most, most)
    )
    middle = (_MARGIN * _FACE, _MARGIN * _FACE, float(_FACE), float(_FACE))
    return sum(_shared(middle, (x, y, w, h))[0] >= _SAME_PLACE for x, y, w, h in found)


def _shared(a: Rect, b: Rect) -> tuple[float, float]:
    """The area two rectangles share, over their union and over the smaller of them."""
    wide = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    high = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    both = max(0.0, wide) * max(0.0, high)
    one, other = a[2] * a[3], b[2] * b[3]
    return both / (one + other - both), both / min(one, other)


def _face(rect: Rect, grey: Pixels, score: float, view: Literal["front", "side"]) -> Face:
    height, width = grey.shape
    left, top, wide, high = rect
    box = (
        round(float(left / width), 4),
        round(float(top / height), 4),
        round(float((left + wide) / width), 4),
        round(float((top + high) / height), 4),
    )
    return Face(box=box, score=round(float(score), 3), view=view)


def _apart(faces: Iterator[Face]) -> Iterator[Face]:
    """The surest of faces that lie over one another: a mouth or a neck passes for a face too."""
    kept: list[Rect] = []
    for face in sorted(faces, key=lambda f: (-f.score, f.box)):
        left, top, right, bottom = face.box
        rect = (left, top, right - left, bottom - top)
        if all(_shared(rect, other)[1] < 0.15 for other in kept):
            kept.append(rect)
            yield face
