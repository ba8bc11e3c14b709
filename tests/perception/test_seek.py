"""Which pictures come back for a time."""

from __future__ import annotations

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.demo import AD
from admir.errors import VideoNotFound
from admir.perception.seek import pictures
from tests.perception.videos import damage_packet, encode, number_of, numbered
from tests.properties import examples


@pytest.fixture(scope="module")
def in_containers(folder, second):
    """The same 25 numbered frames in several containers."""
    shown = [numbered(n) for n in range(25)]
    return {
        "mp4": second,
        "mov": encode(folder / "second.mov", shown),
        "mkv": encode(folder / "second.mkv", shown),
        "webm": encode(folder / "second.webm", shown, codec="libvpx"),
        "ts": encode(folder / "second.ts", shown),
        "avi": encode(folder / "second.avi", shown),
    }


@pytest.mark.parametrize("kind", ["mp4", "mov", "mkv", "webm", "ts", "avi"])
def test_pictures_are_those_shown_at_the_asked_times(in_containers, kind):
    asked = [0.0, 0.04, 0.2, 0.49, 0.5, 0.9, 0.96]
    together = [number_of(p.pixels) for p in pictures(in_containers[kind], asked)]
    alone = [number_of(pictures(in_containers[kind], [t])[0].pixels) for t in asked]
    assert together == alone == [0, 1, 5, 12, 12, 22, 24]


def test_pictures_are_true_where_key_frames_are_far_apart(tmp_path):
    path = tmp_path / "rare.ts"
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=25, options={"g": "200"})
        video.width, video.height, video.pix_fmt = 320, 240, "yuv420p"
        for index in range(500):
            frame = av.VideoFrame.from_ndarray(numbered(index // 20), format="bgr24")
            container.mux(video.encode(frame))
        container.mux(video.encode())
    asked = [1.0, 3.5, 7.9, 8.1, 15.9, 19.5]
    alone = [number_of(pictures(path, [t])[0].pixels) for t in asked]
    together = [number_of(p.pixels) for p in pictures(path, asked)]
    assert alone == together == [int(t * 25) // 20 for t in asked]


@examples(25)
@given(asked=st.lists(st.integers(0, 999).filter(lambda ms: ms % 40 < 39), max_size=4).map(sorted))
def test_any_times_bring_one_picture_each_the_one_shown_then(second, asked):
    found = pictures(second, [ms / 1000 for ms in asked])
    assert [p.time_s for p in found] == [ms / 1000 for ms in asked]
    assert [number_of(p.pixels) for p in found] == [ms // 40 for ms in asked]


def test_times_outside_the_video_bring_its_first_and_last_picture(second):
    assert [number_of(p.pixels) for p in pictures(second, [-1.0, 99.0])] == [0, 24]


def test_no_times_bring_no_pictures(second):
    assert pictures(second, []) == []


def test_times_far_apart_are_found_as_well_as_near_ones():
    found = pictures(AD, [1.0, 17.0, 30.0])
    assert [p.time_s for p in found] == [1.0, 17.0, 30.0]
    alone = [pictures(AD, [t])[0] for t in (1.0, 17.0, 30.0)]
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(found, alone, strict=True))


def test_the_pictures_before_a_damaged_place_are_still_given(loud):
    found = pictures(damage_packet(loud, "video", 40), [0.1, 2.8])
    assert [p.time_s for p in found][:1] == [0.1]


def test_a_file_that_takes_the_place_of_another_is_looked_at_anew(tmp_path):
    path, shown = tmp_path / "a.mkv", [numbered(n) for n in range(10)]
    for first_ms in (0, 3000):
        encode(path, shown, times_ms=[first_ms + 40 * n for n in range(10)])
        with av.open(str(path)) as container:
            assert next(container.decode(video=0)).time == pytest.approx(first_ms / 1000, abs=0.1)
        assert [number_of(p.pixels) for p in pictures(path, [0.0, 0.2])] == [0, 5]


def test_a_file_that_has_gone_is_not_found_though_it_was_looked_at_before(tmp_path):
    path = encode(tmp_path / "a.mp4", [numbered(n) for n in range(3)])
    assert len(pictures(path, [0.0])) == 1
    path.unlink()
    with pytest.raises(VideoNotFound):
        pictures(path, [0.0])
