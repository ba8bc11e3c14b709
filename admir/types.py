"""The frozen data that flows between all rooms. Imports nothing of ours.

Times are float seconds in fields named `*_s`; spans are half-open [start_s, end_s).
Boxes are (left, top, right, bottom) as fractions of the picture's width and height.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

EvidenceKind = Literal["frame", "screen_text", "speech", "caption", "expert"]
ClaimStatus = Literal["verified", "expert", "unverified", "contradicted"]
Basis = Literal["evidence", "expert", "absence", "none"]
InspectMode = Literal["literal", "semantic"]
Box = tuple[float, float, float, float]

CLIP_S = 5.0
"""Length of a clip (paper B.2)."""

FORMAT_VERSION = 1
"""Version of memory.json; a reader refuses a higher one."""


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
        return f"{self.start_s:.1f}-{self.end_s:.1f} s"


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
class Look:
    """Colour and light of a picture or a clip, by name. `motion` is 0 (still) to 1."""

    colours: tuple[str, ...]
    light: Literal["dark", "dim", "bright"]
    warmth: Literal["warm", "cool", "neutral"]
    motion: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A sampled picture on disk: `file` is relative to the memory's folder."""

    time_s: float
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A stretch between two cuts."""

    index: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenText:
    """One line of on-screen text followed over the frames that show it.

    `frame_s` is the time of the frame it was read best in.
    """

    span: Span
    text: str
    box: Box
    confidence: float
    frame_s: float
    vertical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """Something said, with its time and, where known, who said it."""

    span: Span
    text: str
    speaker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A person, name or key object of the registry (paper 2.2.2)."""

    id: str
    name: str
    appearance: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    first_seen_s: float = 0.0

    @property
    def profile(self) -> str:
        """The text that eq. 3 embeds."""
        return " ".join((self.name, *self.appearance, *self.identity))


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """A few seconds of the video in words; what the index holds."""

    video_id: str
    index: int
    span: Span
    caption: str = ""
    speech: str = ""
    screen_text: tuple[str, ...] = ()
    look: Look | None = None
    frames: tuple[Frame, ...] = ()

    @property
    def index_text(self) -> str:
        """Caption, speech and on-screen text: the d of eq. 2, with the user's addition."""
        return "\n".join(part for part in (self.caption, self.speech, *self.screen_text) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrative:
    """The query-independent summary of a video (C_glob), made once by the builder."""

    summary: str
    genre: str = ""
    entities: tuple[str, ...] = ()
    explicit_text: tuple[str, ...] = ()
    mismatches: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Everything in it as one text."""
        return "\n".join(
            part
            for part in (
                self.summary,
                f"Genre: {self.genre}." if self.genre else "",
                f"Names: {', '.join(self.entities)}." if self.entities else "",
            )
            if part
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a memory came to be. `fingerprint` covers everything that a rebuild would depend on."""

    fingerprint: str
    admir_version: str
    built_at: str
    preset: str
    embedder: str
    perceiver: str
    speech_source: str
    text_source: str
    seconds: float = 0.0
    frames_sampled: int = 0
    frames_read: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """All that is known of one video (paper 2.2), as plain data.

    `folder` holds `frames/` and `vectors.npy`; it is empty for a memory of text alone.
    """

    video: VideoInfo
    clips: tuple[Clip, ...]
    narrative: Narrative
    provenance: Provenance
    shots: tuple[Shot, ...] = ()
    frames: tuple[Frame, ...] = ()
    screen_text: tuple[ScreenText, ...] = ()
    utterances: tuple[Utterance, ...] = ()
    subjects: tuple[Subject, ...] = ()
    format_version: int = FORMAT_VERSION
    folder: str = ""

    @classmethod
    def from_timeline(
        cls,
        video_id: str,
        events: Sequence[Mapping[str, Any]],
        *,
        duration_s: float | None = None,
        clip_s: float = CLIP_S,
        metadata: Mapping[str, str] | None = None,
    ) -> Memory:
        """A memory of text alone, for data sets that publish no video.

        `events` are rows `{"t": second, "ocr": [line, ...], "asr": text}`, one a second.
        Equal on-screen lines of neighbouring seconds become one `ScreenText`.
        """
        rows = sorted(events, key=lambda row: float(row["t"]))
        last_s = float(rows[-1]["t"]) + 1.0 if rows else 0.0
        end_s = max(duration_s or 0.0, last_s)
        lines = tuple(_timeline_lines(rows))
        words = tuple(_timeline_words(rows))
        clips = tuple(
            text_clip(video_id, index, span, lines, words)
            for index, span in enumerate(clip_spans(end_s, clip_s))
        )
        video = VideoInfo(
            id=video_id,
            path="",
            sha256="",
            duration_s=end_s,
            width=0,
            height=0,
            fps=0.0,
            metadata=dict(metadata or {}),
        )
        origin = Provenance(
            fingerprint="",
            admir_version="",
            built_at="",
            preset="timeline",
            embedder="",
            perceiver="none",
            speech_source="timeline",
            text_source="timeline",
        )
        return cls(
            video=video,
            clips=clips,
            narrative=Narrative(summary=""),
            provenance=origin,
            screen_text=lines,
            utterances=words,
        )


def clip_spans(duration_s: float, clip_s: float = CLIP_S) -> tuple[Span, ...]:
    """Cut a duration into clips; a rest under a fifth of a clip joins the clip before it."""
    if duration_s <= 0:
        return ()
    count = max(1, math.ceil(duration_s / clip_s - 0.2))
    edges = [index * clip_s for index in range(count)] + [duration_s]
    return tuple(Span(start_s=a, end_s=b) for a, b in pairwise(edges))


def text_clip(
    video_id: str,
    index: int,
    span: Span,
    screen_text: Sequence[ScreenText],
    utterances: Sequence[Utterance],
) -> Clip:
    """The clip over `span` with the speech and the on-screen text that overlap it."""
    shown = [line.text for line in screen_text if line.span.overlap_s(span) > 0]
    said = [u.text for u in utterances if u.span.overlap_s(span) > 0]
    return Clip(
        video_id=video_id,
        index=index,
        span=span,
        speech=" ".join(said),
        screen_text=tuple(dict.fromkeys(shown)),
    )


def _timeline_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[ScreenText]:
    """Runs of equal lines in neighbouring seconds."""
    since: dict[str, float] = {}
    previous_s = 0.0
    for row in [*rows, {"t": math.inf, "ocr": []}]:
        now = float(row["t"])
        shown = set(row.get("ocr") or ())
        gone = [text for text in since if text not in shown or now - previous_s > 1.5]
        for text in gone:
            start = since.pop(text)
            yield ScreenText(
                span=Span(start_s=start, end_s=previous_s + 1.0),
                text=text,
                box=(0.0, 0.0, 1.0, 1.0),
                confidence=1.0,
                frame_s=start,
            )
        for text in row.get("ocr") or ():
            since.setdefault(text, now)
        previous_s = now


def _timeline_words(rows: Sequence[Mapping[str, Any]]) -> Iterator[Utterance]:
    """One utterance a second that has speech."""
    for row in rows:
        if text := str(row.get("asr") or "").strip():
            start = float(row["t"])
            yield Utterance(span=Span(start_s=start, end_s=start + 1.0), text=text)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What something cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    images: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            images=self.images + other.images,
            cost_usd=self.cost_usd + other.cost_usd,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A tool call the mind asked for. The arguments are checked when it is carried out."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What came back. `looked_at` is the range of the video it covers, for the guards."""

    tool: str
    text: str
    evidence: tuple[Evidence, ...] = ()
    looked_at: Span | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of a draft, and what became of it."""

    text: str
    status: ClaimStatus = "unverified"
    evidence: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Psi of eq. 5 for a whole draft. `anchors` are the W of eq. 5: entities of the evidence."""

    accepted: bool
    claims: tuple[Claim, ...]
    anchors: tuple[str, ...] = ()
    reason: str = ""
    absence: bool = False


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
class Answer:
    """The end of an ask. `grounded` means every claim is verified or an expert's reading."""

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
