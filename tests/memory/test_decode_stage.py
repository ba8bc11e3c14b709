"""The walk over a video as a stage of a build: samples as they come, and again from the journal."""

from __future__ import annotations

from functools import partial

import pytest

from admir.memory.decode_stage import WalkStage, shown_smaller, stated_duration_s
from admir.memory.journal import Journal
from tests.drawing import flat, write_video


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """Six seconds that grow brighter, each by another step."""
    path = tmp_path_factory.mktemp("walk") / "walk.mp4"
    return write_video(path, lambda n: flat((40 + 3 * n,) * 3, (64, 48)), frames=60, fps=10)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "frames").mkdir()
    return tmp_path


class Listener:
    """Keeps the samples, and the shots that are told last."""

    def __init__(self, samples):
        self.samples, self.shots = samples, ()

    def add(self, sample):
        self.samples.append(sample)

    def settle(self, shots, until_s):
        self.shots = shots


def walk(video, folder, *, stop=lambda: False):
    """(the survey, the samples that were handed on, the times that were told)"""
    taken, told = [], []
    stage = WalkStage(
        path=video,
        sample_fps=1.0,
        stated_s=6.0,
        clip_s=5.0,
        on_progress=told.append,
        stop=partial(stop, *([taken] if stop.__code__.co_argcount else [])),
        listener=Listener(taken),
    )
    return stage.run(folder, Journal(folder / "journal.jsonl")), taken, told


def test_samples_are_handed_on_in_order_when_their_frames_are_there(video, folder):
    seen, taken, told = walk(video, folder)
    assert tuple(taken) == seen.samples
    assert told == [pytest.approx(s.frame.time_s, abs=1e-3) for s in taken]
    assert all((folder / s.frame.file).is_file() for s in taken)
    assert seen.facts.duration_s == pytest.approx(6.0, abs=0.01)


def test_a_walk_of_the_journal_hands_on_the_same_samples(video, folder):
    seen, taken, _ = walk(video, folder)
    again, retaken, told = walk(video, folder)
    assert (again, retaken, told) == (seen, taken, []), "nothing is decoded"


@pytest.mark.parametrize("broken", ["thumbs.npz", "frames/000002.jpg"])
def test_files_that_a_power_cut_tore_are_walked_again(video, folder, broken):
    seen, taken, _ = walk(video, folder)
    (folder / broken).write_bytes(b"")
    again, retaken, told = walk(video, folder)
    assert (again, retaken) == (seen, taken)
    assert len(told) == len(taken), "decoded anew"
    assert (folder / broken).stat().st_size > 0


def test_a_walk_that_was_stopped_is_not_taken_for_a_whole_one(video, folder):
    _, taken, _ = walk(video, folder, stop=lambda taken: len(taken) >= 2)
    seen, retaken, _ = walk(video, folder)
    assert len(taken) < len(retaken) == len(seen.samples)


def test_the_stated_length_is_read_without_a_walk(video):
    assert stated_duration_s(video) == pytest.approx(6.0, abs=0.01)


@pytest.mark.parametrize(
    ("size", "side", "by"),
    [
        ((64, 48), 640, 1),
        ((64, 48), 33, 1),
        ((64, 48), 32, 2),
        ((64, 48), 16, 4),
        ((64, 48), 0, 1),
        ((1920, 1080), 640, 2),  # kept at 1280
        ((1080, 1920), 321, 2),
        ((1080, 1920), 320, 4),
    ],
)
def test_frames_are_made_smaller_by_what_still_leaves_the_side(tmp_path, size, side, by):
    path = write_video(tmp_path / "v.mp4", lambda _: flat((9, 9, 9), size), frames=1, size=size)
    assert shown_smaller(path, side) == by
