"""Shots: hard cuts found on thumbnails by PySceneDetect's adaptive detector."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from scenedetect import FrameTimecode
from scenedetect.detectors import AdaptiveDetector

from admir.perception.decode import Thumb
from admir.types import Shot, Span

MIN_SHOT_FRAMES = 6
_LOOKAHEAD = 2


class ShotDetector:
    """Feed it every thumb of a video in order, then ask for the shots.

    It works on frame numbers and keeps each frame's own time, so a variable frame rate is safe.
    """

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._cuts: list[int] = []
        self._detector = AdaptiveDetector(
            min_scene_len=MIN_SHOT_FRAMES, window_width=_LOOKAHEAD, min_content_val=12.0
        )

    def add(self, thumb: Thumb) -> None:
        """Take the next frame."""
        number = len(self._times_s)
        self._times_s.append(thumb.time_s)
        self._feed(number, thumb)

    def _feed(self, number: int, thumb: Thumb) -> None:
        found = self._detector.process_frame(FrameTimecode(number, fps=25.0), thumb.pixels)
        self._cuts += [cut.frame_num for cut in found]

    def shots(self, duration_s: float) -> tuple[Shot, ...]:
        """The shots, covering [0, duration_s) without gaps."""
        cuts = [self._times_s[number] for number in sorted(set(self._cuts)) if number > 0]
        return shots_from_cuts(cuts, duration_s)


def shots_from_cuts(cuts_s: Sequence[float], duration_s: float) -> tuple[Shot, ...]:
    """Shots between the cuts; cuts outside the video are left out."""
    edges = [0.0, *(cut for cut in cuts_s if 0 < cut < duration_s), duration_s]
    return tuple(
        Shot(index=index, span=Span(start_s=a, end_s=b))
        for index, (a, b) in enumerate(pairwise(edges))
    )
