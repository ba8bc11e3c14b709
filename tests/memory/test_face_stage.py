"""The stage that looks for people: what it reads, what it keeps, how it goes on."""

from __future__ import annotations

import pytest

from admir.errors import MemoryStoreError
from admir.memory.face_stage import find_people
from admir.memory.journal import Journal
from admir.memory.video_scan import SampledFrame, VideoScan
from admir.perception.decode import VideoFacts, save_jpeg
from admir.perception.faces import Face
from admir.perception.visual_style import look_at
from admir.types import Frame, Shot, Span
from tests.conftest import flat

FACE = Face(box=(0.4, 0.2, 0.6, 0.4), score=2.0, view="front")


class Bright:
    """Finds a face in each picture that is brighter than the middle; counts its looks."""

    def __init__(self):
        self.looks = 0

    def find(self, pixels):
        self.looks += 1
        return (FACE,) if pixels.mean() > 128 else ()


@pytest.fixture
def seen(tmp_path):
    """Five pictures a second apart: dark, bright, the same again, bright, dark; a cut at 2.5 s."""
    (tmp_path / "frames").mkdir()
    samples = []
    for n, level in enumerate((40, 200, 200, 220, 40)):
        picture = flat((level,) * 3, (120, 160))
        frame = Frame(time_s=float(n), file=f"frames/{n:06d}.jpg")
        save_jpeg(tmp_path / frame.file, picture)
        read_from = frame.file if n != 2 else samples[-1].frame.file
        samples.append(SampledFrame(frame=frame, read_from=read_from, look=look_at(picture)))
    facts = VideoFacts(duration_s=5.0, width=120, height=160, fps=25.0, frame_count=125)
    spans = (Span(start_s=0.0, end_s=2.5), Span(start_s=2.5, end_s=5.0))
    shots = tuple(Shot(index=n, span=span) for n, span in enumerate(spans))
    return VideoScan(facts=facts, samples=tuple(samples), shots=shots)


def people(seen, folder, detector, *, stop=lambda: False, told=None):
    return find_people(
        seen,
        folder,
        Journal(folder / "journal.jsonl"),
        tell=lambda *event: (told if told is not None else []).append(event),
        stop=stop,
        make_detector=lambda: detector,
    )


def test_changed_frames_are_looked_at_and_the_others_repeat_them(seen, tmp_path):
    detector, told = Bright(), []
    found = people(seen, tmp_path, detector, told=told)
    assert detector.looks == 4
    assert told == [("faces", n, 4) for n in range(1, 5)]
    assert [(s.start_s, s.end_s) for p in found for s in p.seen] == [(0.5, 2.5), (2.5, 3.5)]
    assert found[0].first_seen_s == 0.5


def test_a_stopped_stage_goes_on_where_it_was(seen, tmp_path):
    first, second = Bright(), Bright()
    assert people(seen, tmp_path, first, stop=lambda: first.looks == 3) == ()
    resumed = people(seen, tmp_path, second)
    assert (first.looks, second.looks) == (3, 1)
    (tmp_path / "journal.jsonl").unlink()
    assert resumed == people(seen, tmp_path, Bright())


def test_a_stage_that_is_done_makes_no_detector(seen, tmp_path):
    done = people(seen, tmp_path, Bright())
    assert done
    assert people(seen, tmp_path, None) == done


def test_a_frame_that_cannot_be_read_is_said_and_decoded_again(seen, tmp_path):
    (tmp_path / "frames" / "000001.jpg").write_bytes(b"\xff\xd8 torn")
    with pytest.raises(MemoryStoreError, match=r"000001\.jpg cannot be read"):
        people(seen, tmp_path, Bright())
    assert Journal(tmp_path / "journal.jsonl").get("survey") is None


def test_the_drawn_ad_has_no_photographed_face(demo):
    assert [subject.name for subject in demo.subjects if subject.kind == "person"] == []
