"""A progress bar over the events of a build: stage, count, time left."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeftColumn

from admir.text import shown
from admir.trace import STAGES, BuildProgress

_WEIGHTS = {"decode": 12, "read text": 75, "faces": 6, "caption": 5}
_TOTAL = sum(_WEIGHTS.get(stage, 1) for stage in STAGES)


class BuildBar:
    """`with BuildBar(console, title) as bar:` then `bar.show(event)` for each progress event.

    Shows nothing where the console is no terminal.
    """

    def __init__(self, console: Console, title: str) -> None:
        self._visible = console.is_terminal and not console.quiet
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[stage]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeLeftColumn(),
            console=console,
            transient=True,
            disable=not self._visible,
        )
        self._task: TaskID = self._bar.add_task(shown(title), total=_TOTAL, stage="")

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

    def show(self, event: BuildProgress) -> None:
        """Move to where the event is."""
        before = sum(_WEIGHTS.get(s, 1) for s in STAGES[: STAGES.index(event.stage)])
        share = event.done / event.total if event.total else 0.0
        count = f"{event.stage} {event.done}/{event.total}" if event.total else event.stage
        done = before + min(1.0, share) * _WEIGHTS.get(event.stage, 1)
        self._bar.update(self._task, completed=done, stage=count)
