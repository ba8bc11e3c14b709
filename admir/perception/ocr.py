"""On-screen text of one picture, with RapidOCR's networks (its models come in its wheel)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import cv2
import numpy as np

from admir.perception.curved_text import TextArc
from admir.perception.decode import Pixels
from admir.perception.ocr_models import TextNet
from admir.perception.regions import (
    Quad,
    corners_box,
    cut,
    from_side,
    is_tall,
    slant,
    turned_regions,
)
from admir.text import normalize, to_printable
from admir.types import Box

DETECT_SIDE = 1280
EVEN_SIDE = 736
ASIDE_SIDE = 736
LEAST_CONFIDENCE = 0.6
MOST_LINES = 150
_SURE = 0.85
_MOST_SECOND_TRIES = 8
_MOST_REGIONS = 3
_CLEARLY_BETTER = 0.08
_MOST_READ_ON = 3
_AS_SURE = 0.05
_SAME_PLACE = 0.4
_MOST_CONTRAST = 3.0
_EDGE_NOISE = " /\\|_~^`·'\",;:-*+="


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """One line read in one picture; the box in fractions of the picture's sides.

    `tilt` are the degrees that it leans from the level, or from the plumb if it is `vertical`.
    `reread` text is a model's, who looked at the picture, in place of that of OCR.
    """

    text: str
    box: Box
    confidence: float
    vertical: bool = False
    tilt: float = 0.0
    reread: bool = False


class TextReader(Protocol):
    """Reads the text of a picture. `id` names the engine and how it is used."""

    id: str

    def read(self, pixels: Pixels) -> tuple[TextLine, ...]:
        """The lines of a BGR picture, top to bottom. Safe to call from several threads."""


@dataclass(slots=True)
class _Found:
    """A region of the picture and its best reading so far."""

    quad: Quad
    vertical: bool
    text: str
    score: float
    pieces: tuple[Quad, ...] = ()

    @property
    def parts(self) -> tuple[Quad, ...]:
        """The straight regions that it covers: those of a bent line are less than its `quad`."""
        return self.pieces or (self.quad,)

    @property
    def is_odd(self) -> bool:
        """Whether it leans or stands, so that the picture turned upright would show it better."""
        return not self.pieces and (self.vertical or abs(slant(self.quad)) > 12)

    @property
    def weight(self) -> float:
        return self.score * len(normalize(self.text))


class RapidOcrReader:
    """Each picture is read once; what is unsure is tried again, turned as its box suggests.

    A crop that reads badly is tried upside down and with its contrast stretched. A line around a
    circle is made straight. Where boxes lean or stand, that part of the picture is turned upright
    and searched anew: boxes of slanted text are often torn or too tight. Faint lines are searched
    for in the picture with even contrast, made smaller, and standing lines in that laid on its
    side; what only these find must be sure. All this is bounded for each picture: of one full of
    text the `most_lines` largest places are read, and as many lines come of it.
    """

    id = "rapidocr-onnxruntime+turns+bends"

    def __init__(self, at_once: int = 2, most_lines: int = MOST_LINES) -> None:
        self._net = TextNet(at_once, most_lines)
        self._most = most_lines

    def read(self, pixels: Pixels) -> tuple[TextLine, ...]:
        """See `TextReader`. Lines that are read with little confidence are left out."""
        quads, bends = self._net.find_all(pixels, DETECT_SIDE)
        found = [self._reading(pixels, quad) for quad in quads]
        found = _merged(found, self._bent(pixels, bends, found))
        self._try_again(pixels, found)
        found = _merged(found, self._turned(pixels, found))
        even = _evened(pixels)
        found = _merged(found, self._faint(even, found))
        found = _merged(found, self._standing(even, found))
        lines = (_line(one, pixels) for one in _weightiest(found, self._most))
        return tuple(line for line in lines if _worth_keeping(line))

    def _reading(self, pixels: Pixels, quad: Quad) -> _Found:
        """A tall crop is read turned both ways and the surer reading counts."""
        crop, tall = cut(pixels, quad), is_tall(quad)
        ways = [np.rot90(crop, 1), np.rot90(crop, 3)] if tall else [crop]
        text, score = self._surer(ways)
        return _Found(quad, tall, text, score)

    def _faint(self, even: Pixels, found: Sequence[_Found]) -> list[_Found]:
        """What shows only where light and dark are made even."""
        quads, bends = self._net.find_all(even, EVEN_SIDE)
        unknown = (quad for quad in quads if not _is_known((quad,), found))
        room = max(0, self._most - len(found))
        fresh = [self._reading(even, quad) for quad in islice(unknown, room)]
        return fresh + self._bent(even, bends, found)

    def _bent(
        self, pixels: Pixels, bends: Sequence[TextArc], found: Sequence[_Found]
    ) -> list[_Found]:
        """What lines around a circle say, made straight: their feet may be inside or outside."""
        fresh = [bend for bend in bends if not _is_known(bend.pieces(), found)]
        return [self._bent_reading(pixels, bend) for bend in fresh]

    def _bent_reading(self, pixels: Pixels, bend: TextArc) -> _Found:
        """Its core often ends before its last letters: it is read on at both ends."""
        crop = bend.cut(pixels)
        (text, score), turn = max(
            zip(self._net.read([crop, np.rot90(crop, 2)]), (0, 2), strict=True),
            key=lambda way: way[0][1] * len(way[0][0]),
        )
        for longer in islice(bend.longer(), _MOST_READ_ON if score > LEAST_CONFIDENCE else 0):
            ((more, sure),) = self._net.read([np.rot90(longer.cut(pixels), turn)])
            if len(normalize(more)) <= len(normalize(text)) or sure < score - _AS_SURE:
                break
            bend, text, score = longer, more, sure
        return _Found(bend.quad(), is_tall(bend.quad()), text, score, bend.pieces())

    def _surer(self, ways: Sequence[Pixels]) -> tuple[str, float]:
        return max(self._net.read(ways), key=lambda reading: reading[1] * len(reading[0]))

    def _try_again(self, pixels: Pixels, found: Sequence[_Found]) -> None:
        unsure = sorted((one for one in found if one.score < _SURE), key=lambda one: one.score)
        for one in islice((one for one in unsure if not one.vertical), _MOST_SECOND_TRIES):
            crop = cut(pixels, one.quad)
            for text, score in self._net.read([np.rot90(crop, 2), _stretched(crop)]):
                better = score > one.score + _CLEARLY_BETTER and len(text) >= 0.5 * len(one.text)
                if better and _is_word(text):
                    one.text, one.score = text, score

    def _standing(self, even: Pixels, found: Sequence[_Found]) -> list[_Found]:
        """Lines that run up or down, which the detector sees best with the picture on its side."""
        side = np.ascontiguousarray(np.rot90(even))
        again = []
        for quad in self._net.find(side, ASIDE_SIDE):
            back = from_side(quad, even)
            if is_tall(back) and not _is_known((back,), found):
                crop = cut(side, quad)
                text, score = self._surer([crop, np.rot90(crop, 2)])
                again.append(_Found(back, True, text, score))
        return again

    def _turned(self, pixels: Pixels, found: Sequence[_Found]) -> list[_Found]:
        """What the parts of the picture with leaning or standing boxes say when turned upright."""
        odd = [one.quad for one in found if one.is_odd]
        again = []
        for region in turned_regions(odd, pixels)[:_MOST_REGIONS]:
            quads = self._net.find(region.pixels, DETECT_SIDE)
            readings = self._net.read([cut(region.pixels, quad) for quad in quads])
            for quad, (text, score) in zip(quads, readings, strict=True):
                if not is_tall(quad):
                    again.append(_Found(region.back(quad), region.vertical, text, score))
        return again


def _merged(found: Sequence[_Found], again: Sequence[_Found]) -> list[_Found]:
    """Of readings of one place the weightiest stay; a new one must be sure."""
    kept = list(found)
    for new in sorted(again, key=lambda one: -one.weight):
        same = [old for old in kept if _share(old.parts, new.parts) > _SAME_PLACE]
        if new.score < 0.8 or not _is_word(new.text):
            continue
        if new.weight > 1.1 * sum(o.weight for o in same if o.score > 0.6):
            kept = [old for old in kept if all(old is not other for other in same)] + [new]
    return sorted(kept, key=lambda one: (one.quad[0][1], one.quad[0][0]))


def _is_word(text: str) -> bool:
    """A letter or two read at a second try is texture."""
    return len(normalize(text)) > 2


def _weightiest(found: Sequence[_Found], most: int) -> list[_Found]:
    """The surest and longest, as they stand."""
    kept = sorted(found, key=lambda one: -one.weight)[:most]
    return sorted(kept, key=lambda one: (one.quad[0][1], one.quad[0][0]))


def _share(a: Sequence[Quad], b: Sequence[Quad]) -> float:
    """Intersection of two places, each of convex parts, over the smaller one."""
    shared = sum(cv2.intersectConvexConvex(one, two)[0] for one in a for two in b)
    smaller = min(sum(map(cv2.contourArea, a)), sum(map(cv2.contourArea, b)))
    return float(shared) / smaller if smaller > 0 else 0.0


def _is_known(parts: Sequence[Quad], found: Sequence[_Found]) -> bool:
    """Whether what stands there is read for sure."""
    return any(one.score > _SURE and _share(parts, one.parts) > _SAME_PLACE for one in found)


def _evened(pixels: Pixels) -> Pixels:
    """The picture with its contrast made alike in all its parts."""
    lab = cv2.cvtColor(pixels, cv2.COLOR_BGR2LAB)
    lab[..., 0] = cv2.createCLAHE(_MOST_CONTRAST, (8, 8)).apply(lab[..., 0])
    return np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2BGR), np.uint8)


def _stretched(crop: Pixels) -> Pixels:
    """The crop in grey with its darkest and lightest fiftieth at black and white."""
    grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY).astype(np.float32)
    low, high = np.percentile(grey, (2, 98))
    full = np.clip((grey - low) * (255 / max(1.0, high - low)), 0, 255).astype(np.uint8)
    return np.asarray(cv2.cvtColor(full, cv2.COLOR_GRAY2BGR), np.uint8)


def _line(one: _Found, pixels: Pixels) -> TextLine:
    text = to_printable(one.text).strip(_EDGE_NOISE)
    return TextLine(
        text=text,
        box=corners_box(one.quad, pixels),
        confidence=round(one.score, 3),
        vertical=one.vertical and len(text) > 1,
        tilt=round(slant(one.quad), 1),
    )


def _worth_keeping(line: TextLine) -> bool:
    """Single characters are mostly texture read as text: they must be near certain."""
    least = 0.9 if len(line.text) < 3 else LEAST_CONFIDENCE
    return any(c.isalnum() for c in line.text) and line.confidence >= least
