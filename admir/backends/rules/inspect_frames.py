"""Frames looked at again: their text with its colours, or their colours and faces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from admir.backends.base import Finding, InspectRequest, InspectResult
from admir.backends.rules.facts import colours_fact, faces_fact, ink_fact
from admir.perception.decode import Picture
from admir.perception.faces import CascadeFaces, count_sure
from admir.perception.frame_diff import differs, signature
from admir.perception.ocr import TextLine, TextReader
from admir.perception.screen_text import NO_THUMBS, Reading, follow_lines
from admir.perception.visual_style import ink_of, look_at, look_words
from admir.types import ScreenText, Span, VisualStyle

_READERS = 2
_NOTE = "The offline preset names colours and finds faces; it does not recognise things."


def read_frames(inspection: InspectRequest, reader: TextReader) -> InspectResult:
    """A log of the text in the frames, in order of time, and the colours of each line."""
    readings = list(_readings(inspection.pictures, reader))
    lines = follow_lines(readings, inspection.span, NO_THUMBS, ())
    by_time = {picture.time_s: picture for picture in inspection.pictures}
    findings = [
        Finding(text=line.text, span=line.span, picture=by_time[line.frame_s], box=line.box)
        for line in lines
    ]
    inks = [_ink(line, by_time[line.frame_s]) for line in lines]
    log = "\n".join(f'{f.span}: "{f.text}"' for f in findings) or "No text can be read."
    look = look_at(inspection.pictures[0].pixels)
    text = f"{len(inspection.pictures)} frames. {look_words(look)}.\n{log}"
    return InspectResult(text=text, findings=(*findings, *inks))


def _ink(line: ScreenText, picture: Picture) -> Finding:
    ink, ground = ink_of(picture.pixels, line.box)
    return Finding(
        text=ink_fact(line.text, ink, ground),
        span=line.span,
        picture=picture,
        box=line.box,
        measured=True,
    )


def _readings(pictures: Sequence[Picture], reader: TextReader) -> Iterator[Reading]:
    """OCR of the frames that differ from the one before; the others repeat its lines."""
    signs = [signature(picture.pixels) for picture in pictures]
    changed = [
        picture
        for picture, sign, before in zip(pictures, signs, (None, *signs), strict=False)
        if before is None or differs(before, sign)
    ]
    with ThreadPoolExecutor(_READERS, "admir-inspect") as pool:
        read = pool.map(lambda picture: reader.read(picture.pixels), changed)
        lines_of = dict(zip((picture.time_s for picture in changed), read, strict=True))
    lines: tuple[TextLine, ...] = ()
    for picture in pictures:
        lines = lines_of.get(picture.time_s, lines)
        yield Reading(time_s=picture.time_s, lines=lines)


def see_frames(inspection: InspectRequest) -> InspectResult:
    """The colours, the light and the faces of each frame, in order of time."""
    detector = CascadeFaces()
    findings = [
        finding
        for picture in inspection.pictures
        for finding in (_colours(picture), _faces(picture, detector))
        if finding
    ]
    text = "\n".join(f"{f.span.start_s:.1f} s: {f.text}." for f in findings)
    return InspectResult(text=f"{text}\n{_NOTE}", findings=tuple(findings))


def _colours(picture: Picture) -> Finding:
    look = look_at(picture.pixels)
    return _seen(picture, colours_fact(look.colours, _light(look)))


def _light(look: VisualStyle) -> str:
    return look.light if look.warmth == "neutral" else f"{look.light}, {look.warmth}"


def _faces(picture: Picture, detector: CascadeFaces) -> Finding | None:
    """The faces that stand alone; one that is less sure needs a second sight."""
    count = count_sure(detector.find(picture.pixels))
    return _seen(picture, faces_fact(count)) if count else None


def _seen(picture: Picture, text: str) -> Finding:
    span = Span(start_s=picture.time_s, end_s=picture.time_s)
    return Finding(text=text, span=span, picture=picture, measured=True)
