"""Speech with times, from subtitles beside the video or inside it.

A subtitle may name its speaker as `Name: text` or, in WebVTT, `<v Name>text`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import av

from admir.errors import VideoError
from admir.perception.decode import open_container
from admir.perception.frames import packets_of, picture_track
from admir.perception.sidecars import language_code, sidecar_of
from admir.perception.speech import Transcript
from admir.text import is_cjk, to_printable
from admir.types import Span, Utterance

MAX_SUBTITLE_BYTES = 8_000_000

NO_SUBTITLES = "none: no subtitles beside or inside the video"

_MAX_CUE = 1_000
_MAX_TIME_LINE = 200
"""Characters looked at of a cue and of a time line: a file may be hostile."""

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIME_LINE = re.compile(rf"(?<![\d:]){_TIME}\s{{0,9}}-->\s{{0,9}}{_TIME}(?!\d)")
_VOICE = re.compile(r"<v(?:\.[\w.]{1,80})?\s{1,9}([^<>]{1,80})>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{1,200}>|\{\\[^{}]{0,200}\}")
_SPEAKER = re.compile(r"^(?:[-–] ?)?([^\W\d_][\w .'’-]{0,30}): (?=\D)")
_NAME_WORDS = 3
_NOT_SPEECH = re.compile(r"^[\s♪♫\[\](){}*#.\-–—]*$|^[\[(][^\])]*[\])]$")
_BITMAPS = frozenset(
    ("hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle", "xsub", "pgssub", "dvdsub", "dvbsub")
)


def read_subtitles(video: Path, language: str | None = None) -> Transcript:
    """The subtitles of a video: the file beside it, else a text track inside it.

    Of several, those of the wanted `language` (`en`); those that say to be in another one are not
    taken. A subtitle file that cannot be read counts as none, and the source says so.
    """
    sidecar = sidecar_of(video, language)
    if sidecar is not None:
        return read_subtitle_file(sidecar)
    inside = _embedded(video, language)
    if inside:
        return Transcript(utterances=inside, source="subtitle track inside the video")
    return Transcript(utterances=(), source=NO_SUBTITLES)


def has_subtitles(video: Path, language: str | None = None) -> bool:
    """Whether `read_subtitles` would find any; a track inside is not read, and may turn out empty.

    Raises nothing for a video that cannot be read.
    """
    sidecar = sidecar_of(video, language)
    if sidecar is not None:
        return bool(read_subtitle_file(sidecar).utterances)
    try:
        with open_container(video) as container:
            return _text_track(container, language) is not None
    except VideoError:
        return False


def read_subtitle_file(path: Path) -> Transcript:
    """The cues of one file; the source says why there are none."""
    name = to_printable(path.name)
    try:
        if path.stat().st_size > MAX_SUBTITLE_BYTES:
            return Transcript(utterances=(), source=f"none: {name} is over 8 MB")
        text = _decode_text(path.read_bytes())
    except OSError as error:
        why = error.strerror or type(error).__name__
        return Transcript(utterances=(), source=f"none: {name} cannot be read ({why})")
    found = tuple(parse_subtitles(text))
    source = name if found else f"none: {name} holds no cue that can be read"
    return Transcript(utterances=found, source=source)


def _decode_text(data: bytes) -> str:
    """Subtitles in UTF-8, UTF-16 with its mark, Chinese GB 18030, else Western Windows."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding != "gb18030" or _is_chinese(text):
            return text
    return data.decode("cp1252", "replace")


def _is_chinese(text: str) -> bool:
    """Whether most of what is not ASCII is CJK and stands together.

    Western text read as GB 18030 is CJK too, but each character stands alone: an accented letter
    and the plain one after it.
    """
    runs = re.findall(r"[^\x00-\x7f]+", text)
    together = sum(len(run) for run in runs if len(run) > 1)
    return is_cjk("".join(runs)) and 2 * together > sum(map(len, runs))


