"""The vectors of a memory: made at the end of a build, and anew by `admir reindex`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from admir.errors import ModelError
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

    `tell` hears how many of how many are done. Raises ModelError where widths differ,
    and what the embedder raises.
    """
    texts = [clip.index_text for clip in clips]
    parts = [embedder.encode(texts[:_AT_ONCE])]
    for start in range(_AT_ONCE, len(texts), _AT_ONCE):
        if stop():
            break
        tell(start, len(texts))
        parts.append(embedder.encode(texts[start : start + _AT_ONCE]))
    width = max(part.shape[1] for part in parts)
    if any(part.shape[1] not in (0, width) for part in parts):
        raise ModelError(f"{embedder.id!r} gives vectors of different widths")
    # Of texts that are all empty an endpoint tells no width.
    wide = [part if part.shape[1] else np.zeros((len(part), width), np.float32) for part in parts]
    return np.concatenate(wide)


def reembed(
    store: MemoryStore,
    memory: Memory,
    embedder: Embedder,
    tell: Callable[[int, int], None] = lambda _, __: None,
    stop: Callable[[], bool] = lambda: False,
) -> Memory:
    """A new build of a stored memory that differs in its vectors alone; the old one if stopped.

    The caller holds the video's lock. Raises MemoryStoreError and what the embedder raises.
    """
    before = embedder.spent()
    vectors = embed_clips(memory.clips, embedder, tell, stop)
    if len(vectors) < len(memory.clips):
        return memory
    made = replace(
        memory.provenance,
        embedder=embedder.id,
        dimensions=vectors.shape[1],
        usage=memory.provenance.usage + embedder.spent().since(before),
        warnings=_warnings(memory.provenance.warnings, embedder),
    )
    return store.publish(store.copied(memory), replace(memory, provenance=made), vectors)


def _warnings(before: Sequence[str], embedder: Embedder) -> tuple[str, ...]:
    """Those of the build, without those of the embedder before."""
    kept = [line for line in before if not line.startswith(("search compares", "embedding went"))]
    return (*kept, *embedder.warnings)
