"""Progress bars: over the stages of a build, and over the rows of a table of questions."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeftColumn

from admir.text import to_printable
from admir.trace import STAGES, BuildProgress

_WEIGHTS = {"decode": 12, "read text": 75, "faces": 6, "caption": 5}
_TOTAL = sum(_WEIGHTS.get(stage, 1) for stage in STAGES)


def share_done(event: BuildProgress) -> float:
    """How much of a build is behind an event, from 0 to 1."""
    before = sum(_WEIGHTS.get(s, 1) for s in STAGES[: STAGES.index(event.stage)])
    share = event.done / event.total if event.total else 0.0
    return (before + min(1.0, share) * _WEIGHTS.get(event.stage, 1)) / _TOTAL


class _Bar:
    """A line at the foot of a terminal, for a `with`; nothing where the console is no terminal."""

    def __init__(self, console: Console, title: str, count: str, total: int) -> None:
        self._visible = console.is_terminal and not console.quiet
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn(f"{count}  {{task.fields[stage]}}", markup=False),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeLeftColumn(),
            console=console,
            transient=True,
            disable=not self._visible,
        )
        self._task: TaskID = self._bar.add_task(to_printable(title), total=total, stage="")

    def __enter__(self) -> Self:
        if self._visible:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._visible:
            self._bar.stop()


class BuildBar(_Bar):
    """`with BuildBar(console, title) as bar:` then `bar.show(event)` for each progress event."""

    def __init__(self, console: Console, title: str) -> None:
        super().__init__(console, title, "{task.percentage:>3.0f}%", _TOTAL)

    def show(self, event: BuildProgress) -> None:
        """Move to where the event is."""
        self._bar.update(self._task, completed=share_done(event) * _TOTAL, stage=_stage(event))


class BytesBar(_Bar):
    """`with BytesBar(console, title) as bar:` then `bar.show(done, total)`, in bytes."""

    def __init__(self, console: Console, title: str) -> None:
        super().__init__(console, title, "{task.percentage:>3.0f}%", 1)

    def show(self, done: int, total: int) -> None:
        """Move to so many bytes of so many."""
        told = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
        self._bar.update(self._task, completed=done, total=max(1, total), stage=told)


class RowsBar(_Bar):
    """`with RowsBar(console, title) as bar:` then `start`, and `step` for each row that is done.

    With `logs` a console that is no terminal gets a line at each tenth of the rows.
    """

    def __init__(self, console: Console, title: str, *, logs: bool = False) -> None:
        super().__init__(console, title, "{task.completed:.0f}/{task.total:.0f}", 1)
        self._log = console if logs and not self._visible and not console.quiet else None
        self._title = to_printable(title)
        self._done = self._total = 0

    def start(self, total: int) -> None:
        """Say how many rows there are."""
        self._total = total
        self._bar.update(self._task, total=total)

    def building(self, event: BuildProgress) -> None:
        """A row waits for the memory of its video."""
        self._bar.update(self._task, stage=f"building: {_stage(event)}")

    def step(self) -> None:
        """A row is done."""
        self._bar.update(self._task, advance=1, stage="")
        self._done += 1
        tenths = 10 * self._done // max(1, self._total)
        if self._log and tenths > 10 * (self._done - 1) // max(1, self._total):
            self._log.print(f"{self._title}: {self._done}/{self._total}", markup=False)


def _stage(event: BuildProgress) -> str:
    return f"{event.stage} {event.done}/{event.total}" if event.total else event.stage
