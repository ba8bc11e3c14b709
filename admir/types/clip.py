"""Clips, and how a text timeline becomes lines and words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from admir.types.video import Frame, ScreenText, Span, Utterance, VisualStyle

CLIP_S = 5.0
"""Length of a clip (paper B.2)."""

JOINS_SHARE = 0.2
"""A rest under this share of a clip joins the clip before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """A few seconds of the video in words; what the index holds.

    `caption_error` says why there is no caption where a model failed to give one. Where `corrected`
    by a person, the stored vector is that of the words before.
    """

    video_id: str
    index: int
    span: Span
    caption: str = ""
    caption_error: str = ""
    speech: str = ""
    screen_text: tuple[str, ...] = ()
    look: VisualStyle | None = None
    frames: tuple[Frame, ...] = ()
    corrected: bool = False

    @property
    def index_text(self) -> str:
        """Caption, speech and on-screen text: the d of eq. 2, with the user's addition."""
        return "\n".join(part for part in (self.caption, self.speech, *self.screen_text) if part)


def clip_spans(duration_s: float, clip_s: float = CLIP_S) -> tuple[Span, ...]:
    """Cut a duration into clips; a rest of less than `JOINS_SHARE` joins the clip before it."""
    if duration_s <= 0:
        return ()
    count = max(1, math.ceil(duration_s / clip_s - JOINS_SHARE))
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


def timeline_lines(rows: Sequence[Mapping[str, Any]]) -> list[ScreenText]:
    """Runs of equal lines in neighbouring seconds, in the order in which they appear."""
    return sorted(_runs(rows), key=lambda line: line.span.start_s)


def _runs(rows: Sequence[Mapping[str, Any]]) -> Iterator[ScreenText]:
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


def timeline_words(rows: Sequence[Mapping[str, Any]]) -> Iterator[Utterance]:
    """One utterance a second that has speech."""
    for row in rows:
        if text := str(row.get("asr") or "").strip():
            start = float(row["t"])
            yield Utterance(span=Span(start_s=start, end_s=start + 1.0), text=text)
