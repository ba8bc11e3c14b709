"""The vectors of a memory: made at the end of a build, and anew by `admir reindex`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from admir.memory.store import MemoryStore
from admir.perception.embed import Embedder, Vectors
from admir.types import Clip, Memory

_AT_ONCE = 256


def embed_clips(
    clips: Sequence[Clip],
    embedder: Embedder,
    tell: Callable[[int, int], None] = lambda _, __: None,
    stop: Callable[[], bool] = lambda: False,
) -> Vectors:
    """float32 [clips, d], of caption, speech and on-screen text together (eq. 2).

    `tell` hears how many of how many are done. Raises what the embedder raises.
    """
    texts = [clip.index_text for clip in clips]
    parts = [embedder.encode(texts[:_AT_ONCE])]
    for start in range(_AT_ONCE, len(texts), _AT_ONCE):
        if stop():
            break
        tell(start, len(texts))
        parts.append(embedder.encode(texts[start : start + _AT_ONCE]))
    return np.concatenate([part for part in parts if len(part)] or parts)


def embedded_anew(store: MemoryStore, memory: Memory, embedder: Embedder) -> Memory:
    """A new build of a stored memory that differs in its vectors alone.

    The caller holds the video's lock. Raises MemoryStoreError and what the embedder raises.
    """
    vectors = embed_clips(memory.clips, embedder)
    made = replace(
        memory.provenance,
        embedder=embedder.id,
        dimensions=vectors.shape[1],
        warnings=_warnings(memory.provenance.warnings, embedder),
    )
    return store.publish(store.copied(memory), replace(memory, provenance=made), vectors)


def _warnings(before: Sequence[str], embedder: Embedder) -> tuple[str, ...]:
    """Those of the build, without those of the embedder before."""
    kept = [line for line in before if not line.startswith(("search compares", "embedding went"))]
    return (*kept, *embedder.warnings)
