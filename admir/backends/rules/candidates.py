"""Drafts: what in the evidence could answer the question, best first.

A draft is extracted, never composed: each one points at the lines it was taken from. The
ranking only prefers what the question asks for; whether a draft really meets the question's
demands is for `checking` to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from admir.backends.rules.brand_answers import name_drafts, slogan_drafts, small_print_drafts
from admir.backends.rules.count_answers import quantity_drafts, screen_time_drafts, times_drafts
from admir.backends.rules.evidence_pool import Draft, Material, in_channel, join_lines, material
from admir.backends.rules.extract import EXTRACTORS, Value, dates, urls
from admir.backends.rules.inference_answers import reading_drafts
from admir.backends.rules.measurement_answers import colour_drafts, measure_drafts, people_drafts
from admir.backends.rules.order_answers import order_drafts, time_drafts
from admir.backends.rules.question import Query, understand
from admir.backends.rules.relevance import asked_speakers, channel_of, has_term, missing_names
from admir.backends.rules.word_lists import word_list
from admir.text import fold, normalize, tokenize, words
from admir.types import Evidence

LEAST_OVERLAP = 0.5
"""A fact must share this much of the question's content with the line that answers it."""

_SINGLE_SCORE = 0.7
_NEAR_SHARE = 0.12
_SHORT_LINE = 3
_TOGETHER_S = 1.0
_FOLLOWS_S = 0.6
_NEARLY_BEST = 0.75
_WITHOUT_LINES = ("reading", "measure", "colour", "people")
"""Kinds that are not answered by a line."""

_BY_LIKENESS = ("order", "times_shown", "screen_time")
"""Kinds that look for what is quoted themselves, misreadings forgiven."""


def drafts(query: Query, evidence: Sequence[Evidence], duration_s: float) -> list[Draft]:
    """All drafts for a question, best first; none when nothing supports an answer."""
    given = material(query, evidence, duration_s)
    if query.unclear_time:
        return []
    strict = query.kind.value not in (*_WITHOUT_LINES, *_BY_LIKENESS)
    if strict and missing_names(query, given.everything):
        return []
    if query.yes_no and query.kind.value in EXTRACTORS and not _topic_is_there(given):
        return []
    draft = _DRAFTERS.get(query.kind.value, _typed)
    if query.kind.value == "name" and query.aspect != "content" and query.channel == "speech":
        draft = _quotes
    found = draft(given)
    if query.aspect != "content" and query.kind.value not in _WITHOUT_LINES:
        found = time_drafts(given, found)
    return sorted(found, key=lambda draft: -draft.score)


def _topic_is_there(given: Material) -> bool:
    """Whether what a yes-or-no question adds to its kind (free *shipping*) is in some line."""
    kind_words = {term for word in word_list("frame") for term in tokenize(word)}
    added = given.query.terms - kind_words
    return not added or any(has_term(e.quote, t) for e in given.lines for t in added)


def _preference(given: Material, evidence: Evidence) -> float:
    """What a line gains by fitting the question: content, channel, search rank."""
    query = given.query
    score = given.fits(evidence) if query.terms else 0.0
    if channel_of(evidence) == (query.channel or "screen"):
        score += 0.3 if query.channel else 0.1
    return score + 0.05 * min(1.0, evidence.score)


def _typed(given: Material) -> list[Draft]:
    """Drafts of the kinds whose answer is a value in a line."""
    extract = EXTRACTORS[given.query.kind.value]
    best: dict[str, Draft] = {}
    for line in given.lines:
        for value in extract(line.quote):
            if value.role == "saving" and given.query.kind.value == "price":
                continue
            draft = _value_draft(given, line, value)
            known = best.get(draft.key)
            if known is None or draft.score > known.score:
                best[draft.key] = draft
    return list(best.values())


