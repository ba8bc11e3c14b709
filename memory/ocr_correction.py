"""What OCR misread, put right by a model that looks at the frames."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from admir.backends.base import Caption, TextCorrection
from admir.perception.ocr import TextLine
from admir.text import normalize
from admir.types import ScreenText, Span

UNSURE = 0.8
"""Below this confidence a line is shown to a backend that looks."""

_LEAST_CHARS = 3
_ALIKE = 55.0
_SAME_READING = 92.0
_BY_MODEL = 0.85
_WHOLE = (0.0, 0.0, 1.0, 1.0)
_MOST_NEW = 20


def is_unsure(line: TextLine) -> bool:
    """Whether it is worth a second reading."""
    return line.confidence < UNSURE and len(normalize(line.text)) >= _LEAST_CHARS


def apply_second_ocr(lines: Sequence[TextLine], read: Sequence[str]) -> tuple[TextLine, ...]:
    """The lines of OCR in a model's reading of the same frame, and those that OCR did not find.

    Where they pair the model is right: it was asked because OCR had trouble with this frame, and
    OCR is often sure of what it misread. A line that is nowhere in OCR has the whole picture for
    a box.
    """
    texts = [text for text in read if normalize(text)]
    found = _pairs(lines, texts)
    corrected = [
        replace(line, text=texts[found[n]], confidence=_BY_MODEL, reread=True)
        if n in found and texts[found[n]] != line.text
        else line
        for n, line in enumerate(lines)
    ]
    left = [text for n, text in enumerate(texts) if n not in found.values()]
    known = normalize(" ".join(line.text for line in corrected))
    new = [text for text in left if normalize(text) not in known][:_MOST_NEW]
    found_by_model = (
        TextLine(text=text, box=_WHOLE, confidence=_BY_MODEL, reread=True) for text in new
    )
    return (*corrected, *found_by_model)


def apply_corrections(
    lines: Sequence[ScreenText], clips: Sequence[Span], captions: Sequence[Caption]
) -> tuple[ScreenText, ...]:
    """Lines of the screen as captions of the clips that show them put them right.

    A correction must be a reading of the same line: alike, and with no number that OCR did not
    see, for a price is not to be made up.
    """
    return tuple(
        next(
            (
                replace(line, text=correction.text, ocr_text=line.text)
                for span, caption in zip(clips, captions, strict=True)
                if span.overlap_s(line.span) > 0
                for correction in caption.corrections
                if _corrects(correction, line.text)
            ),
            line,
        )
        for line in lines
    )


def _corrects(correction: TextCorrection, text: str) -> bool:
    if _alike(correction.ocr_text, text) < _SAME_READING or correction.text == text:
        return False
    digits = "".join(c for c in text if c.isdigit())
    new_number = any(number not in digits for number in _digits(correction.text))
    return not new_number and _alike(correction.text, text) >= _ALIKE


def _digits(text: str) -> list[str]:
    """The runs of digits in a text."""
    return re.findall(r"\d+", text)


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
    return fuzz.ratio(normalize(a), normalize(b))
