"""Drafts about time: what came first, before or after, and when."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rapidfuzz.fuzz import partial_ratio

from admir.backends.rules.evidence_pool import Draft, Material, in_channel, join_lines
from admir.backends.rules.phrases import say
from admir.backends.rules.question import Query
from admir.backends.rules.relevance import SCREEN_KINDS, channel_of
from admir.text import contains, normalize, numbers, words
from admir.types import Evidence

_NEXT_S = 0.3
"""Lines this close in time come together; of these the one that stays longest is meant."""

Find = Callable[[str], Evidence | None]
"""The first line that a phrase of the question means."""

_EITHER = re.compile(
    r"(?:first|earlier|later|last)\b[^,:?]*[,:] ?(.+?) or (.+?)\?*$|"
    r"(?:first|earlier|later|last)[,:]? (?!at\b|on\b)(.+?) or (.+?)\?*$|"
    r"(?:is|does|do) (.+?) (?:shown|appears?|come|said|mentioned) before (.+?)\?*$|"
    r"(.+?)(?:和|还是)(.+?)(?:哪个|哪一个)?(?:先|最先)"
)
_START_OR_END = re.compile(
    r"^(?:is|are|does|do|was|were) (.+?) (?:shown|said|appears?|seen|displayed|comes?|at|in|near)\b"
    r".*\b(?:beginning|start)\b.*\bor\b.*\bend\b"
)
_BEFORE = re.compile(r"\b(before|precedes?|preceding|prior to)\b|之前|前面|前一")
_NEXT_TO = re.compile(
    r"\b(?:before|after|follows?|following|precedes?) (.+?)\?*$|(.+?)(?:之|的)?[前后]"
)
_EDGE_SHARE = 0.34
_SAME_LINE = 85
_LEAST_PART = 6
_LEAST_REST = 4


def order_drafts(given: Material, find: Find) -> list[Draft]:
    """Which of two came first, what stood next to a thing, or the lines in their order."""
    text = given.query.text
    if place := _START_OR_END.search(text):
        return _place(given, find(place.group(1)))
    if either := _EITHER.search(text):
        return _earlier_of_two(given, find, [part for part in either.groups() if part])
    if anchor := _anchor(given, find):
        before = bool(_BEFORE.search(text))
        return _goes_on(given, anchor, before=before) + _neighbour(given, anchor, before=before)
    if given.query.quoted:
        return []
    return [_sequence(given)] if given.lines else []


def compared(text: str) -> tuple[str, ...]:
    """The two things whose order a question asks for, or the one whose place; else none."""
    found = _START_OR_END.search(text) or _EITHER.search(text)
    return tuple(part for part in found.groups() if part) if found else ()


def _anchor(given: Material, find: Find) -> Evidence | None:
    """The line beside which the answer stands: the quoted one, else the one described."""
    for phrase in given.query.quoted:
        return _quoted_line(given, phrase, late=not _BEFORE.search(given.query.text))
    beside = _NEXT_TO.search(given.query.text)
    return find(next(part for part in beside.groups() if part)) if beside else None


def _quoted_line(given: Material, phrase: str, *, late: bool) -> Evidence | None:
    """The line that is quoted; of a caption that was read in parts, its last one or its first."""
    whole = [e for e in given.lines if _is_line(e.quote, phrase)]
    parts = [e for e in given.lines if _is_part(e.quote, phrase)]
    if whole or not parts:
        return min(whole, key=lambda e: e.span.start_s, default=None)
    return max(parts, key=lambda e: e.span.end_s) if late else parts[0]


def _is_line(quote: str, phrase: str) -> bool:
    """Whether a line holds a phrase, small errors of OCR forgiven, but not other numbers."""
    if contains(quote, phrase):
        return True
    line, wanted = normalize(quote), normalize(phrase)
    return (
        len(line) >= len(wanted) - 2
        and set(numbers(phrase)) <= set(numbers(quote))
        and partial_ratio(line, wanted) >= _SAME_LINE
    )


def _is_part(quote: str, phrase: str) -> bool:
    return len(normalize(quote)) >= _LEAST_PART and contains(phrase, quote)


def _place(given: Material, line: Evidence | None) -> list[Draft]:
    """At the start or at the end of the ad."""
    if line is None:
        return []
    share = line.span.start_s / max(given.duration_s, 1e-6)
    edge = "at_the_start" if share < _EDGE_SHARE else "at_the_end"
    phrase = edge if not _EDGE_SHARE <= share <= 1 - _EDGE_SHARE else "in_the_middle"
    text = say(given.query.language, phrase, at=f"{line.span.start_s:.1f}")
    return [Draft(text=text, key=normalize(text), evidence=(line,), score=1.0)]


def _earlier_of_two(given: Material, find: Find, parts: Sequence[str]) -> list[Draft]:
    found = [(part, _quoted_line(given, part, late=False) or find(part)) for part in parts]
    known = [(part, line) for part, line in found if line is not None]
    if len(known) < 2:
        return []
    known.sort(key=lambda pair: pair[1].span.start_s)
    late = bool(re.search(r"\b(later|last)\b|后", given.query.text))
    (name, line), (_, other) = (known[-1], known[0]) if late else (known[0], known[-1])
    text = say(
        given.query.language,
        "later" if late else "earlier",
        name=name.strip(" ,'\""),
        at=f"{line.span.start_s:.1f}",
        quote=line.quote,
    )
    return [Draft(text=text, key=normalize(text), evidence=(line, other), score=1.0)]


def _goes_on(given: Material, line: Evidence, *, before: bool) -> list[Draft]:
    """The line itself where it says more than the phrase that is quoted, on the asked side."""
    flat = normalize(line.quote)
    for phrase in map(normalize, given.query.quoted):
        rest = flat.partition(phrase)[0 if before else 2] if phrase in flat else ""
        if len(rest) >= _LEAST_REST:
            return [Draft(text=line.quote, key=flat, evidence=(line,), score=1.5)]
    return []


def _neighbour(given: Material, line: Evidence, *, before: bool) -> list[Draft]:
    """The lines right before or after, of the same channel; what comes together is told alike."""
    asked = [line.quote, *given.query.quoted]
    same = [
        e
        for e in given.lines
        if channel_of(e) == channel_of(line)
        and not any(_repeats(e.quote, phrase) for phrase in asked)
    ]
    if before:
        nearby = [e for e in same if e.span.end_s <= line.span.start_s + _NEXT_S]
        edge_s = max((e.span.end_s for e in nearby), default=0.0)
        nearby.sort(key=lambda e: (edge_s - e.span.end_s > _NEXT_S, -e.span.duration_s))
    else:
        nearby = [e for e in same if e.span.start_s >= line.span.end_s - _NEXT_S]
        edge_s = min((e.span.start_s for e in nearby), default=0.0)
        nearby.sort(key=lambda e: (e.span.start_s - edge_s > _NEXT_S, -e.span.duration_s))
    return [
        Draft(text=e.quote, key=normalize(e.quote), evidence=(e,), score=1.0 / (1 + rank))
        for rank, e in enumerate(nearby)
    ]


def _repeats(quote: str, other: str) -> bool:
    """Whether the two are sightings of one line, whole or in part."""
    a, b = sorted((normalize(quote), normalize(other)), key=len)
    return a in b or partial_ratio(a, b) >= _SAME_LINE


def _sequence(given: Material) -> Draft:
    """The lines in order, as many as fit, spread over the video."""
    fitting = [e for e in given.lines if in_channel(given.query, e)]
    shown = [e for e in fitting if e.kind in SCREEN_KINDS] or fitting or list(given.lines)
    distinct = list({normalize(e.quote): e for e in reversed(shown)}.values())[::-1]
    distinct.sort(key=lambda e: e.span.start_s)
    shown_lines = join_lines(
        given.query, [e for e in distinct if len(words(e.quote)) <= 8] or distinct
    )
    then = say(given.query.language, "then_next")
    text = then.join(f'"{e.quote}"' for e in shown_lines.evidence)
    return Draft(text=text, key=normalize(text), evidence=shown_lines.evidence, score=1.0)


def time_drafts(given: Material, found: Sequence[Draft]) -> list[Draft]:
    """The same drafts, answered by when their first line is there."""
    if not found:
        return []
    query = given.query
    best = max(draft.score for draft in found)
    good = [draft for draft in found if draft.score >= 0.8 * best]
    lines = {line.id: line for draft in good for line in draft.evidence}
    late = query.aspect == "end_time" or bool(re.search(r"\blast\b", query.text))
    ordered = sorted(lines.values(), key=lambda e: e.span.start_s, reverse=late)
    return [_time_draft(query, line, best / (1 + rank)) for rank, line in enumerate(ordered)]


def _time_draft(query: Query, line: Evidence, score: float) -> Draft:
    start, end = f"{line.span.start_s:.1f}", f"{line.span.end_s:.1f}"
    quote = line.quote if len(words(line.quote)) <= 12 else " ".join(line.quote.split()[:12])
    late = query.aspect == "end_time"
    text = say(query.language, "to_time" if late else "from_time", at=start, end=end, quote=quote)
    return Draft(text=text, key=end if late else start, evidence=(line,), score=score)