def _value_draft(given: Material, line: Evidence, value: Value) -> Draft:
    query, text = given.query, value.text
    lines: tuple[Evidence, ...] = (line,)
    score = _preference(given, line)
    if query.kind.value == "price":
        wanted = "old" if query.asks_old else "now"
        score += 0.5 if value.role == wanted else 0.2 if value.role == "plain" else 0.0
    if query.kind.value == "date":
        score += 0.5 * bool(
            re.search(r"\b(until|till|ends?|by|before|valid)\b|止", fold(line.quote))
        )
        score += 0.3 * any(c.isdigit() for c in value.text)
    if query.kind.value in ("year", "date") and len(words(line.quote)) <= _SHORT_LINE:
        text = line.quote
    if query.kind.value in ("offer", "call_to_action"):
        text, lines = _with_neighbours(given, line, value)
        score += 0.4 * (line.span.end_s / max(given.duration_s, 1e-6))
    return Draft(text=text, key=value.key, evidence=lines, score=score)


def _with_neighbours(
    given: Material, line: Evidence, value: Value
) -> tuple[str, tuple[Evidence, ...]]:
    """An offer with the date beside it, a call to action with the address beside it."""
    wanted = urls if given.query.kind.value == "call_to_action" else dates
    text = line.quote if len(words(line.quote)) <= 12 else value.text
    if wanted(line.quote):
        return text, (line,)
    beside = [
        other
        for other in given.lines
        if other is not line
        and channel_of(other) == channel_of(line)
        and other.span.overlap_s(line.span) > 0.3
        and wanted(other.quote)
    ]
    if not beside:
        return text, (line,)
    other = min(beside, key=lambda e: abs(e.span.start_s - line.span.start_s))
    return f"{text} {_short(other.quote, wanted)}", (line, other)


def _short(quote: str, wanted: Callable[[str], list[Value]]) -> str:
    return quote if len(words(quote)) <= 8 else wanted(quote)[0].text


def _quotes(given: Material) -> list[Draft]:
    """Drafts of the kinds whose answer is a line itself."""
    query = given.query
    speakers = asked_speakers(query, given.everything)
    lines = [e for e in given.lines if not speakers or e.speaker in speakers]
    if query.channel == "speech":
        lines = [e for e in lines if e.kind == "speech"] or lines
    if query.only:
        return _single(query, lines)
    fitting = [e for e in lines if given.fits(e) >= LEAST_OVERLAP]
    named = {term for speaker in speakers for term in words(speaker)}
    if speakers and not fitting:
        return _lists(query, lines) if lines and not query.wordless else []
    if fitting and not query.terms - named and not query.quoted:
        fitting = [e for e in fitting if in_channel(query, e)] or fitting
        return _lists(query, [e for e in fitting if _has_type(query, e)] or fitting)
    return [*(_line_draft(given, e) for e in fitting), *_pair_drafts(given, lines)]


def _pair_drafts(given: Material, lines: Sequence[Evidence]) -> list[Draft]:
    """Two captions in a row that hold more of the question together than either alone."""
    found = []
    for first, second in pairwise(e for e in lines if in_channel(given.query, e)):
        if not 0 <= second.span.start_s - first.span.start_s <= first.span.duration_s + _FOLLOWS_S:
            continue
        whole = replace(first, quote=f"{first.quote} {second.quote}")
        fits = given.fits(whole)
        if fits >= LEAST_OVERLAP and fits > max(given.fits(first), given.fits(second)) + 0.01:
            score = fits + _preference(given, whole)
            key = normalize(whole.quote)
            found.append(Draft(text=whole.quote, key=key, evidence=(first, second), score=score))
    return found


def _line_draft(given: Material, line: Evidence) -> Draft:
    """The line; where it only repeats the question, what stands beside it."""
    query, score = given.query, given.fits(line) + _preference(given, line)
    if query.aspect == "content" and not query.yes_no and _only_repeats(query, line):
        beside = [e for e in given.lines if _beside(e, line) and not _only_repeats(query, e)]
        if not beside:
            return Draft(text=line.quote, key=normalize(line.quote), evidence=(line,), score=0.0)
        best = join_lines(query, beside)
        return Draft(text=best.text, key=best.key, evidence=best.evidence, score=score)
    return Draft(
        text=_quoted(query, line), key=normalize(line.quote), evidence=(line,), score=score
    )


