"""Intervals against distributions that are known, and tests against worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.evaluation.statistics import Draws, difference, mcnemar, share
from tests.properties import examples


def interval(values, videos, seed=0):
    found = share(np.array(values, float), np.ones(len(values), bool), Draws.of(videos, seed=seed))
    return found.low, found.high


def test_independent_items_have_the_interval_of_a_proportion():
    rng = np.random.default_rng(1)
    values = (rng.random(2_000) < 0.3).astype(float)
    low, high = interval(values, [str(n) for n in range(2_000)])
    error = np.sqrt(values.mean() * (1 - values.mean()) / 2_000)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert (low + high) / 2 == pytest.approx(values.mean(), abs=0.005)


def test_items_that_stand_and_fall_together_count_as_one():
    """Ten copies of each of 200 items tell no more than the 200."""
    one = (np.random.default_rng(2).random(200) < 0.5).astype(float)
    names = [str(n) for n in range(200)]
    low, high = interval(one, names)
    low10, high10 = interval(np.repeat(one, 10), [n for n in names for _ in range(10)])
    assert high10 - low10 == pytest.approx(high - low, rel=0.05)


def test_the_interval_holds_the_truth_as_often_as_it_says():
    rng, held = np.random.default_rng(3), 0
    videos = [str(n // 5) for n in range(300)]
    for seed in range(200):
        of_video = rng.beta(2, 3, 60)  # mean 0.4; items of a video hang together
        values = (rng.random(300) < np.repeat(of_video, 5)).astype(float)
        low, high = interval(values, videos, seed)
        held += low <= 0.4 <= high
    assert 0.90 <= held / 200 <= 0.985


def test_one_video_has_no_interval():
    assert interval([1, 0, 1], ["a", "a", "a"]) == (None, None)
    assert interval([], []) == (None, None)


def test_equal_seeds_draw_equal_intervals():
    values, videos = [1, 0, 1, 1, 0, 0.5], list("aabbcc")
    assert interval(values, videos, 7) == interval(values, videos, 7)


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [(0, 0, 1.0), (5, 5, 1.0), (10, 2, 0.03857), (0, 6, 0.03125), (25, 10, 0.01667)],
)
def test_mcnemar_is_the_binomial_test(gained, lost, p):
    assert mcnemar(gained, lost) == pytest.approx(p, abs=5e-5)
    assert mcnemar(lost, gained) == mcnemar(gained, lost)


def test_mcnemar_of_many_items_is_told():
    assert 0 < mcnemar(5_200, 4_800) < 1e-4


_SCORES = st.sampled_from([0.0, 0.5, 1.0])


@examples(60)
@given(st.lists(st.tuples(_SCORES, _SCORES, st.integers(0, 4)), min_size=1, max_size=40))
def test_a_difference_turns_round_with_its_runs(pairs):
    a = np.array([pair[0] for pair in pairs])
    b = np.array([pair[1] for pair in pairs])
    chosen = np.ones(len(pairs), bool)
    draws = Draws.of([str(pair[2]) for pair in pairs])
    there, back = difference(a, b, chosen, draws), difference(b, a, chosen, draws)
    assert there.mean == pytest.approx(-back.mean)
    assert (there.gained, there.lost) == (back.lost, back.gained)
    assert there.p_value == back.p_value
    if there.low is not None:
        assert there.low <= there.mean + 1e-9
        assert there.low == pytest.approx(-back.high)
    same = difference(a, a, chosen, draws)
    assert (same.mean, same.gained, same.lost, same.is_sure) == (0, 0, 0, False)


def test_a_difference_that_is_there_is_found_and_noise_is_not():
    rng = np.random.default_rng(4)
    videos = [str(n // 4) for n in range(800)]
    chosen, draws = np.ones(800, bool), Draws.of(videos)
    a = (rng.random(800) < 0.4).astype(float)
    better = np.maximum(a, (rng.random(800) < 0.15).astype(float))
    assert difference(a, better, chosen, draws).is_sure
    noise = [
        difference((rng.random(800) < 0.4).astype(float), a, chosen, draws).is_sure
        for _ in range(40)
    ]
    assert sum(noise) <= 8
