"""A question of many, and what becomes of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from admir.trace import BuildProgress
from admir.types import Answer, Memory

VIDEO_COLUMNS = ("video_id", "video")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of which video: the id of a memory, a video file, or a memory itself.

    `fields` is the row that it came with; where that is none, `fault` says why, and the row is
    not asked.
    """

    video: str | Path | Memory
    question: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAnswered:
    """A question has its answer."""

    row: Question
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFailed:
    """A question has none: `kind` is that of the error (`admir.errors`), or `unexpected`."""

    row: Question
    error: str
    kind: str


Outcome = RowAnswered | RowFailed
RowEvent = BuildProgress | Outcome
"""What one row yields: the progress of a build where it needs one, and at last its outcome."""


def question_of(fields: Mapping[str, Any]) -> Question:
    """The row as a question: `question`, and `video_id`, or where that is empty `video`, a path."""
    video_id, video = (_text(fields.get(name)) for name in VIDEO_COLUMNS)
    question = fields.get("question")
    fault = _fault(video_id, video, question)
    return Question(
        video=(video_id or Path(video or "")) if not fault else "",
        question=question if isinstance(question, str) else "",
        fields=fields,
        fault=fault,
    )


def _text(value: Any) -> str | None:
    """An id or a path: text, or a number as text. None for anything else."""
    if isinstance(value, int | Path) and not isinstance(value, bool):
        return str(value)
    if value is None or isinstance(value, str):
        return (value or "").strip()
    return None


def _fault(video_id: str | None, video: str | None, question: Any) -> str:
    """Why there is nothing to ask, or an empty text."""
    if video_id is None or video is None:
        return "`video_id` and `video` must be texts"
    if not video_id and not video:
        return "the row names no video: `video_id` and `video` are empty"
    if not video_id and not _can_be_a_path(video):
        return "`video` is no path of a file"
    if question is not None and not isinstance(question, str):
        return "`question` must be a text"
    return ""


def _can_be_a_path(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
