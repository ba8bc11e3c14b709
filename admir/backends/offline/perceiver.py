"""The offline eyes: captions of what was measured, names as subjects, OCR as inspection."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from admir.backends.base import Caption, ClipView, Finding, GridReading, Inspection, Report, Story
from admir.backends.offline.arc import clipped, lines_between, retold
from admir.backends.offline.cues import kind_asked
from admir.backends.offline.extract import calls_to_action, percents, prices, urls
from admir.backends.offline.lines import sentences
from admir.backends.offline.names import Line, names_in, rank_names, same_name
from admir.backends.offline.story import BY_RULE, infer, infer_span
from admir.perception.changes import differs, signature
from admir.perception.decode import Picture
from admir.perception.look import look_at
from admir.perception.ocr import TextLine, TextReader
from admir.perception.screen_text import NO_THUMBS, Reading, follow_lines
from admir.types import Clip, Inference, Look, Narrative, Span, Subject

_MOST_ENTITIES = 5
_READERS = 2
_FEW_PARTS = 4
_ORDER = ("device", "arc", "audience", "emotion", "theme")
_NOT_A_PERSON = ("narrator", "voice", "voiceover", "announcer", "speaker", "vo")


class OfflinePerceiver:
    """See the module; `Perceiver` says what each method owes."""

    id = "offline-measured-v1"

    def __init__(self, reader: TextReader) -> None:
        self._reader = reader

    async def caption(self, view: ClipView) -> Caption:
        """See `Perceiver`: colour, light, motion, shots, and who speaks."""
        return Caption(
            description=_describe(view.clip, view.shot_count, _speakers(view)),
            subjects=tuple(_subjects(view)),
        )

    async def merge_subjects(self, partial: Sequence[Sequence[Subject]]) -> tuple[Subject, ...]:
        """See `Perceiver`: subjects of one name are one."""
        merged: list[Subject] = []
        for subject in sorted(
            (s for group in partial for s in group), key=lambda s: s.first_seen_s
        ):
            known = next((i for i, m in enumerate(merged) if same_name(m.name, subject.name)), None)
            if known is None:
                merged.append(subject)
            else:
                merged[known] = _united(merged[known], subject)
        return tuple(_numbered(merged))

    async def narrate(self, story: Story) -> Narrative:
        """See `Perceiver`: told from the lines of the screen and of the speech."""
        return _narrative(story)

    async def inspect(self, inspection: Inspection) -> Report:
        """See `Perceiver`: literal reads every changed frame, semantic names the look."""
        if inspection.mode == "literal":
            return await asyncio.to_thread(self._read_frames, inspection)
        return _looks(inspection)

    async def read_grids(self, reading: GridReading) -> Report:
        """See `Perceiver`: light over time, and devices that the words of the ad show."""
        return _read_grids(reading)

    def _read_frames(self, inspection: Inspection) -> Report:
        readings = list(self._readings(inspection.pictures))
        lines = follow_lines(readings, inspection.span, NO_THUMBS, ())
        by_time = {picture.time_s: picture for picture in inspection.pictures}
        findings = tuple(
            Finding(text=line.text, span=line.span, picture=by_time[line.frame_s], box=line.box)
            for line in lines
        )
        log = "\n".join(f'{f.span}: "{f.text}"' for f in findings) or "No text can be read."
        look = look_at(inspection.pictures[0].pixels)
        text = f"{len(inspection.pictures)} frames. {_look_words(look)}.\n{log}"
        return Report(text=text, findings=findings)

    def _readings(self, pictures: Sequence[Picture]) -> Iterator[Reading]:
        """OCR of the frames that differ from the one before; the others repeat its lines."""
        signs = [signature(picture.pixels) for picture in pictures]
        changed = [
            picture
            for picture, sign, before in zip(pictures, signs, (None, *signs), strict=False)
            if before is None or differs(before, sign)
        ]
        with ThreadPoolExecutor(_READERS, "admir-inspect") as pool:
            read = pool.map(lambda picture: self._reader.read(picture.pixels), changed)
            lines_of = dict(zip((picture.time_s for picture in changed), read, strict=True))
        lines: tuple[TextLine, ...] = ()
        for picture in pictures:
            lines = lines_of.get(picture.time_s, lines)
            yield Reading(time_s=picture.time_s, lines=lines)


def _speakers(view: ClipView) -> list[str]:
    return list(dict.fromkeys(u.speaker for u in view.utterances if u.speaker))


def _describe(clip: Clip, shot_count: int, speakers: Sequence[str]) -> str:
    parts = []
    if clip.look is not None:
        parts.append(_look_words(clip.look))
    if shot_count:
        pace = "one shot" if shot_count == 1 else f"{shot_count} shots"
        parts.append(pace)
    if clip.screen_text:
        parts.append("text on screen")
    if speakers:
        parts.append(f"{' and '.join(speakers)} speaking")
    elif clip.speech:
        parts.append("speech")
    return f"{', '.join(parts)}." if parts else ""


def _look_words(look: Look) -> str:
    motion = "still" if look.motion < 0.02 else "moving" if look.motion < 0.08 else "lively"
    tone = "" if look.warmth == "neutral" else f"{look.warmth} "
    return f"A {look.light}, {tone}{motion} picture in {', '.join(look.colours)}"


def _subjects(view: ClipView) -> Iterator[Subject]:
    """Speakers and names of one clip: a partial registry."""
    for utterance in view.utterances:
        if utterance.speaker and utterance.speaker.lower() not in _NOT_A_PERSON:
            yield Subject(
                id="",
                name=utterance.speaker,
                identity=("speaks in the ad",),
                first_seen_s=max(view.clip.span.start_s, utterance.span.start_s),
            )
    for text in view.clip.screen_text:
        for name, weight in names_in(text):
            if weight >= 0.7:
                yield Subject(
                    id="",
                    name=name,
                    appearance=(f'in "{text}"',),
                    identity=("a name on the screen",),
                    first_seen_s=view.clip.span.start_s,
                )


def _united(a: Subject, b: Subject) -> Subject:
    """`a` was seen first and keeps its name; the fields are united."""
    return Subject(
        id="",
        name=a.name,
        appearance=tuple(dict.fromkeys((*a.appearance, *b.appearance))),
        identity=tuple(dict.fromkeys((*a.identity, *b.identity))),
        first_seen_s=min(a.first_seen_s, b.first_seen_s),
    )


def _numbered(subjects: Iterable[Subject]) -> Iterator[Subject]:
    for number, s in enumerate(subjects, start=1):
        yield Subject(
            id=f"s{number}",
            name=s.name,
            appearance=s.appearance,
            identity=s.identity,
            first_seen_s=s.first_seen_s,
        )


def _narrative(story: Story) -> Narrative:
    shown = list(dict.fromkeys(block.text for block in story.screen_text))
    lines = [
        Line(text=b.text, span=b.span, kind="screen_text", height=b.box[3] - b.box[1])
        for b in story.screen_text
    ]
    lines += [Line(text=u.text, span=u.span, kind="speech") for u in story.utterances]
    names = [entry.name for entry in rank_names(lines, story.video.duration_s)[:_MOST_ENTITIES]]
    inferences = infer(story, names[0] if names else "")
    return Narrative(
        summary=" ".join(_sentences(story, shown, names, inferences)),
        genre=_genre(shown),
        entities=tuple(names),
        explicit_text=tuple(shown),
        mismatches=tuple(_mismatches(shown, [u.text for u in story.utterances])),
        inferences=inferences,
    )


def _sentences(
    story: Story, shown: Sequence[str], names: Sequence[str], inferences: Sequence[Inference]
) -> Iterator[str]:
    shots = len(story.shots)
    yield f"An ad of {story.video.duration_s:.1f} s in {shots} shot{'s' * (shots != 1)}."
    if names:
        yield f"It puts forward {names[0]}."
    if arc := retold(inferences):
        yield arc
    if len({i.quote for i in inferences if i.kind == "arc"}) < _FEW_PARTS:
        lines = lines_between(sentences(story.screen_text, story.utterances))
        yield f"Its words in order: {lines}." if lines else "It has hardly any words."
    offers = [text for text in shown if prices(text) or percents(text)]
    if offers:
        yield f"It offers: {'; '.join(offers[:3])}."
    if story.utterances:
        speakers = dict.fromkeys(u.speaker for u in story.utterances if u.speaker)
        by = f", by {', '.join(speakers)}" if speakers else ""
        yield f"{len(story.utterances)} lines are spoken{by}."
    else:
        yield "No speech was transcribed."
    yield from _tone(inferences)


def _tone(inferences: Sequence[Inference]) -> Iterator[str]:
    """Who is meant, how it feels and what it speaks of, by rule; the surest first."""
    for kind, opening in (("audience", "Meant for"), ("emotion", "Tone"), ("theme", "Themes")):
        some = sorted((i for i in inferences if i.kind == kind), key=lambda i: -i.confidence)
        if some:
            yield f"{opening}, by rule: {', '.join(i.label for i in some)}."


def _genre(shown: Sequence[str]) -> str:
    sells = any(prices(t) or percents(t) or urls(t) or calls_to_action(t) for t in shown)
    if sells:
        return "direct promotion (a price, an offer, an address or a call to action is shown)"
    return "brand film (no price, offer, address or call to action is shown)"


def _mismatches(shown: Sequence[str], said: Sequence[str]) -> Iterator[str]:
    """Amounts that are said and not shown."""
    on_screen = {value.key for text in shown for value in prices(text)}
    if not on_screen:
        return
    for text in said:
        for value in prices(text):
            if value.key not in on_screen:
                yield f'"{value.text}" is said and not shown'


def _looks(inspection: Inspection) -> Report:
    """Light and colour of the keyframes in time order."""
    findings = tuple(
        Finding(
            text=_look_words(look_at(picture.pixels)),
            span=Span(start_s=picture.time_s, end_s=picture.time_s),
            picture=picture,
        )
        for picture in inspection.pictures
    )
    text = "\n".join(f"{f.span.start_s:.1f} s: {f.text}." for f in findings)
    note = "The offline preset names light and colour; it does not recognise objects or people."
    return Report(text=f"{text}\n{note}", findings=findings)


def _read_grids(reading: GridReading) -> Report:
    """What the words of the span show by rule, each with its words, time and rule."""
    inferences = _inferred_in(reading)
    findings = tuple(Finding(text=_finding(i), span=i.span) for i in inferences)
    light = [look_at(grid.pixels).light for grid in reading.grids]
    course = " -> ".join(dict.fromkeys(light)) or "unknown"
    named = "; ".join(f.text for f in findings) or "no device shows in its words"
    text = f"Light: {course}. By rule, from the words of the ad: {named}."
    return Report(text=text, findings=findings)


def _inferred_in(reading: GridReading) -> list[Inference]:
    """The kind that is asked for first; one of each label, surest first, before the next of any.

    The words of the span tell all but the arc, which needs the place in the whole ad.
    """
    told = [
        i
        for i in reading.narrative.inferences
        if i.span.overlap_s(reading.span) > 0 and (i.kind == "arc" or not i.quote)
    ]
    found = [*told, *infer_span(reading.screen_text, reading.utterances)]
    asked = kind_asked(reading.focus)
    found.sort(key=lambda i: (i.kind != asked, _ORDER.index(i.kind), -i.confidence, i.span.start_s))
    seen: Counter[tuple[str, str]] = Counter()
    rank = {}
    for index, one in enumerate(found):
        rank[index] = (one.kind != asked, seen[one.kind, one.label], index)
        seen[one.kind, one.label] += 1
    return [found[index] for index in sorted(rank, key=lambda index: rank[index])]


def _finding(inference: Inference) -> str:
    quote = f' ("{clipped(inference.quote)}")' if inference.quote else ""
    why = f"{BY_RULE}{inference.rule}, confidence {inference.confidence:.2f}"
    return f"{inference.label}{quote}{why}"
