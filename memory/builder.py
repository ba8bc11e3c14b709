"""From a video file to a memory: the main flow of `admir build-memory`.

    hash -> decode (shots, frames, sound) -> read text -> faces -> speech -> caption clips
         -> merge subjects -> narrate -> embed -> store

Every finished piece is journaled, so that a killed build goes on where it was.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from admir.backends.base import Caption, ClipView, Story
from admir.concurrency import in_thread, stream_events
from admir.errors import MemoryDamaged, MemoryStoreError, UnknownVideo, writing
from admir.memory.blocks import text_blocks
from admir.memory.index import check_vectors
from admir.memory.journal import Journal
from admir.memory.people import find_people
from admir.memory.provenance import (
    Makers,
    Source,
    check_names,
    fingerprint_of,
    provenance_of,
    read_source,
    video_info,
)
from admir.memory.reading import TextStage
from admir.memory.store import MemoryStore
from admir.memory.survey import Sample, Survey, load_thumbs, survey
from admir.perception.decode import open_container
from admir.perception.embed import Vectors
from admir.perception.look import merge_looks
from admir.perception.speech import Transcript, read_subtitles
from admir.trace import BuildEvent, BuildProgress, Built
from admir.types import (
    Clip,
    Memory,
    Narrative,
    ScreenText,
    Subject,
    clip_spans,
    text_clip,
)

CAPTION_FRAMES = 5
_SCRATCH = ("journal.jsonl", "thumbs.npz")

T = TypeVar("T")

# Journaled JSON as the frozen data it was; made once, for each takes milliseconds.
_SURVEY = TypeAdapter(Survey)
_CAPTION = TypeAdapter(Caption)
_SUBJECTS = TypeAdapter(tuple[Subject, ...])
_NARRATIVE = TypeAdapter(Narrative)


@dataclass(frozen=True, kw_only=True)
class Builder(Makers):
    """Everything a build needs, made once at the entry."""

    store: MemoryStore

    def build(self, path: Path, metadata: Mapping[str, str] | None) -> AsyncIterator[BuildEvent]:
        """Build the memory of one video; the last event is `Built`.

        `metadata` None keeps that of the stored memory. Closing the iterator stops the build,
        waits for its threads and keeps what is done. Raises OptionError, VideoError,
        BuildInProgress, MemoryVersionError, MemoryStoreError or BackendUnavailable.
        """

        async def run(emit: Callable[[BuildEvent], None]) -> None:
            await _Build(self, path, metadata, emit).run()

        return stream_events(run)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is built, under which id, in which folder."""

    video_id: str
    source: Source
    metadata: Mapping[str, str]
    fingerprint: str
    folder: Path