def parse_subtitles(text: str) -> list[Utterance]:
    """The cues of SRT or WebVTT text in time order; broken cues are left out.

    A cue ends at an empty line or at the next time line.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    starts = [number for number, line in enumerate(lines) if "-->" in line]
    ends = [*starts[1:], len(lines)]
    cues = [_cue(lines, start, end) for start, end in zip(starts, ends, strict=False)]
    return sorted((cue for cue in cues if cue), key=lambda cue: cue.span.start_s)


def _cue(lines: Sequence[str], start: int, end: int) -> Utterance | None:
    """The cue whose time stands in line `start`; the next time stands in line `end`."""
    times = _TIME_LINE.search(lines[start][:_MAX_TIME_LINE])
    if times is None:
        return None
    start_s, end_s = _seconds(times.groups()[:4]), _seconds(times.groups()[4:])
    body = list(lines[start + 1 : end])
    blank = next((n for n, line in enumerate(body) if not line.strip()), None)
    if blank is None and end < len(lines) and body and body[-1].strip().isdecimal():
        body.pop()  # the number of the next cue
    return _utterance("\n".join(body[:blank]), start_s, end_s)


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds) + float(f"0.{fraction}")


def _utterance(raw: str, start_s: float, end_s: float) -> Utterance | None:
    """Markup away, speaker apart; None for music notes, bracketed sounds and no length."""
    raw = raw[:_MAX_CUE]
    voice = _VOICE.search(raw)
    text = _plain(_TAG.sub("", raw))
    speaker = _plain(voice.group(1)) if voice else ""
    named = None if voice else _SPEAKER.match(text)
    if named and _is_name(named.group(1)):
        speaker, text = named.group(1), text[named.end() :]
    text = text.strip(" ♪♫")
    if not text or _NOT_SPEECH.match(text) or end_s <= start_s:
        return None
    span = Span(start_s=start_s, end_s=end_s)
    return Utterance(span=span, text=text, speaker=speaker.strip() or None)


def _plain(text: str) -> str:
    return " ".join(to_printable(html.unescape(text)).split())


def _is_name(text: str) -> bool:
    """Up to three words, none in small letters: `Only today: ...` names nobody."""
    parts = text.split()
    return len(parts) <= _NAME_WORDS and not any(part[0].islower() for part in parts)


def _embedded(video: Path, language: str | None) -> tuple[Utterance, ...]:
    """A text subtitle track, in time order from the first picture; empty without one.

    What was read before damage is kept.
    """
    found: list[Utterance] = []
    try:
        with open_container(video) as container:
            picture = picture_track(container)
            assert picture is not None  # open_container saw to it
            zero_s = float((picture.start_time or 0) * (picture.time_base or 0))
            track = _text_track(container, language)
            for packet in packets_of(container, [track]) if track else ():
                found += _packet_lines(packet, zero_s)
    except (av.error.FFmpegError, VideoError, OSError, ValueError):
        pass
    return tuple(sorted(found, key=lambda cue: cue.span.start_s))


def _text_track(container: av.container.InputContainer, language: str | None) -> Any:
    """The first track of the wanted language, else the first that names none; None without one."""
    tracks = [track for track in container.streams.subtitles if _is_text(track)]
    if language is None:
        return next(iter(tracks), None)
    codes = [language_code(track.metadata.get("language")) for track in tracks]
    for wanted in (language_code(language), None):
        if wanted in codes:
            return tracks[codes.index(wanted)]
    return None


def _is_text(stream: Any) -> bool:
    return stream.codec_context is not None and stream.codec_context.name not in _BITMAPS


def _packet_lines(packet: Any, zero_s: float) -> Iterator[Utterance]:
    """The lines of one packet, decoded by FFmpeg as ASS; none where that fails."""
    if packet.pts is None or packet.duration is None or not packet.size:
        return
    base = float(packet.time_base)
    start_s = packet.pts * base - zero_s
    end_s = start_s + packet.duration * base
    try:
        decoded = packet.decode()
    except av.error.FFmpegError:
        return
    for subtitle in decoded:
        for rect in getattr(subtitle, "rects", [subtitle]):
            data = getattr(rect, "dialogue", b"") or getattr(rect, "text", b"")
            text = data.decode("utf-8", "replace").replace("\\N", "\n").replace("\\n", "\n")
            if spoken := _utterance(text, max(0.0, start_s), end_s):
                yield spoken
