"""What a claim states beside its topic: its figures, its colours, and whether it denies.

These are compared in order: `6 shots and 7 cuts` is not what `7 shots, 6 cuts` says, nor is
`red on white` the same as `white on red`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

from admir.backends.rules.extract import EXTRACTORS, same_amount
from admir.backends.rules.phrases import colour_name, colours
from admir.backends.rules.word_lists import word_list
from admir.text import (
    NUMBER_WORDS,
    STATED_TIME,
    fold,
    is_cjk,
    plain_number,
    spelt_number,
    stem,
    words,
)

_SPELT = "|".join(NUMBER_WORDS)
_ADVERBS = {"once": "1", "twice": "2", "thrice": "3"}
_HAN = {han: str(n) for n, han in enumerate("一二三四五六七八九十", start=1)} | {"两": "2"}
_FIGURE = re.compile(
    rf"(?P<digits>\d+(?:[.,:/]\d+)*)|\b(?P<adverb>{'|'.join(_ADVERBS)})\b|"
    rf"\b(?P<spelt>(?:{_SPELT})(?:[ -](?:and )?(?:{_SPELT}))*)\b|"
    r"(?P<han>[一二两三四五六七八九十])(?=[次遍回个人张位名种])"
)
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」")
_ORDINAL = re.compile(r"(?<![\d.] )\b(first|second|third|fourth|fifth|sixth|last|final)(?= [a-z])")
_SAME_S = ("s", "sec", "secs", "second", "seconds")


def bare(text: str, phrases: Iterable[str] = ()) -> str:
    """A text, folded, without what stands in quotation marks and without these phrases."""
    rest = fold(QUOTED.sub(" ", text))
    for phrase in sorted(map(fold, phrases), key=len, reverse=True):
        rest = rest.replace(phrase, " ")
    return rest


def figures(text: str) -> list[str]:
    """The numbers of a text in its order: `twice, at 4.20 s` has 2, 4.2."""
    found = []
    for match in _FIGURE.finditer(fold(text)):
        if match["digits"]:
            found.append(plain_number(match["digits"]))
        elif match["han"]:
            found.append(_HAN[match["han"]])
        elif match["adverb"]:
            found.append(_ADVERBS[match["adverb"]])
        else:
            found.append(str(spelt_number(match["spelt"])))
    return found


def figures_follow(stated: Sequence[str], given: Sequence[str]) -> bool:
    """Whether the stated figures begin with the first that is given, and keep to their order."""
    if not stated or not given or not _rounds_to(stated[0], given[0]):
        return False
    rest = iter(given[1:])
    return all(any(_rounds_to(one, other) for other in rest) for one in stated[1:])


def _rounds_to(stated: str, given: str) -> bool:
    if stated == given:
        return True
    return "." in given and stated.isdigit() and int(stated) == round(float(given))


def ordinals(text: str) -> set[str]:
    """Which of several a text speaks of: the `second` cut, but not 4.2 seconds."""
    return set(_ORDINAL.findall(fold(text)))


def colours_of(text: str) -> list[str]:
    """The English names of the colours that a text names, in its order."""
    return [_colours()[match.group()] for match in _colour().finditer(fold(text))]


def colours_follow(stated: Sequence[str], given: Sequence[str]) -> bool:
    """Whether the stated colours are the first that are given; `blue` is told of `dark blue`."""
    return 0 < len(stated) <= len(given) and all(
        other == one or other.endswith(f" {one}") for one, other in zip(stated, given, strict=False)
    )


@cache
def _colours() -> dict[str, str]:
    both = {colour_name(language, c): c for c in colours() for language in ("en", "zh")}
    return both | {"gray": "grey", "golden": "gold"}


@cache
def _colour() -> re.Pattern[str]:
    names = sorted(_colours(), key=len, reverse=True)
    return re.compile("|".join(rf"\b{n}\b" if n.isascii() else n for n in names))


def denies(text: str) -> bool:
    """Whether a text says that something is not so."""
    words_of, negations = words(text), word_list("negations")
    han = [n for n in negations if not n.isascii()]
    return any(w in negations or w.endswith("n't") for w in words_of) or any(
        n in w for w in words_of if is_cjk(w) for n in han
    )


def unknown_words(text: str, given: str, neutral: frozenset[str]) -> list[str]:
    """Words of a text that neither stand in what is given nor are neutral; figures aside."""
    known = {stem(word) for word in words(given)}
    if known & set(_SAME_S):
        known |= set(map(stem, _SAME_S))
    pieces = sorted((w for w in (*words(given), *neutral) if is_cjk(w)), key=len, reverse=True)
    return [
        word
        for word in words(_FIGURE.sub(" ", fold(text)))
        if stem(word) not in known and word not in neutral and _left_of(word, pieces, given)
    ]


def _left_of(word: str, pieces: Sequence[str], given: str) -> str:
    """What is left of a run of Chinese without what is known; another word is left whole."""
    if not is_cjk(word):
        return word
    for piece in pieces:
        word = word.replace(piece, " ")
    return "".join(part for part in word.split() if part not in fold(given))


def numbers_with_units(text: str) -> list[tuple[str, str]]:
    """Each number of a text with the stem of the word behind it."""
    parts = words(STATED_TIME.sub(" ", text))
    return [(a, stem(b)) for a, b in pairwise(parts) if a[0].isdigit() and b[0].isalpha()]


def holds_same_value(text: str, word: str) -> bool:
    """`$48` is held by `forty-eight dollars`, and `25%` by `25% OFF`."""
    return any(
        same_amount(stated, given)
        for extract in EXTRACTORS.values()
        for stated in extract(word)
        for given in extract(text)
    )
