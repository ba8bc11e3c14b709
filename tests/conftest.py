"""What all rooms share: real small videos, and the memory of the bundled ad built once."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from admir import Memory, build_memory
from admir.demo import AD, FACTS

Draw = Callable[[int], np.ndarray]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where ADMIR_NO_SKIPS is set, a test that is skipped for want of an extra is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("ADMIR_NO_SKIPS") or reporter is None:
        return
    skipped = [str(report.longrepr) for report in reporter.stats.get("skipped", [])]
    if any("extra" in why for why in skipped) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's environment does not leak into the tests."""
    for name in ("ADMIR_MEMORIES", "ADMIR_PRESET", "ADMIR_BETA"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def facts() -> dict[str, Any]:
    """The true facts of the bundled ad."""
    return json.loads(FACTS.read_text("utf-8"))


@pytest.fixture(scope="session")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the memory of the bundled ad."""
    return tmp_path_factory.mktemp("memories")


@pytest.fixture(scope="session")
def demo(memories: Path) -> Memory:
    """The memory of the bundled ad, built by the real builder."""
    return build_memory(AD, memories=memories)


@pytest.fixture
def demo_copy(demo: Memory, memories: Path, tmp_path: Path) -> Path:
    """A folder of memories of its own, holding a copy of the bundled ad's."""
    copy = tmp_path / "memories"
    shutil.copytree(memories, copy)
    return copy


def write_video(
    path: Path,
    draw: Draw,
    *,
    frames: int = 25,
    fps: int = 25,
    size: tuple[int, int] = (320, 240),
    sound: bool = False,
) -> Path:
    """Encode `frames` pictures (BGR [height, width, 3], by index) into a real H.264 file."""
    width, height = size
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=fps, options={"crf": "20", "g": "12"})
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        audio = container.add_stream("aac", rate=44_100) if sound else None
        for index in range(frames):
            picture = av.VideoFrame.from_ndarray(draw(index), format="bgr24")
            container.mux(video.encode(picture))
        container.mux(video.encode())
        if audio is not None:
            _write_tone(container, audio, frames / fps)
    return path


def _write_tone(container: Any, audio: Any, seconds: float) -> None:
    samples = np.sin(np.arange(int(44_100 * seconds)) * 0.06).astype(np.float32)[None, :] * 0.3
    for start in range(0, samples.shape[1], 1024):
        frame = av.AudioFrame.from_ndarray(samples[:, start : start + 1024], "fltp", "mono")
        frame.sample_rate, frame.pts = 44_100, start
        container.mux(audio.encode(frame))
    container.mux(audio.encode())


def flat(colour: tuple[int, int, int], size: tuple[int, int] = (320, 240)) -> np.ndarray:
    """One BGR colour, [height, width, 3]."""
    return np.full((size[1], size[0], 3), colour, dtype=np.uint8)
