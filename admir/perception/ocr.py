"""On-screen text of one picture, with RapidOCR (its models come in its wheel)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import LifoQueue
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.perception.decode import Pixels
from admir.text import shown
from admir.types import Box

DETECT_SIDE = 960
LEAST_CONFIDENCE = 0.6
_TALL = 1.5
_EDGE_NOISE = " /\\|_~^`·'\",;:-*+="
_Quad = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """One line read in one picture; the box in fractions of the picture's sides."""

    text: str
    box: Box
    confidence: float
    vertical: bool = False


class TextReader(Protocol):
    """Reads the text of a picture. `id` names engine and version."""

    id: str

    def read(self, pixels: Pixels) -> tuple[TextLine, ...]:
        """The lines of a BGR picture, top to bottom. Safe to call from several threads."""


class RapidOcrReader:
    """RapidOCR: text is found at 960 px and read from the picture as given.

    It has a few engines of one core each, loaded when first needed; a thread borrows one, so as
    many threads read side by side, and no more memory is taken than that.
    """

    id = "rapidocr-onnxruntime"

    def __init__(self, engines: int = 2) -> None:
        self._idle: LifoQueue[Any] = LifoQueue()
        for _ in range(engines):
            self._idle.put(None)

    def read(self, pixels: Pixels) -> tuple[TextLine, ...]:
        """See `TextReader`. Lines that are read with little confidence are left out."""
        quads = self._detect(pixels)
        if not quads:
            return ()
        tall = [_is_tall(quad) for quad in quads]
        readings = self._recognise([_cut(pixels, quad) for quad in quads], tall)
        lines = [
            _line(text, score, quad, pixels, vertical)
            for (text, score), quad, vertical in zip(readings, quads, tall, strict=True)
        ]
        return tuple(line for line in lines if _worth_keeping(line))

    @contextmanager
    def _engine(self) -> Iterator[Any]:
        engine = self._idle.get()
        try:
            engine = engine or _load_engine()
            yield engine
        finally:
            self._idle.put(engine)

    def _detect(self, pixels: Pixels) -> list[_Quad]:
        with self._engine() as engine:
            quads, _ = engine.auto_text_det(pixels)
        return [np.asarray(quad, dtype=np.float32) for quad in quads] if quads is not None else []

    def _recognise(self, crops: list[Pixels], tall: list[bool]) -> list[tuple[str, float]]:
        """Read the crops; a tall one is read turned both ways and the surer reading counts."""
        turned = [np.rot90(crop, 1) if t else crop for crop, t in zip(crops, tall, strict=True)]
        other = [np.rot90(crop, 3) for crop, t in zip(crops, tall, strict=True) if t]
        readings = self._read_crops(turned + other)
        rest = iter(readings[len(crops) :])
        return [
            max(reading, next(rest), key=lambda r: r[1] * len(r[0])) if t else reading
            for reading, t in zip(readings, tall, strict=False)
        ]

    def _read_crops(self, crops: Sequence[Pixels]) -> list[tuple[str, float]]:
        with self._engine() as engine:
            found, _ = engine.text_rec([np.ascontiguousarray(crop) for crop in crops])
        return [(str(row[0]), float(row[1])) for row in found]


def _load_engine() -> Any:
    from rapidocr_onnxruntime import RapidOCR

    return RapidOCR(det_limit_side_len=DETECT_SIDE, det_limit_type="max", intra_op_num_threads=1)


def _is_tall(quad: _Quad) -> bool:
    width = float(np.linalg.norm(quad[0] - quad[1]))
    height = float(np.linalg.norm(quad[0] - quad[3]))
    return height >= _TALL * width


def _cut(pixels: Pixels, quad: _Quad) -> Pixels:
    """The four-cornered region as an upright rectangle."""
    width = max(2, round(float(np.linalg.norm(quad[0] - quad[1]))))
    height = max(2, round(float(np.linalg.norm(quad[0] - quad[3]))))
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    matrix = cv2.getPerspectiveTransform(quad, target)
    cut = cv2.warpPerspective(
        pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(cut, dtype=np.uint8)


def _line(text: str, score: float, quad: _Quad, pixels: Pixels, vertical: bool) -> TextLine:
    height, width = pixels.shape[:2]
    text = shown(text).strip(_EDGE_NOISE)
    left, top = quad.min(axis=0) / (width, height)
    right, bottom = quad.max(axis=0) / (width, height)
    box = tuple(round(min(1.0, max(0.0, float(v))), 4) for v in (left, top, right, bottom))
    return TextLine(
        text=text,
        box=(box[0], box[1], box[2], box[3]),
        confidence=round(score, 3),
        vertical=vertical and len(text) > 1,
    )


def _worth_keeping(line: TextLine) -> bool:
    """Single characters are mostly texture read as text: they must be near certain."""
    least = 0.9 if len(line.text) < 3 else LEAST_CONFIDENCE
    return any(c.isalnum() for c in line.text) and line.confidence >= least
