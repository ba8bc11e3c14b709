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
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from admir.backends.base import Caption, CaptionRequest, MergedSubjects, NarrationInput
from admir.concurrency import in_thread, stream_events
from admir.errors import MemoryStoreError, ModelError
from admir.memory.build_plan import Plan, Planner
from admir.memory.caption_stage import Captioned, Captioning, with_captions
from admir.memory.clip_analysis import ClipAnalysis, digest, make_clips, uncaptioned, view_of
from admir.memory.clip_stream import ClipFeed
from admir.memory.decode_stage import WalkStage, shown_smaller, stated_duration_s
from admir.memory.embedding import embed_clips, reembed
from admir.memory.face_stage import find_people
from admir.memory.ocr_correction import apply_corrections
from admir.memory.ocr_stage import TextStage
from admir.memory.provenance import (
    BuildComponents,
    BuildStats,
    check_names,
    provenance_of,
    read_source,
    video_info,
)
from admir.memory.store import MemoryStore
from admir.memory.text_blocks import text_blocks
from admir.memory.usage_journal import UsageJournal
from admir.memory.video_scan import SampledFrame, SurveyListener, VideoScan
from admir.perception.decode import open_container
from admir.perception.embed import Vectors
from admir.perception.speech import Transcript
from admir.trace import BuildEvent, BuildProgress, Built
from admir.types import (
    Clip,
    Memory,
    Narrative,
    ScreenText,
    Shot,
    clip_spans,
)

_SCRATCH = ("journal.jsonl", "thumbs.npz")

T = TypeVar("T")

# Journaled JSON as the frozen data it was; made once, for each takes milliseconds.
_CAPTION = TypeAdapter(Caption)
_MERGED = TypeAdapter(MergedSubjects)
_NARRATIVE = TypeAdapter(Narrative)


