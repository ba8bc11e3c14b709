"""Text into vectors. The offline embedder hashes, and needs neither torch nor weights.

`admir.perception.sentence_transformer` has the one that reads models from the disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from math import log1p
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from admir.settings import ENDPOINT
from admir.text import normalize, tokenize
from admir.types import Usage

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """phi of eq. 2. `id` names the model and its revision; the memory records it.

    `warnings` say what the work so far had to do without, one line each.
    """

    id: str
    warnings: Sequence[str] = ()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), d], rows of unit length (all zero for an empty text).

        Raises BackendUnavailable or ModelError.
        """

    def spent(self) -> Usage:
        """What the work so far has cost; nothing, on this machine."""
        return Usage()


class HashingEmbedder(Embedder):
    """Signed feature hashing of words and character trigrams into 1024 dimensions."""

    id = "hashing-1024-v1"
    dimensions = 1024

    def __init__(self, *warnings: str) -> None:
        self.warnings = warnings

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), 1024]; see `Embedder`."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for feature, count in Counter(_features(text)).items():
                digest = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest())
                row[digest % self.dimensions] += (1 if digest >> 63 else -1) * log1p(count)
        return unit(rows)


def unit(rows: Vectors) -> Vectors:
    """The rows [n, d] at unit length; those of zeros stay."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, norms, out=rows, where=norms > 0), dtype=np.float32)


def same_vectors(one: str, other: str) -> bool:
    """Whether two ids stand for the same model: weights are told by their revision alone."""
    revisions = [name.removeprefix(without_revision(name)) for name in (one, other)]
    return one == other or (revisions[0] == revisions[1] != "")


def without_revision(made_by: str) -> str:
    """The name in an id of weights, `NAME@REVISION`; other ids have no revision."""
    if made_by.startswith(ENDPOINT):
        return made_by
    return made_by.rpartition("@")[0] or made_by


def _features(text: str) -> Iterator[str]:
    for term in tokenize(text):
        yield f"w:{term}"
    flat = normalize(text)
    for start in range(len(flat) - 2):
        yield f"c:{flat[start : start + 3]}"
