"""`admir serve` as a process: killed in the middle of things, and fed what is larger than it."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import httpx
import psutil
import pytest

from admir.memory.store import MemoryStore
from admir.server.retention import Cleared, clear_away
from tests.cli.conftest import admir, start
from tests.server.sending import send, small_video, until, wait_for

MIB = 1 << 20
LARGE_MIB, MOST_GROWTH_MIB = 300, 64
_CHUNK = bytes(256 * 1024)
_SETS = ("--set", "screen_text=none", "--set", "speech=none")


@contextmanager
def serve(memories: Path, **options: Any) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """A service of its own, killed at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ("serve", "--port", str(port), "--memories", memories, *_SETS)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = start(*command, env={"ADMIR_EMBEDDER": "hashing"}, **quiet, **options)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            wait_for(lambda: _answers(client))
            yield process, client
    finally:
        process.kill()
        process.wait()


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a service that was killed while it built one video and received another."""
    folder = tmp_path_factory.mktemp("killed")
    long = small_video(folder / "long.mp4", 60, frames=2000).read_bytes()
    with serve(folder / "memories") as (process, client):
        job_id = send(client, long, "long.mp4").json()["id"]
        until(client, job_id, ("running",))
        with socket.create_connection((client.base_url.host, client.base_url.port)) as upload:
            head = "POST /videos?name=half.mp4 HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000"
            upload.sendall(f"{head}\r\n\r\n".encode() + long[:20_000] + bytes(1_500_000))
            incoming = folder / "memories" / ".service" / "uploads" / "incoming"
            wait_for(lambda: any(part.stat().st_size >= MIB for part in incoming.glob("*.part")))
            assert client.get(f"/jobs/{job_id}").json()["state"] == "running"
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert list(incoming.glob("*.part"))
        assert not (folder / "memories" / "long" / "current").exists()
    (folder / "job").write_text(job_id)
    return folder


@pytest.fixture(scope="module")
def again(killed: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """The next service on the same folder."""
    with serve(killed / "memories") as running:
        yield running


def test_a_build_under_way_when_the_service_is_killed_goes_on(killed, again):
    _, client = again
    job_id = (killed / "job").read_text()
    job = until(client, job_id, ("done", "failed"), 40)
    assert (job["state"], job["video_id"]) == ("done", "long")
    assert MemoryStore(killed / "memories").read("long").video.duration_s == pytest.approx(80, 1)


def test_half_an_upload_is_gone(killed, again):
    _, client = again
    service = killed / "memories" / ".service"
    wait_for(lambda: not list(service.rglob("*.part")))
    assert [job["name"] for job in client.get("/jobs").json()["jobs"]] == ["long.mp4"]
    assert [path.name for path in service.glob("uploads/*/*")] == ["long.mp4"]


@pytest.mark.parametrize("way", ["raw", "form"])
def test_a_large_upload_does_not_sit_in_memory(killed, again, way):
    """A real video with much room in it: a box `free` of zeros."""
    process, client = again
    until(client, (killed / "job").read_text(), ("done", "failed"), 40)
    video = small_video(killed / "small.mp4", 61).read_bytes()
    size = LARGE_MIB * MIB + 8
    with _Watch(process.pid) as watch:
        if way == "raw":
            reply = client.post("/videos?name=large.mp4", content=_large(video, size))
        else:
            around = (
                b'--x\r\nContent-Disposition: form-data; name="file"; filename="l.mp4"\r\n\r\n',
                b"\r\n--x--\r\n",
            )
            kind = {"content-type": "multipart/form-data; boundary=x"}
            body = _between(around, _large(video, size))
            reply = client.post("/videos", content=body, headers=kind)
    assert reply.status_code in (200, 202), reply.text
    assert watch.growth_mib < MOST_GROWTH_MIB, watch.growth_mib
    assert until(client, reply.json()["id"], ("done", "failed"))["video_id"] == "large"


def _large(video: bytes, box: int) -> Iterator[bytes]:
    yield video
    yield box.to_bytes(4, "big") + b"free"
    for _ in range((box - 8) // len(_CHUNK)):
        yield _CHUNK


def _between(around: tuple[bytes, bytes], inner: Iterator[bytes]) -> Iterator[bytes]:
    yield around[0]
    yield from inner
    yield around[1]


class _Watch:
    """The largest memory of a process while a `with` lasts, over that at its start."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._first = self._most = self._process.memory_info().rss

    @property
    def growth_mib(self) -> float:
        return (self._most - self._first) / MIB

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.is_set():
            self._most = max(self._most, self._process.memory_info().rss)
            time.sleep(0.01)


# `admir gc`


def test_gc_removes_what_no_memory_needs_and_says_it_before(killed, again):
    _, client = again
    until(client, (killed / "job").read_text(), ("done", "failed"), 40)
    memories = killed / "memories"
    orphan = memories / ".service" / "uploads" / "0123456789abcdef" / "gone.mp4"
    orphan.parent.mkdir()
    orphan.write_bytes(bytes(1000))
    trace = memories / "long" / "traces" / "20200101T000000000000.jsonl"
    trace.parent.mkdir(exist_ok=True)
    trace.write_text("{}\n")
    partial = memories / "long" / "builds" / "partial-0123456789abcdef" / "journal.jsonl"
    partial.parent.mkdir()
    partial.write_text("")
    told = Cleared(traces=0, builds=0, uploads=1, jobs=0, freed_bytes=1000)
    assert clear_away(memories, None, dry_run=True) == told
    assert orphan.is_file()
    assert clear_away(memories, 1.0) == told
    assert not orphan.parent.exists()
    assert trace.is_file()
    ran = admir("gc", "--memories", memories, "--json", "--days", "0")
    cleared = json.loads(ran.out)
    assert {**cleared, "jobs": 0} == {
        "traces": 1,
        "builds": 1,
        "uploads": 0,
        "jobs": 0,
        "freed_bytes": 3,
        "dry_run": False,
    }
    assert cleared["jobs"] >= 1
    assert client.get("/videos/long").json()["media"] is True
    assert client.get("/jobs").json()["jobs"] == []


def test_gc_leaves_a_folder_without_a_service_as_it_is(tmp_path):
    nothing = Cleared(traces=0, builds=0, uploads=0, jobs=0, freed_bytes=0)
    assert clear_away(tmp_path / "none", 1.0) == nothing
    assert not (tmp_path / "none").exists()


def _few_files() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))


async def _together(host: str, port: int, count: int) -> list[bytes]:
    """The first line of each of so many replies; all connections are open at once."""
    pairs = await asyncio.gather(*(asyncio.open_connection(host, port) for _ in range(count)))
    for _, writer in pairs:
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    lines = await asyncio.gather(*(reader.readline() for reader, _ in pairs))
    for _, writer in pairs:
        writer.close()
        await writer.wait_closed()
    return lines


def test_two_thousand_connections_at_once_are_answered_beside_slow_ones(tmp_path):
    count, slow = 2_000, 50
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * count:
        pytest.skip("this system lets a process open too few files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * count), hard))
    with serve(tmp_path, preexec_fn=_few_files) as (_, client):
        host, port = client.base_url.host, client.base_url.port
        lingering = [socket.create_connection((host, port)) for _ in range(slow)]
        for each in lingering:
            each.sendall(b"POST /ask HTTP/1.1\r\nHost: x\r\nContent-Le")
        lines = asyncio.run(_together(host, port, count))
        assert lines == [b"HTTP/1.1 200 OK\r\n"] * count
        assert client.get("/videos").status_code == 200
        for each in lingering:
            each.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
