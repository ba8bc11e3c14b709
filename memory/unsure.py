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
    left = [text for text in read if squash(text)]
    corrected = []
    for line in lines:
        best = max(left, key=lambda text: _alike(line.text, text), default="")
        if not best or _alike(line.text, best) < _ALIKE:
            corrected.append(line)
            continue
        left.remove(best)
        corrected.append(
            replace(line, text=best, confidence=_BY_MODEL) if is_unsure(line) else line
        )
    known = squash(" ".join(line.text for line in corrected))
    new = [text for text in left if squash(text) not in known][:_MOST_NEW]
    return (*corrected, *(TextLine(text=t, box=_WHOLE, confidence=_BY_MODEL) for t in new))


def _alike(a: str, b: str) -> float:
    return fuzz.ratio(squash(a), squash(b))
