"""Eyes made of models: captions, who is who, the story, close looks and the expert (2.2, 2.3.2)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence

from admir.backends.base import (
    Caption,
    CaptionRequest,
    ExpertRequest,
    Finding,
    InspectRequest,
    InspectResult,
    MergedSubjects,
    NarrationInput,
    TextCorrection,
)
from admir.backends.llm.content import Part, clean, data_block, image, pixels_of
from admir.backends.llm.schemas import (
    CaptionForm,
    ExpertFinding,
    ExpertForm,
    Group,
    GroupsForm,
    InspectionForm,
    LinesForm,
    SeenSubject,
    StoryForm,
)
from admir.backends.llm.subject_merging import merge_registries
from admir.backends.llm.typed_client import Model
from admir.perception.decode import Picture
from admir.perception.grids import GRID_CELLS, Grid, make_grids
from admir.prompts import load_prompt
from admir.text import excerpt, normalize, runs_over
from admir.types import Clip, Inference, Narrative, ScreenText, Span, Subject, Utterance

CAPTION_SIDE, KEYFRAME_SIDE, GRID_SIDE, TEXT_SIDE = 640, 1024, 2048, 1280
"""Longest side of pictures, in pixels."""

GRID_SHORT_SIDE = 768
"""Shorter side of a grid: the most that OpenAI's models see of a picture in high detail."""

MOST_SINGLE_FRAMES = 8
"""So many frames of a literal look are sent one by one, in full size; more in grids."""

MOST_LOG_CHARS = 60_000
_LEAST_LINE_CHARS = 160
MOST_TEXT_LINES = 200
_MOST_FINDINGS = 12
BUILD_PROMPTS = ("caption", "read_text", "merge_subjects", "narrate")
PROMPTS = (*BUILD_PROMPTS, "inspect_literal", "inspect_semantic", "expert")


class LlmPerceiver:
    """See the module; `Perceiver` says what each method owes."""

    looks = True
    caption_side = CAPTION_SIDE

    def __init__(self, model: Model) -> None:
        self._model = model
        self.id = _id(model)

    @staticmethod
    def cell_side(width: int, height: int) -> int:
        """See `Perceiver`: that of the grid as it is sent, so that it is scaled once."""
        shape = max(1, width), max(1, height)
        scale = min(2.0, GRID_SIDE / max(shape), GRID_SHORT_SIDE / min(shape))
        grid = max(2, round(shape[0] * scale)), max(2, round(shape[1] * scale))
        return max(pixels_of(grid, GRID_SIDE)) // 2

    async def caption(self, view: CaptionRequest) -> Caption:
        """See `Perceiver`: from up to 8 frames with the clip's speech and text."""
        span = view.clip.span
        head = f"A clip from {span.start_s:.1f} s to {span.end_s:.1f} s, {_shots(view.shot_count)}."
        parts: list[Part] = [
            head,
            _speech_block(view),
            data_block("on-screen text as OCR read it", view.clip.screen_text),
        ]
        parts += await asyncio.to_thread(_timed, view.pictures, CAPTION_SIDE)
        del view  # many clips wait for their turn at the server: not with decoded pictures
        reply = await self._model.complete("caption", _text("caption"), parts, CaptionForm)
        return Caption(
            description=reply.value.description,
            subjects=tuple(_subject(s, span) for s in reply.value.subjects if s.name.strip()),
            corrections=tuple(
                TextCorrection(ocr_text=line.ocr, text=" ".join(line.text.split()))
                for line in reply.value.corrections
                if normalize(line.text)
            ),
        )

    async def read_text(self, picture: Picture) -> tuple[str, ...]:
        """See `Perceiver`."""
        parts = await asyncio.to_thread(_timed, [picture], TEXT_SIDE)
        reply = await self._model.complete("read_text", _text("read_text"), parts, LinesForm)
        return tuple(line for line in reply.value.lines if normalize(line))

    async def merge_subjects(self, partial: Sequence[Sequence[Subject]]) -> MergedSubjects:
        """See `Perceiver`: hierarchically when long."""
        return await merge_registries(partial, self._groups)

    async def _groups(self, lines: str) -> Sequence[Group]:
        text = _text("merge_subjects")
        return (await self._model.complete("merge", text, [lines], GroupsForm)).value.groups

    async def narrate(self, story: NarrationInput) -> Narrative:
        """See `Perceiver`: from captions, speech, on-screen text and the registry."""
        facts = f"The ad is {story.video.duration_s:.1f} s long, in {len(story.clips)} clips."
        about = [f"{key}: {value}" for key, value in story.video.metadata.items()]
        parts: list[Part] = [
            facts,
            data_block("what the uploader says", about),
            *_note_unknown_speech(story.speech_known),
            data_block("subjects", map(_who, story.subjects)),
            data_block("on-screen text", _timed_lines(story.screen_text)),
            data_block("log", _log(story.clips)),
        ]
        reply = await self._model.complete("narrate", _text("narrate"), parts, StoryForm)
        return _narrative(reply.value, story.video.span)

    async def inspect(self, inspection: InspectRequest) -> InspectResult:
        """See `Perceiver`: frame by frame where they are few, in 2x2 pictures else."""
        span, pictures = inspection.span, inspection.pictures
        parts: list[Part] = [f"The range from {span.start_s:.2f} s to {span.end_s:.2f} s."]
        if len(pictures) <= MOST_SINGLE_FRAMES:
            parts += await asyncio.to_thread(_timed, pictures, KEYFRAME_SIDE)
            looked: tuple[tuple[float, ...], ...] = tuple((p.time_s,) for p in pictures)
        else:
            height, width = pictures[0].pixels.shape[:2]
            side = self.cell_side(width, height)
            grids = await asyncio.to_thread(make_grids, pictures, side)
            parts += await asyncio.to_thread(_labelled, grids)
            looked = tuple(grid.times_s for grid in grids)
        parts.append(f"Question: {clean(inspection.question)}")
        prompt = f"inspect_{inspection.mode}"
        reply = await self._model.complete("inspect", _text(prompt), parts, InspectionForm)
        seen = [s for s in reply.value.findings if normalize(s.text)][:_MOST_FINDINGS]
        findings = tuple(_seen(s.text, s.time_s, inspection) for s in seen)
        return InspectResult(
            text=reply.value.summary, findings=findings, usage=reply.usage, grids_s=looked
        )

    async def read_grids(self, reading: ExpertRequest) -> InspectResult:
        """See `Perceiver`: 16 grids, tied to what is said, written and told (B.4)."""
        span = reading.span
        words = [*_said(reading.utterances), *_written(reading.screen_text)]
        parts: list[Part] = [
            f"The range from {span.start_s:.1f} s to {span.end_s:.1f} s.",
            data_block("summary of the whole ad", reading.narrative.lines),
            data_block("speech and on-screen text", words),
            *_note_unknown_speech(reading.speech_known),
        ]
        # The focus comes last: servers reuse what two questions about one range have in common.
        parts += await asyncio.to_thread(_labelled, reading.grids)
        parts.append(f"Focus: {clean(reading.focus)}")
        reply = await self._model.complete("expert", _text("expert"), parts, ExpertForm)
        tied, loose = _by_ties(reply.value.findings, _tying_texts(reading))
        note = [f"Left out, tied to no words of the ad: {finding.text}" for finding in loose]
        return InspectResult(
            text="\n".join(note),
            reading=" ".join(reply.value.reading.split()),
            findings=tuple(_found(finding, span) for finding in tied[:_MOST_FINDINGS]),
            usage=reply.usage,
            grids_s=tuple(grid.times_s for grid in reading.grids),
        )


