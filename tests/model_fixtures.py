"""Fixtures of every room: a scripted server of models, a video whose brightness tells the time, and
its memory, told by that server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import pytest

from admir import Memory, build_memory
from admir.backends.llm import Model, retry
from admir.settings import Settings, load_settings
from tests.drawing import flat, write_video
from tests.model_server import ModelServer

FPS, SECONDS, LEVELS_A_SECOND = 10, 17.0, 11
KEY = "sk-test-4f9c17d2b8"


def level_at(time_s: float) -> float:
    """How bright the video is drawn at a time."""
    return 40 + LEVELS_A_SECOND * time_s


def write_ramp(path: Path, seconds: float = SECONDS) -> Path:
    """A grey video that grows brighter evenly."""

    def draw(index: int) -> Any:
        return flat((round(level_at(index / FPS)),) * 3, (160, 120))

    return write_video(path, draw, frames=round(seconds * FPS), fps=FPS, size=(160, 120))


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries follow at once."""
    monkeypatch.setattr(retry, "FIRST_WAIT_S", 0.0005)


@pytest.fixture
def server(quick_retries: None) -> Iterator[ModelServer]:
    """A server that no request may have spoken to against the protocol."""
    with ModelServer() as running:
        yield running
    assert running.protocol == []


@pytest.fixture
def options(server: ModelServer, tmp_path: Path) -> dict[str, Any]:
    """Arguments of `build_memory` and `ask` that reach the server."""
    return options_for(server, tmp_path)


def options_for(server: ModelServer, folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "preset": "paper",
        "base_url": server.url,
        "api_key": KEY,
        "cache_folder": folder / "cache",
        "timeout_s": 5.0,
        "screen_text": "none",
        "embedder": "hashing",
        "memories": folder / "memories",
        **more,
    }


@pytest.fixture
def settings(options: dict[str, Any]) -> Callable[..., Settings]:
    """`Settings` that reach the server, with changes."""
    return lambda **more: load_settings(**{**options, **more})


@pytest.fixture
def model(settings: Callable[..., Settings]) -> Model:
    return Model(settings())


@pytest.fixture(scope="session")
def ramp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_ramp(tmp_path_factory.mktemp("ramp") / "ramp.mp4")


@pytest.fixture(scope="session")
def level_shown(ramp: Path) -> Callable[[float], float]:
    """How bright the frame is that the encoded video shows at a time."""
    with av.open(str(ramp)) as container:
        levels = [float(f.to_ndarray(format="bgr24").mean()) for f in container.decode(video=0)]
    assert levels == sorted(levels)
    return lambda time_s: levels[int(time_s * FPS + 1e-6)]


@pytest.fixture(scope="session")
def grey(ramp: Path, tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """The memory of that video, told by the server's defaults."""
    folder = tmp_path_factory.mktemp("grey")
    with ModelServer() as running:
        return build_memory(ramp, **options_for(running, folder))
