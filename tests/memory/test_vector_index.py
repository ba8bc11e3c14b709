"""The nearest vectors: FAISS against NumPy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.memory import vector_index
from admir.memory.vector_index import VectorIndex
from tests.properties import examples


def unit_rows(count, width, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def many_from_one(monkeypatch):
    monkeypatch.setattr(vector_index, "MANY", 1)


def numpy_alone(vectors, queries, k):
    order = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :k]
    return np.take_along_axis(queries @ vectors.T, order, axis=1), order


@pytest.mark.parametrize("count", [1, 7, 2_000])
def test_faiss_finds_what_numpy_finds(many_from_one, count):
    vectors, queries = unit_rows(count, 64), unit_rows(20, 64, seed=1)
    index = VectorIndex(vectors)
    assert index.engine == "faiss IndexFlatIP"
    scores, rows = index.search(queries, 10)
    right_scores, right_rows = numpy_alone(vectors, queries, 10)
    assert np.array_equal(rows, right_rows)
    assert np.allclose(scores, right_scores, atol=1e-6)


@examples(50)
@given(count=st.integers(1, 60), top_k=st.integers(1, 80), seed=st.integers(0, 99))
def test_numpy_gives_the_best_in_order(count, top_k, seed):
    vectors, queries = unit_rows(count, 8, seed), unit_rows(3, 8, seed + 1)
    index = VectorIndex(vectors)
    assert index.engine == "numpy"
    scores, rows = index.search(queries, top_k)
    right_scores, right_rows = numpy_alone(vectors, queries, top_k)
    assert scores.shape == rows.shape == (3, min(top_k, count))
    assert np.array_equal(rows, right_rows)
    assert np.allclose(scores, right_scores, atol=1e-6)


def test_without_faiss_many_are_searched_by_numpy(many_from_one, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    assert VectorIndex(unit_rows(50, 8)).engine == "numpy"


def test_an_approximate_search_finds_nearly_all(many_from_one):
    vectors = unit_rows(4_000, 64)
    queries = vectors[:50] + 0.05 * unit_rows(50, 64, seed=2)
    index = VectorIndex(vectors, approximate=True)
    assert "Refine" in index.engine
    _, rows = index.search(queries, 10)
    _, right = numpy_alone(vectors, queries, 10)
    shared = [len(set(a) & set(b)) / 10 for a, b in zip(rows, right, strict=True)]
    assert np.array_equal(rows[:, 0], right[:, 0])
    assert np.mean(shared) > 0.9