def _only_repeats(query: Query, line: Evidence) -> bool:
    """Whether every word of the line stands in the question already."""
    asked = set(words(query.text))
    return all(word in asked for word in words(line.quote))


def _beside(line: Evidence, other: Evidence) -> bool:
    """Whether two lines are shown together, close to one another."""
    if channel_of(line) != "screen" or not line.box or not other.box:
        return False
    if line.span.overlap_s(other.span) < 0.5 * min(line.span.duration_s, other.span.duration_s):
        return False
    gap_x = max(line.box[0], other.box[0]) - min(line.box[2], other.box[2])
    gap_y = max(line.box[1], other.box[1]) - min(line.box[3], other.box[3])
    return max(gap_x, gap_y) <= _NEAR_SHARE


def _has_type(query: Query, line: Evidence) -> bool:
    """Whether a line holds a value of the type that the question names: a year, a date."""
    if re.search(r"\b(what|which) question\b|什么问题", query.text):
        return line.quote.rstrip().endswith(("?", "？"))
    return all(extract(line.quote) for name, extract in EXTRACTORS.items() if name in query.text)


def _single(query: Query, lines: Sequence[Evidence]) -> list[Draft]:
    """The very first or last line, of the channel asked for; the next ones after it."""
    late = query.only == "end"
    fitting = [e for e in lines if in_channel(query, e)]
    fitting = [e for e in fitting if _has_type(query, e)] or fitting
    starts = [e.span.start_s for e in fitting]
    edge_s = max(starts, default=0.0) if late else min(starts, default=0.0)
    ordered = sorted(
        fitting,
        key=lambda e: (abs(e.span.start_s - edge_s) // _TOGETHER_S, -e.span.duration_s),
    )
    return [
        Draft(text=_quoted(query, e), key=normalize(e.quote), evidence=(e,), score=1.0 / (1 + rank))
        for rank, e in enumerate(ordered)
    ]


def _lists(query: Query, lines: Sequence[Evidence]) -> list[Draft]:
    """All the lines as one answer; should that not stand, each of them, longest seen first."""
    by_length = sorted(lines, key=lambda e: -e.span.duration_s)
    singles = [
        Draft(
            text=e.quote, key=normalize(e.quote), evidence=(e,), score=_SINGLE_SCORE - 0.001 * rank
        )
        for rank, e in enumerate(by_length)
    ]
    return [join_lines(query, lines), *singles]


def _quoted(query: Query, line: Evidence) -> str:
    """The line; with its speaker in front where the question asks who."""
    if query.text.startswith("who ") and line.speaker:
        return f'{line.speaker}: "{line.quote}"'
    return line.quote


def _order(given: Material) -> list[Draft]:
    """Drafts about order; a phrase of the question is found by asking for it."""
    return order_drafts(given, lambda phrase: next(iter(_lines_of(given, phrase)), None))


def _times(given: Material) -> list[Draft]:
    return times_drafts(given, lambda phrase: _lines_of(given, phrase))


def _screen_time(given: Material) -> list[Draft]:
    return screen_time_drafts(given, lambda phrase: _lines_of(given, phrase))


def _lines_of(given: Material, phrase: str) -> list[Evidence]:
    return lines_of(phrase, given.everything, given.duration_s)


def lines_of(phrase: str, evidence: Sequence[Evidence], duration_s: float) -> list[Evidence]:
    """The lines that a phrase of a question means, in order of time."""
    found = drafts(understand(phrase), evidence, duration_s)
    good = [d for d in found if d.score >= _NEARLY_BEST * found[0].score]
    lines = [line for draft in good for line in draft.evidence]
    return sorted(lines, key=lambda e: e.span.start_s)


_DRAFTERS: dict[str, Callable[[Material], list[Draft]]] = {
    "name": name_drafts,
    "quote": _quotes,
    "slogan": slogan_drafts,
    "small_print": small_print_drafts,
    "order": _order,
    "times_shown": _times,
    "screen_time": _screen_time,
    "quantity": quantity_drafts,
    "measure": measure_drafts,
    "colour": colour_drafts,
    "people": people_drafts,
    "reading": reading_drafts,
}
