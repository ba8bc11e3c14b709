"""How well a line of evidence fits a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log

from admir.backends.rules.question import Channel, Query
from admir.backends.rules.word_lists import common_words
from admir.text import contains, normalize, tokenize, words
from admir.types import Evidence

SCREEN_KINDS = ("screen_text", "frame")
_LEAST_GLUED = 4


def channel_of(evidence: Evidence) -> Channel | None:
    """Whether it was seen or heard; None for captions and readings."""
    if evidence.kind in SCREEN_KINDS:
        return "screen"
    return "speech" if evidence.kind == "speech" else None


Rarity = Mapping[str, float]
"""Weight of a term of the question: 1 where few lines have it, less where many do."""


def rarity(query: Query, evidence: Sequence[Evidence]) -> Rarity:
    """How much each term of the question tells among these lines; proper names double."""
    texts = {normalize(e.quote): e.quote for e in evidence if channel_of(e) is not None}
    counts = {t: sum(has_term(text, t) for text in texts.values()) for t in query.terms}
    return {t: (1 + (t in query.named)) / (1 + log(max(1, n))) for t, n in counts.items()}


def relevance(query: Query, evidence: Evidence, weights: Rarity) -> float:
    """Share of the question's content found in the line.

    A phrase quoted in the question adds 2 when the line holds it. 0 when nothing fits; a
    question without content fits every line (1).
    """
    quoted = 2.0 * any(contains(evidence.quote, phrase) for phrase in query.quoted)
    speaker = _speaker_terms(evidence)
    terms = query.terms - speaker
    if not terms:
        return 1.0 + quoted
    found = sum(weights[term] for term in terms if has_term(evidence.quote, term))
    return found / sum(weights[term] for term in terms) + quoted


def missing_names(query: Query, evidence: Iterable[Evidence]) -> list[str]:
    """Proper names and quoted phrases of the question that no line holds."""
    texts = [f"{e.speaker or ''} {e.quote}" for e in evidence if e.kind != "caption"]
    wanted = [*sorted(query.named & query.terms), *query.quoted]
    return [name for name in wanted if not any(contains(text, name) for text in texts)]


def has_term(text: str, term: str) -> bool:
    """Whether the stem stands in the text, or in a word that OCR glued together."""
    return term in _terms(text) or (len(term) >= _LEAST_GLUED and stands_glued(text, term))


def stands_glued(text: str, word: str) -> bool:
    """Whether the word stands in one that OCR glued together, or split.

    Not in a common word: `limited` is not said by `unlimited`.
    """
    parts = words(text)
    if any(word in part for part in parts if part not in common_words()):
        return True
    pairs = (a + b for a, b in pairwise(parts))
    return word in pairs


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))


def _speaker_terms(evidence: Evidence) -> frozenset[str]:
    return _terms(evidence.speaker) if evidence.speaker else frozenset()


def asked_speakers(query: Query, evidence: Sequence[Evidence]) -> frozenset[str]:
    """Speakers of the video whom the question names."""
    speakers = {e.speaker for e in evidence if e.speaker}
    return frozenset(s for s in speakers if _terms(s) & query.terms)
