"""Clips as they become whole while the video is still decoded, for backends that look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from admir.memory.video_scan import SampledFrame, by_time
from admir.types import Shot, Span
from admir.types.clip import JOINS_SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeClip:
    """A clip whose samples are all there, in order, and the parts of shots that are in it."""

    index: int
    span: Span
    samples: tuple[SampledFrame, ...]
    shots: tuple[Span, ...] = ()


@dataclass(slots=True)
class ClipFeed:
    """Takes samples and shots, and hands on each clip once no other sample can be in it.

    Call it where `give` may run: in the thread of the event loop.
    """

    clip_s: float
    give: Callable[[WholeClip], None]
    waiting: list[SampledFrame] = field(default_factory=list)
    shots: tuple[Span, ...] = ()
    index: int = 0

    def add(self, sample: SampledFrame) -> None:
        """See `SurveyListener`."""
        self.waiting.append(sample)

    def settle(self, shots: Sequence[Shot], until_s: float) -> None:
        """See `SurveyListener`."""
        ended_s = shots[-1].span.end_s if shots else 0.0
        self.shots = (*(s.span for s in shots), Span(start_s=ended_s, end_s=until_s))
        while until_s >= (self.index + 1 + JOINS_SHARE) * self.clip_s:
            start_s, end_s = (n * self.clip_s for n in (self.index, self.index + 1))
            self._give(Span(start_s=start_s, end_s=end_s))

    def close(self, spans: Sequence[Span]) -> None:
        """Hand on what is left, now that the clips of the video are known."""
        for span in spans[self.index :]:
            self._give(span)

    def _give(self, span: Span) -> None:
        inside = [sample for sample in self.waiting if span.contains(sample.frame.time_s)]
        self.waiting = [s for s in self.waiting if s.frame.time_s >= span.end_s]
        shots = tuple(shot.clamp(span) for shot in self.shots if shot.overlap_s(span) > 0)
        self.give(WholeClip(index=self.index, span=span, samples=by_time(inside), shots=shots))
        self.index += 1
