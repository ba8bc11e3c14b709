"""What a question supposes: that the ad has such a thing. `$48` is no price of shoes.

Most true questions use words that no line of the ad has, so an unknown word alone says nothing. A
question supposes too much where it names a thing of one section of advertising, and the ad's own
words speak of things of other sections only.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from admir.backends.rules.extract import EXTRACTORS
from admir.backends.rules.question import Query
from admir.text import fold, is_cjk, stem, words

_PLACE = re.compile(r"\b(?:on|at|in|to|with|behind|near|under|beside)(?: \w+){1,3}")
"""What is said of a place: a price on the table is no price of a table."""

_NAMING = ("name", "slogan", "small_print", "quantity", "date")
"""Beside the typed values: kinds whose answer is said of the thing that the question names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Premise:
    """A thing that a question names and no line does, and a line that speaks of something else."""

    missing: str
    line: str


def find_premise(query: Query, lines: Sequence[str]) -> Premise | None:
    """What the question supposes in vain, given all that is read and said in the ad."""
    if query.kind.value not in EXTRACTORS and query.kind.value not in _NAMING:
        return None
    told = [(section, line) for line in lines for section, _ in _things(line)]
    often = Counter(section for section, _ in told)
    cues = [cue for cue in query.kind.cues if not cue.search("")]
    for section, word in _things(_PLACE.sub(" ", query.text), asked=True):
        if any(cue.search(word) for cue in cues):  # a phone number is no phone
            continue
        if often and section not in often:
            line = next(line for known, line in told if known == often.most_common(1)[0][0])
            return Premise(missing=word.removesuffix("'s"), line=line)
    return _other_kind(query, lines)


def _other_kind(query: Query, lines: Sequence[str]) -> Premise | None:
    """A floor lamp is asked for, and the ad speaks of a desk lamp alone."""
    asked = sorted(set(pairwise(map(stem, words(query.text)))))
    for kind, thing in asked:
        if kind not in _kinds():
            continue
        for line in lines:
            told = {first for first, second in pairwise(map(stem, words(line))) if second == thing}
            known = any(kind in map(stem, words(each)) for each in lines)
            if not known and told & _kinds():
                return Premise(missing=f"{kind} {thing}", line=line)
    return None


@lru_cache(maxsize=4096)
def _things(text: str, *, asked: bool = False) -> tuple[tuple[str, str], ...]:
    """The things that a text names, with their sections.

    One Chinese character may be part of any word: enough to know a thing, too little to miss it.
    """
    return tuple(_find_things(text, least=2 if asked else 1))


def _find_things(text: str, least: int) -> Iterator[tuple[str, str]]:
    for word in words(text):
        if section := _sections().get(word) or _sections().get(_singular(word)):
            yield section, word
    plain = fold(text)
    for thing, section in _sections().items():
        if is_cjk(thing) and len(thing) >= least and thing in plain:
            yield section, thing


def _singular(word: str) -> str:
    """Stems would take `tired` for a tyre."""
    bare = word.removesuffix("'s")
    return bare[:-2] if bare.endswith(("ches", "shes", "sses")) else bare.removesuffix("s")


@cache
def _table() -> dict[str, dict[str, str]]:
    path = files("admir.backends.rules") / "words" / "products.toml"
    return tomllib.loads(path.read_text("utf-8"))


@cache
def _sections() -> dict[str, str]:
    """Section by the name of a thing."""
    table = _table()["sections"]
    return {fold(word): section for section, names in table.items() for word in names.split()}


@cache
def _kinds() -> frozenset[str]:
    return frozenset(stem(word) for word in _table()["kinds"]["words"].split())
