"""A memory as HTML: facts, frames, a time line, the narrative, subjects and clips."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from admir.types import Clip, Inference, Memory, Narrative, Span, Subject
from admir.views.notebook.markup import (
    Html,
    cut,
    div,
    facts,
    folded,
    joined,
    more,
    page,
    section,
    span,
    stated,
    tag,
)
from admir.views.notebook.pictures import STRIP_WIDTH, figure
from admir.views.notebook.timeline import Lane, Mark, shot_lane, timeline

_MOST_FRAMES, _MOST_CLIPS, _MOST_SUBJECTS, _MOST_LANES, _MOST_ROWS = 12, 40, 30, 8, 30
_OPEN_CLIPS = 8
_LONGEST = 1200


def memory_html(memory: Memory) -> str:
    """All that is known of a video, bounded: what is left out is counted."""
    return page(
        div("answer", memory.video.id),
        _warnings(memory.provenance.warnings),
        _video_facts(memory),
        section("Frames", _strip(memory)),
        section("Time line", *_time_line(memory)),
        section("Narrative", *_narrative(memory.narrative)),
        section("Subjects", *_subjects(memory.subjects)),
        _clips(memory.clips),
    )


def _warnings(warnings: Sequence[str]) -> Html:
    shown = (div("warn", cut(each, _LONGEST)) for each in warnings[:_MOST_ROWS])
    return joined((*shown, more(len(warnings) - _MOST_ROWS, "warnings")))


def _video_facts(memory: Memory) -> Html:
    video, origin, audio = memory.video, memory.provenance, memory.video.audio
    sound = (
        f"{audio.codec}, {audio.loudness_dbfs:.0f} dBFS, {audio.silent_share:.0%} silent"
        if audio
        else "none"
    )
    picture = f"{video.width}x{video.height}, {video.fps:.2f} frames a second"
    read = f"{origin.frames_read} of {origin.frames_sampled} frames read"
    made = f"preset {origin.preset}, {origin.built_at}, in {origin.seconds:.1f} s"
    return facts(
        (
            ("length", f"{stated(video.duration_s)}, {len(memory.shots)} shots"),
            ("picture", picture if video.width else "none: a memory of text alone"),
            ("sound", sound if video.width else ""),
            ("speech", f"{len(memory.utterances)} lines, {origin.speech_source}"),
            ("screen text", f"{len(memory.screen_text)} lines, {origin.text_source}, {read}"),
            ("built", made if origin.built_at else ""),
            ("file", video.path),
            *(
                (name, cut(told, _LONGEST))
                for name, told in islice(video.metadata.items(), _MOST_ROWS)
            ),
        )
    )


def _strip(memory: Memory) -> Html:
    """Kept frames, evenly over the video."""
    if not memory.folder or not memory.frames:
        return Html()
    step = max(1.0, len(memory.frames) / _MOST_FRAMES)
    count = min(len(memory.frames), _MOST_FRAMES)
    chosen = [memory.frames[int((n + 0.5) * step)] for n in range(count)]
    shown = (
        figure(str(Path(memory.folder) / f.file), stated(f.time_s), width=STRIP_WIDTH)
        for f in chosen
    )
    return joined((div("strip", *shown), more(len(memory.frames) - count, "frames kept")))


def _time_line(memory: Memory) -> list[Html]:
    """The lanes, the subjects that got none, and what their marks mean."""
    seen = [subject for subject in memory.subjects if subject.seen]
    notes = []
    if any(shot.transition in ("dissolve", "fade") for shot in memory.shots):
        notes.append("~ a shot that opens with a dissolve or a fade")
    if any(line.scene for line in memory.screen_text):
        notes.append("grey: text on a thing in the picture")
    drawn = timeline(memory.video.duration_s, _lanes(memory, seen))
    rest = _rest(len(seen), "subjects seen, not drawn", _MOST_LANES)
    return [drawn, *rest, *([div("soft", "; ".join(notes))] if notes else [])]


def _lanes(memory: Memory, seen: Sequence[Subject]) -> list[Lane]:
    return [
        shot_lane(memory),
        Lane(
            name="screen text",
            marks=[_text_mark(n, memory) for n in range(len(memory.screen_text))],
        ),
        Lane(name="speech", marks=[_said(n, memory) for n in range(len(memory.utterances))]),
        *map(_subject_lane, seen[:_MOST_LANES]),
        Lane(name="read into it", marks=[_inferred(each) for each in memory.narrative.inferences]),
    ]


def _text_mark(number: int, memory: Memory) -> Mark:
    line = memory.screen_text[number]
    where = "on a thing in the picture" if line.scene else "on screen"
    title = f"{line.span}, {where}: {line.text}"
    return Mark(
        span=line.span, label=line.text, title=title, tone="scene" if line.scene else "screen_text"
    )


def _said(number: int, memory: Memory) -> Mark:
    spoken = memory.utterances[number]
    words = f"{spoken.speaker}: {spoken.text}" if spoken.speaker else spoken.text
    return Mark(span=spoken.span, label=spoken.text, title=f"{spoken.span}, {words}", tone="speech")


def _subject_lane(subject: Subject) -> Lane:
    marks = [_sighting(subject, where) for where in subject.seen]
    return Lane(name=cut(subject.name, 40), marks=marks)


def _sighting(subject: Subject, where: Span) -> Mark:
    title = f"{subject.name} seen {where}"
    return Mark(span=where, label=subject.name, title=title, tone="subject")


def _inferred(found: Inference) -> Mark:
    title = f"{found.kind}: {found.label}, {found.span}, {found.quote}"
    return Mark(span=found.span, label=found.label, title=title, tone="inference")


def _narrative(told: Narrative) -> list[Html]:
    parts = [div("row", cut(told.summary, 4 * _LONGEST))] if told.summary else []
    named = facts(
        (
            ("genre", told.genre),
            ("names", cut(", ".join(told.entities), _LONGEST)),
            ("on screen", cut(" / ".join(told.explicit_text), _LONGEST)),
            ("mismatches", cut("; ".join(told.mismatches), _LONGEST)),
        )
    )
    rows = [_inference(each) for each in told.inferences[:_MOST_ROWS]]
    if told.genre or told.entities or told.explicit_text or told.mismatches:
        parts.append(named)
    return [*parts, *rows, *_rest(len(told.inferences), "inferences")]


def _rest(count: int, what: str, most: int = _MOST_ROWS) -> list[Html]:
    return [more(count - most, what)] if count > most else []


def _inference(found: Inference) -> Html:
    """What a rule concluded, the words it stands on, and the rule."""
    return div(
        "row clip",
        span("soft", str(found.span)),
        div(
            "",
            div("", span("chip kind", found.kind), tag("b", found.label), f" “{found.quote}”"),
            div("soft", f"{found.rule} (confidence {found.confidence:.2f})"),
        ),
    )


def _subjects(subjects: Sequence[Subject]) -> list[Html]:
    rows = [_subject(each) for each in subjects[:_MOST_SUBJECTS]]
    return [*rows, *_rest(len(subjects), "subjects", _MOST_SUBJECTS)]


def _subject(subject: Subject) -> Html:
    known = "; ".join((*subject.identity, *subject.appearance[:3]))
    if subject.seen:
        when = f"on screen {stated(subject.on_screen_s)}"
    else:
        when = f"first at {stated(subject.first_seen_s)}"
    return div(
        "clip",
        span("soft", when),
        div(
            "",
            span("chip kind", subject.kind),
            tag("b", subject.name),
            span("soft", f" {subject.id} "),
            span("", cut(known, _LONGEST)),
        ),
    )


def _clips(clips: Sequence[Clip]) -> Html:
    if not clips:
        return Html()
    shown = [_clip(each) for each in clips[:_MOST_CLIPS]]
    summary = f"Clips ({len(clips)})"
    body = div("inside", *shown, more(len(clips) - _MOST_CLIPS, "clips"))
    return div("part", folded(summary, body, is_open=len(clips) <= _OPEN_CLIPS))


def _clip(clip: Clip) -> Html:
    lines = [div("", cut(clip.caption, _LONGEST))] if clip.caption else []
    if clip.screen_text:
        told = cut(" / ".join(clip.screen_text), _LONGEST)
        lines.append(div("", span("soft", "on screen: "), told))
    if clip.speech:
        lines.append(div("", span("soft", "spoken: "), cut(clip.speech, _LONGEST)))
    return div("clip", span("soft", str(clip.span)), div("", *lines))
