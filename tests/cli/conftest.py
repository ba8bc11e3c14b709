"""The command line as a person uses it, and the small videos and memories it is tried on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from admir.cli import main
from tests.conftest import flat, write_video

ADMIR = Path(sys.executable).parent / "admir"
PLAIN_COLOUR = (40, 90, 200)
WORDS = [
    "ALPHA",
    "BRAVO",
    "CORAL",
    "DELTA",
    "EAGLE",
    "FLINT",
    "GRAPE",
    "HOTEL",
    "INDIA",
    "JULIET",
    "KILO",
    "LEMON",
    "MANGO",
    "NOVEM",
]
_LEFT_OUT = ("PYTHONUNBUFFERED", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS")


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON object a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def words(self) -> str:
        """stdout without the breaks of a narrow terminal."""
        return " ".join(self.out.split())

    def failed(self, code: int, *says: str) -> None:
        """Assert: nothing on stdout, one line of error that says all of `says`, and the code."""
        lines = [line for line in self.err.splitlines() if line.strip()]
        assert self.code == code, self
        assert self.out == ""
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: ")
        assert "unexpected" not in lines[0]
        for said in says:
            assert said in lines[0]


Call = Callable[..., Ran]


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A person's shell: none of our settings, and stdout buffered as it is by default."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("ADMIR_") and key not in _LEFT_OUT
    }
    return {**kept, **(extra or {})}


def start(*arguments: str | Path | bytes, **options: Any) -> subprocess.Popen[str]:
    """The installed script as a process of its own."""
    environment = clean_environment(options.pop("env", None))
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([ADMIR, *arguments], env=environment, **options)


def ended(process: subprocess.Popen[str]) -> Ran:
    """Wait for the end."""
    out, err = process.communicate(timeout=60)
    return Ran(code=process.returncode, out=out or "", err=err or "")


def admir(*arguments: str | Path | bytes, **options: Any) -> Ran:
    """Run the installed script to its end."""
    return ended(start(*arguments, **options))


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """`call("list", "--json")`: the same command line without a new process."""
    for name in _LEFT_OUT:
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str | Path) -> Ran:
        monkeypatch.setattr(sys, "argv", ["admir", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ending:
            main()
        said = capsys.readouterr()
        return Ran(code=int(ending.value.code or 0), out=said.out, err=said.err)

    return run


def whole_ids(call: Call, memories: Path) -> list[str]:
    """The ids that `admir list --json` shows; asserts that each memory is whole."""
    rows = call("list", "--json", "--memories", memories).json["memories"]
    assert [row for row in rows if "error" in row] == []
    for current in memories.glob("*/current"):
        assert (current.parent / "builds" / current.read_text().strip() / "memory.json").is_file()
    return [row["video_id"] for row in rows]


def build_folder(memories: Path, video_id: str) -> Path:
    """The folder of the build in use."""
    folder = memories / video_id
    return folder / "builds" / (folder / "current").read_text().strip()


@pytest.fixture(scope="session")
def plain_video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One second of one colour: the quickest video there is to build."""
    return write_video(tmp_path_factory.mktemp("plain") / "plain.mp4", lambda _: flat(PLAIN_COLOUR))


@pytest.fixture(scope="session")
def plain_memories(plain_video: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The memory `plain` of that video; not to be written to."""
    memories = tmp_path_factory.mktemp("plain-memories")
    assert admir("build-memory", plain_video, "--memories", memories).code == 0
    return memories


@pytest.fixture
def plain_copy(plain_memories: Path, tmp_path: Path) -> Path:
    """A copy of the memories that hold `plain`, to break."""
    return Path(shutil.copytree(plain_memories, tmp_path / "copied"))


@pytest.fixture(scope="session")
def busy_video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve seconds, each with other text: a build of a few seconds."""
    path = tmp_path_factory.mktemp("busy") / "busy.mp4"
    return write_video(path, _busy_picture, frames=120, fps=10, size=(640, 360))


def _busy_picture(index: int) -> np.ndarray:
    second = index // 10
    picture = flat((40 + 9 * second, 90, 200 - 7 * second), (640, 360))
    for row in range(3):
        text = f"{WORDS[(second + row) % len(WORDS)]} {100 * second + row}"
        place = (40, 90 + 100 * row)
        cv2.putText(picture, text, place, cv2.FONT_HERSHEY_SIMPLEX, 1.8, (255, 255, 255), 4)
    return picture


def encode(
    path: Path,
    *,
    seconds: int = 1,
    size: tuple[int, int] = (64, 64),
    codec: str = "libx264",
    pixels: str = "yuv420p",
    header_first: bool = False,
) -> Path:
    """Noise as a video of any size and format; `header_first` makes half an MP4 readable."""
    noise = np.random.default_rng(0)
    options = {"movflags": "faststart"} if header_first else {}
    with av.open(str(path), "w", options=options) as container:
        stream = container.add_stream(codec, rate=10)
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        for _ in range(10 * seconds):
            picture = noise.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        container.mux(stream.encode())
    return path


def encode_sound(path: Path) -> Path:
    """A second of silence without a picture."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44_100)
        for begin in range(0, 44_100, 1024):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
            frame.sample_rate, frame.pts = 44_100, begin
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def first_half(source: Path, path: Path) -> Path:
    """The first half of a file's bytes."""
    data = source.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path


def wait_for(what: Callable[[], Any], process: subprocess.Popen[str]) -> None:
    """Wait until `what()` holds, while the process runs."""
    until = time.monotonic() + 30
    while not what():
        assert process.poll() is None, "the process ended before that"
        assert time.monotonic() < until
        time.sleep(0.01)
