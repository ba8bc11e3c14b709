"""Streams, threads and runs without a loop, and how each of them is stopped."""

from __future__ import annotations

import _thread
import asyncio
import signal
import threading
import time

import pytest

from admir.concurrency import in_thread, last_of, run_sync, stream_events


async def _numbers(closed, count=3):
    try:
        for number in range(count):
            yield number
    finally:
        closed.append(True)


def test_the_last_event_is_returned_and_every_one_is_told():
    told = []
    assert asyncio.run(last_of(_numbers([]), told.append)) == 2
    assert told == [0, 1, 2]


def test_a_listener_that_fails_closes_the_stream():
    closed = []

    async def watch():
        with pytest.raises(ZeroDivisionError):
            await last_of(_numbers(closed), lambda number: 1 / number)
        assert closed == [True]

    asyncio.run(watch())


def test_a_thread_gives_what_it_returns_and_raises():
    async def both():
        assert await in_thread(lambda: 5, lambda: None) == 5
        with pytest.raises(ZeroDivisionError):
            await in_thread(lambda: 1 // 0, lambda: None)

    asyncio.run(both())


def test_a_cancelled_stream_waits_for_its_thread():
    stopped, ended = threading.Event(), threading.Event()

    def work():
        stopped.wait(10)
        time.sleep(0.1)
        ended.set()

    async def run(emit):
        emit("begun")
        await in_thread(work, stopped.set)

    async def watch():
        events = stream_events(run)
        async for _ in events:
            break
        await asyncio.sleep(0.05)
        await events.aclose()
        assert ended.is_set()

    asyncio.run(watch())


def test_a_coroutine_runs_inside_a_running_loop():
    async def five():
        return 5

    async def notebook():
        return run_sync(five())

    assert asyncio.run(notebook()) == run_sync(five()) == 5


def test_an_interrupt_in_a_notebook_cancels_the_work_and_waits_for_it():
    ended = []

    async def work():
        try:
            threading.Timer(0.1, _thread.interrupt_main).start()
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.1)
            ended.append(True)

    async def notebook():
        # asyncio.run has its own handler for Ctrl-C; a notebook's loop has none.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt):
            run_sync(work())
        assert ended == [True]

    asyncio.run(notebook())
