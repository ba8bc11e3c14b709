"""Draw the voice that the tests of speech listen to, with espeak-ng (`apt install espeak-ng`).

    python scripts/voice_sample.py

Two sentences with a pause between them; the times that espeak-ng gave them are printed.
"""

from __future__ import annotations

import io
import subprocess
import wave
from pathlib import Path

import av
import numpy as np

OUT = Path(__file__).parent.parent / "tests/perception/data/voice.ogg"
RATE = 16_000
SAID = ("Stop feeling tired.", "Try Aurora today, for only nine dollars.")
BEFORE_S, BETWEEN_S, AFTER_S = 1.0, 3.0, 1.0


def spoken(text: str) -> np.ndarray:
    """int16 samples at `RATE`."""
    command = ["espeak-ng", "-v", "en-us", "-s", "150", "--stdout", text]
    made = subprocess.run(command, capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(made)) as file:
        rate, data = file.getframerate(), file.readframes(file.getnframes())
    samples = np.frombuffer(data, np.int16)
    frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate = rate
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    parts = [*resampler.resample(frame), *resampler.resample(None)]
    return np.concatenate([part.to_ndarray().reshape(-1) for part in parts])


def main() -> None:
    """Write the file and say when each sentence is heard."""
    parts = [np.zeros(int(BEFORE_S * RATE), np.int16)]
    for text in SAID:
        if len(parts) > 1:
            parts.append(np.zeros(int(BETWEEN_S * RATE), np.int16))
        start = sum(map(len, parts)) / RATE
        parts.append(spoken(text))
        print(f"{start:.2f}-{sum(map(len, parts)) / RATE:.2f} s: {text}")
    parts.append(np.zeros(int(AFTER_S * RATE), np.int16))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(OUT), "w") as container:
        stream = container.add_stream("libopus", rate=RATE, layout="mono", format="s16")
        stream.bit_rate = 24_000
        samples = np.concatenate(parts).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate = RATE
        # Opus takes frames of 20 ms.
        fifo = av.AudioFifo()
        fifo.write(frame)
        for part in fifo.read_many(RATE // 50, partial=True):
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))


if __name__ == "__main__":
    main()
