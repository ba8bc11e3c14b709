"""The service under load: many questions at once, against a server that models latency.

    python benchmarks/server.py --server model_server.py --video ad60.mp4 [--seconds 60]

`--server` is an OpenAI-compatible endpoint (run with `--port`). Memories of eight copies of the
video are built, each is asked once (the cold time), then one question after another, and then as
many at once for so long, all with the cache of answers off. An answer is right where it is what the
same question was answered alone. Ends with 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
from model_cost import Target, serving
from rich.console import Console
from rich.table import Table

ADMIR = Path(sys.executable).parent / "admir"
VIDEOS = 8
QUESTIONS = (
    "Which product is advertised?",
    "What discount is shown on screen?",
    "Who is this ad for?",
    "What is the slogan?",
    "What persuasion strategy does this ad use?",
    "Which colours stand out?",
    "What does the ad promise?",
    "What happens at the end?",
    "What mood does the music and light set?",
    "What problem does the product solve?",
    "Which brand is named?",
    "How does the story begin?",
    "What is the call to action?",
    "Which symbol stands for the brand?",
    "What emotion is the viewer meant to feel?",
    "What is compared with what?",
)
_PROBE_S = 0.1
_CALM_S = 3.0
_KNOWN_VIDEOS, _ROUNDS, _FEW = 2, 5, 8


@dataclass
class Load:
    """What was seen under load. Times in seconds, memory in MiB."""

    asks: list[float] = field(default_factory=list)
    wrong: int = 0
    failed: list[str] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    cpu_s: float = 0.0


def main() -> None:
    """Build, warm up, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--video", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--at-once", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(options.server) as url:
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "none",
            "ADMIR_PRESET": "paper",
            "ADMIR_EMBEDDER": "hashing",
            "ADMIR_CACHE": "false",
            "ADMIR_CONCURRENCY": "1024",
            "ADMIR_SERVER__ASKS": str(max(64, options.at_once)),
        }
        videos = build(options.video, Path(folder), environment)
        with service(Path(folder), environment) as (address, process):
            cold, alone, right = asyncio.run(one_by_one(address, videos))
            load = asyncio.run(
                under_load(address, process, videos, right, options.at_once, options.seconds)
            )
            first_s = asyncio.run(first_event(address, videos[0]))
        kept = {"ADMIR_CACHE": "true", "ADMIR_CACHE_FOLDER": str(Path(folder) / "replies")}
        with service(Path(folder), environment | kept) as (address, process):
            own_cpu_s = asyncio.run(without_calls(address, process, videos[:_KNOWN_VIDEOS]))
    targets = targets_of(alone, load, first_s, own_cpu_s)
    show(cold, alone, load, options.at_once, targets)
    sys.exit(0 if all(target.met for target in targets) else 1)


def build(video: Path, folder: Path, environment: dict[str, str]) -> list[str]:
    """Memories of copies that differ in a comment at their end; their ids."""
    ids = [f"ad{number}" for number in range(VIDEOS)]
    for number, name in enumerate(ids):
        copy = folder / f"{name}.mp4"
        copy.write_bytes(video.read_bytes() + b"\x00\x00\x00\x0cfree" + number.to_bytes(4, "big"))
        command = [str(ADMIR), "build-memory", str(copy), "--memories", str(folder / "m"), "--json"]
        extra = ["--screen-text", "none", "--speech", "none"]
        subprocess.run([*command, *extra], env=environment, check=True, capture_output=True)
    return ids


@contextmanager
def service(folder: Path, environment: dict[str, str]) -> Iterator[tuple[str, psutil.Process]]:
    """`admir serve` over the memories: its address and its process."""
    log = (folder / "serve.log").open("w")
    command = [str(ADMIR), "serve", "--memories", str(folder / "m"), "--port", "8766"]
    running = subprocess.Popen(command, env=environment, stderr=log)
    address = "http://127.0.0.1:8766"
    try:
        for _ in range(200):
            try:
                httpx.get(f"{address}/healthz")
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield address, psutil.Process(running.pid)
    finally:
        running.terminate()
        running.wait()
        log.close()


async def one_by_one(
    address: str, videos: Sequence[str]
) -> tuple[list[float], list[float], dict[tuple[str, str], str]]:
    """(seconds of the first question of each video, seconds of later ones, every answer)."""
    right: dict[tuple[str, str], str] = {}
    async with httpx.AsyncClient(base_url=address, timeout=120) as client:
        cold = [(await ask(client, video, QUESTIONS[0]))[0] for video in videos]
        # Side by side, but few: only their answers are wanted.
        pairs = [(video, question) for video in videos for question in QUESTIONS]
        for start in range(0, len(pairs), 8):
            some = pairs[start : start + 8]
            answers = await asyncio.gather(*(ask(client, *pair) for pair in some))
            right |= {pair: answer for pair, (_, answer) in zip(some, answers, strict=True)}
        alone = [(await ask(client, videos[0], question))[0] for question in QUESTIONS[:6]]
    return cold, alone, right


async def ask(client: httpx.AsyncClient, video: str, question: str) -> tuple[float, str]:
    """(seconds, the answer); raises HTTPError where it fails."""
    started = time.perf_counter()
    reply = await client.post("/ask", json={"video_id": video, "question": question})
    reply.raise_for_status()
    return time.perf_counter() - started, reply.json()["answer"]


