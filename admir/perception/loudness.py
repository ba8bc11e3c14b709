"""Facts of a sound track, measured while the file is walked over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import av
import numpy as np
from av.audio.frame import format_dtypes
from numpy.typing import NDArray

from admir.types import AudioFacts

_SILENT_DBFS = -50.0
_LOUDEST = 4.0
"""Samples past this (full scale is 1) are broken ones; their squares must not swamp the mean."""


@dataclass(slots=True)
class Loudness:
    """Mean square of each sound packet. `end_s` is the file's own time at which they end."""

    squares: list[float] = field(default_factory=list)
    end_s: float = 0.0

    def add(self, frame: av.AudioFrame) -> None:
        """Take the next packet; one in a sample format unknown to PyAV is passed over."""
        try:
            raw = _raw(frame)
        except (KeyError, ValueError):
            return
        if raw.size:
            self.squares.append(_mean_square(raw))
        if frame.time is not None and frame.sample_rate:
            self.end_s = max(self.end_s, frame.time + frame.samples / frame.sample_rate)

    def facts(self, stream: av.AudioStream) -> AudioFacts | None:
        """What was heard; None where no sound could be decoded."""
        if not self.squares:
            return None
        squares = np.array(self.squares)
        level = 10 * np.log10(np.maximum(squares, 1e-10))
        return AudioFacts(
            codec=stream.codec_context.name,
            sample_rate=int(stream.codec_context.sample_rate or 0),
            channels=int(stream.codec_context.channels),
            loudness_dbfs=float(10 * np.log10(max(float(squares.mean()), 1e-10))),
            silent_share=float(np.mean(level < _SILENT_DBFS)),
        )


def _raw(frame: av.AudioFrame) -> NDArray[Any]:
    """Samples as they are stored, [planes, n]; raises KeyError for a format unknown to PyAV.

    `frame.to_ndarray` takes what lies behind the planes for more of them where there are over 8.
    """
    kind, channels = np.dtype(format_dtypes[frame.format.name]), frame.layout.nb_channels
    count, each = (channels, 1) if frame.format.is_planar else (1, channels)
    planes = [bytes(plane) for plane in frame.planes[:count]]
    return np.vstack([np.frombuffer(plane, kind, frame.samples * each) for plane in planes])


def _mean_square(raw: NDArray[Any]) -> float:
    """The mean square of samples of any format in full scale.

    Packets are many and small: those of good floats, the most common, take the short way.
    """
    if raw.dtype == np.float32 and float(np.abs(raw).max()) <= _LOUDEST:
        flat = raw.reshape(-1)
        return float(np.dot(flat, flat)) / flat.size
    return float(np.mean(np.square(_full_scale(raw))))


def _full_scale(raw: NDArray[Any]) -> NDArray[np.float32]:
    """Samples of any format in -1 to 1; those that are no number count as silence."""
    samples = raw.astype(np.float32)
    if np.issubdtype(raw.dtype, np.integer):
        limits = np.iinfo(raw.dtype)
        half = (float(limits.max) - float(limits.min) + 1) / 2
        return (samples - (half if limits.min == 0 else 0.0)) / np.float32(half)
    bounded = np.clip(samples, -_LOUDEST, _LOUDEST)
    bounded[np.isnan(bounded)] = 0.0
    return bounded
