"""What a mind must be able to do: two small protocols with typed inputs and outputs.

Nothing above this floor knows which mind it talks to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from admir.perception.decode import Picture
from admir.perception.grids import Grid
from admir.types import (
    Action,
    Claim,
    Clip,
    Evidence,
    InspectMode,
    Narrative,
    ScreenText,
    Shot,
    Span,
    Step,
    Subject,
    Usage,
    Utterance,
    VideoInfo,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipView:
    """A clip to caption, with what was measured in it; `pictures` is for minds that look."""

    clip: Clip
    utterances: tuple[Utterance, ...]
    shot_count: int
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """A description of a clip and the partial subject registry seen in it (paper C.3)."""

    description: str
    subjects: tuple[Subject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that the narrative is told from (paper C.1)."""

    video: VideoInfo
    clips: tuple[Clip, ...]
    shots: tuple[Shot, ...]
    screen_text: tuple[ScreenText, ...]
    """Blocks of on-screen text, as a reader takes them."""
    utterances: tuple[Utterance, ...]
    subjects: tuple[Subject, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """Frames of a span to look at closely, for a question, in one of two modes."""

    question: str
    span: Span
    mode: InspectMode
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridReading:
    """2x2 grids of a span for the communication expert, with the text that constrains it."""

    focus: str
    span: Span
    grids: tuple[Grid, ...]
    utterances: tuple[Utterance, ...]
    clips: tuple[Clip, ...]
    narrative: Narrative
    screen_text: tuple[ScreenText, ...] = ()
    """Blocks of on-screen text in the span."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing seen at a time, with the picture and the place in it that show it.

    `measured` tells a colour or a count from words that stand in the picture.
    """

    text: str
    span: Span
    picture: Picture | None = None
    box: tuple[float, float, float, float] | None = None
    measured: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What looking brought: a text for the reader, and findings that can be cited."""

    text: str
    findings: tuple[Finding, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A draft that verification rejected, and the ranges it rested on."""

    draft: str
    reason: str
    evidence: tuple[str, ...]
    ranges: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The state s_t of paper 2.1 as the mind sees it before it decides."""

    question: str
    video: VideoInfo
    narrative: Narrative
    subjects: tuple[Subject, ...]
    steps: tuple[Step, ...]
    evidence: tuple[Evidence, ...]
    rejections: tuple[Rejection, ...]
    constraints: tuple[str, ...]
    limits: tuple[str, ...]
    """What this memory cannot know, in words (no speech was transcribed, a file broke off)."""
    steps_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Thought z_t and actions a_t; independent actions of one step run side by side."""

    thought: str
    actions: tuple[Action, ...]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Claims of a draft to check against evidence and the frames that it cites (eq. 5).

    `absent` means that the draft says the video does not show what is asked for.
    """

    question: str
    duration_s: float
    absent: bool
    claims: tuple[Claim, ...]
    evidence: tuple[Evidence, ...]
    anchors: tuple[str, ...]
    look: Callable[[Sequence[str]], Mapping[str, Picture]]
    """Decodes the frames that these evidence ids cite: id -> picture. Blocking; may miss some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The claims with their status and the reason for it."""

    claims: tuple[Claim, ...]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """The final wording."""

    answer: str
    usage: Usage = field(default_factory=Usage)


class Perceiver(Protocol):
    """Sees: makes the memory, and looks again when a tool asks."""

    id: str

    async def caption(self, view: ClipView) -> Caption:
        """Describe a clip and name who and what appears in it."""

    async def merge_subjects(self, partial: Sequence[Sequence[Subject]]) -> tuple[Subject, ...]:
        """One registry of the partial ones: earliest sight kept, fields united, nobody lost."""

    async def narrate(self, story: Story) -> Narrative:
        """The query-independent summary of the video."""

    async def inspect(self, inspection: Inspection) -> Report:
        """Look at the frames of a span: literally, or for style and meaning."""

    async def read_grids(self, reading: GridReading) -> Report:
        """Decode the persuasion in a span."""


class Reasoner(Protocol):
    """Thinks: chooses actions, checks claims, words the answer."""

    id: str

    async def decide(self, situation: Situation) -> Decision:
        """The next thought and actions."""

    async def check(self, check: Check) -> Checked:
        """Give each claim a status; those that are already decided stay as they are."""

    async def refine(self, question: str, answer: str, evidence: Sequence[Evidence]) -> Refined:
        """Shorten an accepted answer and name what is seen; add and lose no fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """The two halves together, and the names of the models behind them by role."""

    perceiver: Perceiver
    reasoner: Reasoner
    models: Mapping[str, str]
