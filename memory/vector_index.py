"""The vectors nearest to a query: by NumPy where they are few, by FAISS where they are many."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from admir.perception.embed import Vectors

MANY = 20_000
"""From so many vectors on FAISS is used, where it is installed: importing it takes a while."""

_COMPRESSED = "PQ{}x4fs,Refine(SQfp16)"
_REFINED = 100
"""Of an approximate search: how many times more are looked at again in half precision."""

_LOG = logging.getLogger("admir")


class VectorIndex:
    """Inner products of vectors, float32 [n, d], with queries. Exact, unless `approximate`.

    An approximate search, for libraries of a million, reads an eighth of a byte a dimension. It
    is made by FAISS alone: without it NumPy searches exactly.
    """

    def __init__(self, vectors: Vectors, *, approximate: bool = False) -> None:
        self._vectors = vectors
        self._index = _faiss_index(vectors, approximate) if len(vectors) >= MANY else None

    @property
    def engine(self) -> str:
        """What searches, for people."""
        return "numpy" if self._index is None else f"faiss {type(self._index).__name__}"

    def rows(self, query: Vectors, top_k: int) -> NDArray[np.int64]:
        """The numbers of the `top_k` vectors nearest to one query [d], best first."""
        return np.asarray(self.search(query[None], top_k)[1][0], dtype=np.int64)

    def search(self, queries: Vectors, top_k: int) -> tuple[Vectors, NDArray[np.int64]]:
        """Scores, float32 [m, k], and row numbers, int64 [m, k], best first; k is at most n."""
        top_k = min(top_k, len(self._vectors))
        if self._index is None:
            return _by_numpy(self._vectors, queries, top_k)
        scores, rows = self._index.search(np.ascontiguousarray(queries, dtype=np.float32), top_k)
        return scores, rows


def _by_numpy(vectors: Vectors, queries: Vectors, top_k: int) -> tuple[Vectors, NDArray[np.int64]]:
    scores = queries @ vectors.T
    if top_k < scores.shape[1]:
        rows = np.argpartition(-scores, top_k - 1, axis=1)[:, :top_k]
    else:
        rows = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    found = np.take_along_axis(scores, rows, axis=1)
    order = np.argsort(-found, axis=1, kind="stable")
    best = np.take_along_axis(rows, order, axis=1)
    return np.take_along_axis(found, order, axis=1), best.astype(np.int64)


def _faiss_index(vectors: Vectors, approximate: bool) -> Any:
    """An index of FAISS over the vectors, on the cards that it sees; None where it is missing."""
    try:
        import faiss
    except (ImportError, OSError):
        return None
    width = vectors.shape[1]
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    on_card = getattr(faiss, "get_num_gpus", int)() > 0
    if approximate and not on_card:
        index: Any = faiss.index_factory(
            width, _COMPRESSED.format(width // 4), faiss.METRIC_INNER_PRODUCT
        )
        index.k_factor = _REFINED
        index.train(rows)
    else:
        index = faiss.IndexFlatIP(width)
    if on_card:
        index = _on_cards(faiss, index, half=approximate)
    index.add(rows)
    return index


def _on_cards(faiss: Any, index: Any, *, half: bool) -> Any:
    """The index on all cards, in half precision where asked; as it is where they have no room."""
    options = faiss.GpuMultipleClonerOptions()
    options.shard, options.useFloat16 = True, half
    try:
        return faiss.index_cpu_to_all_gpus(index, co=options)
    except RuntimeError as error:
        _LOG.warning("FAISS stays on the CPU: %s", " ".join(str(error).split())[:200])
        return index
