"""A reader that remembers reads the same pixels once."""

from __future__ import annotations

import numpy as np
import pytest

from admir.perception import ocr_cache
from admir.perception.ocr import TextLine
from admir.perception.ocr_cache import CachedTextReader


class Counting:
    id = "counting"

    def __init__(self) -> None:
        self.reads = 0

    def read(self, pixels: np.ndarray) -> tuple[TextLine, ...]:
        self.reads += 1
        text = f"{pixels.shape} {pixels.sum()}"
        return (TextLine(text=text, box=(0, 0, 1, 1), confidence=1.0),)


def test_equal_pixels_are_read_once_and_others_are_not_confused():
    inner = Counting()
    reader = CachedTextReader(inner)
    wide, tall = np.zeros((2, 6, 3), np.uint8), np.zeros((6, 2, 3), np.uint8)
    read = [reader.read(picture)[0].text for picture in (wide, tall, wide.copy(), tall[:, ::-1])]
    assert read == ["(2, 6, 3) 0", "(6, 2, 3) 0"] * 2
    assert inner.reads == 2
    wide[0, 0, 0] = 1
    assert reader.read(wide)[0].text == "(2, 6, 3) 1"
    assert reader.id == "counting"


def test_what_was_not_asked_for_longest_is_let_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ocr_cache, "MOST_REMEMBERED", 2)
    inner = Counting()
    reader = CachedTextReader(inner)
    a, b, c = (np.full((2, 2, 3), value, np.uint8) for value in (1, 2, 3))
    for picture in (a, b, a, c, a, b):
        reader.read(picture)
    assert inner.reads == 4
