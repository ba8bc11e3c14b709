"""Search among many vectors: the shipped index, exact and approximate, on a CPU and on a card.

    python benchmarks/gpu_faiss.py [--count 1000000] [--width 1024]

The vectors are texts that resemble each other: noise around as many centres as there are
thousands. Queries are vectors with more noise. Without `faiss-gpu` and a card the rows are those
of the CPU, and the title says so; a small `--count` is for a try. Recall is of the ten nearest.
"""

from __future__ import annotations

import argparse
import time

import faiss
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from admir.memory.vector_index import MANY, VectorIndex

TOP_K = 10
QUERIES = 100
Floats = NDArray[np.float32]


def main() -> None:
    """Make the vectors, time the searches, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=1024)
    options = parser.parse_args()
    if options.count < MANY:
        parser.error(f"--count must be at least {MANY:,}: below that NumPy searches")
    vectors, queries = made(options.count, options.width)
    cards = getattr(faiss, "get_num_gpus", int)()
    where = f"{cards} card(s)" if cards else "CPU alone"
    table = Table("index", "build s", "one query ms", f"{QUERIES} queries ms", "recall@10")
    table.title = (
        f"{options.count:,} x {options.width}, {where}, {faiss.omp_get_max_threads()} threads"
    )
    right: NDArray[np.int64] | None = None
    for approximate in (False, True):
        started = time.perf_counter()
        index = VectorIndex(vectors, approximate=approximate)
        built_s = time.perf_counter() - started
        one_s = timed(index, queries[:1])
        all_s = timed(index, queries)
        found = index.search(queries, TOP_K)[1]
        right = found if right is None else right
        table.add_row(
            f"{'approximate' if approximate else 'exact'} ({index.engine})",
            f"{built_s:.1f}",
            f"{1000 * one_s:.2f}",
            f"{1000 * all_s:.1f}",
            f"{recall(found, right):.3f}",
        )
    Console(width=120).print(table)


def made(count: int, width: int) -> tuple[Floats, Floats]:
    """(vectors [count, width], queries) of unit length."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(max(1, count // 1_000), width)).astype(np.float32)
    vectors = centres[rng.integers(0, len(centres), count)]
    for start in range(0, count, 50_000):
        part = vectors[start : start + 50_000]
        part += rng.normal(scale=0.7, size=part.shape).astype(np.float32)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    chosen = vectors[rng.integers(0, count, QUERIES)]
    noisy = chosen + rng.normal(scale=0.5 / np.sqrt(width), size=chosen.shape)
    noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
    return vectors, noisy.astype(np.float32)


def timed(index: VectorIndex, queries: Floats) -> float:
    """The median of seconds of a search."""
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        index.search(queries, TOP_K)
        taken.append(time.perf_counter() - started)
    return sorted(taken)[len(taken) // 2]


def recall(found: NDArray[np.int64], right: NDArray[np.int64]) -> float:
    """The share of the nearest that was found."""
    shared = [len(set(a) & set(b)) for a, b in zip(found, right, strict=True)]
    return sum(shared) / right.size


if __name__ == "__main__":
    main()
