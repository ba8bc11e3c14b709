"""The word lists under `words/`, as frozen sets."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice

from admir.text import fold

_WORDS = files("admir.backends.rules") / "words"
_COMMON_COUNT = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of question: how it is recognised, and how its answer is looked for."""

    name: str
    cues: tuple[re.Pattern[str], ...]
    seek: str
    first: str
    value: str


@cache
def kinds() -> tuple[Kind, ...]:
    """The table of kinds, in the order in which they are tried."""
    table = tomllib.loads((_WORDS / "kinds.toml").read_text("utf-8"))
    return tuple(
        Kind(
            name=row["name"],
            cues=tuple(re.compile(cue) for cue in row["cues"]),
            seek=row["seek"],
            first=row["first"],
            value=row["value"],
        )
        for row in table["kind"]
    )


@cache
def _lexicon() -> dict[str, str]:
    return tomllib.loads((_WORDS / "lexicon.toml").read_text("utf-8"))


@cache
def word_list(name: str) -> frozenset[str]:
    """One list of lexicon.toml by its name."""
    return frozenset(fold(_lexicon()[name]).split())


@cache
def common_words() -> frozenset[str]:
    """The most frequent English words: a line made of them alone is hardly a brand."""
    path = files("symspellpy") / "frequency_dictionary_en_82_765.txt"
    with path.open(encoding="utf-8") as lines:
        return frozenset(line.split()[0] for line in islice(lines, _COMMON_COUNT))
