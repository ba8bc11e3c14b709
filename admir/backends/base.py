"""What a backend must be able to do: two small protocols with typed inputs and outputs.

Nothing above this floor knows which backend it talks to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from admir.errors import ModelError
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
    Turn,
    Usage,
    Utterance,
    VideoInfo,
)

CAPTION_FRAMES = 5
"""Frames that a clip is described from, where it has so many (paper B.2: 1 fps, 5 s)."""

MOST_CAPTION_FRAMES = 8
"""Most of them, where shots or texts are more than the paper's five frames can show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionRequest:
    """A clip to caption, with what was measured in it.

    Backends that look get up to 8 `pictures`, one a shot at least where there are so many. Without
    `speech_known` nobody has listened: that there are no `utterances` then says nothing.
    """

    clip: Clip
    utterances: tuple[Utterance, ...]
    speech_known: bool = True
    shot_count: int = 0
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCorrection:
    """A line as OCR read it, and as it stands in the frames."""

    ocr_text: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """A description of a clip and the partial subject registry seen in it (paper C.3).

    `corrections` put right what OCR misread in it.
    """

    description: str
    subjects: tuple[Subject, ...] = ()
    corrections: tuple[TextCorrection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedSubjects:
    """One registry; `failed` says why some of it could not be compared, empty where all was."""

    subjects: tuple[Subject, ...]
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrationInput:
    """All that the narrative is told from (paper C.1)."""

    video: VideoInfo
    clips: tuple[Clip, ...]
    shots: tuple[Shot, ...]
    screen_text: tuple[ScreenText, ...]
    """Blocks of on-screen text, as a reader takes them."""
    utterances: tuple[Utterance, ...]
    subjects: tuple[Subject, ...]
    speech_known: bool = True
    """False where nobody has listened: see `CaptionRequest`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectRequest:
    """Frames of a span to look at closely, for a question, in one of two modes."""

    question: str
    span: Span
    mode: InspectMode
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertRequest:
    """2x2 grids of a span for the communication expert, with the text that constrains it."""

    focus: str
    span: Span
    grids: tuple[Grid, ...]
    utterances: tuple[Utterance, ...]
    clips: tuple[Clip, ...]
    narrative: Narrative
    screen_text: tuple[ScreenText, ...] = ()
    """Blocks of on-screen text in the span."""
    speech_known: bool = True
    """False where nobody has listened: see `CaptionRequest`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing seen at a time, with the picture and the place in it that show it.

    `measured` tells a colour or a count from words that stand in the picture. `corrected` words are
    not those that were read: a person has put them right. `written` words are said to stand on the
    screen; `tied_to` are words of the ad that a reading rests on.
    """

    text: str
    span: Span
    picture: Picture | None = None
    box: tuple[float, float, float, float] | None = None
    measured: bool = False
    corrected: bool = False
    written: bool = False
    tied_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectResult:
    """What looking brought: a text for the reader, and findings that can be cited.

    `reading` is what it all means, to be cited as a whole; the text does not repeat it. `grids_s`
    are the times of the frames that were looked at, by the picture they stood in.
    """

    text: str
    findings: tuple[Finding, ...] = ()
    reading: str = ""
    usage: Usage = field(default_factory=Usage)
    grids_s: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A draft that verification rejected at a step, its claims, and what it rested on."""

    draft: str
    reason: str
    evidence: tuple[str, ...]
    ranges: tuple[Span, ...]
    claims: tuple[Claim, ...] = ()
    absent: bool = False
    step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a backend is told of it; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """The state s_t of paper 2.1 as the backend sees it before it decides."""

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
    tools: tuple[ToolSpec, ...] = ()
    earlier: tuple[Turn, ...] = ()
    """What was asked and answered before, oldest first: the question may go on from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Thought z_t and actions a_t; independent actions of one step run side by side.

    `last` says that there is nothing else to try: this draft is the end, also where it is rejected.
    """

    thought: str
    actions: tuple[Action, ...]
    usage: Usage = field(default_factory=Usage)
    last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationRequest:
    """Question and draft as one proposition, to check for and against (eq. 5).

    Claims that have a reason have failed already. `absent` means that the draft says the video does
    not show what is asked for in `span`, the range that the question is about.
    """

    question: str
    answer: str
    span: Span
    duration_s: float
    absent: bool
    claims: tuple[Claim, ...]
    evidence: tuple[Evidence, ...]
    """Everything observed so far; a claim names by id what it cites."""
    nearby: tuple[Evidence, ...]
    """What else is on screen or said while the cited evidence lasts (in `span` for an absence);
    it has no ids."""
    anchors: tuple[str, ...]
    """What is seen in the evidence: W of eq. 5."""
    texts: tuple[str, ...]
    """All that is read and said in the ad."""
    speech_known: bool
    """False where nobody has listened: see `CaptionRequest`."""
    doubts: tuple[str, ...]
    """Names in the draft that stand in no line: frames may show them, or nothing does."""
    look: Callable[[Sequence[str]], Mapping[str, Picture]]
    """Decodes the frames that these evidence ids cite: id -> picture. Blocking; may miss some."""
    look_at: Callable[[Sequence[float]], Sequence[Picture]]
    """Decodes the frames shown at these times, in seconds. Blocking; may miss some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationResult:
    """The claims with their status and the reason for it; `evidence` then names what decides them.

    `premise` is what the question supposes and nothing speaks of; `failed` means that no check came
    about.
    """

    claims: tuple[Claim, ...]
    usage: Usage = field(default_factory=Usage)
    premise: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineRequest:
    """An accepted answer to word for the reader.

    `anchors` are what the evidence shows (W of eq. 5), for an answer that names nothing seen.
    """

    question: str
    answer: str
    evidence: tuple[Evidence, ...]
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinedAnswer:
    """The final wording; `warning` says why it is the draft's own, where it had to be."""

    answer: str
    usage: Usage = field(default_factory=Usage)
    warning: str = ""


def no_reply(message: str, usage: Usage) -> ModelError:
    """The error of a model that gave no reply of use, with what the attempts cost."""
    error = ModelError(message)
    error.usage = usage
    return error


def paid_for(error: Exception) -> Usage:
    """What a failure cost; nothing where it does not say."""
    usage = error.usage if isinstance(error, ModelError) else None
    return usage if isinstance(usage, Usage) else Usage()


class Perceiver(Protocol):
    """Sees: makes the memory, and looks again when a tool asks.

    `id` names the models and prompts that a memory depends on. A backend that `looks` captions from
    pictures, of `caption_side` pixels at most: the builder then neither looks for faces nor waits
    for the whole video.
    """

    id: str
    looks: bool
    caption_side: int

    def cell_side(self, width: int, height: int) -> int:
        """Longest side in pixels of a frame in a grid, for a video of this width and height."""

    async def caption(self, view: CaptionRequest) -> Caption:
        """Describe a clip and name who and what appears in it; raises ModelError."""

    async def read_text(self, picture: Picture) -> tuple[str, ...]:
        """The lines of text in one picture of high resolution; raises ModelError."""

    async def merge_subjects(self, partial: Sequence[Sequence[Subject]]) -> MergedSubjects:
        """One registry of the partial ones: earliest sight kept, fields united, nobody lost."""

    async def narrate(self, story: NarrationInput) -> Narrative:
        """The query-independent summary of the video."""

    async def inspect(self, inspection: InspectRequest) -> InspectResult:
        """Look at the frames of a span: literally, or for style and meaning."""

    async def read_grids(self, reading: ExpertRequest) -> InspectResult:
        """Decode the persuasion in a span."""


class Reasoner(Protocol):
    """Thinks: chooses actions, checks claims, words the answer."""

    id: str

    async def decide(self, situation: AgentState) -> Decision:
        """The next thought and actions."""

    async def check(self, check: VerificationRequest) -> VerificationResult:
        """Give each claim a status; those that are already decided stay as they are."""

    async def refine(self, accepted: RefineRequest) -> RefinedAnswer:
        """Shorten an accepted answer and name what is seen; add and lose no fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """The two halves together, and the names of the models behind them by role.

    `prompts` are the hashes of the prompts they use, by name; `spent` tells what they have cost
    since they were opened.
    """

    perceiver: Perceiver
    reasoner: Reasoner
    models: Mapping[str, str]
    prompts: Mapping[str, str] = field(default_factory=dict)
    spent: Callable[[], Usage] = Usage
