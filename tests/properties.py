"""Property tests that try the same examples on every run and machine."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int = 60) -> settings:
    """Settings of a property test: how many examples, and no clock over each."""
    return settings(max_examples=count, deadline=None, derandomize=True)
