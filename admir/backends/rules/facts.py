"""Measured facts as evidence tells them: short texts, `3 shots` or `colours: red, black`.

Those of a picture are written here; shots, length and people are written by `measured_evidence`
of admir.tools.base, the brand that a person has told by `person_evidence`. All are read back
here, one pattern each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_COLOURS = re.compile(r"colours: ([a-z, ]+)")
_INK = re.compile(r"^\"(.*)\" in ([a-z ]+) on ([a-z ]+)$")
_FACES = re.compile(r"^(\d+) faces?\b")
_SHOTS = re.compile(
    r"^(\d+) shots?(?:, \d+ cuts?, the first at (\d+\.\d) s, the last at (\d+\.\d) s)?$"
)
_LENGTH = re.compile(r"^(\d+(?:\.\d+)?) s long$")
_BRAND = re.compile(r"^The brand is (.+)\.$")
_PERSON = re.compile(r"^(.+): seen for (\d+(?:\.\d+)?) s$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ink:
    """The colours of a line of text and of what is behind it."""

    text: str
    ink: str
    ground: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shots:
    """How many shots a video has, and the times of its first and last cut, if it has any."""

    count: int
    first_cut_s: float | None = None
    last_cut_s: float | None = None


def colours_fact(colours: Sequence[str], words: str) -> str:
    """`colours: red, black; a dark, warm picture`."""
    return f"colours: {', '.join(colours)}; {words}"


def ink_fact(text: str, ink: str, ground: str) -> str:
    """`"SALE" in white on red`."""
    return f'"{text}" in {ink} on {ground}'


def faces_fact(count: int) -> str:
    """`2 faces`."""
    return "1 face" if count == 1 else f"{count} faces"


def colours_in(quote: str) -> tuple[str, ...]:
    """The colours of a picture, most of it first; none where it tells something else."""
    found = _COLOURS.match(quote)
    return tuple(found[1].split(", ")) if found else ()


def ink_in(quote: str) -> Ink | None:
    """The colours of a line."""
    found = _INK.match(quote)
    return Ink(text=found[1], ink=found[2], ground=found[3]) if found else None


def faces_in(quote: str) -> int | None:
    """The number of faces found in a picture."""
    found = _FACES.match(quote)
    return int(found[1]) if found else None


def shots_in(quote: str) -> Shots | None:
    """The number of shots, and when the first and the last cut are."""
    found = _SHOTS.match(quote)
    if not found:
        return None
    first_s, last_s = (float(found[n]) if found[n] else None for n in (2, 3))
    return Shots(count=int(found[1]), first_cut_s=first_s, last_cut_s=last_s)


def length_in(quote: str) -> float | None:
    """The length of the video, seconds."""
    found = _LENGTH.match(quote)
    return float(found[1]) if found else None


def person_in(quote: str) -> tuple[str, float] | None:
    """Who is seen, and for how many seconds."""
    found = _PERSON.match(quote)
    return (found[1], float(found[2])) if found else None


def brand_in(quote: str) -> str:
    """The brand that a person has told; empty where the text is another."""
    found = _BRAND.match(quote)
    return found[1] if found else ""
