"""Calls, tokens, wall and CPU time of the model backend, against a server that models latency.

    python benchmarks/model_cost.py --server model_server.py --video ad60.mp4 [--repeat 10]
        [--beside "COMMAND {video} {url}"] [--beside-question "COMMAND {url}"]

The server is an OpenAI-compatible endpoint with control routes (`/_ctl/reset`, `/_ctl/calls`).
Speech and on-screen text are left out. All times are of whole processes, from the start of Python
to its end. Another program's build and question (`--beside`) are measured in the same minutes, and
wall, CPU and tokens are printed in parts of its. Its own time, the wall less the time in which
calls are under way, is what ours may not be more than: ends with 1 where it is.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import av
import httpx
from rich.console import Console
from rich.table import Table

ADMIR = Path(sys.executable).parent / "admir"
QUESTION = "Which product is advertised and what discount is shown on screen?"
_SEAM_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One command: its reply, what it took, and the calls that the server saw."""

    reply: dict[str, Any]
    wall_s: float
    cpu_s: float
    calls: tuple[dict[str, Any], ...]

    @property
    def own_s(self) -> float:
        """Seconds of the whole process in which no call is under way."""
        return self.wall_s - union_s(self.calls)

    def total(self, field: str) -> int:
        """A field of all calls together."""
        return sum(call.get(field) or 0 for call in self.calls)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--video", type=Path, required=True)
    parser.add_argument("--repeat", type=int, default=0, help="also the video joined so many times")
    parser.add_argument("--beside", help="another program's build, measured in the same minutes")
    parser.add_argument("--beside-question", help="its question about that video")
    options = parser.parse_args()
    runs, others = {}, {}
    with tempfile.TemporaryDirectory() as folder, serving(options.server) as url:
        bench = Bench(url=url, folder=Path(folder))
        runs["build"] = bench.build(options.video)
        if options.beside:
            others["build"] = bench.beside(options.beside, options.video)
        runs["question"] = bench.ask(runs["build"].reply["video_id"])
        if options.beside_question:
            others["question"] = bench.beside(options.beside_question, options.video)
        if options.repeat:
            long = join(options.video, options.repeat, Path(folder) / "joined.mp4")
            runs["long build"] = bench.build(long)
            if options.beside:
                others["long build"] = bench.beside(options.beside, long)
    show(runs, others)
    sys.exit(0 if all(runs[what].own_s <= other.own_s for what, other in others.items()) else 1)


@contextmanager
def serving(script: Path) -> Iterator[str]:
    """The model server on a free port of this machine; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, str(script), "--port", str(port)])
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url, server)
        yield url
    finally:
        server.terminate()
        server.wait()


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    """Until the server answers; ends the program where it does not start."""
    for _ in range(200):
        if server.poll() is not None:
            sys.exit("the model server does not start")
        try:
            httpx.get(f"{url}/v1/models")
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    sys.exit("the model server does not answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Runs `admir` against the server with one folder of memories."""

    url: str
    folder: Path

    def build(self, video: Path) -> Run:
        """Build a memory."""
        return self._run("build-memory", str(video), "--screen-text", "none", "--speech", "none")

    def ask(self, video_id: str) -> Run:
        """Ask a question of the memory."""
        return self._run("ask", video_id, QUESTION)

    def beside(self, command: str, video: Path) -> Run:
        """Another program: its line, with `{video}` and `{url}` where they belong."""
        places = {"video": str(video), "url": self.url}
        return self._measured([part.format(**places) for part in shlex.split(command)])[0]

    def _run(self, *arguments: str) -> Run:
        common = ["--memories", str(self.folder), "--preset", "paper", "--no-cache", "--json"]
        run, printed = self._measured([str(ADMIR), *arguments, *common])
        return replace(run, reply=json.loads(printed))

    def _measured(self, command: list[str]) -> tuple[Run, str]:
        """What a command took and what it printed; ends the program where it fails."""
        httpx.post(f"{self.url}/_ctl/reset")
        environment = {**os.environ, "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": "none"}
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        wall_s = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(done.stderr.strip())
        run = Run(
            reply={},
            wall_s=wall_s,
            cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            calls=tuple(httpx.get(f"{self.url}/_ctl/calls").json()),
        )
        return run, done.stdout


def join(video: Path, count: int, out: Path) -> Path:
    """The video so many times in a row, by copying its packets."""
    with av.open(str(out), "w") as target, av.open(str(video)) as first:
        streams = {s.index: target.add_stream_from_template(s) for s in first.streams}
        # Tracks differ in length, and some begin before 0: no time may run backwards at a seam.
        lengths_s = [float((s.duration or 0) * (s.time_base or 0)) for s in first.streams]
        length_s = max(lengths_s) + _SEAM_S
        for number in range(count):
            with av.open(str(video)) as source:
                for packet in source.demux():
                    if packet.dts is None or packet.pts is None or packet.time_base is None:
                        continue
                    shift = round(number * length_s / packet.time_base)
                    packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                    packet.stream = streams[packet.stream.index]
                    target.mux(packet)
    return out


def union_s(calls: Sequence[dict[str, Any]]) -> float:
    """Seconds in which at least one of the calls was under way."""
    total = reached = 0.0
    for call in sorted(calls, key=lambda c: c["start"]):
        if call["end"] > reached:
            total += call["end"] - max(call["start"], reached)
            reached = call["end"]
    return float(total)


def show(runs: dict[str, Run], others: dict[str, Run]) -> None:
    """Print what each run took, and ours in parts of the other program's."""
    table = Table(title="the model backend")
    for column in ("run", "calls", "text tok", "images", "image tok", "out tok"):
        table.add_column(column, justify="left" if column == "run" else "right")
    for column in ("wall s", "CPU s", "calls s", "own s"):
        table.add_column(column, justify="right")
    for what, run in runs.items():
        table.add_row(what, *cells(run))
        if what in others:
            table.add_row(f"{what}, beside", *cells(others[what]))
            table.add_row("in parts of that", *parts(run, others[what]))
    Console().print(table)
    for what, other in others.items():
        met = "met" if runs[what].own_s <= other.own_s else "MISSED"
        print(f"{what}: own {runs[what].own_s:.2f} s of the other's {other.own_s:.2f} s: {met}")


def counts(run: Run) -> list[int]:
    """Calls, tokens and pictures."""
    fields = ("text_tokens", "images", "image_tokens", "completion_tokens")
    return [len(run.calls), *(run.total(field) for field in fields)]


def times(run: Run) -> list[float]:
    """Seconds: wall, CPU, in which calls are under way, and the rest of the wall."""
    return [run.wall_s, run.cpu_s, union_s(run.calls), run.own_s]


def cells(run: Run) -> list[str]:
    """A run as a row."""
    return [*(f"{count:,}" for count in counts(run)), *(f"{s:.2f}" for s in times(run))]


def parts(run: Run, other: Run) -> list[str]:
    """A run in parts of another."""
    pairs = zip((*counts(run), *times(run)), (*counts(other), *times(other)), strict=True)
    return [f"{ours / theirs:.2f}" if theirs else "" for ours, theirs in pairs]


if __name__ == "__main__":
    main()
