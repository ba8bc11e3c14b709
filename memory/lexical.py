"""K(Q, c), the lexical half of the hybrid index (paper 2.2.1), in [0, 1].

Three parts: BM25 over the words of a clip, phrases that the query quotes, and the concepts that
it names. The paper scores keyword hits; BM25, phrases and concepts are our additions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Plus

from admir.memory.concepts import ConceptScorer
from admir.text import close_gaps, normalize, share_held, tokenize
from admir.types import Clip

_CJK_SIZES = (1, 2, 3)
_K1, _B = 1.0, 0.3
_FULL_SCORE = 15.0
_LEAST_LIKENESS = 0.6
_QUOTED = re.compile(r"[\"“「『‘]([^\"“”「」『』‘’]{2,})[\"”」』’]")

Scores = NDArray[np.float64]


class LexicalScorer:
    """Scores every clip for a query."""

    def __init__(self, clips: Sequence[Clip]) -> None:
        whole = [close_gaps(clip.index_text) for clip in clips]
        terms = [_terms(text) for text in whole]
        # Okapi's IDF falls to zero for a term in half of a dozen clips; BM25Plus keeps it.
        self._bm25 = BM25Plus(terms, k1=_K1, b=_B) if any(terms) else None
        self._flat = [normalize(text) for text in whole]
        self._concepts = ConceptScorer(clips)

    def prepare(self) -> None:
        """Work out now what the first scores would wait for."""
        self._concepts.prepare()

    def scores(self, query: str) -> Scores:
        """Float [clips] in [0, 1]."""
        parts = (self._words(query), self._phrases(query), self._concepts.scores(query))
        return np.asarray(sum(parts) / len(parts), dtype=np.float64)

    def _words(self, query: str) -> Scores:
        """BM25 in [0, 1], where 1 is half of what the query can reach, or the best clip's more.

        `_FULL_SCORE` bounds that: most words of a long question stand in no clip.
        """
        known = self._known(query)
        if self._bm25 is None or not known:
            return np.zeros(len(self._flat))
        weight = sum(self._bm25.idf[term] for term in known)
        # BM25Plus gives every clip delta * idf for a term that it lacks; only the rest tells.
        gain = np.asarray(self._bm25.get_scores(known)) - weight * self._bm25.delta
        gain = np.maximum(0.0, gain)
        full = min(_FULL_SCORE, weight * (_K1 + 1) / 2)
        return np.asarray(gain / max(full, float(gain.max()), 1e-9))

    def _known(self, query: str) -> list[str]:
        """The terms of a query that some clip has, each once: a question repeats its topic."""
        known = self._bm25.idf if self._bm25 else {}
        return [t for t in dict.fromkeys(_terms(query)) if t in known]

    def _phrases(self, query: str) -> Scores:
        """How well each clip holds what the query quotes, errors of OCR forgiven."""
        total = np.zeros(len(self._flat))
        for phrase in _quotes(query):
            likeness = np.array([share_held(phrase, flat) for flat in self._flat])
            total += np.where(likeness > _LEAST_LIKENESS, likeness**3, 0.0)
        return total / max(1.0, float(total.max(initial=0.0)))


def _terms(text: str) -> list[str]:
    """The terms of a text, and its pairs of neighbouring words: an exact phrase counts more."""
    terms = tokenize(text, _CJK_SIZES)
    pairs = [f"{a} {b}" for a, b in pairwise(terms) if a.isascii() and b.isascii()]
    return [*terms, *pairs]


def _quotes(query: str) -> Iterator[str]:
    return (flat for quoted in _QUOTED.findall(query) if len(flat := normalize(quoted)) > 1)
