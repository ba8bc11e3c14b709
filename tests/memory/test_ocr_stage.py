"""The OCR stage alone: what it reads, resumes and leaves when it is stopped."""

from __future__ import annotations

import pytest

from admir.errors import MemoryStoreError
from admir.memory.journal import Journal
from admir.memory.ocr_stage import TextStage
from admir.memory.video_scan import survey
from admir.perception.ocr import TextLine
from tests.conftest import flat, write_video


class Reader:
    """Reads the brightness of a picture, and counts."""

    id = "brightness"

    def __init__(self):
        self.count = 0

    def read(self, pixels):
        self.count += 1
        text = "MIDNIGHT" if pixels.mean() < 100 else "BROAD DAY"
        return (TextLine(text=text, box=(0.1, 0.1, 0.5, 0.2), confidence=0.9, tilt=1.5),)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reading")


@pytest.fixture(scope="module")
def seen(folder):
    """Dark for 1.6 seconds, then bright."""
    (folder / "frames").mkdir()
    video = write_video(folder / "ad.mp4", lambda n: flat((40 if n < 40 else 200,) * 3), frames=75)
    return survey(
        video, folder, sample_fps=1.0, stated_s=3.0, on_progress=lambda _: None, stop=lambda: False
    )


def stage(reader, stop=lambda: False, told=None):
    tell = (lambda *counts: None) if told is None else lambda *counts: told.append(counts)
    return TextStage(reader=reader, workers=2, tell=tell, stop=stop)


def test_only_frames_that_changed_are_read_and_their_lines_followed(seen, folder, tmp_path):
    reader, told = Reader(), []
    lines = stage(reader, told=told).run(seen, folder, Journal(tmp_path / "journal"))
    assert reader.count == sum(sample.changed for sample in seen.samples) == 2
    assert told == [(1, 2), (2, 2)]
    assert [line.text for line in lines] == ["MIDNIGHT", "BROAD DAY"]
    assert lines[0].span.end_s == pytest.approx(1.6, abs=0.05)


def test_what_the_journal_holds_is_not_read_again(seen, folder, tmp_path):
    first = stage(Reader()).run(seen, folder, Journal(tmp_path / "journal"))
    reader = Reader()
    again = stage(reader).run(seen, folder, Journal(tmp_path / "journal"))
    assert (reader.count, again) == (0, first)


def test_a_stopped_stage_reads_nothing_more(seen, folder, tmp_path):
    reader = Reader()
    stopped = stage(reader, stop=lambda: reader.count > 0)
    assert stopped.run(seen, folder, Journal(tmp_path / "journal")) == ()
    assert reader.count <= 2


def test_a_frame_that_went_missing_is_one_clear_error(seen, tmp_path):
    (tmp_path / "frames").mkdir()
    with pytest.raises(MemoryStoreError, match="run the same command"):
        stage(Reader()).run(seen, tmp_path, Journal(tmp_path / "journal"))
