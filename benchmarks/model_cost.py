"""Calls, tokens, wall and CPU time of the mind of models, against a server that models latency.

    python benchmarks/model_cost.py --server model_server.py --video ad60.mp4 [--repeat 10]
        [--beside "COMMAND {video} {url}"]

The server is an OpenAI-compatible endpoint with control routes (`/_ctl/reset`, `/_ctl/calls`).
Speech and on-screen text are left out. The floor of a build is its critical path with unlimited
workers: its longest caption, then the calls after it. Half of the public code's CPU time is that
of `--beside`, measured in the same minutes, or of its stated 4.9 s. Ends with 1 where a target is
missed.
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
LEAST_CAPTION_TOKENS = 300
STATED_CPU_S = 4.9
_SEAM_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure and what it may be at most (or at least)."""

    what: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the figure keeps to its limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One command: its reply, what it took, and the calls that the server saw."""

    reply: dict[str, Any]
    wall_s: float
    cpu_s: float
    calls: tuple[dict[str, Any], ...]

    @property
    def inside_s(self) -> float:
        """Seconds that the command itself tells, without the start of Python."""
        return float(self.reply["seconds"])

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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(options.server) as url:
        bench = Bench(url=url, folder=Path(folder))
        build = bench.build(options.video)
        asked = bench.ask(build.reply["video_id"])
        runs = {"build": build, "question": asked}
        if options.beside:
            runs["beside"] = bench.beside(options.beside, options.video)
        other_cpu_s = runs["beside"].cpu_s if options.beside else STATED_CPU_S
        targets = [*targets_of_build(build, other_cpu_s), *targets_of_ask(asked)]
        if options.repeat:
            long = join(options.video, options.repeat, Path(folder) / "joined.mp4")
            runs["long build"] = bench.build(long)
            targets.append(
                Target(what="long build, wall s", value=runs["long build"].inside_s, limit=12)
            )
    show(runs, targets)
    sys.exit(0 if all(target.met for target in targets) else 1)


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
        """Another program's build: its line, with `{video}` and `{url}` where they belong."""
        places = {"video": str(video), "url": self.url}
        run, _ = self._measured([part.format(**places) for part in shlex.split(command)])
        return replace(run, reply={"seconds": run.wall_s})

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


def floor_s(build: Run) -> float:
    """The critical path of a build: its longest caption, then the calls after it."""
    captions = [call for call in build.calls if call["images"]]
    later = [call for call in build.calls if not call["images"]]
    return float(max(call["end"] - call["start"] for call in captions)) + union_s(later)


def targets_of_build(build: Run, other_cpu_s: float) -> list[Target]:
    """1.2 times the floor, half of the public code's CPU seconds, captions as long as its."""
    captions = [call["completion_tokens"] for call in build.calls if call["images"]]
    mean = sum(captions) / len(captions)
    return [
        Target(what="build, wall s", value=build.inside_s, limit=1.2 * floor_s(build)),
        Target(what="build, CPU s", value=build.cpu_s, limit=other_cpu_s / 2),
        Target(what="tokens a caption", value=mean, limit=LEAST_CAPTION_TOKENS, at_least=True),
    ]


def targets_of_ask(asked: Run) -> list[Target]:
    """Calls, tokens, and the wall over the time of the calls on the critical path."""
    return [
        Target(what="question, calls", value=len(asked.calls), limit=8),
        Target(what="question, text tokens", value=asked.total("text_tokens"), limit=10_000),
        Target(what="question, image tokens", value=asked.total("image_tokens"), limit=20_000),
        Target(what="question, wall s", value=asked.inside_s, limit=union_s(asked.calls) + 0.5),
    ]


def show(runs: dict[str, Run], targets: Sequence[Target]) -> None:
    """Print what each run took, and the targets."""
    table = Table(title="the mind of models")
    for column in ("run", "calls", "text tok", "images", "image tok", "out tok", "calls s"):
        table.add_column(column, justify="left" if column == "run" else "right")
    for column in ("wall s", "process s", "CPU s"):
        table.add_column(column, justify="right")
    for name, run in runs.items():
        counts = (
            run.total(f) for f in ("text_tokens", "images", "image_tokens", "completion_tokens")
        )
        table.add_row(
            name,
            str(len(run.calls)),
            *(f"{count:,}" for count in counts),
            *(f"{s:.2f}" for s in (union_s(run.calls), run.inside_s, run.wall_s, run.cpu_s)),
        )
    aims = Table(title="targets")
    for column in ("what", "measured", "target", ""):
        aims.add_column(column, justify="left" if column == "what" else "right")
    for target in targets:
        sign = ">=" if target.at_least else "<="
        row = (f"{target.value:,.2f}", f"{sign} {target.limit:,.2f}")
        aims.add_row(target.what, *row, "met" if target.met else "MISSED")
    console = Console()
    console.print(table)
    console.print(aims)


if __name__ == "__main__":
    main()