def _id(model: Model) -> str:
    """The models and prompts that a memory depends on."""
    names = [model.models[role].model for role in ("caption", "read_text", "merge", "narrate")]
    prompts = "".join(load_prompt(name).sha256 for name in BUILD_PROMPTS)
    digest = hashlib.sha256(prompts.encode()).hexdigest()[:8]
    return f"llm:{'+'.join(dict.fromkeys(names))}:{digest}"


def _text(name: str) -> str:
    return load_prompt(name).render()


def _timed(pictures: Sequence[Picture], longest: int) -> list[Part]:
    """Each picture behind its time."""
    return [
        part
        for picture in pictures
        for part in (f"Frame at {picture.time_s:.3f} s:", image(picture, longest))
    ]


def _labelled(grids: Sequence[Grid]) -> list[Part]:
    """Each grid behind its number and the times of its cells in reading order."""
    parts: list[Part] = []
    for number, grid in enumerate(grids, start=1):
        times = ", ".join(f"{time_s:.3f}" for time_s in grid.times_s)
        empty = GRID_CELLS - len(grid.times_s)
        note = f" ({empty} grey, empty)" if empty else ""
        parts += [f"Grid {number} of {len(grids)}, frames at {times} s{note}:"]
        parts += [image(grid, GRID_SIDE)]
    return parts


def _shots(count: int) -> str:
    return "one shot" if count < 2 else f"{count} shots or parts of shots"


def _speech_block(view: CaptionRequest) -> str:
    """What is said in a clip, or why nothing stands there."""
    if view.utterances:
        return data_block("speech", _said(view.utterances))
    if view.speech_known:
        return "Speech: nothing is said in this clip."
    return "Speech: unknown, the sound was not transcribed. Do not write that nobody speaks."


def _note_unknown_speech(known: bool) -> list[Part]:
    return [] if known else ["Speech is unknown: the sound was not transcribed."]


