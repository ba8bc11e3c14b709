"""Spatio-temporal grids (paper B.4): consecutive frames in 2x2 pictures for the expert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from admir.perception.decode import Picture, Pixels, shrink

GRID_CELLS = 4
EXPERT_FRAMES = 64
CELL_SIDE = 512
"""Longest side of a frame in a grid, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Four frames in one picture, read top-left, top-right, bottom-left, bottom-right."""

    times_s: tuple[float, ...]
    pixels: Pixels


def make_grids(frames: Sequence[Picture], cell_side: int = CELL_SIDE) -> tuple[Grid, ...]:
    """Frames in time order as 2x2 grids; the cells of a last, short grid stay black."""
    return tuple(
        _grid(frames[start : start + GRID_CELLS], cell_side)
        for start in range(0, len(frames), GRID_CELLS)
    )


def _grid(frames: Sequence[Picture], cell_side: int) -> Grid:
    cells = [shrink(frame.pixels, cell_side) for frame in frames]
    height, width = cells[0].shape[:2]
    canvas = np.zeros((2 * height, 2 * width, 3), dtype=np.uint8)
    for index, cell in enumerate(cells):
        top, left = height * (index // 2), width * (index % 2)
        canvas[top : top + cell.shape[0], left : left + cell.shape[1]] = cell[:height, :width]
    return Grid(times_s=tuple(frame.time_s for frame in frames), pixels=canvas)
