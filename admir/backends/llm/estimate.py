"""What a build will cost, before a call is made: counted where that can be, else guessed.

Counted are clips, frames, their tokens by OpenAI's published rule, and our prompts. Guessed, and
named as constants here, is what models will write and what a video will say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from admir.backends.base import CAPTION_FRAMES
from admir.backends.llm.content import image_tokens, pixels_of
from admir.backends.llm.endpoints import RoleModel, role_models
from admir.backends.llm.parsing import ReplyForm, json_schema
from admir.backends.llm.perceiver import CAPTION_SIDE, MOST_LOG_CHARS, TEXT_SIDE
from admir.backends.llm.pricing import cost_usd, price_of
from admir.backends.llm.schemas import CaptionForm, GroupsForm, LinesForm, StoryForm
from admir.backends.llm.subject_merging import MOST_AT_ONCE
from admir.prompts import load_prompt
from admir.settings import Role, Settings
from admir.types import Usage, clip_spans

CAPTION_TOKENS, SUBJECTS_A_CLIP, SUBJECT_TOKENS = 250, 2, 40
WORDS_TOKENS = 60
"""Speech and on-screen text of a clip."""

UNSURE_SHARE = 0.3
"""Clips with a frame that OCR is unsure of."""

STORY_TOKENS, LINES_TOKENS, GROUP_TOKENS = 500, 60, 12
_CHARS_A_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The calls of one role: tokens in and out of all of them together."""

    calls: int
    input_tokens: int
    output_tokens: int
    images: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """About what a build costs: by role, and together."""

    parts: Mapping[Role, Part]
    models: Mapping[Role, str]
    total: Usage


def estimate_build(settings: Settings, *, duration_s: float, width: int, height: int) -> Estimate:
    """The estimate for a video of this length and size; raises EndpointError."""
    models = role_models(settings)
    clips = len(clip_spans(duration_s, settings.clip_s))
    frames = min(CAPTION_FRAMES, max(1, round(settings.clip_s * settings.frame_fps)))
    parts = _parts(settings, clips, frames, (width, height))
    return Estimate(
        parts=parts,
        models={role: models[role].model for role in parts},
        total=_total(parts, models, settings),
    )


def _parts(settings: Settings, clips: int, frames: int, size: tuple[int, int]) -> dict[Role, Part]:
    subjects = clips * SUBJECTS_A_CLIP
    unsure = ceil(clips * UNSURE_SHARE) if settings.screen_text == "auto" else 0
    frame, whole = _tokens_of(size, CAPTION_SIDE), _tokens_of(size, TEXT_SIDE)
    asked = _prompt("caption", CaptionForm) + WORDS_TOKENS + frames * frame
    log = min(clips * (CAPTION_TOKENS + WORDS_TOKENS), MOST_LOG_CHARS // _CHARS_A_TOKEN)
    batches = ceil(subjects / MOST_AT_ONCE)
    return {
        "caption": Part(
            calls=clips,
            input_tokens=clips * asked,
            output_tokens=clips * CAPTION_TOKENS,
            images=clips * frames,
        ),
        "read_text": Part(
            calls=unsure,
            input_tokens=unsure * (_prompt("read_text", LinesForm) + whole),
            output_tokens=unsure * LINES_TOKENS,
            images=unsure,
        ),
        "merge": Part(
            calls=batches,
            input_tokens=batches * _prompt("merge_subjects", GroupsForm)
            + subjects * SUBJECT_TOKENS,
            output_tokens=subjects * GROUP_TOKENS,
        ),
        "narrate": Part(
            calls=1,
            input_tokens=_prompt("narrate", StoryForm) + log + subjects * SUBJECT_TOKENS,
            output_tokens=STORY_TOKENS,
        ),
    }


def _total(
    parts: Mapping[Role, Part], models: Mapping[Role, RoleModel], settings: Settings
) -> Usage:
    total = Usage()
    for role, part in parts.items():
        price = price_of(models[role], settings.prices)
        total += Usage(
            calls=part.calls,
            input_tokens=part.input_tokens,
            output_tokens=part.output_tokens,
            images=part.images,
            cost_usd=cost_usd(part.input_tokens, part.output_tokens, price),
            unpriced=0 if price else part.calls,
        )
    return total


def _tokens_of(size: tuple[int, int], longest: int) -> int:
    width, height = pixels_of(size, longest)
    return image_tokens(width, height)


def _prompt(name: str, form: type[ReplyForm]) -> int:
    return (len(load_prompt(name).text) + len(str(json_schema(form)))) // _CHARS_A_TOKEN
