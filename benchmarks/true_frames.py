"""Is what models see what the video shows, at its own time?

    python benchmarks/true_frames.py [--media DIR]

Builds the memory of each video of DIR (`.mp4`; without it, of the bundled ad) with the preset
`paper` and asks a question, over an endpoint on this machine that records every picture that it is
sent and replies by a script: the expert on the whole ad, a search, literal and semantic looks at
wide and at narrow ranges, a checked answer. Grids are taken apart into their cells, and the frames
kept as evidence are looked at, too.

Each picture is compared with all frames of a plain decode by PyAV, in its size. Prints by
video how many pictures there are, the share whose best match is at least 30 dB (PSNR), the share
whose frame at the stated time is within 0.5 dB of that best match, and the lowest best match.
Ends with 1 unless both shares are 1.00.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

import admir
from admir.demo import AD

LEAST_DB, MOST_BEHIND_DB = 30.0, 0.5
QUESTION = "Which product is advertised, and what is written on screen?"
_LABEL = re.compile(r"at ([\d., ]+) s(?: \(\d grey|:)")
_ROUNDING_S = 1e-3
"""Labels have three digits behind the point."""

_COARSE = (48, 48)
_CANDIDATES = 12

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A picture that something saw, and the time it was labelled with."""

    time_s: float
    pixels: Pixels


