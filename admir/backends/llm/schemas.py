"""What models are asked to reply with, role by role; the prompts say what goes into each field."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from admir.backends.llm.parsing import ReplyForm


class SeenSubject(ReplyForm):
    """A person or a thing of a clip (paper C.3)."""

    name: str
    kind: Literal["person", "object"]
    appearance: list[str]
    identity: list[str]
    first_seen_s: float


class CorrectedLine(ReplyForm):
    """A line of OCR, and what stands in the frames."""

    ocr: str
    text: str


class CaptionForm(ReplyForm):
    """A clip in words, its partial registry, and what OCR misread in it."""

    description: str
    subjects: list[SeenSubject]
    corrections: list[CorrectedLine] = Field(default=[])


class LinesForm(ReplyForm):
    """The text of a picture."""

    lines: list[str]


class Group(ReplyForm):
    """Lines of partial registries that are one subject."""

    name: str
    ids: list[str]


class GroupsForm(ReplyForm):
    """Who is who."""

    groups: list[Group]


class ArcPart(ReplyForm):
    """A part of the persuasion."""

    stage: Literal["hook", "problem", "product", "proof", "offer", "call to action"]
    start_s: float
    end_s: float
    quote: str


class StoryForm(ReplyForm):
    """The query-independent summary (paper C.1)."""

    summary: str
    genre: str
    entities: list[str]
    explicit_text: list[str]
    mismatches: list[str]
    arc: list[ArcPart]


class SeenAt(ReplyForm):
    """Something seen at a time."""

    time_s: float
    text: str


class InspectionForm(ReplyForm):
    """What a close look brought."""

    summary: str
    findings: list[SeenAt]


class ExpertFinding(ReplyForm):
    """One thing the expert names."""

    kind: Literal[
        "on_screen_text",
        "transactional",
        "conflict",
        "affection",
        "symbol",
        "strategy",
        "arc",
    ]
    text: str
    start_s: float
    end_s: float
    tied_to: str


class ExpertForm(ReplyForm):
    """A reading of a stretch (paper C.2)."""

    reading: str
    findings: list[ExpertFinding]


class ClaimCheck(ReplyForm):
    """The word on one claim, by its number."""

    claim: int
    status: Literal["verified", "unverified", "contradicted"]
    reason: str
    evidence: list[str] = Field(default=[])
    unsupported: list[str] = Field(default=[])


class CheckForm(ReplyForm):
    """The word on all claims, and what the question supposes in vain."""

    claims: list[ClaimCheck]
    premise: str = ""


class JudgeForm(ReplyForm):
    """The word on an answer (paper C.4)."""

    reason: str
    contradicts: bool
    score: Literal["0", "0.5", "1"]


class AnswerForm(ReplyForm):
    """The final wording."""

    answer: str
