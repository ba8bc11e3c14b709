"""From a video file to a memory: the main flow of `admir build-memory`.

    hash -> decode (shots, frames, sound) -> read text -> caption clips -> merge subjects
         -> narrate -> embed -> store

Every finished piece is journaled, so that a killed build goes on where it was.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from admir.backends.base import Caption, ClipView, Mind, Story
from admir.concurrency import stream_events
from admir.errors import MemoryDamaged, MemoryStoreError, UnknownVideo
from admir.memory.blocks import text_blocks
from admir.memory.journal import Journal
from admir.memory.store import MemoryStore
from admir.memory.survey import Survey, load_thumbs, survey
from admir.perception.decode import load_image, open_container
from admir.perception.embed import Embedder, Vectors
from admir.perception.look import merge_looks
from admir.perception.ocr import TextLine, TextReader
from admir.perception.screen_text import Reading, follow_lines
from admir.perception.speech import Transcript, read_subtitles, sidecar_of
from admir.settings import Settings
from admir.trace import BuildEvent, BuildProgress, Built
from admir.types import (
    FORMAT_VERSION,
    Clip,
    Memory,
    Narrative,
    Provenance,
    ScreenText,
    Span,
    Subject,
    VideoInfo,
    clip_spans,
    text_clip,
)

CAPTION_FRAMES = 5

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Builder:
    """Everything a build needs, made once at the entry."""

    settings: Settings
    store: MemoryStore
    mind: Mind
    embedder: Embedder
    reader: TextReader

    def build(self, path: Path, metadata: Mapping[str, str]) -> AsyncIterator[BuildEvent]:
        """Build the memory of one video; the last event is `Built`.

        Closing the iterator stops the build and keeps what is done. Raises VideoError,
        BuildInProgress, MemoryVersionError or MemoryStoreError.
        """

        async def run(emit: Callable[[BuildEvent], None]) -> None:
            await _Build(self, path, dict(metadata), emit).run()

        return stream_events(run)


@dataclass
class _Build:
    """One build under way."""

    tools: Builder
    path: Path
    metadata: dict[str, str]
    emit: Callable[[BuildEvent], None]
    seconds: dict[str, float] = field(default_factory=dict)
    stopped: bool = False

    async def run(self) -> None:
        started = time.monotonic()
        open_container(self.path).close()
        sha256 = await self._timed("hash", asyncio.to_thread(_sha256, self.path))
        fingerprint = self._fingerprint(sha256)
        store = self.tools.store
        video_id = store.id_for(self.path, sha256)
        with store.building(video_id):
            if (known := self._fresh(video_id, fingerprint)) is not None:
                self.emit(Built(memory=known, reused=True, stage_seconds=self.seconds))
                return
            folder = store.partial(video_id, fingerprint)
            try:
                memory = await self._make(video_id, sha256, fingerprint, folder, started)
            except OSError as error:
                raise MemoryStoreError(f"cannot write to {folder}: {error}") from None
            finally:
                self.stopped = True
        self.emit(Built(memory=memory, reused=False, stage_seconds=self.seconds))

    async def _make(
        self, video_id: str, sha256: str, fingerprint: str, folder: Path, started: float
    ) -> Memory:
        """The stages, in order."""
        journal = Journal(folder / "journal.jsonl")
        seen = await self._timed("decode", self._survey(folder, journal))
        lines = await self._timed("read text", self._read(seen, folder, journal))
        speech = await self._timed("speech", asyncio.to_thread(read_subtitles, self.path))
        clips, views = self._clips(video_id, seen, lines, speech)
        captions = await self._timed("caption", self._caption(views, journal))
        clips = [_captioned(clip, c) for clip, c in zip(clips, captions, strict=True)]
        subjects = await self._timed("merge", self._merge(captions, journal))
        video = self._video(video_id, sha256, seen)
        story = Story(
            video=video,
            clips=tuple(clips),
            shots=seen.shots,
            screen_text=text_blocks(lines),
            utterances=speech.utterances,
            subjects=subjects,
        )
        narrative = await self._timed("narrate", self._narrate(story, journal))
        texts = [clip.index_text for clip in clips]
        vectors = await self._timed("embed", asyncio.to_thread(self.tools.embedder.encode, texts))
        memory = Memory(
            video=video,
            clips=tuple(clips),
            narrative=narrative,
            provenance=self._provenance(fingerprint, seen, speech, time.monotonic() - started),
            shots=seen.shots,
            frames=tuple(sample.frame for sample in seen.samples),
            screen_text=lines,
            utterances=speech.utterances,
            subjects=subjects,
        )
        return await self._timed("store", asyncio.to_thread(self._publish, folder, memory, vectors))

    def _publish(self, folder: Path, memory: Memory, vectors: Vectors) -> Memory:
        for scratch in ("journal.jsonl", "thumbs.npz"):
            (folder / scratch).unlink(missing_ok=True)
        return self.tools.store.publish(folder, memory, vectors)

    def _fresh(self, video_id: str, fingerprint: str) -> Memory | None:
        """The stored memory, if a build would only make it again."""
        try:
            known = self.tools.store.read(video_id)
        except (UnknownVideo, MemoryDamaged):
            return None
        same = known.provenance.fingerprint == fingerprint
        return known if same and Path(known.video.path).is_file() else None

    def _fingerprint(self, sha256: str) -> str:
        """Everything that the memory depends on."""
        sidecar = sidecar_of(self.path)
        settings = self.tools.settings
        parts = {
            "format": FORMAT_VERSION,
            "admir": version("admir"),
            "video": sha256,
            "subtitles": _sha256(sidecar) if sidecar else None,
            "metadata": self.metadata,
            "clip_s": settings.clip_s,
            "frame_fps": settings.frame_fps,
            "preset": settings.preset,
            "perceiver": self.tools.mind.perceiver.id,
            "reader": self.tools.reader.id,
            "embedder": self.tools.embedder.id,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    async def _survey(self, folder: Path, journal: Journal) -> Survey:
        if "survey" not in journal:
            journal.put("survey", to_jsonable_python(await self._walk(folder)))
        return _revive(Survey, journal["survey"])

    async def _walk(self, folder: Path) -> Survey:
        with open_container(self.path) as container:
            stated = (container.duration or 0) / 1_000_000
        found = await asyncio.to_thread(
            survey,
            self.path,
            folder,
            sample_fps=self.tools.settings.frame_fps,
            stated_s=stated,
            tell=lambda time_s: self._progress("decode", int(time_s), int(stated)),
            stop=lambda: self.stopped,
        )
        if self.stopped:
            raise asyncio.CancelledError
        return found

    async def _read(self, seen: Survey, folder: Path, journal: Journal) -> tuple[ScreenText, ...]:
        """OCR of the frames that changed, on a few threads, then lines followed over time."""
        wanted = [s.frame.file for s in seen.samples if s.changed]
        todo = [file for file in wanted if file not in journal]
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(self.tools.settings.workers, "admir-ocr") as pool:
            jobs = [loop.run_in_executor(pool, self._read_one, folder, f, journal) for f in todo]
            try:
                for done, job in enumerate(asyncio.as_completed(jobs), len(wanted) - len(todo) + 1):
                    await job
                    self._progress("read text", done, len(wanted))
            finally:
                self.stopped = self.stopped or any(not job.done() for job in jobs)
        readings = _readings(seen, journal)
        cuts = [shot.span.start_s for shot in seen.shots[1:]]
        whole = Span(start_s=0.0, end_s=seen.facts.duration_s)
        return await asyncio.to_thread(follow_lines, readings, whole, load_thumbs(folder), cuts)

    def _read_one(self, folder: Path, file: str, journal: Journal) -> None:
        if not self.stopped:
            journal.put(file, to_jsonable_python(self.tools.reader.read(load_image(folder / file))))

    def _clips(
        self, video_id: str, seen: Survey, lines: Sequence[ScreenText], speech: Transcript
    ) -> tuple[list[Clip], list[ClipView]]:
        """Clips with their speech, text, look and frames, and the views to caption."""
        blocks = text_blocks(lines)
        clips, views = [], []
        for index, span in enumerate(clip_spans(seen.facts.duration_s, self.tools.settings.clip_s)):
            inside = [s for s in seen.samples if span.contains(s.frame.time_s)]
            clip = replace(
                text_clip(video_id, index, span, blocks, speech.utterances),
                look=merge_looks([s.look for s in inside]),
                frames=tuple(s.frame for s in inside[:CAPTION_FRAMES]),
            )
            clips.append(clip)
            views.append(
                ClipView(
                    clip=clip,
                    utterances=tuple(u for u in speech.utterances if u.span.overlap_s(span) > 0),
                    shot_count=sum(s.span.overlap_s(span) > 0 for s in seen.shots),
                )
            )
        return clips, views

    async def _caption(self, views: Sequence[ClipView], journal: Journal) -> list[Caption]:
        limit = asyncio.Semaphore(self.tools.settings.workers)
        finished = 0

        async def one(view: ClipView) -> Caption:
            nonlocal finished
            key = f"caption:{view.clip.index}"
            if key not in journal:
                async with limit:
                    journal.put(
                        key, to_jsonable_python(await self.tools.mind.perceiver.caption(view))
                    )
            finished += 1
            self._progress("caption", finished, len(views))
            return _revive(Caption, journal[key])

        return list(await asyncio.gather(*(one(view) for view in views)))

    async def _merge(self, captions: Sequence[Caption], journal: Journal) -> tuple[Subject, ...]:
        if "subjects" not in journal:
            partial = [caption.subjects for caption in captions]
            merged = await self.tools.mind.perceiver.merge_subjects(partial)
            journal.put("subjects", to_jsonable_python(merged))
        return _revive(tuple[Subject, ...], journal["subjects"])

    async def _narrate(self, story: Story, journal: Journal) -> Narrative:
        if "narrative" not in journal:
            journal.put(
                "narrative", to_jsonable_python(await self.tools.mind.perceiver.narrate(story))
            )
        return _revive(Narrative, journal["narrative"])

    def _video(self, video_id: str, sha256: str, seen: Survey) -> VideoInfo:
        facts = seen.facts
        return VideoInfo(
            id=video_id,
            path=str(self.path.resolve()),
            sha256=sha256,
            duration_s=round(facts.duration_s, 3),
            width=facts.width,
            height=facts.height,
            fps=round(facts.fps, 3),
            file_bytes=self.path.stat().st_size,
            stated_duration_s=facts.stated_duration_s,
            audio=facts.audio,
            metadata=self.metadata,
        )

    def _provenance(
        self, fingerprint: str, seen: Survey, speech: Transcript, seconds: float
    ) -> Provenance:
        return Provenance(
            fingerprint=fingerprint,
            admir_version=version("admir"),
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
            preset=self.tools.settings.preset,
            embedder=self.tools.embedder.id,
            perceiver=self.tools.mind.perceiver.id,
            speech_source=speech.source,
            text_source=self.tools.reader.id,
            seconds=round(seconds, 2),
            frames_sampled=len(seen.samples),
            frames_read=sum(sample.changed for sample in seen.samples),
            warnings=tuple(_warnings(seen, speech)),
        )

    async def _timed(self, stage: str, work: Awaitable[T]) -> T:
        self._progress(stage, 0, 0)
        started = time.monotonic()
        try:
            return await work
        finally:
            self.seconds[stage] = round(time.monotonic() - started, 3)

    def _progress(self, stage: str, done: int, total: int) -> None:
        self.emit(BuildProgress(stage=stage, done=done, total=total))


def _readings(seen: Survey, journal: Journal) -> list[Reading]:
    """A reading a sample; a frame that did not change repeats the lines before it."""
    readings: list[Reading] = []
    lines: tuple[TextLine, ...] = ()
    for sample in seen.samples:
        if sample.changed:
            lines = _revive(tuple[TextLine, ...], journal[sample.frame.file])
        readings.append(Reading(time_s=sample.frame.time_s, lines=lines))
    return readings


def _captioned(clip: Clip, caption: Caption) -> Clip:
    return replace(clip, caption=caption.description)


def _warnings(seen: Survey, speech: Transcript) -> list[str]:
    found = []
    facts = seen.facts
    if facts.broken_at_s is not None:
        stated = f" of {facts.stated_duration_s:.1f} s stated" if facts.stated_duration_s else ""
        found.append(f"the file breaks off: only {facts.broken_at_s:.1f} s{stated} can be read")
    if not speech.utterances:
        found.append(f"speech is unknown ({speech.source.removeprefix('none: ')})")
    if facts.audio is None:
        found.append("the video has no sound track")
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _revive(kind: type[T], plain: Any) -> T:
    """Journaled JSON as the frozen data it was."""
    return TypeAdapter(kind).validate_python(plain)
