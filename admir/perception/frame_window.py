"""Small copies of the frames of the last seconds, for finding where shots begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.perception.decode import Pixels, Thumb
from admir.types import TransitionKind

Floats = NDArray[np.float32]
Times = NDArray[np.float64]

_SMALL_SIDE = 32
_GREY_SIDE = 80
_LEAST_GREY_SIDE = 40
"""OpenCV's optical flow crashes on a picture of 80 by 24."""

_OTHER_LEVEL = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A boundary and the time it takes. `at_s` is where the new shot begins."""

    kind: TransitionKind
    at_s: float
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameWindow:
    """Consecutive frames: times [n], colours [n, pixels * 3], contrast [n], detail [n], greys.

    `colours` are of a picture 32 pixels long, of 0 to 255; `contrast` is their spread over the
    picture; `detail` is the energy of the differences between neighbouring pixels of the thumb;
    `greys` are pictures 80 pixels long, of 40 at least across.
    """

    times_s: Times
    colours: Floats
    contrast: Floats
    detail: Floats
    greys: Sequence[Pixels]

    def every(self, step: int) -> FrameWindow:
        """Each `step`-th frame."""
        return FrameWindow(
            times_s=self.times_s[::step],
            colours=self.colours[::step],
            contrast=self.contrast[::step],
            detail=self.detail[::step],
            greys=self.greys[::step],
        )


@dataclass(slots=True)
class RollingFrames:
    """Takes thumbs and forgets them again; `first` is the number of the oldest still here."""

    first: int = 0
    times_s: list[float] = field(default_factory=list)
    smalls: list[Pixels] = field(default_factory=list)
    greys: list[Pixels] = field(default_factory=list)
    contrast: list[float] = field(default_factory=list)
    detail: list[float] = field(default_factory=list)

    def add(self, thumb: Thumb) -> None:
        """Take the next frame."""
        grey = np.asarray(cv2.cvtColor(thumb.pixels, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
        small = _shrunk(thumb.pixels, _SMALL_SIDE / max(grey.shape))
        self.times_s.append(thumb.time_s)
        self.smalls.append(small)
        self.greys.append(_shrunk(grey, _GREY_SIDE / max(grey.shape), _LEAST_GREY_SIDE))
        spread = cv2.meanStdDev(small)[1]
        self.contrast.append(float(np.sqrt(np.square(spread).mean())))
        self.detail.append(cv2.norm(grey[:, 1:], grey[:, :-1], cv2.NORM_L2SQR) / grey.size)

    def stretch(self) -> FrameWindow:
        """All that is here."""
        return FrameWindow(
            times_s=np.asarray(self.times_s),
            colours=np.asarray(self.smalls, dtype=np.float32).reshape(len(self.smalls), -1),
            contrast=np.asarray(self.contrast, dtype=np.float32),
            detail=np.asarray(self.detail, dtype=np.float32),
            greys=tuple(self.greys),
        )

    def forget(self, before_s: float) -> None:
        """Drop the frames before a time."""
        gone = int(np.searchsorted(self.times_s, before_s))
        self.first += gone
        for kept in (self.times_s, self.smalls, self.greys, self.contrast, self.detail):
            del kept[:gone]


def _shrunk(picture: Pixels, scale: float, least: int = 8) -> Pixels:
    height, width = picture.shape[:2]
    size = (max(least, round(width * scale)), max(least, round(height * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def frames_in(times_s: Times, length_s: float) -> int:
    """How many of these frames last so long; at least one, never all."""
    span_s = abs(float(times_s[-1] - times_s[0]))
    return max(1, min(len(times_s) - 1, round(length_s * (len(times_s) - 1) / max(span_s, 1e-6))))


def crossing(times_s: Times, rising: Floats, level: float) -> float:
    """The time at which a rising course passes a level."""
    after = max(1, int(np.argmax(rising >= level)))
    a, b = float(rising[after - 1]), float(rising[after])
    share = min(1.0, max(0.0, (level - a) / (b - a))) if b > a else 0.0
    return float(times_s[after - 1] + share * (times_s[after] - times_s[after - 1]))


def area_changed(old: Floats, new: Floats) -> float:
    """The share of the picture whose colour changes, between two rows of `FrameWindow.colours`."""
    change = np.abs(new - old).reshape(-1, 3).max(axis=1)
    return float((change > max(_OTHER_LEVEL, 0.2 * float(change.mean()))).mean())
