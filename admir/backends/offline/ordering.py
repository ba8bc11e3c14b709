"""Drafts about time: what came first, before or after, and when."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from admir.backends.offline.material import Draft, Material, in_channel, joined
from admir.backends.offline.question import Query
from admir.backends.offline.relevance import SCREEN_KINDS, channel_of
from admir.text import squash, words
from admir.types import Evidence

_NEXT_S = 0.3
"""Lines this close in time come together; of these the one that stays longest is meant."""

Find = Callable[[str], Evidence | None]
"""The first line that a phrase of the question means."""

_EITHER = re.compile(
    r"(?:first|earlier|later|last)[,:]? (.+?) or (.+?)\?*$|"
    r"(?:is|does|do) (.+?) (?:shown|appears?|come|said|mentioned) before (.+?)\?*$"
)
_NEXT_TO = re.compile(r"\b(before|after|follows) (.+?)\?*$")


def order_drafts(given: Material, find: Find) -> list[Draft]:
    """Which of two came first, what stood next to a thing, or the lines in their order."""
    if either := _EITHER.search(given.query.text):
        return _earlier_of_two(given, find, [part for part in either.groups() if part])
    if beside := _NEXT_TO.search(given.query.text):
        return _neighbour(given, find(beside.group(2)), before=beside.group(1) == "before")
    return [_sequence(given)] if given.lines else []


def _earlier_of_two(given: Material, find: Find, parts: Sequence[str]) -> list[Draft]:
    found = [(part, find(part)) for part in parts]
    known = [(part, line) for part, line in found if line is not None]
    if len(known) < 2:
        return []
    known.sort(key=lambda pair: pair[1].span.start_s)
    late = bool(re.search(r"\b(later|last)\b", given.query.text))
    (name, line), (_, other) = (known[-1], known[0]) if late else (known[0], known[-1])
    word = "later" if late else "first"
    text = f'{name.strip(" ,")} {word}, at {line.span.start_s:.1f} s ("{line.quote}")'
    return [Draft(text=text, key=squash(text), evidence=(line, other), score=1.0)]


def _neighbour(given: Material, line: Evidence | None, *, before: bool) -> list[Draft]:
    if line is None:
        return []
    same = [e for e in given.lines if channel_of(e) == channel_of(line) and e.id != line.id]
    if before:
        nearby = [e for e in same if e.span.end_s <= line.span.start_s + _NEXT_S]
        edge_s = max((e.span.end_s for e in nearby), default=0.0)
        nearby.sort(key=lambda e: (edge_s - e.span.end_s > _NEXT_S, -e.span.duration_s))
    else:
        nearby = [e for e in same if e.span.start_s >= line.span.end_s - _NEXT_S]
        edge_s = min((e.span.start_s for e in nearby), default=0.0)
        nearby.sort(key=lambda e: (e.span.start_s - edge_s > _NEXT_S, -e.span.duration_s))
    return [
        Draft(text=e.quote, key=squash(e.quote), evidence=(e,), score=1.0 / (1 + rank))
        for rank, e in enumerate(nearby)
    ]


def _sequence(given: Material) -> Draft:
    """The lines in order, as many as fit, spread over the video."""
    fitting = [e for e in given.lines if in_channel(given.query, e)]
    shown = [e for e in fitting if e.kind in SCREEN_KINDS] or fitting or list(given.lines)
    distinct = list({squash(e.quote): e for e in reversed(shown)}.values())[::-1]
    distinct.sort(key=lambda e: e.span.start_s)
    shown_lines = joined(given.query, [e for e in distinct if len(words(e.quote)) <= 8] or distinct)
    text = ", then ".join(f'"{e.quote}"' for e in shown_lines.evidence)
    return Draft(text=text, key=squash(text), evidence=shown_lines.evidence, score=1.0)


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
    start, end = line.span.start_s, line.span.end_s
    quote = line.quote if len(words(line.quote)) <= 12 else " ".join(line.quote.split()[:12])
    at = end if query.aspect == "end_time" else start
    rest = f"from {start:.1f} s" if query.aspect == "end_time" else f"until {end:.1f} s"
    return Draft(
        text=f'At {at:.1f} s ("{quote}", {rest})', key=f"{at:.1f}", evidence=(line,), score=score
    )
