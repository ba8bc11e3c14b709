"""Drafts that count: how often a line is shown, for how long, and `26 jewels`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from rapidfuzz.fuzz import ratio

from admir.backends.rules.evidence_pool import Draft, Material
from admir.backends.rules.phrases import count_word, say
from admir.backends.rules.relevance import SCREEN_KINDS, asked_speakers, has_term
from admir.text import contains, fold, normalize, numbers, stem, words
from admir.types import Evidence, Span

Lines = Callable[[str], Sequence[Evidence]]
"""Finds the lines that a phrase of the question means."""

_APART_S = 0.5
_SAME_LINE = 85
_COUNTED = re.compile(r"\bhow many ([a-z]+)|(?:多少|几) ?(\S)")
_SPEAKS = re.compile(r"\b(?:speaks?|talks?|is heard)\b\W*$|说话")
_BIG_UNIT = re.compile(r"(?<=\d)(?=[a-z])", re.IGNORECASE)


def times_drafts(given: Material, lines: Lines) -> list[Draft]:
    """How often the line that the question means is shown or said."""
    language = given.query.language
    same = _asked_lines(given, lines)
    spans = stretches(same)
    if not spans:
        return []
    times = ", ".join(say(language, "seconds", at=f"{span.start_s:.1f}") for span in spans)
    phrase = "counted_once" if len(spans) == 1 else "counted"
    text = say(language, phrase, count=count_word(language, len(spans)), times=times)
    return [Draft(text=text, key=normalize(text), evidence=tuple(same), score=1.0)]


def screen_time_drafts(given: Material, lines: Lines) -> list[Draft]:
    """For how long a line is on the screen, all its stretches together."""
    spans = stretches([e for e in _asked_lines(given, lines) if e.kind in SCREEN_KINDS])
    if not spans:
        return []
    longest = max(spans, key=lambda span: span.duration_s)
    line = next(e for e in _asked_lines(given, lines) if e.span.overlap_s(longest) > 0)
    text = say(
        given.query.language,
        "lasting",
        seconds=f"{longest.duration_s:.1f}",
        at=f"{longest.start_s:.1f}",
        end=f"{longest.end_s:.1f}",
    )
    return [Draft(text=text, key=normalize(text), evidence=(line,), score=1.0)]


def _asked_lines(given: Material, lines: Lines) -> list[Evidence]:
    """All sightings of the line that is quoted, else of the one that fits best."""
    usable = [e for e in given.lines if e.kind in (*SCREEN_KINDS, "speech")]
    for phrase in given.query.quoted:
        return [e for e in usable if _holds(e, phrase)]
    speakers = asked_speakers(given.query, given.everything)
    if speakers and _SPEAKS.search(given.query.text):
        return [e for e in usable if e.speaker in speakers]
    found = lines(_without_count(given.query.text))
    if not found:
        return []
    return [e for e in usable if _same(e, found[0])]


def _without_count(text: str) -> str:
    return re.sub(r"\bhow (many (times|seconds)|often|long)\b|多少次|几次|多久", " ", text)


def _holds(line: Evidence, phrase: str) -> bool:
    return (
        contains(line.quote, phrase)
        or ratio(normalize(line.quote), normalize(phrase)) >= _SAME_LINE
    )


def _same(line: Evidence, other: Evidence) -> bool:
    return (
        line.kind == other.kind
        and ratio(normalize(line.quote), normalize(other.quote)) >= _SAME_LINE
    )


def stretches(lines: Sequence[Evidence]) -> list[Span]:
    """The times of the lines, those that touch as one."""
    spans: list[Span] = []
    for line in sorted(lines, key=lambda e: e.span.start_s):
        if spans and line.span.start_s - spans[-1].end_s < _APART_S:
            end_s = max(spans[-1].end_s, line.span.end_s)
            spans[-1] = Span(start_s=spans[-1].start_s, end_s=end_s)
        else:
            spans.append(line.span)
    return spans


def quantity_drafts(given: Material) -> list[Draft]:
    """A number that counts what the question counts: `26 jewels` for `how many jewels`."""
    found = _COUNTED.search(given.query.text)
    unit = (found.group(1) or found.group(2)) if found else ""
    return [
        Draft(
            text=line.quote,
            key=normalize(line.quote),
            evidence=(line,),
            score=1.0 + given.fits(line),
        )
        for line in given.lines
        if unit and _counts(line.quote, unit)
    ]


def _counts(text: str, unit: str) -> bool:
    """Whether a number stands right before the unit, or within two words of it."""
    if not unit.isascii():
        return bool(re.search(rf"[\d一二两三四五六七八九十百千]\s?{re.escape(unit)}", fold(text)))
    parts = words(_BIG_UNIT.sub(" ", text))
    wanted = stem(unit)
    pairs = [*pairwise(parts), *zip(parts, parts[2:], strict=False)]
    return has_term(text, wanted) and any(
        numbers(before) and stem(after) == wanted for before, after in pairs
    )