@dataclass
class _Build:
    """One build under way."""

    tools: Builder
    path: Path
    given: Mapping[str, str] | None
    emit: Callable[[BuildEvent], None]
    seconds: dict[str, float] = field(default_factory=dict)
    stopped: bool = False
    started: float = field(default_factory=time.monotonic)

    async def run(self) -> None:
        try:
            await self._run()
        except OSError as error:
            raise MemoryStoreError(f"the build of {self.path.name!r} failed: {error}") from None

    async def _run(self) -> None:
        check_names(self.path, self.given or {})
        open_container(self.path).close()
        source = await self._timed("hash", self._thread(partial(read_source, self.path)))
        store = self.tools.store
        video_id = store.id_for(self.path, source.sha256)
        memory = self._fresh(video_id, source)
        if memory is not None:  # nothing is written, so that a read-only memory will do
            self.emit(Built(memory=memory, reused=True, stage_seconds=self.seconds))
            return
        with store.building(video_id):
            memory = self._fresh(video_id, source)  # another builder may have ended meanwhile
            reused = memory is not None
            if memory is None:
                memory = await self._make(self._plan(video_id, source))
        self.emit(Built(memory=memory, reused=reused, stage_seconds=self.seconds))

    def _plan(self, video_id: str, source: Source) -> _Plan:
        metadata = self._metadata(self._known(video_id))
        fingerprint = fingerprint_of(source, metadata, self.tools)
        return _Plan(
            video_id=video_id,
            source=source,
            metadata=metadata,
            fingerprint=fingerprint,
            folder=self.tools.store.partial(video_id, fingerprint),
        )

    def _fresh(self, video_id: str, source: Source) -> Memory | None:
        """The stored memory, where a build would only make it again."""
        known = self._known(video_id)
        fingerprint = fingerprint_of(source, self._metadata(known), self.tools)
        return known if known is not None and self._is_fresh(known, fingerprint) else None

    async def _make(self, plan: _Plan) -> Memory:
        """The stages, in order."""
        journal = Journal(plan.folder / _SCRATCH[0])
        seen = await self._timed("decode", self._survey(plan.folder, journal))
        lines = await self._timed("read text", self._read(seen, plan.folder, journal))
        look = partial(find_people, seen, plan.folder, journal, tell=self._progress)
        people = await self._timed("faces", self._thread(partial(look, stop=lambda: self.stopped)))
        speech = await self._timed("speech", self._thread(partial(read_subtitles, self.path)))
        clips, views = self._clips(plan.video_id, seen, lines, speech)
        captions = await self._timed("caption", self._caption(views, journal))
        pairs = zip(clips, captions, strict=True)
        subjects = await self._timed("merge", self._merge(people, captions, journal))
        story = Story(
            video=video_info(plan.video_id, plan.source, plan.metadata, seen.facts),
            clips=tuple(replace(clip, caption=caption.description) for clip, caption in pairs),
            shots=seen.shots,
            screen_text=text_blocks(lines),
            utterances=speech.utterances,
            subjects=subjects,
        )
        narrative = await self._timed("narrate", self._narrate(story, journal))
        texts = [clip.index_text for clip in story.clips]
        encode = partial(self.tools.embedder.encode, texts)
        vectors = await self._timed("embed", self._thread(encode))
        seconds = time.monotonic() - self.started
        memory = Memory(
            video=story.video,
            clips=story.clips,
            narrative=narrative,
            provenance=provenance_of(plan.fingerprint, self.tools, seen, speech, seconds),
            shots=seen.shots,
            frames=tuple(sample.frame for sample in seen.samples),
            screen_text=lines,
            utterances=speech.utterances,
            subjects=subjects,
        )
        publish = partial(self._publish, plan.folder, memory, vectors)
        return await self._timed("store", self._thread(publish))

    def _publish(self, folder: Path, memory: Memory, vectors: Vectors) -> Memory:
        """Scratch files go last: a build killed before would have to start anew without them."""
        stored = self.tools.store.publish(folder, memory, vectors)
        for scratch in _SCRATCH:
            with suppress(OSError):
                (Path(stored.folder) / scratch).unlink(missing_ok=True)
        return stored

    def _known(self, video_id: str) -> Memory | None:
        """The stored memory, if it can be read."""
        try:
            return self.tools.store.read(video_id)
        except (UnknownVideo, MemoryDamaged):
            return None

    def _metadata(self, known: Memory | None) -> dict[str, str]:
        if self.given is not None:
            return dict(self.given)
        return dict(known.video.metadata) if known else {}

    def _is_fresh(self, known: Memory, fingerprint: str) -> bool:
        """Whether a build would only make the stored memory again."""
        if known.provenance.fingerprint != fingerprint or not Path(known.video.path).is_file():
            return False
        try:
            vectors = self.tools.store.vectors(known)
            check_vectors(known, vectors, self.tools.embedder)
        except MemoryDamaged:
            return False
        return True

    async def _survey(self, folder: Path, journal: Journal) -> Survey:
        """The survey of the journal, if the files that it speaks of are whole, else a new one."""
        if (plain := journal.get("survey")) is not None:
            stored = _SURVEY.validate_python(plain)
            if await self._thread(partial(_is_whole, folder, stored)):
                return stored
        seen = await self._walk(folder)
        journal.put("survey", to_jsonable_python(seen))
        return seen

    async def _walk(self, folder: Path) -> Survey:
        with open_container(self.path) as container:
            stated = (container.duration or 0) / 1_000_000

        def work() -> Survey:
            with writing(folder):
                return survey(
                    self.path,
                    folder,
                    sample_fps=self.tools.settings.frame_fps,
                    stated_s=stated,
                    tell=lambda time_s: self._progress("decode", int(time_s), int(stated)),
                    stop=lambda: self.stopped,
                )

        return await self._thread(work)

    async def _read(self, seen: Survey, folder: Path, journal: Journal) -> tuple[ScreenText, ...]:
        stage = TextStage(
            reader=self.tools.reader,
            workers=self.tools.settings.workers,
            tell=partial(self._progress, "read text"),
            stop=lambda: self.stopped,
        )
        return await self._thread(partial(stage.run, seen, folder, journal))

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
                frames=tuple(s.frame for s in _spread(inside, CAPTION_FRAMES)),
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
        """A caption a clip, a few at a time; the first error ends the others."""
        limit = asyncio.Semaphore(self.tools.settings.workers)
        finished = 0

        async def one(view: ClipView) -> Caption:
            nonlocal finished
            async with limit:
                caption = self.tools.mind.perceiver.caption
                key = f"caption:{view.clip.index}"
                done = await self._once(journal, key, _CAPTION, partial(caption, view))
            finished += 1
            self._progress("caption", finished, len(views))
            return done

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(view)) for view in views]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _merge(
        self, people: Sequence[Subject], captions: Sequence[Caption], journal: Journal
    ) -> tuple[Subject, ...]:
        merge = self.tools.mind.perceiver.merge_subjects
        work = partial(merge, [people, *(caption.subjects for caption in captions)])
        return await self._once(journal, "subjects", _SUBJECTS, work)

    async def _narrate(self, story: Story, journal: Journal) -> Narrative:
        work = partial(self.tools.mind.perceiver.narrate, story)
        return await self._once(journal, "narrative", _NARRATIVE, work)

    async def _once(
        self, journal: Journal, key: str, kind: TypeAdapter[T], work: Callable[[], Awaitable[T]]
    ) -> T:
        """The journaled piece of work, done now where it is not there yet."""
        if key not in journal:
            journal.put(key, to_jsonable_python(await work()))
        return kind.validate_python(journal[key])

    async def _thread(self, work: Callable[[], T]) -> T:
        """Run in a thread, which a cancelled build waits for before it frees its lock."""

        def stop() -> None:
            self.stopped = True

        return await in_thread(work, stop)

    async def _timed(self, stage: str, work: Awaitable[T]) -> T:
        self._progress(stage, 0, 0)
        started = time.monotonic()
        try:
            return await work
        finally:
            self.seconds[stage] = round(time.monotonic() - started, 3)

    def _progress(self, stage: str, done: int, total: int) -> None:
        self.emit(BuildProgress(stage=stage, done=done, total=total))


def _is_whole(folder: Path, seen: Survey) -> bool:
    """Whether a power cut left the files of a survey whole."""
    try:
        load_thumbs(folder)
        return all(_is_jpeg((folder / s.frame.file).read_bytes()) for s in seen.samples)
    except Exception:  # noqa: BLE001 - a torn archive raises whatever zip, zlib and NumPy raise
        return False


def _is_jpeg(data: bytes) -> bool:
    return data.startswith(b"\xff\xd8") and data.endswith(b"\xff\xd9")


def _spread(samples: Sequence[Sample], most: int) -> list[Sample]:
    """At most so many, evenly over the whole, the first and the last among them."""
    if len(samples) <= most:
        return list(samples)
    return [samples[round(n * (len(samples) - 1) / (most - 1))] for n in range(most)]