async def under_load(
    address: str,
    process: psutil.Process,
    videos: Sequence[str],
    right: dict[tuple[str, str], str],
    at_once: int,
    seconds: float,
) -> Load:
    """Ask without a pause from as many sides, and look at health and memory meanwhile."""
    load, until = Load(), time.monotonic() + seconds
    before_s = cpu_s(process)
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client:

        async def side(number: int) -> None:
            turn = number
            while time.monotonic() < until:
                pair = videos[turn % len(videos)], QUESTIONS[turn // len(videos) % len(QUESTIONS)]
                turn += at_once + 1
                try:
                    took_s, answer = await ask(client, *pair)
                except httpx.HTTPError as error:
                    load.failed.append(str(error) or type(error).__name__)
                    continue
                load.asks.append(took_s)
                load.wrong += answer != right[pair]

        with ProcessPoolExecutor(1) as pool:
            health = pool.submit(probe, address, seconds)
            watching = asyncio.create_task(watch(process, load))
            await asyncio.gather(*(side(number) for number in range(at_once)))
            watching.cancel()
            load.health = health.result()
    load.cpu_s = cpu_s(process) - before_s
    return load


def cpu_s(process: psutil.Process) -> float:
    """What the process has computed so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def probe(address: str, seconds: float) -> list[float]:
    """How long `/healthz` takes, ten times a second, over one connection."""
    connection, until = http.client.HTTPConnection(address.split("//")[1]), time.time() + seconds
    found = []
    while time.time() < until:
        started = time.perf_counter()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        found.append(time.perf_counter() - started)
        time.sleep(_PROBE_S)
    return found


async def without_calls(address: str, process: psutil.Process, videos: Sequence[str]) -> float:
    """CPU seconds an ask whose replies of the model are known: nothing is sent to a model."""
    pairs = [(video, question) for video in videos for question in QUESTIONS]
    async with httpx.AsyncClient(base_url=address, timeout=120) as client:
        await asyncio.gather(*(ask(client, *pair) for pair in pairs))
        before_s = cpu_s(process)
        for start in range(0, _ROUNDS * len(pairs), _FEW):
            some = [pairs[n % len(pairs)] for n in range(start, start + _FEW)]
            await asyncio.gather(*(ask(client, *pair) for pair in some))
    return (cpu_s(process) - before_s) / (_ROUNDS * len(pairs))


async def watch(process: psutil.Process, load: Load) -> None:
    """How much memory there is, until cancelled."""
    while True:
        load.memory.append(process.memory_info().rss / 2**20)
        await asyncio.sleep(_PROBE_S)


async def first_event(address: str, video: str) -> float:
    """Seconds to the first event of a stream, nobody else asking."""
    body = {"video_id": video, "question": QUESTIONS[0]}
    await asyncio.sleep(_CALM_S)
    async with httpx.AsyncClient(base_url=address, timeout=120) as client:
        started = time.perf_counter()
        stream = client.stream("POST", "/ask", json=body, headers={"Accept": "text/event-stream"})
        async with stream as reply:
            async for _ in reply.aiter_lines():
                return time.perf_counter() - started
    return float("inf")


def targets_of(
    alone: Sequence[float], load: Load, first_s: float, own_cpu_s: float
) -> list[Target]:
    """Each figure beside what it may be."""
    median, single = statistics.median(load.asks), statistics.median(alone)
    half = len(load.memory) // 2
    growth = max(load.memory[half:]) - max(load.memory[:half] or load.memory)
    return [
        Target(what="failed", value=len(load.failed), limit=0),
        Target(what="wrong answers", value=load.wrong, limit=0),
        Target(what="median, s", value=median, limit=1.25 * single),
        Target(what="p99, s", value=quantile(load.asks, 0.99), limit=2 * single),
        Target(what="health at most, ms", value=1000 * max(load.health), limit=20),
        Target(what="growth in the second half, MiB", value=growth, limit=32),
        Target(what="first event, ms", value=1000 * first_s, limit=100),
        Target(what="CPU an ask beside its model calls, ms", value=1000 * own_cpu_s, limit=30),
    ]


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def show(
    cold: Sequence[float],
    alone: Sequence[float],
    load: Load,
    at_once: int,
    targets: Sequence[Target],
) -> None:
    """Print the figures."""
    console = Console(width=100)
    console.print(
        f"cold {max(cold):.2f} s at most, alone {statistics.median(alone):.2f} s (median); "
        f"{at_once} at once: {len(load.asks)} answers, health median "
        f"{1000 * statistics.median(load.health):.1f} ms, p99 "
        f"{1000 * quantile(load.health, 0.99):.1f} ms, memory {max(load.memory):.0f} MiB, "
        f"CPU an ask with its calls {1000 * load.cpu_s / len(load.asks):.0f} ms"
    )
    table = Table("what", "measured", "target", "")
    for target in targets:
        mark = "met" if target.met else "MISSED"
        table.add_row(target.what, f"{target.value:,.2f}", f"<= {target.limit:,.2f}", mark)
    console.print(table)
    for failure in load.failed[:3]:
        console.print(failure)


if __name__ == "__main__":
    main()
