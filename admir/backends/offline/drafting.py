"""Drafts: what in the evidence could answer the question, best first.

A draft is extracted, never composed: each one points at the lines it was taken from. The
ranking only prefers what the question asks for; whether a draft really meets the question's
demands is for `checking` to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from admir.backends.offline.extract import EXTRACTORS, Value, dates, urls
from admir.backends.offline.lexicon import word_list
from admir.backends.offline.names import Line, RankedName, rank_names, same_name
from admir.backends.offline.question import Query
from admir.backends.offline.relevance import (
    SCREEN_KINDS,
    Rarity,
    asked_speakers,
    channel_of,
    has_term,
    missing_names,
    rarity,
    relevance,
)
from admir.text import fold, squash, tokenize, words
from admir.types import Evidence

LEAST_OVERLAP = 0.5
"""A fact must share this much of the question's content with the line that answers it."""

_MAX_JOINED_WORDS = 24
_EDGE_S = 2.0
_LEAST_VERTICAL, _VERTICAL_RATIO = 3, 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer that could be given. `key` is equal for equal answers."""

    text: str
    key: str
    evidence: tuple[Evidence, ...]
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The evidence a question may be answered from, cut to the stretch it asks about."""

    query: Query
    lines: tuple[Evidence, ...]
    everything: tuple[Evidence, ...]
    weights: Rarity
    duration_s: float

    def fits(self, line: Evidence) -> float:
        """How well a line fits the question: see `relevance`."""
        return relevance(self.query, line, self.weights)


def material(query: Query, evidence: Sequence[Evidence], duration_s: float) -> Material:
    """Text and speech inside the question's window; captions never answer."""
    window = query.window(duration_s)
    usable = [e for e in evidence if channel_of(e) is not None]
    inside = [e for e in usable if window is None or e.span.overlap_s(window) > 0.2]
    if query.vertical:
        inside = [e for e in inside if _is_upright_box(e)]
    by_start = tuple(sorted(inside, key=lambda e: (e.span.start_s, e.id)))
    return Material(
        query=query,
        lines=by_start,
        everything=tuple(evidence),
        weights=rarity(query, evidence),
        duration_s=duration_s,
    )


def _is_upright_box(line: Evidence) -> bool:
    """Whether the line runs vertically. A short word can stand taller than wide as well."""
    if line.box is None or len(squash(line.quote)) < _LEAST_VERTICAL:
        return False
    return line.box[3] - line.box[1] > _VERTICAL_RATIO * (line.box[2] - line.box[0])


def drafts(query: Query, evidence: Sequence[Evidence], duration_s: float) -> list[Draft]:
    """All drafts for a question, best first; none when nothing supports an answer."""
    given = material(query, evidence, duration_s)
    if query.kind.value != "reading" and missing_names(query, given.everything):
        return []
    if query.yes_no and query.kind.value in EXTRACTORS and not _topic_is_there(given):
        return []
    found = _DRAFTERS.get(query.kind.value, _typed)(given)
    if query.aspect != "content":
        found = _as_times(given, found)
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
    fitting = [e for e in lines if given.fits(e) >= LEAST_OVERLAP]
    named = {term for speaker in speakers for term in words(speaker)}
    if fitting and not query.terms - named and not query.quoted:
        return [_joined(query, [e for e in fitting if _in_channel(query, e)] or fitting)]
    return [
        Draft(
            text=_quoted(query, e),
            key=squash(e.quote),
            evidence=(e,),
            score=given.fits(e) + _preference(given, e),
        )
        for e in fitting
    ]


def _quoted(query: Query, line: Evidence) -> str:
    """The line; with its speaker in front where the question asks who."""
    if query.text.startswith("who ") and line.speaker:
        return f'{line.speaker}: "{line.quote}"'
    return line.quote


def _in_channel(query: Query, evidence: Evidence) -> bool:
    return query.channel is None or channel_of(evidence) == query.channel


def _joined(query: Query, lines: Sequence[Evidence]) -> Draft:
    """Several lines as one answer, as many as fit; at the end of the ad the last ones first."""
    kept: list[Evidence] = []
    for line in _at_the_edge(query, lines):
        known = {squash(e.quote) for e in kept}
        length = sum(len(words(e.quote)) for e in (*kept, line))
        if squash(line.quote) in known:
            continue
        if kept and length > _MAX_JOINED_WORDS:
            break
        kept.append(line)
    kept.sort(key=lambda e: e.span.start_s)
    text = " / ".join(line.quote for line in kept)
    return Draft(text=text, key=squash(text), evidence=tuple(kept), score=1.0)


