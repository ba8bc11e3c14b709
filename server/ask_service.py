"""Questions under way, answered in an event loop and a thread of their own.

What answering computes there does not keep the service waiting.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Hashable, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from admir.api import AskSession, ask_opened, open_for_asking
from admir.concurrency import LoopThread
from admir.errors import ServerBusy
from admir.memory.store import MemoryStore
from admir.settings import Settings
from admir.trace import AnswerEvent
from admir.types import Turn

_MOST_OPEN = 64
_RETRY_AFTER_S = 5
_Item = AnswerEvent | BaseException | None


@dataclass
class AskService:
    """Answers questions side by side, as many as `settings.server.asks`; `close` ends it."""

    settings: Settings
    store: MemoryStore
    under_way: int = 0
    _opened: OrderedDict[Hashable, AskSession] = field(default_factory=OrderedDict)
    _own: LoopThread = field(default_factory=partial(LoopThread, "admir-asks"))

    def start(self) -> None:
        """Begin to take questions."""
        self._own.start()

    def close(self) -> None:
        """Cancel what is under way, and wait until it has ended."""
        self._own.close()

    async def events(
        self, video_id: str, question: str, settings: Settings, earlier: Sequence[Turn] = ()
    ) -> AsyncGenerator[AnswerEvent, None]:
        """The events of an answer, to be closed by who reads them: that cancels the work.

        Raises ServerBusy, UnknownVideo, MemoryDamaged, EmbedderMismatch, QuestionError,
        BackendUnavailable or ModelError.
        """
        if self.under_way >= self.settings.server.asks:
            raise ServerBusy(
                f"{self.under_way} questions are being answered; ask again in a moment",
                retry_after_s=_RETRY_AFTER_S,
            )
        self.under_way += 1
        here, queue = asyncio.get_running_loop(), asyncio.Queue[_Item]()

        def tell(item: _Item) -> None:
            here.call_soon_threadsafe(queue.put_nowait, item)

        async def work() -> None:
            try:
                async with aclosing(self._answer(video_id, question, settings, earlier)) as events:
                    async for event in events:
                        tell(event)
                tell(None)
            except BaseException as error:
                tell(error)
                raise

        job: Future[None] = self._own.run(work())
        try:
            while (item := await queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self.under_way -= 1
            job.cancel()

    async def _answer(
        self, video_id: str, question: str, settings: Settings, earlier: Sequence[Turn]
    ) -> AsyncGenerator[AnswerEvent, None]:
        opened = await asyncio.to_thread(self._open, video_id, settings)
        async with aclosing(ask_opened(opened, question, earlier)) as events:
            async for event in events:
                yield event

    def _open(self, video_id: str, settings: Settings) -> AskSession:
        """The memory with its index and backend; those of the current build are kept."""
        key = (self.store.state(video_id), settings.model_dump_json())
        if (known := self._opened.get(key)) is not None:
            return known
        opened = open_for_asking(self.store.read(video_id), settings)
        self._opened[key] = opened
        while len(self._opened) > _MOST_OPEN:
            self._opened.popitem(last=False)
        return opened
