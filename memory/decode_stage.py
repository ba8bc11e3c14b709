"""The stage of a build that walks the video, or takes the walk of the journal where it is whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from admir.errors import writing
from admir.memory.journal import Journal
from admir.memory.video_scan import SurveyListener, VideoScan, load_thumbs, survey
from admir.perception.decode import MAX_SIDE, open_container
from admir.perception.frames import picture_track

_SURVEY = TypeAdapter(VideoScan)


def stated_duration_s(path: Path) -> float:
    """The container's word for the length of a video, 0 where it has none. Raises VideoError."""
    with open_container(path) as container:
        return (container.duration or 0) / 1_000_000


def shown_smaller(path: Path, side: int) -> int:
    """By what the sides of kept frames can be divided and still have so many pixels: 1, 2 or 4."""
    with open_container(path) as container:
        track = picture_track(container)
        longest = min(MAX_SIDE, max(track.width, track.height)) if track else 0
    return next((by for by in (4, 2) if longest // by >= side > 0), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkStage:
    """`on_progress` hears the time that is reached, `listener` of samples and shots."""

    path: Path
    sample_fps: float
    stated_s: float
    clip_s: float
    on_progress: Callable[[float], None]
    stop: Callable[[], bool]
    listener: SurveyListener | None = None

    def run(self, folder: Path, journal: Journal) -> VideoScan:
        """The survey, with its files in `folder`. Runs in a thread.

        Raises VideoError or MemoryStoreError.
        """
        if (plain := journal.get("survey")) is not None:
            stored = _SURVEY.validate_python(plain)
            if _is_whole(folder, stored):
                if self.listener:
                    for sample in stored.samples:
                        self.listener.add(sample)
                    self.listener.settle(stored.shots, stored.facts.duration_s)
                return stored
        seen = self._walk(folder)
        if not self.stop():
            journal.put("survey", to_jsonable_python(seen))
        return seen

    def _walk(self, folder: Path) -> VideoScan:
        with writing(folder):
            return survey(
                self.path,
                folder,
                sample_fps=self.sample_fps,
                stated_s=self.stated_s,
                clip_s=self.clip_s,
                on_progress=self.on_progress,
                stop=self.stop,
                listener=self.listener,
            )


def _is_whole(folder: Path, seen: VideoScan) -> bool:
    """Whether a power cut left the files of a survey whole."""
    try:
        load_thumbs(folder)
        return all(_is_jpeg((folder / s.frame.file).read_bytes()) for s in seen.samples)
    except Exception:  # noqa: BLE001 - a torn archive raises whatever zip, zlib and NumPy raise
        return False


def _is_jpeg(data: bytes) -> bool:
    return data.startswith(b"\xff\xd8") and data.endswith(b"\xff\xd9")
