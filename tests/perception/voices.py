"""A spoken sample (made by `scripts/voice_sample.py`), and videos in which it or music is heard."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import av
import numpy as np

from admir.perception.speech import SAMPLE_RATE
from admir.types import Span
from tests.drawing import flat

VOICE = Path(__file__).parent / "data/voice.ogg"
SENTENCES = (Span(start_s=1.0, end_s=2.76), Span(start_s=5.76, end_s=9.11))
"""When something is said in it."""


@cache
def voice() -> np.ndarray:
    """The sample, float32 [n] at 16 kHz."""
    resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)
    with av.open(str(VOICE)) as container:
        frames = [f for each in container.decode(audio=0) for f in resampler.resample(each)]
    parts = [*frames, *resampler.resample(None)]
    return np.concatenate([frame.to_ndarray().reshape(-1) for frame in parts])


def music(seconds: float = 12.0) -> np.ndarray:
    """Chords with a beat, float32 [n] at 16 kHz."""
    time_s = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    chord = sum(np.sin(2 * np.pi * hertz * time_s) for hertz in (220.0, 277.2, 329.6))
    return (0.15 * chord * (np.sin(4 * np.pi * time_s) > 0)).astype(np.float32)


def noise(seconds: float = 12.0) -> np.ndarray:
    """Noise, float32 [n] at 16 kHz."""
    return np.random.default_rng(0).normal(0, 0.1, int(seconds * SAMPLE_RATE)).astype(np.float32)


def click(seconds: float, at_s: float) -> np.ndarray:
    """Silence with 20 ms of a tone at one time, float32 [n] at 16 kHz."""
    samples = np.zeros(int(seconds * SAMPLE_RATE), dtype=np.float32)
    first, last = int(at_s * SAMPLE_RATE), int((at_s + 0.02) * SAMPLE_RATE)
    samples[first:last] = 0.8 * np.sin(np.arange(last - first) * 0.4)
    return samples


def write_sounding(
    path: Path,
    samples: np.ndarray,
    *,
    codec: str = "pcm_s16le",
    rate: int = SAMPLE_RATE,
    seconds: float | None = None,
    picture_at_s: float = 0.0,
    sound_at_s: float = 0.0,
    gap: tuple[float, float] | None = None,
) -> Path:
    """A video of one colour and these samples, each from its own time of the file on.

    The packets that begin in the `gap` (seconds of the samples) are left out.
    """
    seconds = seconds or len(samples) / rate
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=5)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream(codec, rate=rate, layout="mono")
        for index in range(max(1, round(seconds * 5))):
            picture = av.VideoFrame.from_ndarray(flat((40, 90, 200), (64, 48)), format="bgr24")
            picture.pts = index + round(picture_at_s * 5)
            container.mux(video.encode(picture))
        container.mux(video.encode())
        for start in range(0, len(samples), 1024):
            if gap and gap[0] <= start / rate < gap[1]:
                continue
            part = samples[None, start : start + 1024]
            frame = av.AudioFrame.from_ndarray(part, "fltp", "mono")
            frame.sample_rate, frame.pts = rate, start + round(sound_at_s * rate)
            container.mux(sound.encode(frame))
        container.mux(sound.encode())
    return path
