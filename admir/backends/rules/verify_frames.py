"""A second look at a cited frame: does the line really stand there?"""

from __future__ import annotations

import cv2
import numpy as np
from rapidfuzz.fuzz import partial_ratio

from admir.perception.decode import Picture, Pixels
from admir.perception.ocr import TextReader
from admir.text import normalize, numbers, words
from admir.types import Evidence

SAME_READING = 65.0
_MARGIN = 0.04
_LEAST_TYPE, _MOST_SCALE = 36.0, 4.0
"""Small type is enlarged: cut out alone it is too small for the detector."""


def check_frame_text(line: Evidence, picture: Picture, reader: TextReader) -> str | None:
    """What is wrong with the line when its frame is read again; None when it is there."""
    seen = " ".join(found.text for found in reader.read(_region(line, picture.pixels)))
    if not normalize(seen):
        return f"the frame at {picture.time_s:.1f} s shows no text where {line.id} stands"
    if _alike(line.quote, seen) < SAME_READING or _other_numbers(line.quote, seen):
        return f'the frame at {picture.time_s:.1f} s reads "{seen}" where {line.id} stands'
    return None


def _other_numbers(quote: str, seen: str) -> bool:
    """Whether the frame shows other numbers in place of the line's; letters alone say nothing."""
    said, read = set(numbers(quote)), set(numbers(seen))
    return bool(said - read) and bool(read - said) and not said & read


def _alike(quote: str, seen: str) -> float:
    """0 to 100; a part of the other counts as the same only when it is most of it."""
    a, b = normalize(quote), normalize(seen)
    if len(b) < 0.5 * len(a):
        return 0.0
    same_words = sorted(words(quote)) == sorted(words(seen))
    return 100.0 if same_words else float(partial_ratio(a, b))


def _region(line: Evidence, pixels: Pixels) -> Pixels:
    """The box with a margin around it; the whole picture where there is no box."""
    if line.box is None:
        return pixels
    height, width = pixels.shape[:2]
    left, top, right, bottom = line.box
    rows = slice(max(0, int((top - _MARGIN) * height)), int((bottom + _MARGIN) * height) + 1)
    columns = slice(max(0, int((left - _MARGIN) * width)), int((right + _MARGIN) * width) + 1)
    region = pixels[rows, columns]
    scale = min(_MOST_SCALE, _LEAST_TYPE / max(1.0, (bottom - top) * height))
    if scale <= 1:
        return np.ascontiguousarray(region)
    return np.asarray(cv2.resize(region, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC))
