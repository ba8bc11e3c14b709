"""What an ask finds, does and says (paper 2.3, 2.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from admir.types.video import Box, Span

EvidenceKind = Literal[
    "frame", "screen_text", "speech", "measurement", "caption", "expert", "person"
]
"""What it is. A `frame` is something read or seen in a picture that was decoded again, a
`measurement` was counted or measured in pictures (shots, colours, faces), a `person` told it."""

ClaimStatus = Literal["verified", "expert", "inferred", "unverified", "contradicted"]
"""What became of a claim. `expert`: a name, metaphor or strategy that the communication expert
names. `inferred`: its words stand in the video, and a rule chose them as the answer."""

Basis = Literal["evidence", "expert", "inference", "absence", "premise", "none"]
"""What an answer rests on, by its weakest claim. `premise`: the question supposes something that
nothing in the ad speaks of, so that no value is given."""

InspectMode = Literal["literal", "semantic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One clip found by search, with its score S of eq. 2 and the two parts of it."""

    video_id: str
    clip_index: int
    span: Span
    score: float
    semantic: float
    lexical: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Hits joined by temporal fusion (paper 2.3.2): one event."""

    video_id: str
    span: Span
    score: float
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Something that can be pointed at. `id` is given when it enters the ledger.

    `frame` is the path of a picture that shows it; `box` where in that picture it stands.
    `corrected` means that a person has put the words right; `ocr_text` is what OCR read, where a
    model that looked at the frames read it otherwise.
    """

    video_id: str
    kind: EvidenceKind
    span: Span
    quote: str
    id: str = ""
    frame: str | None = None
    frame_s: float | None = None
    box: Box | None = None
    speaker: str | None = None
    score: float = 0.0
    corrected: bool = False
    ocr_text: str = ""

    @property
    def source(self) -> str:
        """What it is in words, and whose: `speech, Ann`."""
        kind = self.kind.replace("_", " ")
        whose = self.speaker or ("corrected by a person" if self.corrected else "")
        whose = whose or (f'where OCR read "{self.ocr_text}"' if self.ocr_text else "")
        return f"{kind}, {whose}" if whose else kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What something cost.

    `calls` are those that a server answered, `cached` the replies that were known from before and
    cost nothing, `retries` the calls that had to be sent again. `cost_usd` leaves out the
    `unpriced` calls: no price is known for their model.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    images: int = 0
    cost_usd: float = 0.0
    cached: int = 0
    retries: int = 0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def since(self, before: Usage) -> Usage:
        """What came after `before`, which is part of this."""
        return Usage(
            **{f.name: getattr(self, f.name) - getattr(before, f.name) for f in fields(Usage)}
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            images=self.images + other.images,
            cost_usd=self.cost_usd + other.cost_usd,
            cached=self.cached + other.cached,
            retries=self.retries + other.retries,
            unpriced=self.unpriced + other.unpriced,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A tool call the backend asked for. The arguments are checked when it is carried out."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What came back. `looked_at` is the range of the video it covers, for the guards.

    `hits` are those of a search with both parts of their scores, `grids_s` the times of the frames
    that were looked at, by the picture they stood in.
    """

    tool: str
    text: str
    evidence: tuple[Evidence, ...] = ()
    looked_at: Span | None = None
    failed: bool = False
    hits: tuple[Hit, ...] = ()
    grids_s: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of a draft, and what became of it.

    `unsupported` are the words of it that nothing shows. An `inferred` claim has a `confidence` in
    [0, 1] and, as `alternatives`, the answers that came next; an unverified one has them where
    several could answer and none leads.
    """

    text: str
    status: ClaimStatus = "unverified"
    evidence: tuple[str, ...] = ()
    reason: str = ""
    unsupported: tuple[str, ...] = ()
    checked: bool = False
    """Whether code or a backend has judged it: what nobody came to judge may come again."""
    confidence: float | None = None
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Psi of eq. 5 for a whole draft. `anchors` are the W of eq. 5: what is seen in the evidence.

    A draft is rejected for a claim that is unverified or contradicted. `checked` is False where
    no check came about (a model failed, the budget was spent): such a draft may come again.
    """

    accepted: bool
    claims: tuple[Claim, ...]
    anchors: tuple[str, ...] = ()
    reason: str = ""
    absence: bool = False
    checked: bool = True
    premise: str = ""
    """What the question supposes, and nothing in the ad speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One turn of the loop: thought, actions, observations; a finish has a verdict."""

    index: int
    thought: str
    actions: tuple[Action, ...]
    observations: tuple[Observation, ...] = ()
    verdict: Verdict | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question of the same conversation that was answered before."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The end of an ask.

    `grounded` means that every claim is verified, or names what the expert may name; a claim that
    is only inferred grounds nothing.
    `trace` is the file that the events were written to; `warnings` say why where there is none.
    """

    video_id: str
    question: str
    answer: str
    grounded: bool
    basis: Basis
    claims: tuple[Claim, ...]
    evidence: tuple[Evidence, ...]
    steps: tuple[Step, ...]
    usage: Usage
    preset: str
    models: Mapping[str, str]
    prompt_hashes: Mapping[str, str]
    reason: str = ""
    seconds: float = 0.0
    trace: str | None = None
    warnings: tuple[str, ...] = ()
