"""Phrases that show something in the words of an ad: story.toml, and how they are matched.

A line is a sequence of tokens (English words; Chinese characters one by one); a phrase is a short
sequence of elements. Every phrase is filed under its first element, so that the work grows with the
length of the text and not with the number of phrases.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from admir.text import NUMBER_WORDS, fold, words
from admir.types import InferenceKind

_PATH = files("admir.backends.rules") / "words" / "story.toml"
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PARTS = re.compile(rf"[{_CJK}]|[^{_CJK}]+")
_ELEMENTS = re.compile(
    rf"\.\.|[#$%](?!\w)|[{_CJK}]|\d+%?|#|[^\W\d_{_CJK}](?:[\w&'](?<![{_CJK}]))*~?"
)
_COMMA = re.compile(r"[,:]\s|[，：、]|\s[-–—]\s|\.{2,}|…|[\n\"“”()（）]")
_CURRENCY = re.compile(r"[$€£¥₹]|(?<=\d)\s?[元块円]")
_LONGEST_GAP = 6
_NEGATION_REACH = 3
_LEAST_PREFIX, _PREFIX = 4, 14

BREAK = ","
"""The token between two clauses of a line; no phrase reaches over it."""

_NUMERALS = frozenset("一二三四五六七八九十两百千万几半")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What can be inferred. `arc` is the part of the story that its lines play, if one."""

    kind: InferenceKind
    name: str
    zh: str
    arc: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Why a phrase shows a label, and how far that is to be trusted, in [0, 1]."""

    label: Label
    says: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrase:
    elements: tuple[str, ...]
    rule: Rule | None
    """None for a false friend, which only covers what it holds."""


@dataclass(slots=True)
class _Lexicon:
    labels: dict[tuple[str, str], Label] = field(default_factory=dict)
    phrases: defaultdict[str, list[_Phrase]] = field(default_factory=lambda: defaultdict(list))
    denial: dict[str, frozenset[str]] = field(default_factory=dict)
    small_print: defaultdict[str, list[_Phrase]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A phrase of a rule that stands in tokens, from `start` to before `end`."""

    rule: Rule
    start: int
    end: int


@cache
def _lexicon() -> _Lexicon:
    table = tomllib.loads(_PATH.read_text("utf-8"))
    lexicon = _Lexicon()
    _file(lexicon.phrases, table["mask"], None)
    _file(lexicon.small_print, table["small_print"], None)
    lexicon.denial = _word_sets(table["denial"])
    for row in table["label"]:
        label = Label(kind=row["kind"], name=row["name"], zh=row["zh"], arc=row.get("arc", ""))
        lexicon.labels[label.kind, label.name] = label
        for given in row.get("rule", ()):
            rule = Rule(label=label, says=given["says"], confidence=given["confidence"])
            _file(lexicon.phrases, given, rule)
    return lexicon


