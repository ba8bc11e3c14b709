"""What an answer may cost: money, tokens, seconds. Steps are counted by the graph."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TypeVar

from admir.settings import Settings
from admir.types import Usage

T = TypeVar("T")


class BudgetSpent(Exception):
    """There is no time left; the message says of how much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of one answer, None for those that are not set. The clock runs from now."""

    max_cost: float | None = None
    max_seconds: float | None = None
    max_tokens: int | None = None
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        """The limits that are set."""
        return cls(
            max_cost=settings.max_cost,
            max_seconds=settings.max_seconds,
            max_tokens=settings.max_tokens,
        )

    @property
    def counts(self) -> bool:
        """Whether tokens or money are limited: then a step must not spend them all at once."""
        return self.max_cost is not None or self.max_tokens is not None

    def spent(self, usage: Usage) -> str:
        """Which limit is reached, in words; empty while there is something left of all."""
        if self.max_cost is not None and usage.cost_usd >= self.max_cost:
            return f"the budget of ${self.max_cost:g} is spent"
        if self.max_tokens is not None and usage.tokens >= self.max_tokens:
            return f"the budget of {self.max_tokens} tokens is spent"
        if self.max_seconds is not None and self._left_s() <= 0:
            return self._no_time()
        return ""

    async def within(self, work: Awaitable[T]) -> T:
        """The work, which is cancelled when the seconds are over; raises BudgetSpent."""
        if self.max_seconds is None:
            return await work
        try:
            async with asyncio.timeout(max(0.0, self._left_s())) as limit:
                return await work
        except TimeoutError:
            if limit.expired():
                raise BudgetSpent(self._no_time()) from None
            raise

    def _left_s(self) -> float:
        assert self.max_seconds is not None
        return self.started + self.max_seconds - time.monotonic()

    def _no_time(self) -> str:
        return f"the budget of {self.max_seconds:g} s is spent"
