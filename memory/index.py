"""The hybrid index of a video (paper 2.2.1): S(Q,c) = cos(phi(Q), phi(c)) + beta * K(Q,c)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from admir.errors import EmbedderMismatch
from admir.memory.lexical import LexicalScorer, Scores
from admir.memory.store import damaged
from admir.memory.vector_index import VectorIndex
from admir.perception.embed import Embedder, Vectors, same_vectors
from admir.text import content_words, holds_word
from admir.types import Clip, Hit, Memory, Moment, Span

FUSE_GAP_S = 3.0
FUSE_AFFINITY = 0.8
LEAST_OF_BEST = 0.1
"""Of the best score: what is below is no hit. Of 0.1 to 0.7 the one that loses hardly a clip that
holds the evidence, with hashing and with a real embedding model (benchmarks/README.md)."""


class HybridIndex:
    """Search over the clips of one memory. `vectors` are float32 [clips, d] of unit length."""

    def __init__(
        self, clips: Sequence[Clip], vectors: Vectors, embedder: Embedder, beta: float
    ) -> None:
        self._clips = tuple(clips)
        self._vectors = vectors
        self._nearest = VectorIndex(vectors)
        self._embedder = embedder
        self._beta = beta
        self._lexical = LexicalScorer(self._clips)

    def prepare(self) -> None:
        """Work out now what the first search would wait for; in a thread, too."""
        self._lexical.prepare()

    def search(self, query: str, top_k: int) -> tuple[Hit, ...]:
        """The `top_k` clips by S of eq. 2, best first.

        Raises EmbedderMismatch where the query's vector has another width, and what the embedder
        raises.
        """
        if not self._clips:
            return ()
        vector = self._encoded(query)
        lexical = self._lexical.scores(query)
        rows = self._candidates(vector, lexical, top_k)
        semantic = self._vectors[rows] @ vector
        scores = semantic + self._beta * lexical[rows]
        order = np.argsort(-scores, kind="stable")[:top_k]
        return tuple(
            Hit(
                video_id=self._clips[rows[i]].video_id,
                clip_index=self._clips[rows[i]].index,
                span=self._clips[rows[i]].span,
                score=float(scores[i]),
                semantic=float(semantic[i]),
                lexical=float(lexical[rows[i]]),
            )
            for i in order
        )

    def _encoded(self, query: str) -> Vectors:
        vector = self._embedder.encode([query])[0]
        if vector.size == 0:  # an endpoint's width is not known where nothing was asked
            return np.zeros(self._vectors.shape[1], dtype=np.float32)
        if vector.shape != self._vectors.shape[1:]:
            raise _other_width(self._embedder, vector.size, self._vectors)
        return np.asarray(vector, dtype=np.float32)

    def _candidates(self, vector: Vectors, lexical: Scores, top_k: int) -> NDArray[np.int64]:
        """Rows in order, among them the best `top_k` by S.

        A clip without lexical score that is not among the nearest `top_k` has as many before it.
        """
        nearest = self._nearest.rows(vector, top_k)
        return np.union1d(nearest, np.flatnonzero(lexical > 0))

    def moments(self, query: str, top_k: int) -> tuple[Moment, ...]:
        """Search, then temporal fusion: hits close in time or in meaning are one event.

        Hits far below the best are left out before: they would only glue the others together.
        Where the memory has no more than `top_k` clips, all of them come, each by itself.
        """
        hits = self.search(query, top_k)
        if len(self._clips) <= top_k:
            return tuple(_moment([hit]) for hit in hits)
        near = [hit for hit in hits if hit.score >= LEAST_OF_BEST * hits[0].score]
        return fuse(near, self._vectors)

    def find_words(self, query: str) -> dict[str, frozenset[int]]:
        """By content word of a query, the clips that hold it (by index), in any of its forms."""
        return {
            word: frozenset(c.index for c in self._clips if holds_word(c.index_text, word))
            for word in content_words(query)
        }


def open_index(memory: Memory, vectors: Vectors, embedder: Embedder, beta: float) -> HybridIndex:
    """The index of a stored memory; raises EmbedderMismatch or MemoryDamaged."""
    made_by = memory.provenance.embedder
    if not same_vectors(made_by, embedder.id):
        raise EmbedderMismatch(
            f"the vectors of {memory.video.id!r} were made by {made_by!r}, the query's embedder is "
            f"{embedder.id!r}; run `admir reindex {memory.video.id} --embedder NAME` with the one "
            "that you want, or leave `--embedder` out, to ask with the memory's own"
        )
    check_vectors(memory, vectors)
    return HybridIndex(memory.clips, _as_corrected(memory, vectors, embedder), embedder, beta)


def _as_corrected(memory: Memory, vectors: Vectors, embedder: Embedder) -> Vectors:
    """The vectors, with those of clips that a person has corrected made of the right words."""
    rows = [row for row, clip in enumerate(memory.clips) if clip.corrected]
    if not rows:
        return vectors
    fresh = embedder.encode([memory.clips[row].index_text for row in rows])
    if fresh.shape[1] not in (0, vectors.shape[1]):
        raise _other_width(embedder, fresh.shape[1], vectors)
    mended = vectors.copy()
    mended[rows] = fresh if fresh.shape[1] else 0.0
    return mended


def _other_width(embedder: Embedder, width: int, vectors: Vectors) -> EmbedderMismatch:
    return EmbedderMismatch(
        f"{embedder.id!r} gives {width} numbers now, the memory's vectors have "
        f"{vectors.shape[1]}; run `admir reindex`"
    )


def check_vectors(memory: Memory, vectors: Vectors) -> None:
    """Raise MemoryDamaged where stored vectors are not as wide as the memory says, if it does."""
    width = memory.provenance.dimensions
    if width and vectors.shape[1] != width:
        what = f"vectors.npy has {vectors.shape[1]} columns, not {width}"
        raise damaged(memory.video.id, what)


def index_text_memory(memory: Memory, embedder: Embedder, beta: float) -> HybridIndex:
    """The index of a memory that is not stored (`Memory.from_timeline`), embedded now."""
    vectors = embedder.encode([clip.index_text for clip in memory.clips])
    return HybridIndex(memory.clips, vectors, embedder, beta)


def fuse(hits: Sequence[Hit], vectors: Vectors) -> tuple[Moment, ...]:
    """Join hits less than 3 s apart or with affinity above 0.8 (paper 2.3.2), best first."""
    groups: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda h: h.span.start_s):
        near = [g for g in groups if any(_belong(hit, other, vectors) for other in g)]
        groups = [g for g in groups if g not in near]
        groups.append([h for group in near for h in group] + [hit])
    return tuple(sorted(map(_moment, groups), key=lambda m: -m.score))


def _belong(a: Hit, b: Hit, vectors: Vectors) -> bool:
    if a.span.gap_s(b.span) < FUSE_GAP_S:
        return True
    return float(vectors[a.clip_index] @ vectors[b.clip_index]) > FUSE_AFFINITY


def _moment(group: Sequence[Hit]) -> Moment:
    return Moment(
        video_id=group[0].video_id,
        span=Span(
            start_s=min(h.span.start_s for h in group), end_s=max(h.span.end_s for h in group)
        ),
        score=max(h.score for h in group),
        hits=tuple(sorted(group, key=lambda h: h.span.start_s)),
    )
