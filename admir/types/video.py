"""A video and what is measured in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Box = tuple[float, float, float, float]
TransitionKind = Literal["start", "cut", "dissolve", "fade"]


_SHORT_S = 1.0
"""Shorter spans are written with two digits: a frame at 9.25 s is none at 9.3 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A half-open stretch of time, in seconds."""

    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        """Length; never negative."""
        return max(0.0, self.end_s - self.start_s)

    def overlap_s(self, other: Span) -> float:
        """Seconds shared with `other`."""
        return max(0.0, min(self.end_s, other.end_s) - max(self.start_s, other.start_s))

    def gap_s(self, other: Span) -> float:
        """Seconds between the two; 0 where they touch or overlap."""
        return max(0.0, max(self.start_s, other.start_s) - min(self.end_s, other.end_s))

    def contains(self, time_s: float) -> bool:
        """Whether `time_s` lies inside, the end excluded."""
        return self.start_s <= time_s < self.end_s

    def clamp(self, limit: Span) -> Span:
        """The part inside `limit` (of zero length at its edge when there is none)."""
        start = min(max(self.start_s, limit.start_s), limit.end_s)
        return Span(start_s=start, end_s=min(max(self.end_s, start), limit.end_s))

    def __str__(self) -> str:
        digits = 1 if self.duration_s >= _SHORT_S else 2
        return f"{self.start_s:.{digits}f}-{self.end_s:.{digits}f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioFacts:
    """What the sound track is, as measured while decoding."""

    codec: str
    sample_rate: int
    channels: int
    loudness_dbfs: float
    silent_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoInfo:
    """The video a memory was made of. `stated_duration_s` is the container's word for it."""

    id: str
    path: str
    sha256: str
    duration_s: float
    width: int
    height: int
    fps: float
    file_bytes: int = 0
    stated_duration_s: float | None = None
    audio: AudioFacts | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def span(self) -> Span:
        """The whole video."""
        return Span(start_s=0.0, end_s=self.duration_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualStyle:
    """Colour and light of a picture or a clip, by name. `motion` is 0 (still) to 1.

    `shares` is the part of the picture that each of the colours takes; empty where unknown.
    """

    colours: tuple[str, ...]
    light: Literal["dark", "dim", "bright"]
    warmth: Literal["warm", "cool", "neutral"]
    motion: float = 0.0
    shares: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A sampled picture on disk: `file` is relative to the memory's folder."""

    time_s: float
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A stretch between two boundaries, and how it opens.

    A dissolve or a fade takes `transition_s` seconds; the boundary is at the middle of it.
    """

    index: int
    span: Span
    transition: TransitionKind = "cut"
    transition_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenText:
    """One line of on-screen text followed over the frames that show it.

    `frame_s` is the time of the frame it was read best in. `scene` tells a line that belongs to a
    thing in the picture (a bottle, a street sign) from one laid over it. `was` is what was read,
    where a person has corrected it; `ocr_text` is what OCR read, where a model that looked at the
    frames read it otherwise.
    """

    span: Span
    text: str
    box: Box
    confidence: float
    frame_s: float
    vertical: bool = False
    scene: bool = False
    was: str = ""
    ocr_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A spoken word with its time; `confidence` from 0 to 1."""

    span: Span
    text: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """Something said, with its time and, where known, who said it.

    Recognised speech has its language (`en`), a confidence from 0 to 1, and words where their times
    could be told; subtitles have none of these.
    """

    span: Span
    text: str
    speaker: str | None = None
    language: str | None = None
    confidence: float | None = None
    words: tuple[Word, ...] = ()
