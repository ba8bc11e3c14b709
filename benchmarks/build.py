"""Time a build: seconds by stage, CPU seconds, peak memory, frames read of frames sampled.

    python benchmarks/build.py VIDEO [--question TEXT]

Each figure is of the installed `admir` command in a process of its own, imports included.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ADMIR = Path(sys.executable).with_name("admir")


def main() -> None:
    """Build twice, ask once, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("video", type=Path)
    parser.add_argument("--question", default="Which brand is advertised?")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first = measure("build-memory", str(options.video), "--memories", folder, "--json")
        second = measure("build-memory", str(options.video), "--memories", folder, "--json")
        video_id = first["reply"]["video_id"]
        asked = measure("ask", video_id, options.question, "--memories", folder, "--json")
    show(options.video, first, second, asked)


def measure(*arguments: str) -> dict[str, Any]:
    """Run `admir` and weigh it: wall and CPU seconds, peak resident MiB, its JSON reply."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    done = subprocess.run(
        [str(ADMIR), *arguments], capture_output=True, text=True, check=False, env=os.environ
    )
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr.strip())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = after.ru_maxrss / 1024
    return {"wall": wall, "cpu": cpu, "peak": peak, "reply": json.loads(done.stdout)}


def show(video: Path, first: dict[str, Any], second: dict[str, Any], asked: dict[str, Any]) -> None:
    """Print the figures."""
    built, answer = first["reply"], asked["reply"]
    table = Table(title=f"{video.name}, {built['duration_s']:.1f} s, {os.cpu_count()} cores")
    table.add_column("what")
    table.add_column("figure", justify="right")
    for stage, seconds in built["stages"].items():
        table.add_row(f"  {stage}", f"{seconds:.2f} s")
    table.add_row("build, whole process", f"{first['wall']:.2f} s")
    table.add_row("  CPU", f"{first['cpu']:.1f} s")
    table.add_row("  peak memory", f"{first['peak']:.0f} MiB")
    table.add_row("  frames read / sampled", f"{built['frames_read']} / {built['frames_sampled']}")
    table.add_row("second build, inside", f"{second['reply']['seconds']:.3f} s")
    table.add_row("second build, whole process", f"{second['wall']:.2f} s")
    table.add_row("ask, whole process", f"{asked['wall']:.2f} s")
    table.add_row("ask, inside", f"{answer['seconds']:.2f} s")
    table.add_row("  retrieval and reasoning", f"{reasoning_seconds(answer):.3f} s")
    Console().print(table)


def reasoning_seconds(answer: dict[str, Any]) -> float:
    """Seconds of the steps that decode no frame: all but frame_inspect, the expert and checks."""
    looks = ("frame_inspect", "communication_expert")
    return sum(
        step["seconds"]
        for step in answer["steps"]
        if not step["verdict"] and not any(a["tool"] in looks for a in step["actions"])
    )


if __name__ == "__main__":
    main()
