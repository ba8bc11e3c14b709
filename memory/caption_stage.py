"""Captions by a backend that looks: a clip is described as soon as frames and text are there.

A clip that no model could describe is recorded as failed, and tried again by the next build.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from admir.backends.base import Caption, CaptionRequest, Perceiver
from admir.concurrency import in_thread
from admir.errors import ModelError
from admir.memory.clip_stream import WholeClip
from admir.memory.frame_choice import choose_frames, distinct_lines
from admir.memory.journal import Journal
from admir.memory.ocr_correction import apply_second_ocr, is_unsure
from admir.memory.ocr_stage import LINES, TextStage
from admir.memory.video_scan import SampledFrame, kept_frame
from admir.perception.decode import Picture
from admir.perception.ocr import TextLine
from admir.types import Clip, Frame, Utterance

MOST_CLIPS_AT_ONCE = 96
"""Clips that are described side by side hold their pictures."""

_CAPTION = TypeAdapter(Caption)
_FRAMES = TypeAdapter(tuple[Frame, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class Captioned:
    """The captions of all clips in order, empty where they failed, and why by clip index."""

    captions: tuple[Caption, ...]
    failed: dict[int, str]
    frames: tuple[tuple[Frame, ...], ...] = ()
    """The frames that each clip was described from."""
    unread: tuple[str, ...] = ()
    """Frames whose text was to be read again and was not, with the reason."""


@dataclass
class Captioning:
    """The captions of one build. `begin` may be called while the video is still decoded.

    `give_up` is called at the first error that no other clip will be spared.
    `smaller` divides the sides of the kept frames that the backend is shown.
    """

    video_id: str
    perceiver: Perceiver
    utterances: tuple[Utterance, ...]
    speech_known: bool
    reading: TextStage | None
    workers: int
    smaller: int
    folder: Path
    journal: Journal
    tell: Callable[[int], None]
    give_up: Callable[[], None]
    keep: Callable[[str, object], None]
    tasks: list[asyncio.Task[Caption]] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    finished: int = 0
    broken: bool = False
    frames: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    times_s: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._readers = asyncio.Semaphore(self.workers)
        self._describers = asyncio.Semaphore(MOST_CLIPS_AT_ONCE)
        self._reads: dict[str, asyncio.Task[tuple[TextLine, ...]]] = {}
        self._mends: dict[str, asyncio.Task[tuple[TextLine, ...]]] = {}

    def begin(self, clip: WholeClip) -> None:
        """Start on the next clip, in the running event loop."""
        if self.broken:
            return
        self.times_s |= {sample.frame.file: sample.frame.time_s for sample in clip.samples}
        task = asyncio.create_task(self._clip(clip))
        task.add_done_callback(self._ended)
        self.tasks.append(task)

    def _ended(self, task: asyncio.Task[Caption]) -> None:
        if not task.cancelled() and task.exception() is not None and not self.broken:
            self.broken = True
            self.give_up()

    async def results(self) -> Captioned:
        """Wait for all. Raises EndpointError, or ModelError where no clip could be described."""
        try:
            captions = await asyncio.gather(*self.tasks)
        finally:
            await self.cancel()
        if captions and len(self.failed) == len(captions):
            raise ModelError(f"no clip could be described: {self.failed[0]}")
        return Captioned(
            captions=tuple(captions),
            failed=self.failed,
            frames=tuple(self.frames.get(index, ()) for index in range(len(captions))),
            unread=tuple(self.unread),
        )

    async def cancel(self) -> None:
        """Stop what is under way, and wait for its end."""
        tasks = [*self.tasks, *self._reads.values(), *self._mends.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _clip(self, clip: WholeClip) -> Caption:
        key = f"caption:{clip.index}"
        if key in self.journal:
            caption = _CAPTION.validate_python(self.journal[key])
            self.frames[clip.index] = _FRAMES.validate_python(self.journal[f"frames:{clip.index}"])
        else:
            async with self._describers:
                caption = await self._described(clip)
        self.finished += 1
        self.tell(self.finished)
        return caption

    async def _described(self, clip: WholeClip) -> Caption:
        try:
            read = await self._read_all(clip)
            shown = choose_frames(clip.samples, clip.shots, read)
            self.frames[clip.index] = tuple(sample.frame for sample in shown)
            view = await asyncio.to_thread(self._view, clip, shown, read)
            caption = await self.perceiver.caption(view)
        except ModelError as error:
            self.failed[clip.index] = str(error)
            return Caption(description="")
        self.keep(f"frames:{clip.index}", to_jsonable_python(self.frames[clip.index]))
        self.keep(f"caption:{clip.index}", to_jsonable_python(caption))
        return caption

    def _view(
        self, clip: WholeClip, shown: Sequence[SampledFrame], read: Mapping[str, Sequence[TextLine]]
    ) -> CaptionRequest:
        spoken = tuple(u for u in self.utterances if u.span.overlap_s(clip.span) > 0)
        return CaptionRequest(
            clip=Clip(
                video_id=self.video_id,
                index=clip.index,
                span=clip.span,
                speech=" ".join(u.text for u in spoken),
                screen_text=distinct_lines([line for lines in read.values() for line in lines]),
            ),
            utterances=spoken,
            speech_known=self.speech_known,
            shot_count=len(clip.shots),
            pictures=tuple(map(self._picture, shown)),
        )

    def _picture(self, sample: SampledFrame) -> Picture:
        path = self.folder / sample.frame.file
        pixels = kept_frame(path, self.journal, smaller=self.smaller)
        return Picture(time_s=sample.frame.time_s, pixels=pixels)

    async def _read_all(self, clip: WholeClip) -> dict[str, tuple[TextLine, ...]]:
        """What is written in the clip's frames, by file; the backend reads the unsurest one."""
        files = list(dict.fromkeys(sample.read_from for sample in clip.samples))
        if self.reading is None or not files:
            return {}
        readings = dict(zip(files, await asyncio.gather(*map(self._read, files)), strict=True))
        worst = max(files, key=lambda file: sum(map(is_unsure, readings[file])))
        if any(map(is_unsure, readings[worst])):
            readings[worst] = await self._mended(worst, self.times_s[worst])
        return readings

    async def _mended(self, file: str, at_s: float) -> tuple[TextLine, ...]:
        """The better reading of a frame, made once however many clips it stands for."""
        if file not in self._mends:
            self._mends[file] = asyncio.create_task(self._mend(file, at_s))
        return await asyncio.shield(self._mends[file])

    async def _mend(self, file: str, at_s: float) -> tuple[TextLine, ...]:
        lines = LINES.validate_python(self.journal[file])
        if f"mended:{file}" in self.journal:
            return lines
        pixels = await asyncio.to_thread(kept_frame, self.folder / file, self.journal)
        try:
            read = await self.perceiver.read_text(Picture(time_s=at_s, pixels=pixels))
        except ModelError as error:
            self.unread.append(f"text at {at_s:.1f} s is as OCR read it: {error}")
            return lines
        better = apply_second_ocr(lines, read)
        self.keep(file, to_jsonable_python(better))
        self.keep(f"mended:{file}", True)
        return better

    async def _read(self, file: str) -> tuple[TextLine, ...]:
        """The reading of a frame, made once however many clips ask for it."""
        if file not in self._reads:
            self._reads[file] = asyncio.create_task(self._read_now(file))
        return await asyncio.shield(self._reads[file])

    async def _read_now(self, file: str) -> tuple[TextLine, ...]:
        assert self.reading is not None
        if file not in self.journal:
            work = partial(self.reading.read_one, self.folder, file, self.journal)
            async with self._readers:
                await in_thread(work, lambda: None)
        return LINES.validate_python(self.journal[file])


def with_captions(clips: Sequence[Clip], captioned: Captioned) -> tuple[Clip, ...]:
    """The clips with what was said of them, or why nothing was, and of which frames."""
    return tuple(
        replace(
            clip,
            caption=caption.description,
            caption_error=captioned.failed.get(clip.index, ""),
            frames=captioned.frames[clip.index] if captioned.frames else clip.frames,
        )
        for clip, caption in zip(clips, captioned.captions, strict=True)
    )
