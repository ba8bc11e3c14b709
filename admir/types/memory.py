"""What a video is remembered as (paper 2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from admir.types.answer import Usage
from admir.types.clip import CLIP_S, Clip, clip_spans, text_clip, timeline_lines, timeline_words
from admir.types.correction import Correction
from admir.types.video import Frame, ScreenText, Shot, Span, Utterance, VideoInfo

FORMAT_VERSION = 3
"""Version of memory.json; a reader refuses a higher one."""

SubjectKind = Literal["person", "name", "object"]
InferenceKind = Literal["arc", "device", "audience", "emotion", "theme"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A person, name or key object of the registry (paper 2.2.2).

    `seen` are the stretches in which it was seen; a name that is only read or said has none.
    """

    id: str
    name: str
    kind: SubjectKind = "name"
    appearance: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    first_seen_s: float = 0.0
    seen: tuple[Span, ...] = ()

    @property
    def on_screen_s(self) -> float:
        """Seconds on screen, all stretches together."""
        return sum(span.duration_s for span in self.seen)

    @property
    def profile(self) -> str:
        """The text that eq. 3 embeds."""
        return " ".join((self.name, *self.appearance, *self.identity))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """What a stated rule concludes from words of the ad: `label` of a `kind`, where and why.

    `quote` are the words that show it, `rule` says in one sentence why they do, and `confidence`
    in [0, 1] is the rule's own.
    """

    kind: InferenceKind
    label: str
    span: Span
    quote: str
    rule: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrative:
    """The query-independent summary of a video (C_glob), made once by the builder."""

    summary: str
    genre: str = ""
    entities: tuple[str, ...] = ()
    explicit_text: tuple[str, ...] = ()
    mismatches: tuple[str, ...] = ()
    inferences: tuple[Inference, ...] = ()

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

    @property
    def lines(self) -> tuple[str, ...]:
        """All that a reader of the whole ad should know, a line each."""
        shown = " / ".join(self.explicit_text)
        return tuple(
            line
            for line in (
                *self.text.splitlines(),
                f"On screen: {shown}" if shown else "",
                f"Mismatches: {'; '.join(self.mismatches)}." if self.mismatches else "",
            )
            if line
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """How speech was recognised: engine with its version, model with its revision.

    `confidence` is the mean over the words, from 0 to 1; None where nothing was said.
    """

    engine: str
    model: str
    language: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a memory came to be. `fingerprint` covers everything that a rebuild would depend on.

    `failed` says what a model could not do, one line each: the next build tries that again.
    `dimensions` is the width of the vectors that `embedder` made. `decoder` tells how the frames
    were decoded; it is empty where some were left out, so that others could be broken.
    """

    fingerprint: str
    admir_version: str
    built_at: str
    preset: str
    embedder: str
    perceiver: str
    speech_source: str
    text_source: str
    recognition: Recognition | None = None
    decoder: str = ""
    dimensions: int = 0
    seconds: float = 0.0
    frames_sampled: int = 0
    frames_read: int = 0
    warnings: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """All that is known of one video (paper 2.2), as plain data.

    `folder` holds `frames/` and `vectors.npy`; it is empty for a memory of text alone.
    `corrections` are those of people, which the rest of it has in it.
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
    corrections: tuple[Correction, ...] = ()
    format_version: int = FORMAT_VERSION
    folder: str = ""

    @property
    def speech_is_known(self) -> bool:
        """Whether anything has listened, or it is of text alone: else silence is not known."""
        return bool(self.utterances or self.provenance.recognition or not self.frames)

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
        lines, words = timeline_lines(rows), list(timeline_words(rows))
        spans = clip_spans(end_s, clip_s)
        return cls(
            video=_unseen(video_id, end_s, metadata or {}),
            clips=tuple(text_clip(video_id, i, s, lines, words) for i, s in enumerate(spans)),
            narrative=Narrative(summary=""),
            provenance=_TIMELINE,
            screen_text=tuple(lines),
            utterances=tuple(words),
        )


_TIMELINE = Provenance(
    fingerprint="",
    admir_version="",
    built_at="",
    preset="timeline",
    embedder="",
    perceiver="none",
    speech_source="timeline",
    text_source="timeline",
)


def _unseen(video_id: str, duration_s: float, metadata: Mapping[str, str]) -> VideoInfo:
    """A video of which only the text is known."""
    return VideoInfo(
        id=video_id,
        path="",
        sha256="",
        duration_s=duration_s,
        width=0,
        height=0,
        fps=0.0,
        metadata=dict(metadata),
    )
