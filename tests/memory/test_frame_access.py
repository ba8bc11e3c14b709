"""Pictures of a memory: from the source where it stands, else the kept frames."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from admir import Memory
from admir.concurrency import BoundedCache
from admir.demo import AD
from admir.memory.frame_access import (
    frames_at,
    nearest_frame,
    prepare_looks,
    source_is_there,
    spread_frames,
)
from admir.perception.frame_seek import decode_at


@pytest.fixture(autouse=True)
def _nothing_decoded_before(monkeypatch):
    monkeypatch.setattr("admir.memory.frame_access.DECODED", BoundedCache(64_000_000))


def with_source(memory, path):
    return replace(memory, video=replace(memory.video, path=str(path)))


@pytest.fixture(scope="module")
def orphan(demo):
    """The memory of the ad, its video gone."""
    return with_source(demo, "/nowhere/ad.mp4")


def test_pictures_come_from_the_source_at_the_asked_times(demo):
    found = frames_at(demo, [4.16, 4.2])
    assert [p.time_s for p in found] == [4.16, 4.2]
    true = decode_at(AD, [4.16, 4.2]).values()
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(found, true, strict=True))


def test_without_the_source_the_nearest_kept_frames_come_with_their_own_times(demo, orphan):
    found = frames_at(orphan, [4.16, 4.2, 17.6])
    assert [p.time_s for p in found] == [4.0, 18.0]
    (true,) = decode_at(AD, [18.0]).values()
    assert found[1].pixels.shape == true.pixels.shape
    assert np.abs(found[1].pixels.astype(int) - true.pixels).mean() < 4


def test_a_source_of_another_size_is_not_trusted(demo, tmp_path):
    changed = tmp_path / "ad.mp4"
    changed.write_bytes(AD.read_bytes() + b"more")
    assert not source_is_there(with_source(demo, changed))
    assert [p.time_s for p in frames_at(with_source(demo, changed), [4.2])] == [4.0]


def test_a_source_of_the_same_size_that_cannot_be_read_is_not_used(demo, tmp_path):
    noise = tmp_path / "ad.mp4"
    noise.write_bytes(bytes(demo.video.file_bytes))
    assert [p.time_s for p in frames_at(with_source(demo, noise), [4.2])] == [4.0]


def test_a_picture_is_decoded_once_as_long_as_the_file_is_the_same(demo, tmp_path, monkeypatch):
    asked = []

    def counted(path, times_s, longest):
        asked.append(list(times_s))
        return decode_at(path, times_s, longest)

    monkeypatch.setattr("admir.memory.frame_access.decode_at", counted)
    copy = Path(shutil.copy(AD, tmp_path / "copy.mp4"))
    memory = with_source(demo, copy)
    first = frames_at(memory, [1.0, 4.2, 9.0], 320)
    again = frames_at(memory, [4.2, 9.0, 12.0], 320)
    assert asked == [[1.0, 4.2, 9.0], [12.0]]
    assert [p.time_s for p in again] == [4.2, 9.0, 12.0]
    assert again[0] is first[1]
    frames_at(memory, [4.2], 640)
    copy.touch()
    frames_at(memory, [4.2], 320)
    assert asked[2:] == [[4.2], [4.2]], "another size, another file"


def test_a_frame_that_was_asked_for_twice_comes_once(demo):
    found = frames_at(demo, [4.201, 4.21, 4.2, 4.3])
    assert [p.time_s for p in found] == [4.2, 4.28]


def test_a_copy_of_the_source_elsewhere_is_as_good(demo, tmp_path):
    copy = Path(shutil.copy(AD, tmp_path / "copy.mp4"))
    assert [p.time_s for p in frames_at(with_source(demo, copy), [4.2])] == [4.2]


def test_a_memory_of_text_alone_has_no_pictures():
    memory = Memory.from_timeline("tea", [{"t": 0, "ocr": ["Spring tea"]}])
    assert frames_at(memory, [0.5]) == []
    assert nearest_frame(memory, 0.5) is None
    assert not source_is_there(memory)


def test_a_lost_or_broken_kept_frame_is_left_out(orphan, tmp_path):
    assert frames_at(replace(orphan, folder=str(tmp_path)), [4.2]) == []
    shutil.copytree(Path(orphan.folder) / "frames", tmp_path / "frames")
    (tmp_path / "frames" / "000004.jpg").write_bytes(b"no picture")
    assert [p.time_s for p in frames_at(replace(orphan, folder=str(tmp_path)), [4.2, 5.2])] == [5.0]


def test_times_that_the_source_does_not_give_are_filled_from_near_kept_frames(demo, monkeypatch):
    monkeypatch.setattr(
        "admir.memory.frame_access.decode_at",
        lambda path, times_s, longest: decode_at(path, times_s[:1], longest),
    )
    assert [p.time_s for p in frames_at(demo, [4.2, 9.4, 99.0])] == [4.2, 9.0]


@pytest.mark.parametrize(("time_s", "frame_s"), [(-3.0, 0.0), (8.4, 8.0), (8.6, 9.0), (99.0, 32.0)])
def test_the_nearest_frame_is_the_nearest(demo, time_s, frame_s):
    assert nearest_frame(demo, time_s).time_s == frame_s


def test_looks_are_prepared_where_there_is_a_source_and_nothing_happens_where_there_is_none(
    demo, tmp_path
):
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    prepare_looks(demo)
    for path in (broken, tmp_path / "gone.mp4"):
        prepare_looks(replace(demo, video=replace(demo.video, path=str(path), file_bytes=8)))


def test_a_frame_that_is_cited_by_its_own_time_is_not_decoded_again(demo, monkeypatch):
    (first,) = frames_at(demo, [4.21])
    monkeypatch.setattr("admir.memory.frame_access.decode_at", None)
    assert frames_at(demo, [first.time_s])[0] is first


def test_frames_over_a_range_are_the_kept_ones_where_these_are_enough(demo, orphan):
    whole = demo.video.span
    kept = {frame.time_s for frame in demo.frames}
    some = spread_frames(demo, whole, 20, 320)
    assert len(some) == 20
    assert {p.time_s for p in some} <= kept
    for picture in some[::5]:
        (true,) = decode_at(AD, [picture.time_s], 320).values()
        assert true.time_s == picture.time_s
        assert np.abs(picture.pixels.astype(int) - true.pixels).mean() < 3, "but for JPEG"
    dense = spread_frames(demo, whole, 64, 320)
    assert len(dense) == 64
    assert len({p.time_s for p in dense} - kept) > 20, "decoded again"
