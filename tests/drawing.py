"""Small real videos, drawn frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np

Draw = Callable[[int], np.ndarray]


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
