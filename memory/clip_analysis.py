"""The clips of a video from what was measured, read and heard in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic_core import to_jsonable_python

from admir.backends.base import CAPTION_FRAMES, CaptionRequest
from admir.memory.frame_choice import spread
from admir.memory.video_scan import VideoScan
from admir.perception.visual_style import merge_looks
from admir.types import Clip, ScreenText, Subject, Utterance, clip_spans, text_clip


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipAnalysis:
    """A video in clips, with all that was seen, read and said of them."""

    seen: VideoScan
    lines: tuple[ScreenText, ...]
    clips: tuple[Clip, ...]
    registries: tuple[tuple[Subject, ...], ...]
    failed: tuple[str, ...] = ()


def digest(value: object) -> str:
    """A short hash of data: what rests on other data is made anew when it changes."""
    plain = json.dumps(to_jsonable_python(value), sort_keys=True)
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def make_clips(
    video_id: str,
    seen: VideoScan,
    blocks: Sequence[ScreenText],
    utterances: Sequence[Utterance],
    clip_s: float,
) -> tuple[Clip, ...]:
    """Clips with their speech, text, look and frames; captions come later."""
    clips = []
    for index, span in enumerate(clip_spans(seen.facts.duration_s, clip_s)):
        inside = [s for s in seen.samples if span.contains(s.frame.time_s)]
        clips.append(
            replace(
                text_clip(video_id, index, span, blocks, utterances),
                look=merge_looks([s.look for s in inside]),
                frames=tuple(s.frame for s in spread(inside, CAPTION_FRAMES)),
            )
        )
    return tuple(clips)


def uncaptioned(clips: Sequence[Clip]) -> list[str]:
    """The clips that no model could describe, a line each."""
    return [f"no caption of {c.span}: {c.caption_error}" for c in clips if c.caption_error]


def view_of(clip: Clip, seen: VideoScan, utterances: Sequence[Utterance]) -> CaptionRequest:
    """A clip as a backend that does not look is shown it."""
    return CaptionRequest(
        clip=clip,
        utterances=tuple(u for u in utterances if u.span.overlap_s(clip.span) > 0),
        shot_count=sum(s.span.overlap_s(clip.span) > 0 for s in seen.shots),
    )
