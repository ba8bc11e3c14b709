"""The stage of a build that looks for people in the kept frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from admir.memory.journal import Journal
from admir.memory.video_scan import SampledFrame, VideoScan, kept_frame
from admir.perception.faces import CascadeFaces, FaceDetector
from admir.perception.people import FaceDetection, FaceFrame, follow_people, sight_of
from admir.types import Subject

_SIGHTS = TypeAdapter(tuple[FaceDetection, ...])


def find_people(
    seen: VideoScan,
    folder: Path,
    journal: Journal,
    *,
    tell: Callable[[str, int, int], None],
    stop: Callable[[], bool],
    make_detector: Callable[[], FaceDetector] = CascadeFaces,
) -> tuple[Subject, ...]:
    """The people of a survey, by the frames in `folder`; what was looked at is in the journal.

    A frame that did not change shows whom the frame before it showed. Raises MemoryStoreError where
    a frame cannot be read. Runs in a thread.
    """
    wanted = [sample for sample in seen.samples if sample.changed]
    todo = [sample for sample in wanted if _key(sample) not in journal]
    if todo:
        detector = make_detector()
        for done, sample in enumerate(todo, len(wanted) - len(todo) + 1):
            if stop():
                return ()
            journal.put(_key(sample), to_jsonable_python(_look(sample, folder, detector, journal)))
            tell("faces", done, len(wanted))
    return follow_people(_moments(seen.samples, journal), seen.shots)


def _key(sample: SampledFrame) -> str:
    return f"faces:{sample.frame.file}"


def _look(
    sample: SampledFrame, folder: Path, detector: FaceDetector, journal: Journal
) -> tuple[FaceDetection, ...]:
    pixels = kept_frame(folder / sample.frame.file, journal)
    return tuple(sight_of(face, pixels) for face in detector.find(pixels))


def _moments(samples: Sequence[SampledFrame], journal: Journal) -> list[FaceFrame]:
    seen = {
        sample.frame.file: _SIGHTS.validate_python(journal[_key(sample)])
        for sample in samples
        if sample.changed
    }
    return [FaceFrame(time_s=s.frame.time_s, sights=seen[s.read_from]) for s in samples]
