"""Shots: where they begin and how, found while the video is walked.

PySceneDetect's adaptive detector proposes cuts; `cuts` rejects those that are flashes, light or
motion; `dissolves` and `fades` find the rest. Only small copies of the last seconds are kept,
so that memory does not grow with the video.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from admir.perception.cuts import is_cut
from admir.perception.decode import Thumb
from admir.perception.dissolves import dissolves
from admir.perception.fades import fades
from admir.perception.frame_window import FrameWindow, RollingFrames, Times, Transition
from admir.types import Shot, Span

MIN_SHOT_S = 0.1
"""Shots may be as short as this: ads have montages of 4 frames each."""

_LOOKAHEAD = 2
_CORE_S = 12.0
_MARGIN_S = 5.0
_NEAR_S = 1.2
_AFTER_S = 0.5
_MOST_FPS = 32.0


class ShotDetector:
    """Feed it every thumb of a video in order, then ask for the shots.

    It keeps each frame's own time, so a variable frame rate is safe.
    """

    def __init__(self) -> None:
        # A question needs no detector: it is not to wait for the import.
        from scenedetect import FrameTimecode
        from scenedetect.detectors import AdaptiveDetector

        self._timecode = FrameTimecode
        self._recent = RollingFrames()
        self._count = 0
        self._done_s = 0.0
        self._proposed: list[int] = []
        self._cut_numbers: list[int] = []
        self._changes: list[Transition] = []
        self._detector = AdaptiveDetector(
            adaptive_threshold=1.5, min_scene_len=1, window_width=_LOOKAHEAD, min_content_val=2.5
        )

    def add(self, thumb: Thumb) -> None:
        """Take the next frame."""
        found = self._detector.process_frame(self._timecode(self._count, fps=25.0), thumb.pixels)
        self._proposed += [cut.frame_num for cut in found]
        self._count += 1
        self._recent.add(thumb)
        if thumb.time_s >= self._done_s + _CORE_S + _MARGIN_S:
            self._settle(thumb.time_s - _MARGIN_S, closes=False)

    def _settle(self, until_s: float, *, closes: bool) -> None:
        """Find what lies between the time that is done and `until_s`."""
        stretch = self._recent.stretch()
        slow = stretch.every(_stride(stretch.times_s))
        cuts = self._cuts(stretch, closes=closes)
        cuts_s = [float(stretch.times_s[n]) for n in cuts]
        faded = list(fades(stretch, cuts, opens=self._recent.first == 0, closes=closes))
        near = (self._done_s - _NEAR_S, until_s + _NEAR_S)
        mixed = [d for d in dissolves(slow, *near, cuts_s) if not _clash(d, faded)]
        hard = [Transition(kind="cut", at_s=t, start_s=t, end_s=t) for t in cuts_s]
        found = [*faded, *mixed, *(c for c in hard if not _clash(c, faded))]
        self._changes += [c for c in found if self._done_s <= c.at_s < until_s]
        self._done_s = until_s
        self._recent.forget(until_s - _MARGIN_S)

    def _cuts(self, stretch: FrameWindow, *, closes: bool) -> list[int]:
        """Frames that open a shot, by index; each is judged once, when what follows is here."""
        first, known_s = self._recent.first, float(stretch.times_s[-1]) - _AFTER_S
        while self._proposed and (closes or stretch.times_s[self._proposed[0] - first] < known_s):
            number = self._proposed.pop(0)
            if is_cut(stretch, number - first):
                self._cut_numbers.append(number)
        self._cut_numbers = [n for n in self._cut_numbers if n > first]
        return [n - first for n in self._cut_numbers]

    @property
    def settled_s(self) -> float:
        """Up to here the boundaries are known, before `shots` is asked for."""
        return self._done_s

    def settled_shots(self) -> tuple[Shot, ...]:
        """The shots that have ended before `settled_s`."""
        return shots_between(self._changes, self._done_s)[:-1]

    def shots(self, duration_s: float) -> tuple[Shot, ...]:
        """The shots, covering [0, duration_s) without gaps. Call it once, at the end.

        The first has the transition "fade" where the video fades in, else "start".
        """
        if self._recent.times_s:
            self._settle(float("inf"), closes=True)
        return shots_between(self._changes, duration_s)


def _stride(times_s: Times) -> int:
    """Dissolves need no more than some 30 frames a second."""
    span_s = float(times_s[-1] - times_s[0])
    return max(1, round(len(times_s) / span_s / _MOST_FPS)) if span_s else 1


def _clash(change: Transition, others: Iterable[Transition]) -> bool:
    """Whether it lies in or overlaps another, a frame's length about."""
    return any(
        change.start_s <= o.end_s + 0.05 and change.end_s >= o.start_s - 0.05 for o in others
    )


def shots_between(changes: Sequence[Transition], duration_s: float) -> tuple[Shot, ...]:
    """Shots between the changes; those outside the video or too near to the last are left out."""
    kept = [Transition(kind="start", at_s=0.0, start_s=0.0, end_s=0.0)]
    for change in sorted(changes, key=lambda c: c.at_s):
        if change.at_s <= 0 and change.kind == "fade":
            kept[0] = change
        elif change.at_s < duration_s and change.at_s - kept[-1].at_s >= MIN_SHOT_S - 1e-6:
            kept.append(change)
    ends = [*(c.at_s for c in kept[1:]), duration_s]
    return tuple(
        Shot(
            index=index,
            span=Span(start_s=change.at_s, end_s=end_s),
            transition=change.kind,
            transition_s=round(change.end_s - change.start_s, 3),
        )
        for index, (change, end_s) in enumerate(zip(kept, ends, strict=True))
    )
