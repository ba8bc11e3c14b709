"""What a question may be answered from, and what a draft of an answer is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from admir.backends.rules.question import Query
from admir.backends.rules.relevance import Rarity, channel_of, rarity, relevance
from admir.text import normalize, words
from admir.types import Evidence

_MOST_JOINED_WORDS = 24
_EDGE_S = 2.0
_LASTING_S, _LARGE_SHARE = 2.0, 0.4
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
    if line.box is None or len(normalize(line.quote)) < _LEAST_VERTICAL:
        return False
    return line.box[3] - line.box[1] > _VERTICAL_RATIO * (line.box[2] - line.box[0])


def in_channel(query: Query, evidence: Evidence) -> bool:
    """Whether the line comes by the channel the question asks about, if it asks about one."""
    return query.channel is None or channel_of(evidence) == query.channel


def type_height(line: Evidence) -> float:
    """Height of a line's type as a share of the picture; the line must have a box."""
    assert line.box is not None
    return min(line.box[3] - line.box[1], line.box[2] - line.box[0])


def join_lines(query: Query, lines: Sequence[Evidence]) -> Draft:
    """Several lines as one answer, as many as fit; at the end of the ad the last ones first."""
    kept: list[Evidence] = []
    for line in _prominent(_at_the_edge(query, lines)):
        known = {normalize(e.quote) for e in kept}
        length = sum(len(words(e.quote)) for e in (*kept, line))
        if normalize(line.quote) in known:
            continue
        if kept and length > _MOST_JOINED_WORDS:
            break
        kept.append(line)
    kept.sort(key=lambda e: e.span.start_s)
    text = " / ".join(line.quote for line in kept)
    return Draft(text=text, key=normalize(text), evidence=tuple(kept), score=1.0)


def _at_the_edge(query: Query, lines: Sequence[Evidence]) -> list[Evidence]:
    """Of the lines near the start or the end, those of its very seconds where asked for."""
    if query.edge == "end":
        last_s = max(e.span.end_s for e in lines)
        return [e for e in lines if e.span.end_s >= last_s - _EDGE_S]
    if query.edge == "start":
        first_s = min(e.span.start_s for e in lines)
        return [e for e in lines if e.span.start_s <= first_s + _EDGE_S]
    return list(lines)


def _prominent(lines: Sequence[Evidence]) -> list[Evidence]:
    """Lines in large type, or that stay: a reader sees these, not the small print of a scene."""
    largest = max((type_height(e) for e in lines if e.box), default=0.0)
    return [
        e
        for e in lines
        if e.box is None
        or e.span.duration_s >= _LASTING_S
        or type_height(e) >= _LARGE_SHARE * largest
    ]
