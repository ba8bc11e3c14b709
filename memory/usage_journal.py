"""The journal of a build, with what its pieces of work have cost, also in runs before this one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from admir.memory.journal import Journal
from admir.types import Usage

_USAGE = TypeAdapter(Usage)
_KEY = "usage"


class UsageJournal(Journal):
    """A journal that reads a meter: `spent_now` tells what this run's backend has cost so far."""

    def __init__(self, path: Path, spent_now: Callable[[], Usage]) -> None:
        super().__init__(path)
        self._spent_now = spent_now
        self._paid_for = Usage()

    def keep(self, key: str, value: object) -> None:
        """Record a finished piece of work, and what all of the build has cost by then."""
        now = self._spent_now()
        spent = self.spent()
        self._paid_for = now
        if spent != Usage():
            self.put(_KEY, to_jsonable_python(spent))
        self.put(key, value)

    def spent(self) -> Usage:
        """What was journaled, in runs before this one too, and what came since."""
        before = _USAGE.validate_python(self.get(_KEY) or {})
        return before + self._spent_now().since(self._paid_for)
