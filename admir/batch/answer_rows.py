"""Many questions over many videos, in their order; a bad one does not end the run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from admir.api import AskSession, ask_opened, build_events, check_question, open_for_asking
from admir.backends.factory import open_backend
from admir.batch.row import Outcome, Question, RowAnswered, RowEvent, RowFailed, question_of
from admir.concurrency import run_to_end, stream_events
from admir.errors import AdmirError, BackendUnavailable, RowError
from admir.memory.store import MemoryStore
from admir.settings import Settings, load_settings
from admir.trace import Answered, BuildProgress, Built
from admir.types import Memory

MOST_OPEN = 32
"""Memories kept open at once: rows may name their videos in any order."""

_Tell = Callable[[RowEvent], None]
_Found = tuple[str | Path | Memory, AskSession | AdmirError]
"""What was asked for, and what came of it: the first keeps a Memory's `id` its own."""


async def ask_many(
    rows: Iterable[Question | Mapping[str, Any]], settings: Settings | None = None
) -> AsyncGenerator[RowEvent, None]:
    """Ask each row in turn: an outcome a row, in order, before it the progress of a build.

    A mapping is a row with `question`, and `video_id` or `video`. Settings are those of the
    environment by default. Raises BackendUnavailable, OptionError; all else is a `RowFailed`.
    """
    asker = Asker(settings or load_settings())
    for row in rows:
        question = row if isinstance(row, Question) else question_of(row)
        async with aclosing(asker.ask(question)) as events:
            async for event in events:
                yield event


class Asker:
    """Asks rows one by one, and keeps the memories open that were asked last.

    Raises BackendUnavailable at once where the preset cannot run here.
    """

    def __init__(self, settings: Settings) -> None:
        open_backend(settings)
        self._settings = settings
        self._opened: OrderedDict[str | Path | int, _Found] = OrderedDict()

    def ask(self, row: Question) -> AsyncGenerator[RowEvent, None]:
        """The events of one row; the last is its outcome. Raises BackendUnavailable."""

        async def run(emit: _Tell) -> None:
            emit(await self._outcome(row, emit))

        return stream_events(run)

    async def _outcome(self, row: Question, emit: _Tell) -> Outcome:
        try:
            return await self._answered(row, emit)
        except BackendUnavailable:
            raise
        except AdmirError as error:
            return RowFailed(row=row, error=str(error), kind=error.kind)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not cost a night's run
            told = AdmirError(f"unexpected {type(error).__name__}: {error}")
            return RowFailed(row=row, error=str(told), kind="unexpected")

    async def _answered(self, row: Question, emit: _Tell) -> RowAnswered:
        if row.fault:
            raise RowError(row.fault)
        question = check_question(row.question)
        opened = await self._open(row.video, emit)
        last = await run_to_end(ask_opened(opened, question))
        assert isinstance(last, Answered)
        return RowAnswered(row=row, answer=last.answer)

    async def _open(self, video: str | Path | Memory, emit: _Tell) -> AskSession:
        """The open memory of a video. One that failed fails again at once, for its other rows."""
        key = id(video) if isinstance(video, Memory) else video
        if key not in self._opened:
            self._opened[key] = video, await self._opening(video, emit)
        self._opened.move_to_end(key)
        if len(self._opened) > MOST_OPEN:
            self._opened.popitem(last=False)
        _, found = self._opened[key]
        if isinstance(found, AdmirError):
            raise found.with_traceback(None)
        return found

    async def _opening(self, video: str | Path | Memory, emit: _Tell) -> AskSession | AdmirError:
        try:
            return open_for_asking(await self._memory(video, emit), self._settings)
        except AdmirError as error:
            return error

    async def _memory(self, video: str | Path | Memory, emit: _Tell) -> Memory:
        if isinstance(video, Memory):
            return video
        if isinstance(video, str):
            return MemoryStore(self._settings.memories).read(video)
        last = await run_to_end(
            build_events(video, self._settings),
            lambda event: emit(event) if isinstance(event, BuildProgress) else None,
        )
        assert isinstance(last, Built)
        return last.memory
