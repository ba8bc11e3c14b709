"""How fast the shipped recogniser hears, one piece at a time and sixteen at once.

    python benchmarks/gpu_speech.py [--minutes 10] [--voice FILE]

The model has the shape of large-v3 on a CUDA card and a small one on a CPU, and the title says so.
Its weights are made up: it says the same 112 tokens, about what is spoken in 28 s, to whatever it
hears, so that speed is that of real work (what is said again and again is kept once, so that the
words heard are few). The sound is a spoken sample, over and over. `voice` is
the search for speech alone; x realtime are seconds of sound in a second.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

import av
import numpy as np
from rich.console import Console
from rich.table import Table
from whisper_shape import LARGE_V3, Shape, write_whisper

from admir.perception.devices import DeviceLimit, place_for
from admir.perception.speech import SAMPLE_RATE, Audio
from admir.perception.vad import cut, speech_spans
from admir.perception.whisper import FasterWhisper, sees_cuda

VOICE = Path(__file__).parent.parent / "tests/perception/data/voice.ogg"
SMALL = Shape(layers=4, width=256, heads=4, mels=80)
TOKENS = 112
_WEIGHTS_AND_WORK_MB = 4_200
"""Of large-v3 and one piece, so that a card gives no more than room for one."""


def main() -> None:
    """Write the model, hear, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--voice", type=Path, default=VOICE, help="a file with speech")
    options = parser.parse_args()
    on_card = sees_cuda()
    audio = spoken(options.voice, 60 * options.minutes)
    with tempfile.TemporaryDirectory() as scratch:
        shape = LARGE_V3 if on_card else SMALL
        says = ["<|0.00|>", *words(TOKENS), "<|28.00|>"]
        folder = write_whisper(Path(scratch) / "whisper", says, shape=shape)
        shares = (
            [DeviceLimit(gpu_mb=_WEIGHTS_AND_WORK_MB), DeviceLimit()]
            if on_card
            else [DeviceLimit(device="cpu")]
        )
        rows = [measured(folder, audio, share) for share in shares]
    where = "CUDA, large-v3's shape" if on_card else "CPU, a SMALL model"
    table = Table("pieces at once", "numbers", "seconds", "x realtime", "words heard")
    table.title = f"{where}; {len(audio) / SAMPLE_RATE / 60:.1f} minutes of speech"
    table.add_row("voice", "", *timed_voice(audio), "")
    for row in rows:
        table.add_row(*row)
    Console(width=100).print(table)


def words(count: int) -> list[str]:
    """Invented words that do not look like a loop."""
    rng, letters = random.Random(3), "abcdefghijklmnoprstuvw"
    return [" " + "".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(count)]


def spoken(file: Path, seconds: float) -> Audio:
    """What is said in the sample, without its pauses, again and again."""
    resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)
    with av.open(str(file)) as container:
        frames = [part for f in container.decode(audio=0) for part in resampler.resample(f)]
    sample = np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])
    sample = np.concatenate([cut(sample, span) for span in speech_spans(sample)])
    count = max(1, round(seconds * SAMPLE_RATE / len(sample)))
    return np.tile(sample, count)


def timed_voice(audio: Audio) -> tuple[str, str]:
    """(seconds, x realtime) of finding where somebody speaks."""
    started = time.perf_counter()
    speech_spans(audio)
    return shown(time.perf_counter() - started, audio)


def measured(folder: Path, audio: Audio, share: DeviceLimit) -> tuple[str, ...]:
    """One row. Loading is counted: each transcription loads the weights, here from the cache."""
    ears = FasterWhisper(folder, "shape", language="en", share=share)
    place = place_for(folder, share, sees_cuda, print)
    ears.transcribe(audio[: 60 * SAMPLE_RATE])
    started = time.perf_counter()
    said = ears.transcribe(audio)
    seconds = time.perf_counter() - started
    if "graphics card failed" in " ".join(ears.warnings):
        sys.exit(ears.warnings[0])
    heard = sum(len(each.words) for each in said)
    return (str(place.batch), place.compute_type, *shown(seconds, audio), f"{heard:,}")


def shown(seconds: float, audio: Audio) -> tuple[str, str]:
    """Seconds, and how many times faster than the sound they are."""
    return f"{seconds:.1f}", f"{len(audio) / SAMPLE_RATE / seconds:.0f}"


if __name__ == "__main__":
    main()
