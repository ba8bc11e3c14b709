"""Builders with a text reader of their own, run to their end or stopped on the way."""

from __future__ import annotations

import asyncio

from admir.backends.llm import llm_backend
from admir.backends.rules import offline_backend
from admir.concurrency import run_sync, run_to_end
from admir.memory.builder import Builder
from admir.memory.store import MemoryStore
from admir.perception.embed import HashingEmbedder
from admir.perception.ocr import TextLine
from admir.settings import load_settings
from admir.trace import BuildProgress, Built


class Died(Exception):
    """Stands for whatever ends a process."""


class CountingReader:
    """Reads `NOW $48` in every picture, and counts; may die once, at a reading."""

    id = "counting"

    def __init__(self, dies_at=0):
        self.count = 0
        self.dies_at = dies_at

    def read(self, pixels):
        self.count += 1
        if self.count == self.dies_at:
            raise Died
        return (TextLine(text="NOW $48", box=(0.1, 0.1, 0.5, 0.2), confidence=0.9),)


def builder_of(root, reader=None, *, ears=None, deaf_because="", **settings):
    """A builder with its own reader, by default one that counts, and the backend of the preset.

    `ears` is its recogniser of speech.
    """
    reader = reader or CountingReader()
    chosen = load_settings(memories=root, **settings)
    offline = chosen.preset == "offline"
    return Builder(
        settings=chosen,
        store=MemoryStore(root),
        backend=offline_backend(reader, 29) if offline else llm_backend(chosen),
        embedder=HashingEmbedder(),
        reader=reader,
        transcriber=ears,
        deaf_because=deaf_because,
    )


def build(maker, video, metadata=None):
    """(the last event, all events)."""
    events = []
    last = run_sync(run_to_end(maker.build(video, metadata or {}), events.append))
    assert isinstance(last, Built)
    return last, events


def stop_after(maker, video, stage, done):
    """Close the build once this much of a stage is done, as Ctrl-C does."""

    async def watch():
        events = maker.build(video, {})
        async for event in events:
            if isinstance(event, BuildProgress) and (event.stage, event.done) == (stage, done):
                break
        await events.aclose()

    asyncio.run(watch())
