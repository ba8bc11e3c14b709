"""The two networks that read text, out of RapidOCR's wheel: where text is, and what a crop says.

RapidOCR's own pipeline enlarges what it is asked to shrink and fills short crops up to long ones;
here the pictures go to its networks in the size that the caller chose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.perception.curved_text import TextArc, find_bends
from admir.perception.decode import Pixels
from admir.perception.regions import Quad, sides

_STEP = 32
_READ_HEIGHT = 48
_LEAST_READ_WIDTH = 320
_MOST_READ_WIDTH = 3200


class TextNet:
    """Both networks, loaded at the first use and shared; a call takes one core.

    Each run takes memory of its own while it lasts (400 MB for a picture of 1280 pixels), so at
    most `at_once` run side by side. Of the places found in one picture the `most` largest count.
    """

    def __init__(self, at_once: int, most: int) -> None:
        self._most = most
        self._turn = BoundedSemaphore(at_once)
        self._lock = Lock()
        self._engine: Any = None

    def find(self, pixels: Pixels, side: int) -> list[Quad]:
        """Where a BGR picture, made smaller to `side`, has text; corners in its own pixels."""
        return self.find_all(pixels, side)[0]

    def find_all(self, pixels: Pixels, side: int) -> tuple[list[Quad], list[TextArc]]:
        """As `find`, and the lines of text that run around a circle; these are found in both."""
        height, width = pixels.shape[:2]
        scale = min(1.0, side / max(height, width))
        size = (_stepped(width * scale), _stepped(height * scale))
        with self._borrowed() as engine:
            (found,) = engine.text_det.infer.session.run(None, {"x": _blob(pixels, size)})
            quads, _ = engine.text_det.postprocess_op(found, (height, width))
        seen = [np.asarray(quad, np.float32) for quad in quads if _is_seen(quad)]
        largest = sorted(seen, key=lambda quad: -math.prod(sides(quad)))[: self._most]
        return largest, find_bends(found[0, 0], width, height)

    def read(self, crops: Sequence[Pixels]) -> list[tuple[str, float]]:
        """What each BGR crop of one line says, and the mean confidence in its characters."""
        return [self._read(crop) for crop in crops]

    def _read(self, crop: Pixels) -> tuple[str, float]:
        height, width = crop.shape[:2]
        wide = min(_MOST_READ_WIDTH, max(1, round(_READ_HEIGHT * width / height)))
        blob = _blob(crop, (wide, _READ_HEIGHT))
        filled = np.zeros((1, 3, _READ_HEIGHT, max(_LEAST_READ_WIDTH, wide)), np.float32)
        filled[..., :wide] = blob
        with self._borrowed() as engine:
            (found,) = engine.text_rec.session.session.run(None, {"x": filled})
            ((text, score),) = engine.text_rec.postprocess_op(found)
        return str(text), float(score)

    @contextmanager
    def _borrowed(self) -> Iterator[Any]:
        with self._turn:
            with self._lock:
                self._engine = self._engine or _load_engine()
            yield self._engine


def _load_engine() -> Any:
    from rapidocr_onnxruntime import RapidOCR

    return RapidOCR(intra_op_num_threads=1)


def _stepped(length: float) -> int:
    """A length that the detector takes."""
    return max(_STEP, round(length / _STEP) * _STEP)


def _blob(pixels: Pixels, size: tuple[int, int]) -> NDArray[np.float32]:
    """The picture in this size as [1, 3, height, width], -1 to 1."""
    how = cv2.INTER_AREA if size[0] < pixels.shape[1] else cv2.INTER_LINEAR
    small = cv2.resize(pixels, size, interpolation=how)
    blob = cv2.dnn.blobFromImage(small, 1 / 127.5, mean=(127.5, 127.5, 127.5))
    return np.asarray(blob, np.float32)


def _is_seen(quad: NDArray[np.int32]) -> bool:
    sides = (np.linalg.norm(quad[0] - quad[1]), np.linalg.norm(quad[0] - quad[3]))
    return bool(min(sides) > 3)
