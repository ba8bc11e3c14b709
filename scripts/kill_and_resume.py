"""Kill the build of the bundled ad at random moments, and see that it goes on to the same memory.

python scripts/kill_and_resume.py [--kills 10] [--seed N]

Moments are spread over the build by what it has done. After each kill `admir list` must work and
the earlier memory must open; a finished piece of work must not be done again; and the memory in
the end must equal that of an undisturbed build.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

from admir import open_memory
from admir.demo import AD
from admir.memory.store import slug

ADMIR = Path(sys.executable).parent / "admir"
VIDEO_ID = slug(AD.stem)
LONGEST_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where to kill: once so many lines are in the journal, so many seconds later."""

    lines: int
    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """A build that ran through: when each line came into its journal, and what it left."""

    line_s: tuple[float, ...]
    seconds: float
    essence: dict[str, Any]

    def moment(self, share: float) -> Moment:
        """The moment at this share of the build."""
        at_s = share * self.seconds
        come = [line_s for line_s in self.line_s if line_s <= at_s]
        return Moment(lines=len(come), after_s=at_s - (come[-1] if come else 0.0))


class Scene:
    """A video that has a memory, then other content under the same name: the bundled ad."""

    def __init__(self, folder: Path) -> None:
        self._earlier, self.memories = folder / "earlier", folder / "memories"
        self.video = folder / AD.name
        _write_other(self.video)
        _run_through(_start(self.video, self._earlier))
        self.earlier = open_memory(VIDEO_ID, memories=self._earlier)
        shutil.copy(AD, self.video)
        shutil.copy(AD.with_suffix(".srt"), folder)
        self.restart()

    def restart(self) -> None:
        """The earlier memory alone."""
        shutil.rmtree(self.memories, ignore_errors=True)
        shutil.copytree(self._earlier, self.memories)

    def journal(self) -> list[bytes]:
        """The whole lines of the journal of the build under way."""
        for path in self.memories.glob(f"{VIDEO_ID}/builds/partial-*/journal.jsonl"):
            try:
                lines = path.read_bytes().splitlines(keepends=True)
            except FileNotFoundError:  # just now published
                return []
            return [line for line in lines if line.endswith(b"\n")]
        return []

    def is_under_way(self) -> bool:
        """Whether there is a build that another run can go on with."""
        return any(self.memories.glob(f"{VIDEO_ID}/builds/partial-*"))

    def essence(self) -> dict[str, Any]:
        """All that the build in use holds, but when it was made and how long that took."""
        folder = self.memories / VIDEO_ID
        build = folder / "builds" / (folder / "current").read_text().strip()
        memory = json.loads((build / "memory.json").read_bytes())
        for changing in ("built_at", "seconds"):
            del memory["provenance"][changing]
        files = {
            str(path.relative_to(build)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(build.rglob("*"))
            if path.is_file() and path.name != "memory.json"
        }
        return {"memory": memory, "files": files}


def main() -> None:
    """Kill, check, go on; any fault ends with a message and exit code 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(100_000))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        model = undisturbed(scene)
        count = len(model.line_s)
        print(f"undisturbed: {model.seconds:.1f} s, {count} pieces of work", flush=True)
        scene.restart()
        starts = kill_often(scene, model, random.Random(options.seed), options.kills)
        _watch(scene, _start(scene.video, scene.memories), scene.journal(), None)
        _check(scene.essence() == model.essence, "the memory differs from an undisturbed one")
    seconds = time.monotonic() - began
    print(f"{options.kills} kills, {starts} starts from nothing: the same memory; {seconds:.0f} s")


def undisturbed(scene: Scene) -> Undisturbed:
    """Build once and note when each piece of work was done."""
    process, began = _start(scene.video, scene.memories), time.monotonic()
    line_s: list[float] = []
    for lines in _polled(scene, process):
        line_s += [time.monotonic() - began] * (len(lines) - len(line_s))
    _run_through(process)
    return Undisturbed(
        line_s=tuple(line_s), seconds=time.monotonic() - began, essence=scene.essence()
    )


def kill_often(scene: Scene, model: Undisturbed, dice: random.Random, kills: int) -> int:
    """Kill so many builds, each further on than the one before; how many began with nothing."""
    starts, done = 1, scene.journal()
    shares = [(index + dice.random()) / kills for index in range(kills)]
    while shares:
        moment = model.moment(shares[0])
        kept = _watch(scene, _start(scene.video, scene.memories), done, moment)
        if kept is None:  # it ended before its moment came
            _check(scene.essence() == model.essence, "the memory differs from an undisturbed one")
            scene.restart()
            starts, done, shares[0] = starts + 1, [], dice.random() * shares[0]
            continue
        done = kept
        print(f"killed at {shares.pop(0):4.0%}: {len(done)} pieces of work are kept", flush=True)
        _check_store(scene, model)
    return starts


def _watch(
    scene: Scene, process: subprocess.Popen[bytes], done: list[bytes], moment: Moment | None
) -> list[bytes] | None:
    """Follow a build, and kill it at its moment; the journal then, None where it had ended.

    What was in the journal must stay, and no piece of work may come twice.
    """
    due: float | None = None
    for lines in _polled(scene, process):
        _check(not lines or lines[: len(done)] == done, "the journal lost finished work")
        if moment and due is None and len(lines) >= moment.lines:
            due = time.monotonic() + moment.after_s
        if due is not None and time.monotonic() >= due:
            process.kill()
            break
    _, told = process.communicate(timeout=LONGEST_S)
    if process.returncode != -signal.SIGKILL:
        _check(process.returncode == 0, f"the build failed: {told.decode()}")
        return None
    if not scene.is_under_way():
        return []  # killed while it was published
    lines = scene.journal()
    keys = [json.loads(line)[0] for line in lines]
    _check(lines[: len(done)] == done, "the journal lost finished work")
    _check(len(keys) == len(set(keys)), "a finished piece of work was done again")
    return lines


def _polled(scene: Scene, process: subprocess.Popen[bytes]) -> Iterator[list[bytes]]:
    """The journal again and again, while the build runs."""
    until = time.monotonic() + LONGEST_S
    while process.poll() is None:
        _check(time.monotonic() < until, "the build does not end")
        yield scene.journal()
        time.sleep(0.005)


def _check_store(scene: Scene, model: Undisturbed) -> None:
    """The list works, and the memory in use is the earlier one, or the new one as a whole."""
    command: list[str | Path] = [ADMIR, "list", "--json", "--memories", scene.memories]
    ran = subprocess.run(command, capture_output=True, check=False, env=_environment())
    _check(ran.returncode == 0, f"`admir list` failed: {ran.stderr.decode()}")
    rows = json.loads(ran.stdout)["memories"]
    _check([row["video_id"] for row in rows] == [VIDEO_ID], f"`admir list` says {rows}")
    memory = open_memory(VIDEO_ID, memories=scene.memories)
    if memory.video.sha256 == scene.earlier.video.sha256:
        _check(memory.clips == scene.earlier.clips, "the earlier memory has changed")
    else:
        _check(scene.essence() == model.essence, "a memory that is not whole is in use")


def _start(video: Path, memories: Path) -> subprocess.Popen[bytes]:
    command: list[str | Path] = [ADMIR, "build-memory", video, "--memories", memories, "--json"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, env=_environment())


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("ADMIR_")}


def _run_through(process: subprocess.Popen[bytes]) -> None:
    _, told = process.communicate(timeout=LONGEST_S)
    _check(process.returncode == 0, f"the build failed: {told.decode()}")


def _write_other(path: Path) -> None:
    """A video of half a second that is not the ad."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=10)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        for level in range(0, 250, 50):
            picture = np.full((48, 64, 3), level, np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        container.mux(video.encode())


def _check(good: bool, fault: str) -> None:
    if not good:
        sys.exit(f"error: {fault}")


if __name__ == "__main__":
    main()
