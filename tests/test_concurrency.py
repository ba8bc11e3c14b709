"""Streams, threads and runs without a loop, and how each of them is stopped."""

from __future__ import annotations

import _thread
import asyncio
import itertools
import signal
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.concurrency import BoundedCache, in_thread, prefetch, run_sync, run_to_end, stream_events
from tests.properties import examples


async def _numbers(closed, count=3):
    try:
        for number in range(count):
            yield number
    finally:
        closed.append(True)


def test_the_last_event_is_returned_and_every_one_is_told():
    told = []
    assert asyncio.run(run_to_end(_numbers([]), told.append)) == 2
    assert told == [0, 1, 2]


def test_a_listener_that_fails_closes_the_stream():
    closed = []

    async def watch():
        with pytest.raises(ZeroDivisionError):
            await run_to_end(_numbers(closed), lambda number: 1 / number)
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


def thread_names():
    return {thread.name for thread in threading.enumerate()}


def settled(value):
    """What a number that a thread counts up comes to rest at."""
    before = -1
    while before != value():
        before = value()
        time.sleep(0.1)
    return before


@pytest.mark.parametrize("most", [1, 2, 1000])
def test_items_made_ahead_come_in_their_order(most):
    assert list(prefetch(iter(range(50)), most)) == list(range(50))
    assert "admir-ahead" not in thread_names()


def test_no_items_are_no_items():
    assert list(prefetch(iter(()), 2)) == []


def test_none_is_an_item_too():
    assert list(prefetch(iter([None, 0, None]), 2)) == [None, 0, None]


def test_an_error_ahead_is_raised_behind_the_last_item():
    def broken():
        yield from (1, 2)
        raise ZeroDivisionError("here")

    items = prefetch(broken(), 10)
    taken = [next(items)]
    time.sleep(0.05)  # the error is there long before
    taken.append(next(items))
    assert taken == [1, 2]
    with pytest.raises(ZeroDivisionError, match="here"):
        next(items)
    assert "admir-ahead" not in thread_names()


def test_no_more_is_made_ahead_than_was_asked_for():
    made = []

    def count():
        for number in range(200):
            made.append(number)
            yield number

    items = prefetch(count(), 3)
    assert next(items) == 0
    assert settled(lambda: len(made)) <= 1 + 3 + 1, "taken, waiting, in hand"
    assert next(items) == 1
    items.close()
    assert "admir-ahead" not in thread_names()


def test_closing_waits_for_the_item_that_is_made_and_ends_the_thread():
    begun, ended = threading.Event(), []

    def slow():
        yield 0
        begun.set()
        time.sleep(0.2)
        ended.append(True)
        yield 1
        ended.append("too far")

    items = prefetch(slow(), 1)
    assert next(items) == 0
    assert begun.wait(5)
    items.close()
    assert ended == [True]
    assert "admir-ahead" not in thread_names()


def test_items_ahead_that_nobody_takes_are_never_begun():
    """A generator starts when it is asked first: one that is only made leaves no thread."""
    begun = []
    items = prefetch((begun.append(n) for n in range(3)), 1)
    items.close()
    assert begun == []
    assert "admir-ahead" not in thread_names()


def test_an_error_of_who_takes_items_ends_the_thread():
    def take():
        for item in prefetch(itertools.count(), 2):
            raise ZeroDivisionError(item)

    with pytest.raises(ZeroDivisionError):
        take()
    settled(threading.active_count)
    assert "admir-ahead" not in thread_names()


@examples()
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 40)), max_size=40),
    st.integers(0, 100),
)
def test_a_cache_keeps_to_its_room_and_gives_back_what_was_put(puts, most):
    cache, last = BoundedCache(most), {}
    for key, size in puts:
        cache.put(key, (key, size), size)
        last[key] = size
        assert cache.size_bytes <= most
    kept = {key: found for key in last if (found := cache.get(key)) is not None}
    assert kept == {key: (key, last[key]) for key in kept}
    assert cache.size_bytes == sum(last[key] for key in kept)


def test_a_cache_lets_go_of_what_was_not_used_for_longest():
    cache = BoundedCache(3)
    for key in "abc":
        cache.put(key, key.upper(), 1)
    assert cache.get("a") == "A"
    cache.put("d", "D", 1)
    assert [cache.get(key) for key in "abcd"] == ["A", None, "C", "D"]
    assert cache.made("d", lambda: "new", len) == "D"
    assert [cache.made("e", lambda: "E", len), cache.get("e"), cache.get("a")] == ["E", "E", None]
    assert cache.get("d") == "D"
    cache.resize(1)
    assert [cache.get(key) for key in "acd"] == [None, None, "D"]