def _at_the_edge(query: Query, lines: Sequence[Evidence]) -> list[Evidence]:
    """Of the lines near the start or the end, those of its very seconds where asked for."""
    if query.edge == "end":
        last_s = max(e.span.end_s for e in lines)
        return [e for e in lines if e.span.end_s >= last_s - _EDGE_S]
    if query.edge == "start":
        first_s = min(e.span.start_s for e in lines)
        return [e for e in lines if e.span.start_s <= first_s + _EDGE_S]
    return list(lines)


def _names(given: Material) -> list[Draft]:
    """The brand, or as many as the question asks for, in the order in which they come."""
    ranked = ranked_names(given)
    if not ranked:
        return []
    count = given.query.count or 1
    if count == 1:
        best = [_product_name(given.query, entry, ranked) for entry in ranked[:3]]
        return [_name_draft(given, [entry]) for entry in best]
    strong = [entry for entry in ranked[:count] if entry.score >= 0.25 * ranked[0].score]
    return [_name_draft(given, strong)]


def _product_name(query: Query, entry: RankedName, ranked: Sequence[RankedName]) -> RankedName:
    """Where a product is asked for, the longer name that holds the brand: Lumivo Halo."""
    if "product" not in query.text or "brand" in query.text:
        return entry
    longer = [o for o in ranked if entry.key in o.key and o.score >= 0.3 * entry.score]
    return max(longer, key=lambda other: len(other.key))


def ranked_names(given: Material) -> list[RankedName]:
    """Candidates for a brand in the question's window; where it names one, only that one."""
    lines = [
        Line(text=e.quote, span=e.span, kind=e.kind, id=e.id, height=_type_height(e))
        for e in given.lines
    ]
    ranked = rank_names(lines, given.duration_s)
    asked = {*given.query.named, *given.query.quoted}
    named = [entry for entry in ranked if any(same_name(entry.name, name) for name in asked)]
    return named if given.query.aspect != "content" and named else ranked


def _type_height(line: Evidence) -> float:
    return _height(line) if line.box and line.kind in SCREEN_KINDS else 0.0


def _name_draft(given: Material, entries: Sequence[RankedName]) -> Draft:
    by_id = {e.id: e for e in given.lines}
    cited: list[Evidence] = []
    for entry in entries:
        lines = [by_id[line.id] for line in entry.lines]
        lines.sort(key=lambda e: (channel_of(e) != "screen", -e.span.duration_s))
        cited += lines[: 2 if len(entries) == 1 else 1]
    names = [entry.name for entry in entries]
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    total = sum(entry.score for entry in entries)
    return Draft(text=text, key=squash(text), evidence=tuple(dict.fromkeys(cited)), score=total)


def _slogan(given: Material) -> list[Draft]:
    """A short line of words that recurs or stands by the brand, and is no offer or order."""
    names = ranked_names(given)
    brand = names[0] if names else None
    shown: dict[str, list[Evidence]] = {}
    for line in given.lines:
        if _could_be_slogan(line, brand):
            shown.setdefault(squash(line.quote), []).append(line)
    return [
        Draft(
            text=lines[0].quote,
            key=key,
            evidence=tuple(lines[:2]),
            score=_slogan_score(lines, brand, given),
        )
        for key, lines in shown.items()
    ]


def _could_be_slogan(line: Evidence, brand: RankedName | None) -> bool:
    count = len(words(line.quote))
    plain = not any(extract(line.quote) for extract in EXTRACTORS.values())
    named = brand is not None and squash(line.quote) == brand.key
    return line.kind in SCREEN_KINDS and 2 <= count <= 9 and plain and not named


def _slogan_score(lines: Sequence[Evidence], brand: RankedName | None, given: Material) -> float:
    first = lines[0]
    beside = brand is not None and any(
        e.span.overlap_s(other.span) > 0.3 for e in lines for other in brand.lines
    )
    legal = bool(set(words(first.quote)) & word_list("legal"))
    ending = lines[-1].span.end_s / max(given.duration_s, 1e-6)
    question = first.quote.rstrip().endswith("?")
    return 1.0 * (len(lines) > 1) + 0.8 * beside + 0.5 * ending - 1.0 * legal - 0.8 * question


