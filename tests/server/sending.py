"""Helpers of the tests that send videos to the service."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from admir.settings import ServerSettings, Settings, load_settings
from admir.trace import BuildProgress
from tests.drawing import flat, write_video

SIZE = (96, 64)


def settings_for(memories: Path, **server: Any) -> Settings:
    """Builds that read and hear nothing: a moment each."""
    return load_settings(
        memories=memories,
        screen_text="none",
        speech="none",
        server=ServerSettings(**server),
    )


def small_video(path: Path, shade: int = 80, *, frames: int = 25) -> Path:
    """A second of one colour that turns brighter; another shade is another content."""
    return write_video(
        path, lambda i: flat((shade, min(255, 3 * i), 90), SIZE), frames=frames, size=SIZE
    )


def send(
    client: httpx.Client, data: bytes | Iterator[bytes], name: str = "ad.mp4", **headers: str
) -> httpx.Response:
    """The raw body."""
    given = {"content-type": "video/mp4", **headers}
    return client.post("/videos", params={"name": name}, content=data, headers=given)


def ended(client: httpx.Client, reply: httpx.Response, within_s: float = 20) -> dict[str, Any]:
    """The job once it has ended."""
    assert reply.status_code in (200, 202), reply.text
    return until(client, reply.json()["id"], ("done", "failed", "cancelled"), within_s)


def until(client: httpx.Client, job_id: str, states: tuple[str, ...], within_s: float = 20) -> Any:
    """The job once it is in one of these states."""
    end = time.monotonic() + within_s
    while (job := client.get(f"/jobs/{job_id}").json())["state"] not in states:
        assert time.monotonic() < end, job
        time.sleep(0.05)
    return job


def wait_for(true: Callable[[], object], within_s: float = 20) -> None:
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@dataclass
class Endless:
    """Builds that never end of themselves: in place of `build_events`."""

    begun: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def __call__(self, path: Path, *_: Any) -> AsyncIterator[BuildProgress]:
        return self._events(path)

    async def _events(self, path: Path) -> AsyncIterator[BuildProgress]:
        import asyncio

        self.begun.append(path.name)
        try:
            yield BuildProgress(stage="read text", done=1, total=2)
            await asyncio.sleep(3600)
        finally:
            self.closed.append(path.name)
