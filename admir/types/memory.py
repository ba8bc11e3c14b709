"""What a video is remembered as (paper 2.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from admir.types.video import Frame, Look, ScreenText, Shot, Span, Utterance, VideoInfo

CLIP_S = 5.0
"""Length of a clip (paper B.2)."""

FORMAT_VERSION = 1
"""Version of memory.json; a reader refuses a higher one."""


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
