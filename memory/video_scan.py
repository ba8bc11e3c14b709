"""The one decode pass over a video: frames on disk, thumbnails, cuts, looks and file facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np

from admir.errors import MemoryStoreError, VideoError
from admir.memory.journal import Journal
from admir.perception.decode import (
    Choice,
    Picture,
    Pixels,
    Thumb,
    VideoFacts,
    by_whole_number,
    decode,
    load_image,
    save_jpeg,
)
from admir.perception.frame_diff import BriefSights, differs, signature
from admir.perception.frame_seek import decode_at
from admir.perception.screen_text import Thumbs
from admir.perception.shots import ShotDetector
from admir.perception.visual_style import look_at
from admir.types import CLIP_S, Frame, Shot, Span, VisualStyle

_THUMB_FPS = 12.5
_MOST_THUMBS = 9_000
_COARSE_SIDE = 192
_LEAST_PART_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledFrame:
    """A kept frame, its look, and the kept frame whose text holds for it.

    That is `read_from`: its own file, or that of the one before, where nothing changed since.
    """

    frame: Frame
    read_from: str
    look: VisualStyle

    @property
    def changed(self) -> bool:
        """Whether its own text is to be read."""
        return self.read_from == self.frame.file


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoScan:
    """Everything one pass brings. The thumbnails lie beside it, in `thumbs.npz`.

    Samples are in order of time, at least one a shot, where the file can be read there.
    """

    facts: VideoFacts
    samples: tuple[SampledFrame, ...]
    shots: tuple[Shot, ...]


class SurveyListener(Protocol):
    """Hears of a pass while it goes on, in the thread of the pass."""

    def add(self, sample: SampledFrame) -> None:
        """A sample whose frame is written; those of short shots come later than their time."""

    def settle(self, shots: Sequence[Shot], until_s: float) -> None:
        """All shots that ended before `until_s`, from which on nothing is known yet."""


@dataclass(slots=True)
class _Collector:
    """Takes thumbs and samples while `decode` goes on."""

    path: Path
    folder: Path
    thumb_step_s: float
    clip_s: float
    on_progress: Callable[[float], None]
    listener: SurveyListener | None
    detector: ShotDetector = field(default_factory=ShotDetector)
    samples: list[SampledFrame] = field(default_factory=list)
    thumb_times: list[float] = field(default_factory=list)
    thumbs: list[Pixels] = field(default_factory=list)
    last_read: Pixels | None = None
    read_from: str = ""
    motion: float = 0.0
    settled: int = 0
    before: Pixels | None = None
    brief: BriefSights = field(default_factory=BriefSights)
    moved: list[float] = field(default_factory=list)

    def add_thumb(self, thumb: Thumb) -> Choice:
        known_s = self.detector.settled_s
        self.detector.add(thumb)
        if self.detector.settled_s > known_s:
            self.settle(self.detector.settled_shots(), self.detector.settled_s)
        grey = np.asarray(cv2.cvtColor(thumb.pixels, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
        if self.before is not None:
            self.moved.append(cv2.norm(self.before, grey, cv2.NORM_L1) / grey.size / 255)
        self.before = grey
        if not self.thumb_times or thumb.time_s - self.thumb_times[-1] >= self.thumb_step_s:
            self._keep_thumb(thumb.time_s, grey)
        return self.brief.see(thumb.time_s, grey)

    def _keep_thumb(self, time_s: float, grey: Pixels) -> None:
        """Keep it; where they become too many, every second goes and fewer are kept from now."""
        self.thumb_times.append(time_s)
        self.thumbs.append(grey)
        if len(self.thumbs) > _MOST_THUMBS:
            del self.thumb_times[1::2], self.thumbs[1::2]
            self.thumb_step_s *= 2

    def add_sample(self, picture: Picture) -> None:
        self.brief.sampled(picture.time_s)
        small = _coarse(picture.pixels)
        sign = signature(small)
        frame = self._write(picture)
        if self.last_read is None or differs(self.last_read, sign):
            self.last_read, self.read_from = sign, frame.file
        self.motion = min(1.0, 10 * float(np.mean(self.moved)) if self.moved else 0.0)
        self.moved.clear()
        look = look_at(small, motion=self.motion)
        self._keep(SampledFrame(frame=frame, read_from=self.read_from, look=look))
        self.on_progress(picture.time_s)

    def _write(self, picture: Picture) -> Frame:
        file = f"frames/{len(self.samples):06d}.jpg"
        save_jpeg(self.folder / file, picture.pixels)
        return Frame(time_s=round(picture.time_s, 3), file=file)

    def _keep(self, sample: SampledFrame) -> None:
        self.samples.append(sample)
        if self.listener:
            self.listener.add(sample)

    def settle(self, shots: Sequence[Shot], until_s: float) -> None:
        """Sample the shots so far, where they have no sample yet, from the source.

        A shot that goes over from one clip to the next has one in each. Then tell of the shots.
        """
        times_s = [sample.frame.time_s for sample in self.samples]
        ended_s = shots[-1].span.end_s if shots else 0.0
        goes_on = Span(start_s=ended_s, end_s=max(ended_s, until_s))
        spans = [*(shot.span for shot in shots[self.settled :]), goes_on]
        unseen = [
            (part.start_s + part.end_s) / 2
            for span in spans
            for part in _by_clip(span, self.clip_s)
            if part.duration_s > 0 and not any(map(part.contains, times_s))
        ]
        self.settled = len(shots)
        for picture in self._decode_again(unseen):
            frame, look = self._write(picture), look_at(_coarse(picture.pixels), motion=self.motion)
            self._keep(SampledFrame(frame=frame, read_from=frame.file, look=look))
        if self.listener:
            self.listener.settle(shots, until_s)

    def _decode_again(self, times_s: Sequence[float]) -> list[Picture]:
        """The frames shown at these times; none where the file can be read but once."""
        try:
            return list(decode_at(self.path, times_s).values()) if times_s else []
        except VideoError:
            return []


def _by_clip(span: Span, clip_s: float) -> list[Span]:
    """The parts of a shot in each clip, but for very short ones; at least one."""
    first, last = int(span.start_s // clip_s), int(span.end_s // clip_s)
    clips = [Span(start_s=n * clip_s, end_s=(n + 1) * clip_s) for n in range(first, last + 1)]
    parts = [span.clamp(clip) for clip in clips if clip.overlap_s(span) >= _LEAST_PART_S]
    return parts or [span]


def _coarse(pixels: Pixels) -> Pixels:
    """The picture made smaller, still above what is compared and measured."""
    return by_whole_number(pixels, min(pixels.shape[:2]) // _COARSE_SIDE)


def survey(
    path: Path,
    folder: Path,
    *,
    sample_fps: float,
    stated_s: float,
    clip_s: float = CLIP_S,
    on_progress: Callable[[float], None],
    stop: Callable[[], bool],
    listener: SurveyListener | None = None,
) -> VideoScan:
    """Decode the file; write `frames/` and `thumbs.npz` into `folder`. Runs in a thread."""
    step_s = max(1 / _THUMB_FPS, stated_s / _MOST_THUMBS)
    collector = _Collector(
        path=path,
        folder=folder,
        thumb_step_s=step_s - 1e-6,
        clip_s=clip_s,
        on_progress=on_progress,
        listener=listener,
    )
    facts = decode(
        path,
        collector.add_thumb,
        collector.add_sample,
        sample_fps=sample_fps,
        stop=stop,
    )
    _save_thumbs(folder, collector)
    shots = collector.detector.shots(facts.duration_s)
    if not stop():
        collector.settle(shots, facts.duration_s)
    return VideoScan(facts=facts, samples=by_time(collector.samples), shots=shots)


def by_time(samples: Sequence[SampledFrame]) -> tuple[SampledFrame, ...]:
    """Samples in order of their time."""
    return tuple(sorted(samples, key=lambda sample: sample.frame.time_s))


def _save_thumbs(folder: Path, collector: _Collector) -> None:
    """Written under another name first: a torn file is never taken for a whole one."""
    unfinished = folder / "thumbs.npz.part"
    with unfinished.open("wb") as stream:
        np.savez(stream, times_s=collector.thumb_times, pixels=collector.thumbs)
    unfinished.replace(folder / "thumbs.npz")


def load_thumbs(folder: Path) -> Thumbs:
    """The thumbnails a survey left."""
    with np.load(folder / "thumbs.npz") as stored:
        return Thumbs(times_s=stored["times_s"], pixels=stored["pixels"])


def kept_frame(path: Path, journal: Journal, *, smaller: int = 1) -> Pixels:
    """A frame that the survey wrote, as BGR, its sides divided by `smaller`.

    Raises MemoryStoreError where it cannot be read; the next build then decodes again.
    """
    try:
        return load_image(path, smaller=smaller)
    except OSError as error:
        journal.put("survey", None)
        raise MemoryStoreError(
            f"{path} cannot be read ({error}); run the same command to decode again"
        ) from None
