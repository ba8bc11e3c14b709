"""Time and memory of scoring and reporting many judged items, whose replies are in the cache.

    python benchmarks/evaluation.py [--items 10000]

Answers lie in the layout of the authors of AdsQA; a stand-in for a judge replies over HTTP once, to
fill the cache. Then `admir eval adsqa` runs in a new folder and is measured. Ends with 1 where a
target is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI, Request
from rich.console import Console
from rich.table import Table

from admir.evaluation.statistics import Draws, share

ADMIR = Path(sys.executable).parent / "admir"
MOST_S, MOST_MB, MOST_ROUNDS_S = 20.0, 500.0, 3.0
ITEMS_A_VIDEO = 7


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=10_000)
    count = parser.parse_args().items
    with tempfile.TemporaryDirectory() as folder, judging() as url:
        bench = Path(folder)
        write_suite(bench, count)
        evaluate(bench, url, "first")
        wall_s, peak_mb = evaluate(bench, url, "second")
    rounds_s = bootstrap_s(count)
    table = Table(box=None, title=f"{count:,} judged items", title_justify="left")
    for column in ("what", "measured", "at most"):
        table.add_column(column, justify="left" if column == "what" else "right")
    table.add_row("scored and reported, s", f"{wall_s:.1f}", f"{MOST_S:.0f}")
    table.add_row("peak memory, MB", f"{peak_mb:.0f}", f"{MOST_MB:.0f}")
    table.add_row("1,000 bootstrap rounds, s", f"{rounds_s:.3f}", f"{MOST_ROUNDS_S:.0f}")
    Console().print(table)
    met = wall_s <= MOST_S and peak_mb <= MOST_MB and rounds_s <= MOST_ROUNDS_S
    sys.exit(0 if met else 1)


def write_suite(folder: Path, count: int) -> None:
    """Questions, ground truth, and an answer a question."""
    rows = [
        {"question_id": f"q{n}", "video": f"v{n // ITEMS_A_VIDEO}", "question": f"What is {n}?"}
        for n in range(count)
    ]
    true = [
        {**row, "answer": f"It is {n}.", "meta_info": "About numbers. " * 40,
         "question_type": [f"Type_{1 + n % 5}"]}
        for n, row in enumerate(rows)
    ]  # fmt: skip
    (folder / "q.json").write_text(json.dumps(rows))
    (folder / "t.json").write_text(json.dumps(true))
    for n, row in enumerate(rows):
        place = folder / "answers" / row["question_id"]
        place.mkdir(parents=True)
        (place / "x.json").write_text(json.dumps([{"prediction": f"Perhaps {n}.", "score": ""}]))


def evaluate(folder: Path, url: str, name: str) -> tuple[float, float]:
    """Wall seconds and peak MB of one run of the command."""
    command = [
        *(str(ADMIR), "eval", "adsqa", "--questions", "q.json", "--groundtruth", "t.json"),
        *("--videos", ".", "--predictions", "answers", "--name", "x", "--out", name),
        *("--judge-url", url, "--set", "cache_folder=cache", "--concurrency", "16"),
    ]
    started = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return time.monotonic() - started, max(before, peak) / 1024


def bootstrap_s(count: int) -> float:
    """Seconds of 1,000 rounds over one metric."""
    values = np.random.default_rng(0).choice([0.0, 0.5, 1.0], count)
    videos = [str(n // ITEMS_A_VIDEO) for n in range(count)]
    started = time.monotonic()
    share(values, np.ones(count, dtype=np.bool_), Draws.of(videos))
    return time.monotonic() - started


@contextmanager
def judging() -> Iterator[str]:
    """A judge that draws its scores from the text that it is asked about."""
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def reply(request: Request) -> dict[str, Any]:
        body = await request.body()
        score = ("0", "0.5", "1")[hashlib.sha256(body).digest()[0] % 3]
        told = json.dumps({"reason": "drawn", "contradicts": False, "score": score})
        message = {"role": "assistant", "content": told}
        return {
            "id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320},
        }  # fmt: skip

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}/v1"
    server.should_exit = True
    thread.join()


if __name__ == "__main__":
    main()
