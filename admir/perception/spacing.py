"""Spaces that OCR lost: `Thelinebetween` becomes `The line between`.

Only a run of letters that is no word itself and splits into words is split, so that a brand
name stays as it is read.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

from symspellpy import SymSpell

_RUN = re.compile(r"[A-Za-z]{6,}")
_URL = re.compile(r"(?i)(?:www\.|https?:|@|#|\.(?:com|net|org|example|cn|co|io|de|fr|tv)\b)")
_AFTER_STOP = re.compile(r"(?<=[A-Za-z][,;!?])(?=[A-Za-z0-9])|(?<=[a-z]\.)(?=[A-Z])")
_LEAST_FREQUENCY = {2: 500_000_000, 3: 20_000_000, 4: 1_000_000}
_AROUND_AND = re.compile(r"(?<=[a-z])(?=&)|(?<=&)(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[$€£¥])")


def restore_spaces(line: str) -> str:
    """The line with spaces put back; other scripts and URLs are left alone."""
    if not line.isascii() or _URL.search(line):
        return line
    line = _AROUND_AND.sub(" ", _AFTER_STOP.sub(" ", line))
    alone = " " not in line.strip()
    return _RUN.sub(lambda match: _split(match.group(), alone), line)


@lru_cache(maxsize=1)
def _dictionary() -> SymSpell:
    speller = SymSpell(max_dictionary_edit_distance=0)
    path = files("symspellpy") / "frequency_dictionary_en_82_765.txt"
    speller.load_dictionary(str(path), term_index=0, count_index=1)
    return speller


@lru_cache(maxsize=4096)
def _split(run: str, alone: bool) -> str:
    """The run as words, or as it is. `alone` means that it is the whole line: maybe a name."""
    known = _dictionary().words
    if run.lower() in known or run.lower().removesuffix("s") in known:
        return run
    parts = str(_dictionary().word_segmentation(run, max_edit_distance=0).segmented_string).split()
    if "".join(parts) != run or not _plausible(parts, known):
        return run
    if alone and len(parts) == 2 and not any(len(part) <= 3 for part in parts):
        return run
    return " ".join(parts)


def _plausible(parts: list[str], known: dict[str, int]) -> bool:
    """Every part a frequent word, or an unknown one long enough to be a name."""

    def fits(part: str) -> bool:
        if len(part) == 1:
            return part.lower() in ("a", "i")
        frequency = known.get(part.lower(), 0)
        return frequency >= _LEAST_FREQUENCY.get(len(part), 1) or (not frequency and len(part) > 5)

    return len(parts) > 1 and all(fits(part) for part in parts)