@dataclass(frozen=True, kw_only=True)
class Builder(BuildComponents):
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
class _InLoop:
    """Hands on what a pass tells, from its thread to the event loop."""

    loop: asyncio.AbstractEventLoop
    feed: ClipFeed

    def add(self, sample: SampledFrame) -> None:
        """See `SurveyListener`."""
        self.loop.call_soon_threadsafe(self.feed.add, sample)

    def settle(self, shots: Sequence[Shot], until_s: float) -> None:
        """See `SurveyListener`."""
        self.loop.call_soon_threadsafe(self.feed.settle, tuple(shots), until_s)


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
    clip_count: int = 0

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
        planner = Planner(store=store, makers=self.tools, source=source, given=self.given)
        video_id = store.id_for(self.path, source.sha256)
        memory = planner.fresh(video_id)
        if memory is not None:  # nothing is written, so that a read-only memory will do
            self._end(memory, reused=True)
            return
        with store.building(video_id):
            memory = planner.fresh(video_id)  # another builder may have ended meanwhile
            reused = memory is not None
            reason = "" if reused else planner.rebuild_reason(video_id)
            memory = memory or await self._built(planner, video_id)
        self._end(memory, reused=reused, reason=reason)

    def _end(self, memory: Memory, *, reused: bool, reason: str = "") -> None:
        """Tell what was built, or was there, as people have corrected it."""
        shown = self.tools.store.corrected(memory)
        end = Built(memory=shown, reused=reused, stage_seconds=self.seconds, rebuilt_because=reason)
        self.emit(end)

    async def _built(self, planner: Planner, video_id: str) -> Memory:
        """A new build; where only the vectors differ, of the memory that is there."""
        known = planner.but_for_vectors(video_id)
        if known is None:
            return await self._make(planner.plan(video_id))
        again = partial(
            reembed,
            self.tools.store,
            known,
            self.tools.embedder,
            tell=partial(self._progress, "embed"),
            stop=lambda: self.stopped,
        )
        return await self._timed("embed", self._thread(again))

    async def _make(self, plan: Plan) -> Memory:
        """The stages, in order."""
        journal = UsageJournal(plan.folder / _SCRATCH[0], self.tools.spent)
        tell = partial(self._progress, "speech")
        hearing = self.tools.speech_stage(self.path, tell, lambda: self.stopped)
        speech = await self._timed("speech", self._thread(partial(hearing.run, journal)))
        looks = self.tools.backend.perceiver.looks
        describe = self._looked_at if looks else self._measured
        told = await describe(plan, journal, speech)
        merged = await self._timed("merge", self._merge(told, journal))
        story = NarrationInput(
            video=video_info(plan.video_id, plan.source, plan.metadata, told.seen.facts),
            clips=told.clips,
            shots=told.seen.shots,
            screen_text=text_blocks(told.lines),
            utterances=speech.utterances,
            subjects=merged.subjects,
            speech_known=speech.is_known,
        )
        narrative, untold = await self._timed("narrate", self._narrate(story, journal))
        embed = partial(
            embed_clips,
            story.clips,
            self.tools.embedder,
            tell=partial(self._progress, "embed"),
            stop=lambda: self.stopped,
        )
        vectors = await self._timed("embed", self._thread(embed))
        failed = (*told.failed, *(why for why in (merged.failed, untold) if why))
        made = BuildStats(
            seconds=time.monotonic() - self.started,
            dimensions=vectors.shape[1],
            usage=journal.spent(),
            failed=failed,
        )
        memory = Memory(
            video=story.video,
            clips=story.clips,
            narrative=narrative,
            provenance=provenance_of(plan.fingerprint, self.tools, told.seen, speech, made),
            shots=told.seen.shots,
            frames=tuple(sample.frame for sample in told.seen.samples),
            screen_text=told.lines,
            utterances=speech.utterances,
            subjects=merged.subjects,
        )
        publish = partial(self._publish, plan.folder, memory, vectors)
        return await self._timed("store", self._thread(publish))

    async def _measured(
        self, plan: Plan, journal: UsageJournal, speech: Transcript
    ) -> ClipAnalysis:
        """For a backend that does not look: everything is measured before a clip is captioned."""
        seen = await self._timed("decode", self._survey(plan.folder, journal))
        lines = await self._timed("read text", self._read(seen, plan.folder, journal))
        look = partial(find_people, seen, plan.folder, journal, tell=self._progress)
        people = await self._timed("faces", self._thread(partial(look, stop=lambda: self.stopped)))
        clips = self._clips(plan, seen, lines, speech)
        views = [view_of(clip, seen, speech.utterances) for clip in clips]
        captions = await self._timed("caption", self._caption(views, journal))
        return ClipAnalysis(
            seen=seen,
            lines=lines,
            clips=with_captions(clips, Captioned(captions=captions, failed={})),
            registries=(people, *(caption.subjects for caption in captions)),
        )

    async def _looked_at(
        self, plan: Plan, journal: UsageJournal, speech: Transcript
    ) -> ClipAnalysis:
        """For a backend that looks: clips are captioned while the video is decoded."""
        captioning = Captioning(
            video_id=plan.video_id,
            perceiver=self.tools.backend.perceiver,
            utterances=speech.utterances,
            speech_known=speech.is_known,
            reading=self._text_stage(),
            workers=self.tools.settings.workers,
            smaller=shown_smaller(self.path, self.tools.backend.perceiver.caption_side),
            folder=plan.folder,
            journal=journal,
            tell=lambda done: self._progress("caption", done, self.clip_count),
            give_up=self._stop,
            keep=journal.keep,
        )
        feed = ClipFeed(clip_s=self.tools.settings.clip_s, give=captioning.begin)
        try:
            listener = _InLoop(loop=asyncio.get_running_loop(), feed=feed)
            seen = await self._timed("decode", self._survey(plan.folder, journal, listener))
            spans = clip_spans(seen.facts.duration_s, self.tools.settings.clip_s)
            self.clip_count = len(spans)
            feed.close(spans)
            captioned = await self._timed("caption", captioning.results())
        finally:
            await captioning.cancel()
        lines = await self._timed("read text", self._read(seen, plan.folder, journal))
        lines = apply_corrections(lines, spans, captioned.captions)
        clips = with_captions(self._clips(plan, seen, lines, speech), captioned)
        return ClipAnalysis(
            seen=seen,
            lines=lines,
            clips=clips,
            registries=tuple(caption.subjects for caption in captioned.captions),
            failed=(*uncaptioned(clips), *captioned.unread),
        )

    def _publish(self, folder: Path, memory: Memory, vectors: Vectors) -> Memory:
        """Scratch files go last: a build killed before would have to start anew without them.

        Where something failed they stay: the next build goes on from them.
        """
        stored = self.tools.store.publish(folder, memory, vectors)
        for scratch in () if memory.provenance.failed else _SCRATCH:
            with suppress(OSError):
                (Path(stored.folder) / scratch).unlink(missing_ok=True)
        return stored

    async def _survey(
        self, folder: Path, journal: UsageJournal, listener: SurveyListener | None = None
    ) -> VideoScan:
        """The decode pass over the video; `listener` is called from another thread."""
        settings = self.tools.settings
        stated_s = stated_duration_s(self.path)
        self.clip_count = len(clip_spans(stated_s, settings.clip_s))
        stage = WalkStage(
            path=self.path,
            sample_fps=settings.frame_fps,
            stated_s=stated_s,
            clip_s=settings.clip_s,
            on_progress=lambda time_s: self._progress("decode", int(time_s), int(stated_s)),
            stop=lambda: self.stopped,
            listener=listener,
        )
        return await self._thread(partial(stage.run, folder, journal))

    def _text_stage(self) -> TextStage | None:
        """None where on-screen text is not to be read."""
        if self.tools.settings.screen_text == "none":
            return None
        return TextStage(
            reader=self.tools.reader,
            workers=self.tools.settings.workers,
            tell=partial(self._progress, "read text"),
            stop=lambda: self.stopped,
        )

    async def _read(
        self, seen: VideoScan, folder: Path, journal: UsageJournal
    ) -> tuple[ScreenText, ...]:
        stage = self._text_stage()
        return await self._thread(partial(stage.run, seen, folder, journal)) if stage else ()

    def _clips(
        self, plan: Plan, seen: VideoScan, lines: Sequence[ScreenText], speech: Transcript
    ) -> tuple[Clip, ...]:
        clip_s = self.tools.settings.clip_s
        return make_clips(plan.video_id, seen, text_blocks(lines), speech.utterances, clip_s)

    async def _caption(
        self, views: Sequence[CaptionRequest], journal: UsageJournal
    ) -> tuple[Caption, ...]:
        """A caption a clip, in order."""
        captions = []
        for view in views:
            work = partial(self.tools.backend.perceiver.caption, view)
            captions.append(await self._once(journal, f"caption:{view.clip.index}", _CAPTION, work))
            self._progress("caption", len(captions), len(views))
        return tuple(captions)

    async def _merge(self, told: ClipAnalysis, journal: UsageJournal) -> MergedSubjects:
        """The registry; one that is not whole is not journaled."""
        key = f"subjects:{digest(told.registries)}"
        if key in journal:
            return _MERGED.validate_python(journal[key])
        merged = await self.tools.backend.perceiver.merge_subjects(told.registries)
        if not merged.failed:
            journal.keep(key, to_jsonable_python(merged))
        return merged

    async def _narrate(self, story: NarrationInput, journal: UsageJournal) -> tuple[Narrative, str]:
        """The summary, or an empty one and why there is none."""
        work = partial(self.tools.backend.perceiver.narrate, story)
        key = f"narrative:{digest((story.clips, story.subjects))}"
        try:
            return await self._once(journal, key, _NARRATIVE, work), ""
        except ModelError as error:
            return Narrative(summary=""), f"no summary: {error}"

    async def _once(
        self,
        journal: UsageJournal,
        key: str,
        kind: TypeAdapter[T],
        work: Callable[[], Awaitable[T]],
    ) -> T:
        """The journaled piece of work, done now where it is not there yet."""
        if key not in journal:
            journal.keep(key, to_jsonable_python(await work()))
        return kind.validate_python(journal[key])

    async def _thread(self, work: Callable[[], T]) -> T:
        """Run in a thread, which a cancelled build waits for before it frees its lock."""
        return await in_thread(work, self._stop)

    def _stop(self) -> None:
        self.stopped = True

    async def _timed(self, stage: str, work: Awaitable[T]) -> T:
        self._progress(stage, 0, 0)
        started = time.monotonic()
        try:
            return await work
        finally:
            self.seconds[stage] = round(time.monotonic() - started, 3)

    def _progress(self, stage: str, done: int, total: int) -> None:
        self.emit(BuildProgress(stage=stage, done=done, total=total))
