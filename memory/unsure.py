"""Lines that OCR is unsure of, and what a mind that looks reads in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from admir.perception.ocr import TextLine
from admir.text import squash

UNSURE = 0.8
"""Below this confidence a line is shown to a mind that looks."""

_LEAST_CHARS = 3
_ALIKE = 55.0
_BY_MODEL = 0.85
_WHOLE = (0.0, 0.0, 1.0, 1.0)
_MOST_NEW = 20


def is_unsure(line: TextLine) -> bool:
    """Whether it is worth a second reading."""
    return line.confidence < UNSURE and len(squash(line.text)) >= _LEAST_CHARS


def mended(lines: Sequence[TextLine], read: Sequence[str]) -> tuple[TextLine, ...]:
    """The lines of OCR with the unsure ones corrected, and those that OCR did not find at all.

    A line that is nowhere in OCR has the whole picture for a box.
    """
    texts = [text for text in read if squash(text)]
    found = _pairs(lines, texts)
    corrected = [
        replace(line, text=texts[found[n]], confidence=_BY_MODEL)
        if n in found and is_unsure(line)
        else line
        for n, line in enumerate(lines)
    ]
    left = [text for n, text in enumerate(texts) if n not in found.values()]
    known = squash(" ".join(line.text for line in corrected))
    new = [text for text in left if squash(text) not in known][:_MOST_NEW]
    return (*corrected, *(TextLine(text=t, box=_WHOLE, confidence=_BY_MODEL) for t in new))


def _pairs(lines: Sequence[TextLine], texts: Sequence[str]) -> dict[int, int]:
    """Which text a line is, each once, the most alike first: a line takes none that fits another.

    By index of the line, the index of the text.
    """
    alike = ((_alike(a.text, b), m, n) for m, a in enumerate(lines) for n, b in enumerate(texts))
    pairs: dict[int, int] = {}
    for score, line, text in sorted(alike, key=lambda each: -each[0]):
        if score >= _ALIKE and line not in pairs and text not in pairs.values():
            pairs[line] = text
    return pairs


def _alike(a: str, b: str) -> float:
    return fuzz.ratio(squash(a), squash(b))
