"""What a tool is, and what it works on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from admir.backends.base import Perceiver
from admir.memory.corrections import brand_of
from admir.memory.frame_access import as_jpeg, nearest_frame
from admir.memory.index import HybridIndex
from admir.perception.decode import Picture, write_picture
from admir.settings import Settings
from admir.types import Clip, Evidence, Hit, Memory, ScreenText, Span, Usage, Utterance


class Arguments(BaseModel):
    """Base of every tool's arguments. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool brings: a summary, and evidence that has no ids yet.

    `looked_at` is set by tools that look at a range; the stagnation guard counts it. `hits` and
    `grids_s` are for the trace: see `Observation`.
    """

    summary: str
    evidence: tuple[Evidence, ...] = ()
    looked_at: Span | None = None
    hits: tuple[Hit, ...] = ()
    grids_s: tuple[tuple[float, ...], ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One ask's view of one memory. `pictures_folder` takes frames that become evidence."""

    memory: Memory
    index: HybridIndex
    perceiver: Perceiver
    settings: Settings
    pictures_folder: Path | None

    def keep(self, picture: Picture) -> str | None:
        """Save a newly decoded frame beside the trace; its path, None where none can be kept."""
        if self.pictures_folder is None:
            return None
        path = self.pictures_folder / f"{picture.time_s:09.3f}.jpg"
        try:
            self.pictures_folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                write_picture(path, as_jpeg(picture))
        except OSError:  # what was seen counts all the same; the trace says that the disk is full
            return None
        return str(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """A named action with typed arguments. Its description is the prompt `tool_<name>`."""

    name: str
    arguments: type[A]
    run: Callable[[ToolContext, A], Awaitable[ToolResult]]

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, without what says nothing to a model."""
        plain: dict[str, Any] = _plain(self.arguments.model_json_schema())
        plain.pop("description", None)
        return plain


_SAYS_LITTLE = (
    *("title", "default", "minLength", "maxLength", "maxItems", "exclusiveMinimum", "minimum"),
    *("maximum", "additionalProperties"),
)


def _plain(part: Any) -> Any:
    """A schema in few tokens: what it leaves out is checked when the arguments come."""
    if isinstance(part, list):
        return [_plain(item) for item in part]
    if not isinstance(part, dict):
        return part
    kept = {key: _plain(value) for key, value in part.items() if key not in _SAYS_LITTLE}
    choices = [each for each in kept.pop("anyOf", ()) if each != {"type": "null"}]
    return {**choices[0], **kept} if choices else kept


def screen_evidence(memory: Memory, line: ScreenText, score: float = 0.0) -> Evidence:
    """A line of the screen, with the kept frame it was read in."""
    frame = nearest_frame(memory, line.frame_s)
    return Evidence(
        video_id=memory.video.id,
        kind="screen_text",
        span=line.span,
        quote=line.text,
        frame=_frame_path(memory, frame.file) if frame else None,
        frame_s=frame.time_s if frame else None,
        box=line.box,
        score=round(score, 4),
        corrected=bool(line.was),
        ocr_text=line.ocr_text,
    )


def speech_evidence(memory: Memory, spoken: Utterance, score: float = 0.0) -> Evidence:
    """Something said, with the kept frame shown in its middle."""
    frame = nearest_frame(memory, (spoken.span.start_s + spoken.span.end_s) / 2)
    return Evidence(
        video_id=memory.video.id,
        kind="speech",
        span=spoken.span,
        quote=spoken.text,
        frame=_frame_path(memory, frame.file) if frame else None,
        frame_s=frame.time_s if frame else None,
        speaker=spoken.speaker,
        score=round(score, 4),
    )


def person_evidence(memory: Memory) -> list[Evidence]:
    """The brand, where a person has told it: no line needs to show it."""
    return [
        Evidence(
            video_id=memory.video.id,
            kind="person",
            span=memory.video.span,
            quote=f"The brand is {brand}.",
        )
        for brand in filter(None, [brand_of(memory.corrections)])
    ]


def refuse_beyond_end(memory: Memory, start_s: float) -> None:
    """Raise ValueError for a range that begins where the video is over."""
    duration_s = memory.video.duration_s
    if start_s >= duration_s:
        raise ValueError(f"start_s {start_s:g} is behind the end: the video has {duration_s:.2f} s")


def _frame_path(memory: Memory, file: str) -> str:
    return str(Path(memory.folder) / file)


def line_evidence(
    memory: Memory, blocks: Sequence[ScreenText], spans: Sequence[Span], score: float = 0.0
) -> list[Evidence]:
    """Everything shown or said in these spans, in time order."""

    def inside(span: Span) -> bool:
        return any(span.overlap_s(other) > 0 for other in spans)

    found = [screen_evidence(memory, b, score) for b in blocks if inside(b.span)]
    found += [speech_evidence(memory, u, score) for u in memory.utterances if inside(u.span)]
    return sorted(found, key=lambda e: (e.span.start_s, e.kind))


def caption_evidence(clips: Iterable[Clip]) -> list[Evidence]:
    """What models or measurements told of clips: it helps to find, and proves nothing."""
    return [
        Evidence(video_id=clip.video_id, kind="caption", span=clip.span, quote=clip.caption)
        for clip in clips
        if clip.caption
    ]


def measured_evidence(memory: Memory) -> list[Evidence]:
    """What was measured in the whole video: its length, its shots and the people seen."""
    if not memory.shots:
        return []
    whole = memory.video.span
    facts = [(f"{whole.duration_s:.1f} s long", whole), (_shots_fact(memory), whole)]
    facts += [
        (f"{person.name}: seen for {person.on_screen_s:.1f} s", span)
        for person in memory.subjects
        if person.kind == "person"
        for span in person.seen[:1]
    ]
    return [
        Evidence(video_id=memory.video.id, kind="measurement", span=span, quote=quote)
        for quote, span in facts
    ]


def _shots_fact(memory: Memory) -> str:
    """The number of shots and of the cuts between them, and when the first and last cut are."""
    count = len(memory.shots)
    if count == 1:
        return "1 shot"
    first, last = memory.shots[1].span.start_s, memory.shots[-1].span.start_s
    cuts = "1 cut" if count == 2 else f"{count - 1} cuts"
    return f"{count} shots, {cuts}, the first at {first:.1f} s, the last at {last:.1f} s"
