"""The async idioms used everywhere: streams of events, threads, and runs without a loop."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import OrderedDict
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Hashable,
    Iterator,
    Sequence,
)
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

T = TypeVar("T")


async def stream_events(
    run: Callable[[Callable[[T], None]], Awaitable[None]],
) -> AsyncGenerator[T, None]:
    """Yield what `run(emit)` emits, until it ends. Closing the iterator cancels `run`.

    `emit` may be called from any thread. An exception of `run` is raised after its last event.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[T | None] = asyncio.Queue()

    def emit(event: T) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, event)

    async def guarded() -> None:
        try:
            await run(emit)
        finally:
            loop.call_soon(queue.put_nowait, None)

    task = asyncio.create_task(guarded())
    try:
        while (event := await queue.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def run_to_end(events: AsyncIterator[T], tell: Callable[[T], None] | None = None) -> T:
    """Run a stream to its end and return its last event; `tell` sees every one.

    The stream is closed on the way out, also by an error of `tell` or a cancellation.
    """
    last: list[T] = []
    try:
        async for event in events:
            if tell is not None:
                tell(event)
            last[:] = [event]
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()
    return last[0]


async def gather_all(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What the pieces of work return, in order; the first error cancels the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


async def in_thread(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Run `work` in a thread. A cancelled caller calls `stop` and leaves once the thread has ended.

    (`asyncio.to_thread` leaves at once, while the thread still writes.)
    """
    job = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(job)
    except asyncio.CancelledError:
        stop()
        while not job.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([job])
        raise


class LoopThread:
    """An event loop in a thread of its own: what computes there keeps no other loop waiting."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name=name)

    def start(self) -> None:
        """Begin to run what is handed in."""
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Hand in a piece of work, from any thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        """Cancel what is under way, and wait until it has ended."""
        if self._thread.is_alive():
            self.run(_cancel_all()).result()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
        self.loop.close()


async def _cancel_all() -> None:
    """Cancel all else that runs in this loop, and wait until it and its threads have ended."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()


def prefetch(items: Iterator[T], most: int) -> Generator[T, None, None]:
    """The items, made by a thread that is at most so many ahead of who takes them.

    An error of `items` is raised after the last item. Closing the generator ends the thread, and
    waits for the item that it is making.
    """
    made: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(most)
    closed = threading.Event()

    def put(value: tuple[T] | BaseException | None) -> None:
        while not closed.is_set():
            with suppress(queue.Full):
                made.put(value, timeout=0.1)
                return

    def work() -> None:
        try:
            for item in items:
                put((item,))
                if closed.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - raised again where the items are taken
            put(error)
        else:
            put(None)

    thread = threading.Thread(target=work, name="admir-ahead", daemon=True)
    thread.start()
    try:
        while (got := made.get()) is not None:
            if isinstance(got, BaseException):
                raise got
            yield got[0]
    finally:
        closed.set()
        thread.join()


class BoundedCache(Generic[T]):
    """What was made before, as long as there is room: those used last stay. For any thread."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._items: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """What was put there, or None."""
        with self._lock:
            if key not in self._items:
                return None
            self._items.move_to_end(key)
            return self._items[key][0]

    def made(self, key: Hashable, make: Callable[[], T], size_bytes: Callable[[T], int]) -> T:
        """What was put there, else what `make` makes, which is kept."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value, size_bytes(value))
        return value

    def put(self, key: Hashable, value: T, size_bytes: int) -> None:
        """Keep a value of that size; what was not used for longest goes."""
        with self._lock:
            self._drop(key)
            self._items[key] = (value, size_bytes)
            self._bytes += size_bytes
            self._shrink()

    def resize(self, most_bytes: int) -> None:
        """Keep so much from now on."""
        with self._lock:
            self._most = most_bytes
            self._shrink()

    @property
    def size_bytes(self) -> int:
        """How much is kept."""
        return self._bytes

    def _shrink(self) -> None:
        while self._bytes > self._most:
            self._drop(next(iter(self._items)))

    def _drop(self, key: Hashable) -> None:
        _, size_bytes = self._items.pop(key, (None, 0))
        self._bytes -= size_bytes


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where an event loop is already running (a notebook).

    An interrupt cancels the coroutine, waits for its end and is raised again.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return _Worker(coroutine).result()


class _Worker(Generic[T]):
    """A coroutine in a loop and a thread of its own."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self._cancel: Callable[[], object] = lambda: None
        self._box: list[T] = []
        self._failure: list[BaseException] = []
        self._ended = threading.Event()

    def result(self) -> T:
        """What the coroutine returns; raises what it raises."""
        threading.Thread(target=self._work, name="admir").start()
        try:
            # Not `join`: interrupted, it takes the thread for ended (Python 3.11). And no wait
            # without an end: on Windows nothing interrupts it.
            while not self._ended.wait(0.1):
                pass
        except KeyboardInterrupt:
            with suppress(RuntimeError):  # the loop has ended by itself
                self._cancel()
            self._ended.wait()
            raise
        if self._failure:
            raise self._failure[0]
        return self._box[0]

    def _work(self) -> None:
        try:
            self._box.append(asyncio.run(self._main()))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            self._failure.append(error)
        finally:
            self._ended.set()

    async def _main(self) -> T:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        return await self._coroutine