def _word_sets(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {name: frozenset(text.split()) for name, text in table.items()}


def _file(under: defaultdict[str, list[_Phrase]], given: dict[str, str], rule: Rule | None) -> None:
    for text in (*given["en"].split(","), *given["zh"].split(",")):
        elements = tuple(_ELEMENTS.findall(fold(text)))
        if elements:
            under[elements[0]].append(_Phrase(elements=elements, rule=rule))


def label_of(kind: InferenceKind, name: str) -> Label:
    """The label of a kind by its English name."""
    return _lexicon().labels[kind, name]


def name_of(label: str, language: str) -> str:
    """The name of a label in `"en"` or `"zh"`; a label that is not ours keeps its own."""
    if language != "zh":
        return label
    return next((x.zh for x in _lexicon().labels.values() if x.name == label), label)


def label_names(kind: InferenceKind) -> tuple[str, ...]:
    """The English names of all labels of a kind, in the order of the story."""
    return tuple(name for of, name in _lexicon().labels if of == kind)


def tokens_of(text: str) -> tuple[str, ...]:
    """Words, amounts and single Chinese characters in order, with `BREAK` between clauses."""
    clauses = [tuple(_clause_tokens(clause)) for clause in _COMMA.split(fold(text))]
    return tuple(token for clause in clauses if clause for token in (*clause, BREAK))


def _clause_tokens(clause: str) -> Iterator[str]:
    for word in words(clause):
        if word.isascii() or word[0].isdigit() or _CURRENCY.match(word):
            yield word
        else:
            yield from _PARTS.findall(word)


def is_small_print(tokens: Sequence[str]) -> bool:
    """Whether a line is legal or technical matter and no part of the story."""
    return any(True for _ in _matches(tokens, _lexicon().small_print))


def hits(tokens: Sequence[str]) -> tuple[Hit, ...]:
    """The phrases that stand in the tokens: not negated, and not inside a false friend."""
    found = list(_matches(tokens, _lexicon().phrases))
    covered = [(start, end) for phrase, start, end in found if phrase.rule is None]
    return tuple(
        Hit(rule=phrase.rule, start=start, end=end)
        for phrase, start, end in found
        if phrase.rule is not None
        and not any(_inside(start, end, mask) for mask in covered)
        and not _negated(tokens, start, end)
    )


def _inside(start: int, end: int, mask: tuple[int, int]) -> bool:
    """A phrase that holds all of the false friend and more is its own."""
    overlaps = start < mask[1] and mask[0] < end
    longer = start <= mask[0] and mask[1] <= end and end - start > mask[1] - mask[0]
    return overlaps and not longer


def _matches(
    tokens: Sequence[str], phrases: dict[str, list[_Phrase]]
) -> Iterator[tuple[_Phrase, int, int]]:
    forms = [_forms(token) for token in tokens]
    for start, first in enumerate(forms):
        for form in first:
            for phrase in phrases.get(form, ()):
                end = _end(forms, start, phrase.elements)
                if end:
                    yield phrase, start, end


def _forms(token: str) -> tuple[str, ...]:
    """The elements that a token fits."""
    if len(token) == 1 and not token.isascii():
        return (token, "#") if token in _NUMERALS else (token,)
    if any(c.isdigit() for c in token):
        return (
            (token, "#", "$") if _CURRENCY.search(token) else (token, "%" if "%" in token else "#")
        )
    if token in NUMBER_WORDS:
        return (token, "#")
    return (token, *(f"{token[:n]}~" for n in range(_LEAST_PREFIX, min(len(token), _PREFIX) + 1)))


def _end(forms: Sequence[tuple[str, ...]], start: int, elements: Sequence[str]) -> int:
    """Where the phrase that starts at `start` ends; 0 when it does not stand there."""
    at, gap = start, 0
    for element in elements:
        if element == "..":
            gap = _LONGEST_GAP
            continue
        window = enumerate(forms[at : at + gap + 1], start=at)
        found = next((i for i, form in window if element in form), None)
        if found is None or (BREAK,) in forms[at:found]:
            return 0
        at, gap = found + 1, 0
    return at


def _negated(tokens: Sequence[str], start: int, end: int) -> bool:
    """Whether a word of denial stands right before, in the same clause, or `free` right after."""
    if tokens[end : end + 1] == ("free",):
        return True
    before = list(tokens[max(0, start - _NEGATION_REACH) : start])
    if BREAK in before:
        before = before[len(before) - before[::-1].index(BREAK) :]
    if not before:
        return False
    tail = "".join(before)
    if len(before[-1]) == 1 and not before[-1].isascii():
        return _denied_in_chinese(tail)
    denial = _lexicon().denial
    pairs = zip(before, (*before[1:], tokens[start]), strict=True)
    return any(a in denial["no"] and b not in denial["no_after"] for a, b in pairs)


def _denied_in_chinese(tail: str) -> bool:
    """`没有X` and `不X` deny X; `是不是X`, `特别X` do not."""
    denial, pair, three = _lexicon().denial, tail[-2:], tail[-3:]
    if pair in denial["bu_pairs"]:
        return not (len(three) == 3 and three[0] == three[2]) and three != "有没有"
    return tail[-1] in denial["bu"] and pair not in denial["not_bu"]