def _small_print(given: Material) -> list[Draft]:
    """Lines in small type with the words of a legal line."""
    shown = [e for e in given.lines if e.kind in SCREEN_KINDS and e.box]
    heights = [_height(e) for e in shown]
    if not heights:
        return []
    typical = median(heights)
    found = []
    for line in shown:
        legal = len(set(words(line.quote)) & word_list("legal"))
        small = _height(line) <= 0.6 * typical or _height(line) < 0.03
        if len(words(line.quote)) >= 3 and (legal >= 2 or (small and legal)):
            score = legal + (1.0 if small else 0.0)
            found.append(
                Draft(text=line.quote, key=squash(line.quote), evidence=(line,), score=score)
            )
    return found


def _height(line: Evidence) -> float:
    assert line.box is not None
    return min(line.box[3] - line.box[1], line.box[2] - line.box[0])


_EITHER = re.compile(
    r"(?:first|earlier|later|last)[,:]? (.+?) or (.+?)\?*$|"
    r"(?:is|does|do) (.+?) (?:shown|appears?|come|said|mentioned) before (.+?)\?*$"
)
_NEXT_TO = re.compile(r"\b(before|after|follows) (.+?)\?*$")


def _order(given: Material) -> list[Draft]:
    """Which of two came first, what stood next to a thing, or the lines in their order."""
    if either := _EITHER.search(given.query.text):
        return _earlier_of_two(given, [part for part in either.groups() if part])
    if beside := _NEXT_TO.search(given.query.text):
        return _neighbour(given, beside.group(2), before=beside.group(1) == "before")
    return [_sequence(given)] if given.lines else []


def _find(given: Material, what: str) -> Evidence | None:
    """The first line that a phrase of the question means."""
    from admir.backends.offline.question import understand

    query = understand(what)
    found = drafts(query, given.everything, given.duration_s)
    good = [d for d in found if d.score >= 0.75 * found[0].score]
    lines = [line for draft in good for line in draft.evidence]
    return min(lines, key=lambda e: e.span.start_s, default=None)


def _earlier_of_two(given: Material, parts: Sequence[str]) -> list[Draft]:
    found = [(part, _find(given, part)) for part in parts]
    known = [(part, line) for part, line in found if line is not None]
    if len(known) < 2:
        return []
    known.sort(key=lambda pair: pair[1].span.start_s)
    late = bool(re.search(r"\b(later|last)\b", given.query.text))
    (name, line), (_, other) = (known[-1], known[0]) if late else (known[0], known[-1])
    word = "later" if late else "first"
    text = f'{name.strip(" ,")} {word}, at {line.span.start_s:.1f} s ("{line.quote}")'
    return [Draft(text=text, key=squash(text), evidence=(line, other), score=1.0)]


def _neighbour(given: Material, what: str, *, before: bool) -> list[Draft]:
    line = _find(given, what)
    if line is None:
        return []
    same = [e for e in given.lines if channel_of(e) == channel_of(line) and e.id != line.id]
    if before:
        nearby = [e for e in same if e.span.end_s <= line.span.start_s + 0.3]
        nearby.sort(key=lambda e: -e.span.end_s)
    else:
        nearby = [e for e in same if e.span.start_s >= line.span.end_s - 0.3]
    return [
        Draft(text=e.quote, key=squash(e.quote), evidence=(e,), score=1.0 / (1 + rank))
        for rank, e in enumerate(nearby)
    ]


def _sequence(given: Material) -> Draft:
    """The lines in order, as many as fit, spread over the video."""
    fitting = [e for e in given.lines if _in_channel(given.query, e)]
    shown = [e for e in fitting if e.kind in SCREEN_KINDS] or fitting or list(given.lines)
    distinct = list({squash(e.quote): e for e in reversed(shown)}.values())[::-1]
    distinct.sort(key=lambda e: e.span.start_s)
    joined = _joined(given.query, [e for e in distinct if len(words(e.quote)) <= 8] or distinct)
    text = ", then ".join(f'"{e.quote}"' for e in joined.evidence)
    return Draft(text=text, key=squash(text), evidence=joined.evidence, score=1.0)


def _readings(given: Material) -> list[Draft]:
    """What the communication expert read."""
    found = [e for e in given.everything if e.kind == "expert"]
    if not found:
        return []
    text = "; ".join(e.quote for e in found[:3])
    return [Draft(text=text, key=squash(text), evidence=tuple(found[:3]), score=1.0)]


def _as_times(given: Material, found: Sequence[Draft]) -> list[Draft]:
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


_DRAFTERS: dict[str, Callable[[Material], list[Draft]]] = {
    "name": _names,
    "quote": _quotes,
    "slogan": _slogan,
    "small_print": _small_print,
    "order": _order,
    "reading": _readings,
}
