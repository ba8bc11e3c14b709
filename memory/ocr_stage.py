"""The stage of a build that reads on-screen text: changed frames, then lines followed over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from admir.memory.journal import Journal
from admir.memory.video_scan import VideoScan, kept_frame, load_thumbs
from admir.perception.ocr import TextLine, TextReader
from admir.perception.screen_text import Reading, follow_lines
from admir.types import ScreenText, Span

LINES = TypeAdapter(tuple[TextLine, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStage:
    """Reads the frames of one survey. `tell` hears how many of how many frames are read."""

    reader: TextReader
    workers: int
    tell: Callable[[int, int], None]
    stop: Callable[[], bool]

    def run(self, seen: VideoScan, folder: Path, journal: Journal) -> tuple[ScreenText, ...]:
        """The lines of a video whose survey lies in `folder`. Runs in a thread.

        Raises MemoryStoreError where a frame cannot be read.
        """
        self._read_all([s.frame.file for s in seen.samples if s.changed], folder, journal)
        whole = Span(start_s=0.0, end_s=seen.facts.duration_s)
        cuts = [shot.span.start_s for shot in seen.shots[1:]]
        if self.stop():
            return ()
        return follow_lines(_readings(seen, journal), whole, load_thumbs(folder), cuts)

    def _read_all(self, wanted: Sequence[str], folder: Path, journal: Journal) -> None:
        """Read the frames that are not in the journal. No job is left when this ends."""
        todo = [file for file in wanted if file not in journal]
        with ThreadPoolExecutor(self.workers, "admir-ocr") as pool:
            jobs = [pool.submit(self.read_one, folder, file, journal) for file in todo]
            try:
                for done, job in enumerate(as_completed(jobs), len(wanted) - len(todo) + 1):
                    job.result()
                    self.tell(done, len(wanted))
            finally:
                pool.shutdown(cancel_futures=True)

    def read_one(self, folder: Path, file: str, journal: Journal) -> None:
        """Read one frame into the journal. Raises MemoryStoreError."""
        if self.stop():
            return
        pixels = kept_frame(folder / file, journal)
        journal.put(file, to_jsonable_python(self.reader.read(pixels)))


def _readings(seen: VideoScan, journal: Journal) -> list[Reading]:
    """A reading a sample; a frame that did not change repeats that of another."""
    read = {s.read_from: LINES.validate_python(journal[s.read_from]) for s in seen.samples}
    return [Reading(time_s=s.frame.time_s, lines=read[s.read_from]) for s in seen.samples]
