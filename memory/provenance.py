"""What a memory depends on, where it came from, and what to warn of."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from admir.backends.base import Backend
from admir.errors import OptionError, VideoUnreadable
from admir.memory.speech_stage import SpeechStage, hearing_parts
from admir.memory.video_scan import VideoScan
from admir.perception.decode import DECODER, VideoFacts
from admir.perception.embed import Embedder
from admir.perception.ocr import TextReader
from admir.perception.speech import Transcriber, Transcript
from admir.settings import Settings
from admir.types import FORMAT_VERSION, Provenance, Usage, VideoInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A video file as it was when the build began."""

    path: Path
    sha256: str
    file_bytes: int


@dataclass(frozen=True, kw_only=True)
class BuildComponents:
    """What turns a video into a memory; another of them makes another memory.

    `deaf_because` says why there is no `transcriber`, where one is wanted.
    """

    settings: Settings
    backend: Backend
    embedder: Embedder
    reader: TextReader
    transcriber: Transcriber | None = None
    deaf_because: str = ""

    def speech_stage(
        self, path: Path, tell: Callable[[int, int], None], stop: Callable[[], bool]
    ) -> SpeechStage:
        """The speech stage of a video."""
        return SpeechStage(
            path=path,
            settings=self.settings,
            transcriber=self.transcriber,
            deaf_because=self.deaf_because,
            tell=tell,
            stop=stop,
        )

    def spent(self) -> Usage:
        """What models have cost so far in this process."""
        return self.backend.spent() + self.embedder.spent()


def read_source(path: Path) -> Source:
    """Hash a video file; raises VideoUnreadable."""
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            return Source(path=path, sha256=digest, file_bytes=stream.tell())
    except OSError as error:
        raise VideoUnreadable(f"{path.name!r} cannot be read: {error.strerror}") from None


def check_names(path: Path, metadata: Mapping[str, str]) -> None:
    """Refuse what memory.json, which is UTF-8, cannot hold: VideoUnreadable or OptionError."""
    try:
        os.path.realpath(path).encode()  # Path.resolve raises for links that go round
    except UnicodeEncodeError:
        raise VideoUnreadable(f"the name of {str(path)!r} is not UTF-8; rename it") from None
    for key, value in metadata.items():
        try:
            f"{key}{value}".encode()
        except UnicodeEncodeError:
            raise OptionError(f"the metadata {key!r} holds half a character") from None


def fingerprint_of(source: Source, metadata: Mapping[str, str], makers: BuildComponents) -> str:
    """A hash of everything that the memory depends on, but for its vectors: they are soon made."""
    settings = makers.settings
    parts = {
        "format": FORMAT_VERSION,
        "admir": version("admir"),
        "video": source.sha256,
        "hearing": hearing_parts(source.path, settings, makers.transcriber),
        "metadata": dict(metadata),
        "decoder": DECODER,
        "clip_s": settings.clip_s,
        "frame_fps": settings.frame_fps,
        "preset": settings.preset,
        "perceiver": makers.backend.perceiver.id,
        "reader": makers.reader.id,
        "screen_text": settings.screen_text,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildStats:
    """How long a build took, what it cost, what failed in it, and how wide its vectors are."""

    seconds: float
    dimensions: int
    usage: Usage
    failed: tuple[str, ...]


def provenance_of(
    fingerprint: str, makers: BuildComponents, seen: VideoScan, speech: Transcript, made: BuildStats
) -> Provenance:
    """How a memory came to be, now."""
    reads = makers.settings.screen_text != "none"
    return Provenance(
        fingerprint=fingerprint,
        admir_version=version("admir"),
        built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        preset=makers.settings.preset,
        embedder=makers.embedder.id,
        decoder=DECODER,
        dimensions=made.dimensions,
        perceiver=makers.backend.perceiver.id,
        speech_source=speech.source,
        text_source=makers.reader.id,
        recognition=speech.recognition,
        seconds=round(made.seconds, 2),
        frames_sampled=len(seen.samples),
        frames_read=sum(sample.changed for sample in seen.samples) if reads else 0,
        warnings=(
            *_warnings(seen, speech, makers.settings),
            *makers.embedder.warnings,
            *_failures(made.failed),
        ),
        models=makers.backend.models,
        usage=made.usage,
        failed=made.failed,
    )


def _failures(failed: Sequence[str]) -> list[str]:
    """What failed as warnings: the first in its words, the others by their number."""
    if not failed:
        return []
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return [f"{failed[0]}{more}; the same build command tries again what failed"]


def _warnings(seen: VideoScan, speech: Transcript, settings: Settings) -> list[str]:
    found = []
    facts = seen.facts
    if facts.broken_at_s is not None:
        stated = f" of {facts.stated_duration_s:.1f} s stated" if facts.stated_duration_s else ""
        found.append(f"the file breaks off: only {facts.broken_at_s:.1f} s{stated} can be read")
    if facts.frame_count == 1:
        found.append("the file holds one picture: nothing in it moves")
    found += speech.warnings
    if not speech.is_known:
        found.append(f"speech is unknown ({speech.source.removeprefix('none: ')})")
    if settings.screen_text == "none":
        found.append("on-screen text was not read (switched off)")
    if facts.audio is None:
        found.append("the video has no sound track")
    return found


def video_info(
    video_id: str, source: Source, metadata: Mapping[str, str], facts: VideoFacts
) -> VideoInfo:
    """The facts of the video, as the memory keeps them."""
    return VideoInfo(
        id=video_id,
        path=str(source.path.resolve()),
        sha256=source.sha256,
        duration_s=round(facts.duration_s, 3),
        width=facts.width,
        height=facts.height,
        fps=round(facts.fps, 3),
        file_bytes=source.file_bytes,
        stated_duration_s=facts.stated_duration_s,
        audio=facts.audio,
        metadata=dict(metadata),
    )
