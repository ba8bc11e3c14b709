"""The stagnation guard (paper B.3.1, eq. 6)."""

from __future__ import annotations

from collections.abc import Sequence

from admir.types import Span

OVERLAP = 0.6
MOST_REPEATS = 2
BOUNDARY_S = 15.0
NARROWER = 0.5
"""A range of at most this share of an earlier one is looked at more closely than that was."""


def redirected(span: Span, looked: Sequence[Span], duration_s: float) -> Span | None:
    """Where to look instead, when `span` was looked at too often; None when it may stand.

    A new range that overlaps more than two earlier looks by more than 0.6 of its own length
    is moved to the first or the last 15 s, whichever was looked at less. Under 30 s the halves
    of the video serve. Earlier ranges that are twice as long do not count: eq. 6 alone would take
    narrowing in, where each look shows more frames a second, for going round in circles.
    """
    if span.duration_s <= 0:
        return None
    repeats = sum(
        span.overlap_s(other) / span.duration_s > OVERLAP
        and span.duration_s > NARROWER * other.duration_s
        for other in looked
    )
    if repeats <= MOST_REPEATS:
        return None
    reach = min(BOUNDARY_S, duration_s / 2)
    first = Span(start_s=0.0, end_s=reach)
    last = Span(start_s=duration_s - reach, end_s=duration_s)
    seen = {s: sum(s.overlap_s(other) for other in looked) for s in (first, last)}
    return min((first, last), key=lambda s: seen[s])
