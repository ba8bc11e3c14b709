"""Drafts about names: brands, products, slogans; and the small print, told by its type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from admir.backends.rules.brand_names import Line, RankedName, rank_names, same_name
from admir.backends.rules.evidence_pool import Draft, Material, type_height
from admir.backends.rules.extract import EXTRACTORS
from admir.backends.rules.facts import brand_in
from admir.backends.rules.question import Query
from admir.backends.rules.relevance import SCREEN_KINDS, channel_of, has_term
from admir.backends.rules.word_lists import word_list
from admir.text import fold, is_cjk, normalize, words
from admir.types import Evidence

_STRONG_SHARE = 0.3
_ASKS_BRAND = re.compile(
    r"\b(brand|company|advertis\w+|maker|manufacturer|sponsor)\b|品牌|牌子|公司|广告主"
)
_LOGO = re.compile(r"\b(logo|wordmark|alone)\b|商标")


def name_drafts(given: Material) -> list[Draft]:
    """The brand, or as many as the question asks for, in the order in which they come."""
    ranked = ranked_names(given)
    if not ranked:
        return []
    count = given.query.count or 1
    if count == 1:
        best = [_product_name(given.query, entry, ranked) for entry in ranked[:3]]
        found = [_name_draft(given, [entry]) for entry in best]
        return _in_this_order(found) if given.query.only else found
    strong = [entry for entry in ranked[:count] if entry.score >= 0.25 * ranked[0].score]
    return [_name_draft(given, strong)]


def _in_this_order(found: Sequence[Draft]) -> list[Draft]:
    return [replace(draft, score=1.0 / (1 + rank)) for rank, draft in enumerate(found)]


def _product_name(query: Query, entry: RankedName, ranked: Sequence[RankedName]) -> RankedName:
    """Where a product is asked for, the longer name that holds the brand: Lumivo Halo."""
    if "product" not in query.text or "brand" in query.text:
        return entry
    longer = [o for o in ranked if entry.key in o.key and o.score >= 0.3 * entry.score]
    return max(longer, key=lambda other: len(other.key))


def ranked_names(given: Material) -> list[RankedName]:
    """Candidates for a brand in the question's window; where it names one, only that one."""
    lines = [
        Line(text=e.quote, span=e.span, kind=e.kind, id=e.id, height=_shown_height(e))
        for e in given.lines
    ]
    ranked = rank_names(lines, given.duration_s)
    asked = _ASKS_BRAND.search(given.query.text) and not given.query.strict_channel
    if asked and (told := _told_brand(given, lines)):
        return [told]
    named_so = {*given.query.named, *given.query.quoted}
    named = [entry for entry in ranked if any(same_name(entry.name, name) for name in named_so)]
    if given.query.aspect != "content" and named:
        return named
    if given.query.aspect == "content" and not given.query.yes_no:
        ranked = [entry for entry in ranked if entry not in named] or ranked
    return _by_edge(given.query, ranked)


def _told_brand(given: Material, lines: Sequence[Line]) -> RankedName | None:
    """The brand that a person has told, with the lines that show it; no other name counts then."""
    for evidence in given.everything:
        if evidence.kind == "person" and (brand := brand_in(evidence.quote)):
            told = Line(text=brand, span=evidence.span, kind="person", id=evidence.id)
            shown = [line for line in lines if _holds_name(line.text, brand)]
            return RankedName(
                key=normalize(brand), scores=[1.0], spellings={brand: 1.0}, lines=[told, *shown]
            )
    return None


def _holds_name(text: str, name: str) -> bool:
    """Whether the name stands there as words of its own."""
    bound = "" if is_cjk(name) else r"\b"
    return bool(re.search(f"{bound}{re.escape(fold(name))}{bound}", fold(text)))


def _by_edge(query: Query, ranked: list[RankedName]) -> list[RankedName]:
    """Where the first or the last name is asked for, the strong ones in order of time."""
    if query.only is None or not ranked:
        return ranked
    strong = [entry for entry in ranked if entry.score >= _STRONG_SHARE * ranked[0].score]
    if query.only == "end":
        return sorted(strong, key=lambda entry: -max(x.span.start_s for x in entry.lines))
    return sorted(strong, key=lambda entry: min(x.span.start_s for x in entry.lines))


def _shown_height(line: Evidence) -> float:
    return type_height(line) if line.box and line.kind in SCREEN_KINDS else 0.0


def _name_draft(given: Material, entries: Sequence[RankedName]) -> Draft:
    by_id = {e.id: e for e in given.everything}
    cited: list[Evidence] = []
    for entry in entries:
        lines = [by_id[line.id] for line in entry.lines]
        if _LOGO.search(given.query.text):
            lines = [e for e in lines if normalize(e.quote) == entry.key] or lines
        lines.sort(key=lambda e: (channel_of(e) != "screen", -e.span.duration_s))
        cited += lines[: 2 if len(entries) == 1 else 1]
    names = [entry.name for entry in entries]
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    total = sum(entry.score for entry in entries)
    return Draft(text=text, key=normalize(text), evidence=tuple(dict.fromkeys(cited)), score=total)


def slogan_drafts(given: Material) -> list[Draft]:
    """A short line of words that recurs or stands by the brand, and is no offer or order."""
    names = ranked_names(given)
    brand = names[0] if names else None
    shown: dict[str, list[Evidence]] = {}
    for line in given.lines:
        if _could_be_slogan(line, names):
            shown.setdefault(normalize(line.quote), []).append(line)
    return [
        Draft(
            text=lines[0].quote,
            key=key,
            evidence=tuple(lines[:2]),
            score=_slogan_score(lines, brand, given),
        )
        for key, lines in shown.items()
    ]


def _could_be_slogan(line: Evidence, names: Sequence[RankedName]) -> bool:
    count = len(words(line.quote))
    plain = not any(extract(line.quote) for extract in EXTRACTORS.values())
    flat = normalize(line.quote)
    named = any(flat == entry.key or flat in map(normalize, entry.spellings) for entry in names)
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


def _says(line: Evidence, word: str) -> bool:
    """Whether a line has a word, though OCR may have glued it to others."""
    return word in words(line.quote) or (len(word) > 4 and has_term(line.quote, word))


def small_print_drafts(given: Material) -> list[Draft]:
    """Lines in small type with the words of a legal line."""
    shown = [e for e in given.lines if e.kind in SCREEN_KINDS and e.box]
    heights = [type_height(e) for e in shown]
    if not heights:
        return []
    typical = median(heights)
    found = []
    for line in shown:
        legal = sum(_says(line, word) for word in word_list("legal"))
        small = type_height(line) <= 0.6 * typical or type_height(line) < 0.03
        if len(words(line.quote)) >= 3 and (legal >= 2 or (small and legal)):
            score = legal + (1.0 if small else 0.0) + 2.0 * given.fits(line)
            found.append(
                Draft(text=line.quote, key=normalize(line.quote), evidence=(line,), score=score)
            )
    return found
