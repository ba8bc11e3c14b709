"""The three async idioms used everywhere: stream events, run to the end, run without a loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def stream_events(run: Callable[[Callable[[T], None]], Awaitable[None]]) -> AsyncIterator[T]:
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


async def last_of(events: AsyncIterator[T], tell: Callable[[T], None] | None = None) -> T:
    """Run a stream to its end and return its last event; `tell` sees every one."""
    last: list[T] = []
    async for event in events:
        if tell is not None:
            tell(event)
        last[:] = [event]
    return last[0]


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where an event loop is already running (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    box: list[T] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            box.append(asyncio.run(coroutine))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            failure.append(error)

    thread = threading.Thread(target=work, name="admir")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return box[0]
