"""The one walk over the video: frames on disk, thumbnails, cuts, looks and file facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from admir.errors import MemoryStoreError
from admir.memory.journal import Journal
from admir.perception.changes import BriefSights, differs, signature
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
from admir.perception.look import look_at
from admir.perception.screen_text import Thumbs
from admir.perception.shots import ShotDetector
from admir.types import Frame, Look, Shot

_THUMB_FPS = 12.5
_MOST_THUMBS = 9_000
_COARSE_SIDE = 192


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A kept frame, whether it differs from the one read before it, and its look."""

    frame: Frame
    changed: bool
    look: Look


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Everything one walk brings. The thumbnails lie beside it, in `thumbs.npz`."""

    facts: VideoFacts
    samples: tuple[Sample, ...]
    shots: tuple[Shot, ...]


@dataclass(slots=True)
class _Collector:
    """Takes thumbs and samples while `decode` walks."""

    folder: Path
    thumb_step_s: float
    tell: Callable[[float], None]
    take: Callable[[Sample], None]
    detector: ShotDetector = field(default_factory=ShotDetector)
    samples: list[Sample] = field(default_factory=list)
    thumb_times: list[float] = field(default_factory=list)
    thumbs: list[Pixels] = field(default_factory=list)
    last_read: Pixels | None = None
    before: Pixels | None = None
    brief: BriefSights = field(default_factory=BriefSights)
    moved: list[float] = field(default_factory=list)

    def add_thumb(self, thumb: Thumb) -> Choice:
        self.detector.add(thumb)
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
        changed = self.last_read is None or differs(self.last_read, sign)
        if changed:
            self.last_read = sign
        frame = Frame(time_s=round(picture.time_s, 3), file=f"frames/{len(self.samples):06d}.jpg")
        save_jpeg(self.folder / frame.file, picture.pixels)
        motion = 10 * float(np.mean(self.moved)) if self.moved else 0.0
        self.moved.clear()
        look = look_at(small, motion=min(1.0, motion))
        sample = Sample(frame=frame, changed=changed, look=look)
        self.samples.append(sample)
        self.take(sample)
        self.tell(picture.time_s)


def _coarse(pixels: Pixels) -> Pixels:
    """The picture made smaller, still above what is compared and measured."""
    return by_whole_number(pixels, min(pixels.shape[:2]) // _COARSE_SIDE)


def survey(
    path: Path,
    folder: Path,
    *,
    sample_fps: float,
    stated_s: float,
    tell: Callable[[float], None],
    stop: Callable[[], bool],
    light: bool = False,
    take: Callable[[Sample], None] = lambda sample: None,
) -> Survey:
    """Walk the file; write `frames/` and `thumbs.npz` into `folder`. Runs in a thread.

    A `light` walk finds cuts less exactly (see `decode`). `take` gets each sample once its frame is
    written.
    """
    step_s = max(1 / _THUMB_FPS, stated_s / _MOST_THUMBS)
    collector = _Collector(folder=folder, thumb_step_s=step_s - 1e-6, tell=tell, take=take)
    facts = decode(
        path,
        collector.add_thumb,
        collector.add_sample,
        sample_fps=sample_fps,
        light=light,
        stop=stop,
    )
    _save_thumbs(folder, collector)
    return Survey(
        facts=facts,
        samples=tuple(collector.samples),
        shots=collector.detector.shots(facts.duration_s),
    )


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
