"""Names of brands and products, ranked by how an ad treats them.

A brand recurs, stands alone, closes the ad, and gives the web address its name. No list of
brands is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rapidfuzz.fuzz import partial_ratio, ratio

from admir.backends.rules.extract import dates, percents, phones, prices, urls
from admir.backends.rules.word_lists import common_words, word_list
from admir.text import fold, normalize
from admir.types import EvidenceKind, Span

_WORD = re.compile(r"[^\W_][\w&'’.-]*[^\W_]|[^\W_]")
_MOST_WORDS = 3
_LARGE_TYPE = 0.06
_END_S, _END_SHARE = 4.0, 0.2
_LAST_S = 1.0
_FURTHER = 0.65
_PART = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A text of the video from which names are taken."""

    text: str
    span: Span
    kind: EvidenceKind
    id: str = ""
    height: float = 0.0
    """Height of its type as a share of the picture; 0 where unknown."""


@dataclass(slots=True)
class RankedName:
    """A candidate, its score, how it is spelt (misreadings too), and the lines that hold it."""

    key: str
    scores: list[float] = field(default_factory=list)
    spellings: dict[str, float] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The best line counts in full and each further one less: a menu repeats its words."""
        best_first = sorted(self.scores, reverse=True)
        return sum(score * _FURTHER**rank for rank, score in enumerate(best_first))

    @property
    def name(self) -> str:
        """The spelling with most weight behind it; of those alike, one with spaces."""
        best = max(self.spellings, key=lambda s: (self.spellings[s], len(s)))
        alike = [s for s in self.spellings if normalize(s) == normalize(best)]
        return max(alike, key=lambda s: (s.count(" "), self.spellings[s]))


def names_in(text: str) -> list[tuple[str, float]]:
    """Candidate names of a line with a weight: the whole line if short, else name-like words."""
    if urls(text) or prices(text) or percents(text) or dates(text) or phones(text):
        return []
    found = _WORD.findall(text)
    if not found or not any(_capital(word) for word in found):
        return []
    if (
        len(found) <= _MOST_WORDS
        and all(_capital(word) for word in found)
        and text[-1] not in ".?!"
    ):
        return _whole_line(found)
    shouting = all(word.isupper() for word in found if word.isalpha())
    return [] if shouting else _inner_names(found)


def _whole_line(found: list[str]) -> list[tuple[str, float]]:
    whole = " ".join(found)
    parts = [(word, _PART) for word in found if len(found) > 1 and len(word) > 2]
    return [(whole, 1.0), *parts] if len(normalize(whole)) > 2 else []


def _inner_names(found: list[str]) -> list[tuple[str, float]]:
    """Capitalised words inside a sentence; its first word only when it is no common word.

    In a line in title case a capital says little.
    """
    content = [word for word in found if fold(word) not in word_list("stop")]
    title_case = len(content) > 1 and sum(map(_capital, content)) > 0.6 * len(content)
    whole, part = (0.25, 0.1) if title_case else (0.7, 0.3)
    runs = list(_name_runs(found))
    parts = [word for run in runs if len(run) > 1 for word in run]
    return [(" ".join(run), whole) for run in runs] + [(word, part) for word in parts]


def _name_runs(found: list[str]) -> Iterator[list[str]]:
    """Neighbouring words that are written like names."""
    run: list[str] = []
    for index, word in enumerate(found):
        bare = word.removesuffix("'s")
        if _is_name_word(bare, opening=index == 0):
            run.append(bare)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_name_word(word: str, *, opening: bool) -> bool:
    folded = fold(word)
    plain = len(word) > 2 and "'" not in word and folded not in word_list("stop")
    return _capital(word) and plain and not (opening and folded in common_words())


def _capital(word: str) -> bool:
    return word[0].isupper() or not word[0].isascii()


def rank_names(lines: Sequence[Line], duration_s: float) -> list[RankedName]:
    """Candidates, best first. Lines said or shown twice count by their distinct texts."""
    table: dict[str, RankedName] = {}
    for line in _distinct(lines):
        for name, weight in names_in(line.text):
            _add(table, name, weight * _line_weight(line, duration_s), line)
    _count_addresses(table, lines)
    ranked = sorted(table.values(), key=lambda c: (-c.score, c.lines[0].span.start_s))
    return _without_parts(ranked)


def _distinct(lines: Iterable[Line]) -> list[Line]:
    """Lines of distinct text; of equal ones the last, since ads close on their brand."""
    return list({(normalize(line.text), line.kind): line for line in lines}.values())


def _line_weight(line: Line, duration_s: float) -> float:
    end_s = duration_s - max(_END_S, _END_SHARE * duration_s)
    at_end = line.kind != "speech" and line.span.end_s > end_s
    size = min(1.0, line.height / _LARGE_TYPE)
    last = at_end and line.span.end_s > duration_s - _LAST_S
    closing = 0.8 * at_end + 0.9 * last
    return 1.0 + closing + min(0.3, 0.1 * line.span.duration_s) + size


def _add(table: dict[str, RankedName], name: str, score: float, line: Line) -> None:
    key = normalize(name)
    known = table.get(key) or _misread(table, key)
    entry = known or table.setdefault(key, RankedName(key=key))
    if all(word in common_words() or word in word_list("stop") for word in fold(name).split()):
        score *= 0.75
    if set(fold(line.text).split()) & word_list("legal"):
        score *= 0.7
    if any(c.isdigit() for c in name):
        score *= 0.3
    entry.scores.append(score)
    entry.lines.append(line)
    entry.spellings[name] = entry.spellings.get(name, 0.0) + score


def _misread(table: dict[str, RankedName], key: str) -> RankedName | None:
    """A candidate that this one is a misreading of."""
    if len(key) < 5:
        return None
    return next((c for k, c in table.items() if len(k) >= 5 and ratio(k, key) >= 86), None)


def _count_addresses(table: dict[str, RankedName], lines: Sequence[Line]) -> None:
    for line in lines:
        for url in urls(line.text):
            for key, entry in table.items():
                if len(key) > 3 and key in url.key:
                    entry.scores.append(1.5)
                    entry.lines.append(line)


def _without_parts(ranked: list[RankedName]) -> list[RankedName]:
    """Leave out what is only ever seen as a part of a candidate at least nearly as strong."""
    kept: list[RankedName] = []
    for entry in ranked:
        part_of = [other for other in ranked if other is not entry and entry.key in other.key]
        covers = [o for o in part_of if {x.text for x in entry.lines} <= {x.text for x in o.lines}]
        if not covers:
            kept.append(entry)
    return kept


def same_name(a: str, b: str) -> bool:
    """Whether two spellings are one name: equal, a part, or a misreading of it."""
    x, y = normalize(a), normalize(b)
    if not x or not y:
        return False
    return x == y or (
        min(len(x), len(y)) >= 4 and (partial_ratio(x, y) == 100 or ratio(x, y) >= 86)
    )
