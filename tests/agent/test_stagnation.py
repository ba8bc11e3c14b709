"""The stagnation guard (eq. 6)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admir.agent.stagnation import redirect_if_stagnant
from admir.types import Span


def span(start: float, end: float) -> Span:
    return Span(start_s=start, end_s=end)


def test_two_earlier_looks_are_allowed_and_a_third_is_moved():
    new = span(20, 25)
    assert redirect_if_stagnant(new, [span(20, 25)] * 2, 60) is None
    assert redirect_if_stagnant(new, [span(20, 25), span(19, 26), span(21, 27)], 60) == span(0, 15)


def test_overlap_counts_over_the_new_ranges_own_length():
    wide = [span(0, 30)] * 3
    assert redirect_if_stagnant(span(8, 28), wide, 60) is not None
    assert redirect_if_stagnant(span(0, 60), [span(0, 30)] * 3, 60) is None


def test_narrowing_in_is_not_stagnation():
    looked = []
    for new in (span(0, 20), span(5, 12), span(6, 9), span(6.8, 8), span(7, 7.4), span(7.1, 7.14)):
        assert redirect_if_stagnant(new, looked, 60) is None
        looked.append(new)
    assert redirect_if_stagnant(span(7.1, 7.14), [*looked, *[span(7.1, 7.14)] * 2], 60) is not None


def test_the_boundary_looked_at_less_is_chosen():
    looked = [span(0, 10), span(1, 11), span(2, 12)]
    assert redirect_if_stagnant(span(2, 10), looked, 60) == span(45, 60)


def test_under_30_seconds_the_halves_serve():
    looked = [span(0, 5)] * 3
    assert redirect_if_stagnant(span(0, 5), looked, 20) == span(10, 20)


def test_exactly_60_percent_is_not_too_much():
    assert redirect_if_stagnant(span(0, 10), [span(0, 6)] * 3, 60) is None


times = st.floats(min_value=0, max_value=60, allow_nan=False)
spans = st.tuples(times, times).map(lambda pair: span(min(pair), max(pair)))


@given(spans, st.lists(spans, max_size=8), st.floats(min_value=0.2, max_value=120))
def test_a_moved_range_stays_inside_the_video(new, looked, duration):
    moved = redirect_if_stagnant(new, looked, duration)
    if moved is not None:
        assert 0 <= moved.start_s < moved.end_s <= duration
        assert len(looked) > 2
