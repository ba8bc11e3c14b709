"""A system over a suite: side by side, journaled, within a limit of money; then the scores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from admir.concurrency import gather_all, stream_events
from admir.errors import BackendUnavailable
from admir.evaluation.data import Case, Item, Judgement, Prediction, Reference, Suite, by_video
from admir.evaluation.run_folder import Run, RunFolder, RunInfo, without_meta
from admir.evaluation.systems import Answering, System, failure_of, predicted
from admir.trace import BuildProgress

UNPRICED = "the limit of money cannot be kept: no price is known of a model that was called"


class Scorer(Protocol):
    """Gives scores. `id` names what they depend on; those that are `lasting` are kept."""

    id: str
    lasting: bool

    async def score(self, case: Case, reference: Reference, text: str) -> Judgement:
        """The word on an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The start: how many items there are."""

    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDone:
    """An item has its answer and its score, or says why it has none."""

    item: Item


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The end: the run as it stands on disk."""

    run: Run


RunEvent = RunStarted | BuildProgress | ItemDone | RunEnded
_Emit = Callable[[RunEvent], None]


@dataclass
class Runner:
    """One run. Without a `scorer` answers are given and none is scored."""

    suite: Suite
    system: System
    scorer: Scorer | None
    folder: RunFolder
    info: RunInfo
    concurrency: int
    spend_limit: float | None = None
    _stopped: str = ""
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _done: dict[str, Item] = field(default_factory=dict)

    def run(self) -> AsyncGenerator[RunEvent, None]:
        """Answer and score what is not there yet; the last event is `RunEnded`.

        Closing it keeps what is done. Raises BackendUnavailable and MemoryStoreError.
        """
        return stream_events(self._run)

    async def _run(self, emit: _Emit) -> None:
        emit(RunStarted(total=len(self.suite.items)))
        try:
            await self._all(emit)
        finally:
            run = self._as_it_stands()
            self.folder.write(run)
        emit(RunEnded(run=run))

    async def _all(self, emit: _Emit) -> None:
        """Videos enter as there is room: only those under way are open."""
        room, turns = asyncio.Semaphore(self.concurrency), asyncio.Semaphore(self.concurrency)

        async def about(video: str, items: Sequence[Item]) -> None:
            try:
                await self._video(video, items, turns, emit)
            finally:
                room.release()

        try:
            async with asyncio.TaskGroup() as group:
                for video, items in by_video(self.suite.items).items():
                    await room.acquire()
                    group.create_task(about(video, items))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None

    async def _video(
        self, video: str, items: Sequence[Item], turns: asyncio.Semaphore, emit: _Emit
    ) -> None:
        """All items about a video, which is opened where one of them has no answer yet."""
        answer: Answering | None = None
        failed: Prediction | None = None
        if any(not item.fault and self._prediction(item.case) is None for item in items):
            answer, failed = await self._opened(video, emit)

        async def one(item: Item) -> None:
            async with turns:
                done = await self._item(item, answer, failed)
            self._done[item.case.id] = done
            emit(ItemDone(item=done))

        await gather_all([one(item) for item in items])

    async def _opened(self, video: str, emit: _Emit) -> tuple[Answering | None, Prediction | None]:
        """What answers about a video, or why nothing can; neither where the money is spent.

        One after another: what opening one costs may be too much for the next.
        """
        async with self._opening:
            if self._over():
                return None, None
            try:
                answer, usage = await self.system.open(video, emit)
            except BackendUnavailable:
                raise
            except Exception as error:  # noqa: BLE001 - a video of many must not cost a night's run
                failed = failure_of(error)
                self.folder.add_spent(failed.usage)
                return None, failed
            self.folder.add_build(usage)
            return answer, None

    async def _item(self, item: Item, answer: Answering | None, failed: Prediction | None) -> Item:
        if item.fault:
            return item
        prediction = self._prediction(item.case)
        if prediction is None:
            prediction = await self._predicted(item.case, answer, failed)
        if prediction is None:
            return item
        done = replace(item, prediction=prediction)
        if prediction.error or self.scorer is None:
            return done
        return replace(done, judgement=await self._judged(item, prediction, self.scorer))

    async def _predicted(
        self, case: Case, answer: Answering | None, failed: Prediction | None
    ) -> Prediction | None:
        """A new answer, or why there is none; None where the money is spent."""
        found = failed
        if answer is not None and not self._over():
            found = await predicted(answer, case)
            self.folder.add_spent(found.usage)
        if found is not None and self.system.lasting:
            self.folder.keep_prediction(case, found)
        return found

    async def _judged(self, item: Item, prediction: Prediction, scorer: Scorer) -> Judgement | None:
        known = self._judgement(item, prediction)
        if known is not None or self._over():
            return known
        found = await scored(scorer, item, prediction.text)
        self.folder.add_spent(found.usage)
        if scorer.lasting:
            self.folder.keep_judgement(item.case, prediction.text, scorer.id, found)
        return found

    def _prediction(self, case: Case) -> Prediction | None:
        """The answer of an earlier run."""
        return self.folder.prediction(case) if self.system.lasting else None

    def _judgement(self, item: Item, prediction: Prediction) -> Judgement | None:
        """The score of an earlier run."""
        if self.scorer is None or not self.scorer.lasting:
            return None
        return self.folder.judgement(item.case, prediction.text, self.scorer.id)

    def _over(self) -> bool:
        """Whether the money is spent; what is under way then ends."""
        if self.spend_limit is None or self._stopped:
            return bool(self._stopped)
        spent = self.folder.spent()
        if spent.unpriced:
            self._stopped = UNPRICED
        elif spent.cost_usd >= self.spend_limit:
            self._stopped = f"${spent.cost_usd:.2f} of ${self.spend_limit:.2f} are spent"
        return bool(self._stopped)

    def _as_it_stands(self) -> Run:
        items = tuple(self._done.get(i.case.id, self._so_far(i)) for i in self.suite.items)
        info = replace(
            self.info,
            build_usage=self.folder.build_usage(),
            spent=self.folder.spent(),
            stopped=self._stopped,
        )
        return Run(info=info, items=without_meta(items))

    def _so_far(self, item: Item) -> Item:
        """An item that this run did not come to, as an earlier one left it."""
        prediction = None if item.fault else self._prediction(item.case)
        if prediction is None:
            return item
        return replace(item, prediction=prediction, judgement=self._judgement(item, prediction))


async def scored(scorer: Scorer, item: Item, text: str) -> Judgement:
    """The word on an answer, or why there is none; raises BackendUnavailable."""
    try:
        return await scorer.score(item.case, item.reference, text)
    except BackendUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - an item of many must not cost a night's run
        failed = failure_of(error)
        return Judgement(score=None, error=failed.error, usage=failed.usage)
