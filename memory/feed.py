"""Clips as they become whole while the video is still walked, for minds that look at pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from admir.memory.survey import Sample
from admir.types import Span
from admir.types.clip import JOINS_SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class FedSample:
    """A sample, and the kept frame whose reading holds for it: an unchanged one repeats another.

    `read_s` is the time of that frame.
    """

    sample: Sample
    read_from: str
    read_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeClip:
    """A clip whose samples are all there."""

    index: int
    span: Span
    samples: tuple[FedSample, ...]


@dataclass(slots=True)
class ClipFeed:
    """Takes samples in order and hands on each clip once no later sample can be in it."""

    clip_s: float
    give: Callable[[WholeClip], None]
    waiting: list[FedSample] = field(default_factory=list)
    index: int = 0
    read_from: str = ""
    read_s: float = 0.0

    def add(self, sample: Sample) -> None:
        """Take the next sample, where `give` may run: in the thread of the event loop."""
        if sample.changed:
            self.read_from, self.read_s = sample.frame.file, sample.frame.time_s
        self.waiting.append(FedSample(sample=sample, read_from=self.read_from, read_s=self.read_s))
        while sample.frame.time_s >= (self.index + 1 + JOINS_SHARE) * self.clip_s:
            start_s, end_s = (n * self.clip_s for n in (self.index, self.index + 1))
            self._give(Span(start_s=start_s, end_s=end_s))

    def close(self, spans: Sequence[Span]) -> None:
        """Hand on what is left, now that the clips of the video are known."""
        for span in spans[self.index :]:
            self._give(span)

    def _give(self, span: Span) -> None:
        inside = tuple(fed for fed in self.waiting if span.contains(fed.sample.frame.time_s))
        self.waiting = [fed for fed in self.waiting if fed.sample.frame.time_s >= span.end_s]
        self.give(WholeClip(index=self.index, span=span, samples=inside))
        self.index += 1
