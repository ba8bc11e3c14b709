"""Speech with times, from subtitles beside the video or inside it.

A subtitle may name its speaker as `Name: text` or, in WebVTT, `<v Name>text`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av

from admir.types import Span, Utterance

SIDECARS = (".srt", ".vtt")
MAX_SUBTITLE_BYTES = 8_000_000

_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_CUE = re.compile(rf"{_TIME}\s*-->\s*{_TIME}[^\n]*\n(.*?)(?=\n\s*\n|\Z)", re.DOTALL)
_VOICE = re.compile(r"<v(?:\.[\w.]+)?\s+([^>]+)>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>|\{\\[^}]*\}")
_SPEAKER = re.compile(r"^(?:[-–]\s*)?([^\W\d_][\w .'’-]{0,30}):\s+(?=\S)")
_NOT_SPEECH = re.compile(r"^[\s♪♫\[\](){}*#.\-–—]*$|^[\[(][^\])]*[\])]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Utterances in time order and where they come from, in words for the provenance."""

    utterances: tuple[Utterance, ...]
    source: str


def sidecar_of(video: Path) -> Path | None:
    """`ad.srt` or `ad.vtt` beside `ad.mp4`, if there is one."""
    return next((p for s in SIDECARS if (p := video.with_suffix(s)).is_file()), None)


def read_subtitles(video: Path) -> Transcript:
    """The subtitles of a video: the file beside it, else the first text track inside it.

    A subtitle file that cannot be read counts as none, and the source says so.
    """
    sidecar = sidecar_of(video)
    if sidecar is not None:
        return _read_sidecar(sidecar)
    inside = tuple(_embedded(video))
    if inside:
        return Transcript(utterances=inside, source="subtitle track inside the video")
    return Transcript(utterances=(), source="none: no subtitles beside or inside the video")


def _read_sidecar(path: Path) -> Transcript:
    try:
        if path.stat().st_size > MAX_SUBTITLE_BYTES:
            return Transcript(utterances=(), source=f"none: {path.name} is over 8 MB")
        text = _decode_text(path.read_bytes())
    except OSError as error:
        return Transcript(utterances=(), source=f"none: {path.name} cannot be read ({error})")
    found = tuple(parse_subtitles(text))
    source = path.name if found else f"none: {path.name} holds no cue that can be read"
    return Transcript(utterances=found, source=source)


def _decode_text(data: bytes) -> str:
    for encoding in (
        "utf-8-sig",
        "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "gb18030",
    ):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def parse_subtitles(text: str) -> list[Utterance]:
    """The cues of SRT or WebVTT text in time order; broken cues are left out."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    cues = [cue for match in _CUE.finditer(text) if (cue := _cue(match))]
    return sorted(cues, key=lambda cue: cue.span.start_s)


def _cue(match: re.Match[str]) -> Utterance | None:
    start, end = _seconds(match.groups()[0:4]), _seconds(match.groups()[4:8])
    return _utterance(match.group(9), start, end) if end > start else None


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds) + float(f"0.{fraction}")


def _utterance(raw: str, start_s: float, end_s: float) -> Utterance | None:
    """Markup away, speaker apart; None for music notes and bracketed sounds."""
    voice = _VOICE.search(raw)
    text = " ".join(html.unescape(_TAG.sub("", raw)).split())
    named = _SPEAKER.match(text)
    speaker = voice.group(1).strip() if voice else named.group(1) if named else None
    text = text[named.end() :] if named and not voice else text
    text = text.strip(" ♪♫")
    if not text or _NOT_SPEECH.match(text):
        return None
    return Utterance(span=Span(start_s=start_s, end_s=end_s), text=text, speaker=speaker)


def _embedded(video: Path) -> Iterator[Utterance]:
    """The first text subtitle track, decoded by FFmpeg as ASS lines."""
    try:
        with av.open(str(video)) as container:
            if not container.streams.subtitles:
                return
            for packet in container.demux(container.streams.subtitles[0]):
                if packet.pts is None or packet.duration is None or not packet.size:
                    continue
                yield from _packet_lines(packet)
    except (av.error.FFmpegError, OSError, ValueError):
        return


def _packet_lines(packet: Any) -> Iterator[Utterance]:
    base = float(packet.time_base)
    start, end = packet.pts * base, (packet.pts + packet.duration) * base
    for subtitle in packet.decode():
        for rect in getattr(subtitle, "rects", [subtitle]):
            data = getattr(rect, "dialogue", b"") or getattr(rect, "text", b"")
            text = data.decode("utf-8", "replace").replace("\\N", "\n").replace("\\n", "\n")
            if spoken := _utterance(text, start, end):
                yield spoken
