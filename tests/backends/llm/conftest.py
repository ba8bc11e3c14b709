"""What the tests of the model backend share beyond the fixtures of every room."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _quick(quick_retries: None) -> None:
    """Retries follow at once, also in tests that start servers of their own."""
