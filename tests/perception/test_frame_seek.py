"""Which pictures come back for a time."""

from __future__ import annotations

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.demo import AD
from admir.errors import VideoNotFound
from admir.perception.frame_seek import decode_at
from tests.perception.videos import damage_packet, encode, number_of, numbered, shown_at
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
    together = [number_of(p.pixels) for p in shown_at(in_containers[kind], asked)]
    alone = [number_of(shown_at(in_containers[kind], [t])[0].pixels) for t in asked]
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
    alone = [number_of(shown_at(path, [t])[0].pixels) for t in asked]
    together = [number_of(p.pixels) for p in shown_at(path, asked)]
    assert alone == together == [int(t * 25) // 20 for t in asked]


@examples(25)
@given(asked=st.lists(st.integers(0, 999).filter(lambda ms: ms % 40 < 39), max_size=4).map(sorted))
def test_any_times_bring_the_frame_shown_then_with_its_own_time(second, asked):
    found = shown_at(second, [ms / 1000 for ms in asked])
    assert [p.time_s for p in found] == [ms // 40 * 40 / 1000 for ms in asked]
    assert [number_of(p.pixels) for p in found] == [ms // 40 for ms in asked]


def test_times_outside_the_video_bring_its_first_and_last_picture(second):
    found = shown_at(second, [-1.0, 99.0])
    assert [(number_of(p.pixels), p.time_s) for p in found] == [(0, 0.0), (24, 0.96)]


def test_a_frame_is_labelled_with_its_own_time_and_one_that_is_held_with_the_one_asked_for(
    tmp_path,
):
    shown = [numbered(n) for n in range(3)]
    path = encode(tmp_path / "a.mkv", shown, times_ms=[0, 800, 5000], last_ms=2000)
    found = decode_at(path, [0.3, 0.9, 4.9, 6.0])
    assert {t: (number_of(p.pixels), p.time_s) for t, p in found.items()} == {
        0.3: (0, 0.0),
        0.9: (1, 0.9),
        4.9: (1, 4.9),
        6.0: (2, 6.0),
    }


def test_no_times_bring_no_pictures(second):
    assert shown_at(second, []) == []


def test_times_far_apart_are_found_as_well_as_near_ones():
    found = shown_at(AD, [1.0, 17.0, 30.0])
    assert [p.time_s for p in found] == [1.0, 17.0, 30.0]
    alone = [shown_at(AD, [t])[0] for t in (1.0, 17.0, 30.0)]
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(found, alone, strict=True))


def test_the_pictures_before_a_damaged_place_are_still_given(loud):
    found = shown_at(damage_packet(loud, "video", 40), [0.1, 2.8])
    assert [p.time_s for p in found][:1] == [0.08]


def test_a_file_that_takes_the_place_of_another_is_looked_at_anew(tmp_path):
    path, shown = tmp_path / "a.mkv", [numbered(n) for n in range(10)]
    for first_ms in (0, 3000):
        encode(path, shown, times_ms=[first_ms + 40 * n for n in range(10)])
        with av.open(str(path)) as container:
            assert next(container.decode(video=0)).time == pytest.approx(first_ms / 1000, abs=0.1)
        assert [number_of(p.pixels) for p in shown_at(path, [0.0, 0.2])] == [0, 5]


def test_a_file_that_has_gone_is_not_found_though_it_was_looked_at_before(tmp_path):
    path = encode(tmp_path / "a.mp4", [numbered(n) for n in range(3)])
    assert len(shown_at(path, [0.0])) == 1
    path.unlink()
    with pytest.raises(VideoNotFound):
        shown_at(path, [0.0])