def _said(utterances: Iterable[Utterance]) -> list[str]:
    return [f"{u.span.start_s:.1f} s, {u.speaker or 'said'}: {u.text}" for u in utterances]


def _written(lines: Iterable[ScreenText]) -> list[str]:
    return [f"{line.span.start_s:.1f} s, on screen: {line.text}" for line in lines]


def _subject(seen: SeenSubject, span: Span) -> Subject:
    """A subject of a clip's registry; a first sight outside of the clip cannot be true."""
    first_s = min(max(seen.first_seen_s, span.start_s), span.end_s)
    return Subject(
        id="",
        name=seen.name.strip(),
        kind=seen.kind,
        appearance=tuple(seen.appearance),
        identity=tuple(seen.identity),
        first_seen_s=round(first_s, 3),
    )


def _who(subject: Subject) -> str:
    who = "; ".join((*subject.identity, *subject.appearance))
    return f"{subject.kind} {subject.name}, first seen at {subject.first_seen_s:.1f} s: {who}"


def _log(clips: Sequence[Clip]) -> list[str]:
    """A line a clip: seen, said, written; each cut where all together would be too long."""
    most = max(_LEAST_LINE_CHARS, MOST_LOG_CHARS // max(1, len(clips)))
    return [excerpt(_clip_line(clip), most) for clip in clips]


def _timed_lines(blocks: Sequence[ScreenText]) -> list[str]:
    """What is written, with its times; of very many lines the longest shown."""
    kept = sorted(blocks, key=lambda block: -block.span.duration_s)[:MOST_TEXT_LINES]
    ordered = sorted(kept, key=lambda block: block.span.start_s)
    return [f"{b.span.start_s:.1f}-{b.span.end_s:.1f} s: {b.text}" for b in ordered]


def _clip_line(clip: Clip) -> str:
    seen = clip.caption or "(not described)"
    said = f" | said: {clip.speech}" if clip.speech else ""
    return f"{clip.span.start_s:.1f}-{clip.span.end_s:.1f} s: {seen}{said}"


def _narrative(form: StoryForm, whole: Span) -> Narrative:
    arc = [
        Inference(
            kind="arc",
            label=part.stage,
            span=Span(start_s=part.start_s, end_s=max(part.end_s, part.start_s)).clamp(whole),
            quote=part.quote,
            rule="told by the model that wrote the summary",
            confidence=0.5,
        )
        for part in form.arc
    ]
    return Narrative(
        summary=form.summary,
        genre=form.genre,
        entities=tuple(form.entities),
        explicit_text=tuple(form.explicit_text),
        mismatches=tuple(form.mismatches),
        inferences=tuple(sorted(arc, key=lambda part: part.span.start_s)),
    )


def _seen(text: str, time_s: float, inspection: InspectRequest) -> Finding:
    """A finding on the frame nearest to the time that the model gives."""
    picture = min(inspection.pictures, key=lambda p: abs(p.time_s - time_s))
    at_s = picture.time_s
    end_s = max(at_s, min(at_s + 0.1, inspection.span.end_s))
    return Finding(text=text, span=Span(start_s=at_s, end_s=end_s), picture=picture)


def _tying_texts(reading: ExpertRequest) -> list[list[str]]:
    """Words of the ad that a symbol may be tied to, in order of time: a tie may run over lines."""
    written = sorted(reading.screen_text, key=lambda line: (line.span.start_s, line.box[1]))
    said = [utterance.text for utterance in reading.utterances]
    return [[line.text for line in written], said, list(reading.narrative.lines)]


def _by_ties(
    findings: Sequence[ExpertFinding], texts: Sequence[Sequence[str]]
) -> tuple[list[ExpertFinding], list[ExpertFinding]]:
    """Findings that stand, and symbols that are tied to no words (Text-Constrained Mapping)."""
    told = [f for f in findings if normalize(f.text)]
    loose = [f for f in told if f.kind == "symbol" and not _is_tied(f.tied_to, texts)]
    return [f for f in told if f not in loose], loose


def _is_tied(tie: str, texts: Sequence[Sequence[str]]) -> bool:
    return bool(normalize(tie)) and any(runs_over(lines, tie) for lines in texts)


def _found(finding: ExpertFinding, span: Span) -> Finding:
    """A finding with its kind in words, and its time inside the stretch."""
    label = finding.kind.replace("_", " ")
    start_s, end_s = sorted((finding.start_s, finding.end_s))
    where = Span(start_s=start_s, end_s=end_s).clamp(span)
    tie = f' (tied to "{finding.tied_to}")' if normalize(finding.tied_to) else ""
    return Finding(
        text=f"{label}: {finding.text}{tie}",
        span=where if where.duration_s else span,
        written=finding.kind == "on_screen_text",
        tied_to=finding.tied_to,
    )
