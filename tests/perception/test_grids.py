"""2x2 grids: order, times, and what happens at the edges (paper B.4)."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.decode import Picture
from admir.perception.grids import EMPTY_GREY, drop_repeats, make_grids


def frames(count: int, height: int = 8, width: int = 12) -> list[Picture]:
    """Pictures whose brightness is their number."""
    return [
        Picture(time_s=float(i), pixels=np.full((height, width, 3), i + 1, dtype=np.uint8))
        for i in range(count)
    ]


def test_cells_are_read_left_to_right_then_down():
    (grid,) = make_grids(frames(4))
    assert grid.pixels.shape == (16, 24, 3)
    corners = [grid.pixels[y, x, 0] for y, x in ((0, 0), (0, 23), (15, 0), (15, 23))]
    assert corners == [1, 2, 3, 4]
    assert grid.times_s == (0.0, 1.0, 2.0, 3.0)


def test_sixty_four_frames_make_sixteen_grids():
    grids = make_grids(frames(64))
    assert len(grids) == 16
    assert [t for grid in grids for t in grid.times_s] == [float(i) for i in range(64)]


def test_large_frames_are_shrunk_to_the_cell():
    (grid,) = make_grids(frames(4, height=720, width=1280), cell_side=512)
    assert grid.pixels.shape == (576, 1024, 3)


def test_empty_cells_are_grey():
    (grid,) = make_grids(frames(3))
    assert grid.pixels[15, 23].tolist() == [EMPTY_GREY] * 3


def test_frames_that_hardly_differ_from_the_one_before_are_dropped():
    slow = frames(20)  # each a level brighter
    assert [f.time_s for f in drop_repeats(slow)] == [0.0, 5.0, 10.0, 15.0]
    still = [Picture(time_s=float(n), pixels=slow[0].pixels) for n in range(9)]
    assert len(drop_repeats(still)) == 1
    assert drop_repeats([]) == []


@given(st.integers(min_value=0, max_value=70))
def test_every_frame_stands_in_exactly_one_cell(count):
    grids = make_grids(frames(count))
    values = [int(v) for g in grids for v in np.unique(g.pixels) if v != EMPTY_GREY]
    assert sorted(values) == list(range(1, count + 1))