class Recorder:
    """Keeps every picture of every request, and replies by the script of the module."""

    def __init__(self) -> None:
        self.shown: list[Shown] = []
        self._lock = threading.Lock()

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        """The message that answers a chat request."""
        texts = self._record(body["messages"])
        if "tools" in body:
            return self._act(body["messages"], texts)
        form = body["response_format"]["json_schema"]["schema"]
        times = [float(t) for t in re.findall(r"at (\d+\.\d+)", texts)]
        return {"content": json.dumps(_instance(form, form, times[len(times) // 2 :][:1] or [0.0]))}

    def _record(self, messages: Sequence[dict[str, Any]]) -> str:
        """All text of a request; its pictures are kept under the label before each."""
        texts = []
        for message in messages:
            parts = message.get("content") or ""
            label = ""
            for part in parts if isinstance(parts, list) else [{"type": "text", "text": parts}]:
                if part["type"] == "text":
                    label = part["text"]
                    texts.append(label)
                else:
                    self._keep(part["image_url"]["url"], label)
        return "\n".join(texts)

    def _keep(self, url: str, label: str) -> None:
        data = np.frombuffer(base64.b64decode(url.partition(",")[2]), dtype=np.uint8)
        picture = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), dtype=np.uint8)
        found = _LABEL.search(label)
        if found is None:
            sys.exit(f"a picture without its time: {label!r}")
        times = [float(t) for t in found[1].split(",")]
        cells = [picture] if not label.startswith("Grid") else _cells(picture)
        with self._lock:
            self.shown += [
                Shown(time_s=time_s, pixels=cell)
                for time_s, cell in zip(times, cells, strict=False)
            ]

    def _act(self, messages: Sequence[dict[str, Any]], texts: str) -> dict[str, Any]:
        """The next turn of the controller."""
        step = sum(message["role"] == "assistant" for message in messages)
        length_s = float(re.findall(r"The video is ([\d.]+) s", texts)[0])
        middle_s = length_s / 2
        look = {"question": "What is written?"}
        turns = (
            [("communication_expert", {"focus": "the strategy"})],
            [("clip_search", {"query": "product slogan"}), ("global_browse", {"question": "all"})],
            [
                ("frame_inspect", {**look, "start_s": 0, "end_s": length_s, "mode": "semantic"}),
                ("frame_inspect", {**look, "start_s": middle_s, "end_s": middle_s + 4}),
                ("frame_inspect", {**look, "start_s": middle_s, "end_s": middle_s + 0.04}),
            ],
        )
        ids = re.findall(r"\[(e\d+)\] \S+ s (?:frame|screen text)", texts)
        chosen = ids[:: max(1, len(ids) // 4)][:4]
        last = [("finish", {"answer": "A product is seen", "evidence_ids": chosen})]
        calls = turns[step] if step < len(turns) else last
        return {
            "content": "I look.",
            "tool_calls": [
                {
                    "id": f"c{step}{n}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for n, (name, arguments) in enumerate(calls)
            ],
        }


def _instance(part: dict[str, Any], whole: dict[str, Any], times: Sequence[float]) -> Any:
    """Something of the form of a JSON schema: one item a list, a time for each number."""
    if "$ref" in part:
        return _instance(whole["$defs"][part["$ref"].rpartition("/")[2]], whole, times)
    if "enum" in part or "const" in part:
        return part.get("const", part.get("enum", [None])[0])
    kind = part.get("type")
    if kind == "object":
        return {k: _instance(each, whole, times) for k, each in part["properties"].items()}
    if kind == "array":
        return [_instance(part["items"], whole, times)]
    return {"string": "a product", "boolean": False, "integer": 1}.get(kind or "", times[0])


@contextmanager
def serving(recorder: Recorder) -> Iterator[str]:
    """The endpoint on a free port of this machine; its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _send(self, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self._send({"data": [{"id": "gpt-4o"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", **recorder.reply(body)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            used = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            whole = {"id": "r", "object": "chat.completion", "created": 1, "model": body["model"]}
            self._send({**whole, "choices": [choice], "usage": used})

        def log_message(self, *_: Any) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def _cells(grid: Pixels) -> list[Pixels]:
    """The four cells of a grid, in reading order."""
    height, width = grid.shape[0] // 2, grid.shape[1] // 2
    corners = ((0, 0), (0, width), (height, 0), (height, width))
    return [grid[y : y + height, x : x + width] for y, x in corners]


def record(video: Path, url: str, recorder: Recorder, folder: Path) -> list[Shown]:
    """What a build and a question show, and keep as evidence."""
    recorder.shown.clear()
    options: dict[str, Any] = {
        "preset": "paper",
        "base_url": url,
        "api_key": "none",
        "embedder": "hashing",
        "cache": False,
        "memories": folder,
    }
    memory = admir.build_memory(video, **options)
    answer = admir.ask(memory, QUESTION, **options)
    kept = [
        Shown(time_s=e.frame_s, pixels=np.asarray(cv2.imread(e.frame), dtype=np.uint8))
        for step in answer.steps
        for observation in step.observations
        for e in observation.evidence
        if e.frame and e.frame_s is not None
    ]
    return [*recorder.shown, *kept]


def decode_plainly(video: Path) -> tuple[list[Pixels], NDArray[np.float64]]:
    """All frames of a file by PyAV alone, and their times from the first on."""
    frames, times = [], []
    with av.open(str(video)) as container:
        for frame in container.decode(video=0):
            frames.append(np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8))
            times.append(float(frame.time))
    return frames, np.asarray(times) - times[0]


def psnr(a: Pixels, b: Pixels) -> float:
    """Peak signal-to-noise ratio in dB; pictures of one size."""
    return float(cv2.PSNR(a, b))


def scaled(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """The picture in another size, width and height."""
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def check(
    shown: Sequence[Shown], frames: Sequence[Pixels], times: NDArray[np.float64]
) -> tuple[list[float], list[bool]]:
    """Of each picture the best match in dB, and whether the frame at its time is as good."""
    coarse = np.stack([scaled(frame, _COARSE) for frame in frames]).astype(np.float32)
    best, at_time = [], []
    for picture in shown:
        size = (picture.pixels.shape[1], picture.pixels.shape[0])
        small = scaled(picture.pixels, _COARSE).astype(np.float32)
        near = np.argsort(np.square(coarse - small).mean(axis=(1, 2, 3)))[:_CANDIDATES]
        stated = max(0, int(np.searchsorted(times, picture.time_s + _ROUNDING_S, "right")) - 1)
        match = {int(n): psnr(picture.pixels, scaled(frames[n], size)) for n in {*near, stated}}
        best.append(max(match.values()))
        at_time.append(match[stated] >= best[-1] - MOST_BEHIND_DB)
    return best, at_time


def main() -> None:
    """Record and compare; print a row a video."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--media", type=Path)
    options = parser.parse_args()
    videos = sorted(options.media.glob("*.mp4")) if options.media else [AD]
    recorder = Recorder()
    all_best: list[float] = []
    all_at_time: list[bool] = []
    print(f"{'video':14} pictures  >=30 dB  at its time  lowest dB", flush=True)
    with serving(recorder) as url, tempfile.TemporaryDirectory() as folder:
        for video in videos:
            shown = record(video, url, recorder, Path(folder))
            best, at_time = check(shown, *decode_plainly(video))
            show_row(video.stem, best, at_time)
            all_best += best
            all_at_time += at_time
    show_row("all", all_best, all_at_time)
    sys.exit(0 if min(all_best) >= LEAST_DB and all(all_at_time) else 1)


def show_row(name: str, best: Sequence[float], at_time: Sequence[bool]) -> None:
    """Print what was found of one video, or of all."""
    true = np.mean([db >= LEAST_DB for db in best])
    print(
        f"{name:14} {len(best):8d} {true:8.2f} {np.mean(at_time):12.2f} {min(best):10.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
