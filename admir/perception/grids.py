"""Spatio-temporal grids (paper B.4): consecutive frames in 2x2 pictures for the expert."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from admir.perception.decode import Picture, Pixels, shrink
from admir.perception.frame_diff import differs, signature

GRID_CELLS = 4
EXPERT_FRAMES = 64
"""Most frames of the communication expert (2.3.2), in 16 grids (B.4)."""

EXPERT_FPS = 3.0
"""More a second of a short range would only repeat themselves."""

EMPTY_GREY = 128
"""A cell without a frame: black could be taken for a dark frame."""

CELL_SIDE = 512
"""Longest side of a frame in a grid, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Four frames in one picture, read top-left, top-right, bottom-left, bottom-right."""

    frames: tuple[Picture, ...]
    cell_side: int

    @property
    def times_s(self) -> tuple[float, ...]:
        """When its frames are shown."""
        return tuple(frame.time_s for frame in self.frames)

    @property
    def key(self) -> Hashable:
        """See `Picture`."""
        keys = tuple(frame.key for frame in self.frames)
        return None if None in keys else (*keys, self.cell_side)

    @property
    def pixels(self) -> Pixels:
        """The picture, drawn now; the cells of a short grid stay grey."""
        cells = [shrink(frame.pixels, self.cell_side) for frame in self.frames]
        height, width = cells[0].shape[:2]
        canvas = np.full((2 * height, 2 * width, 3), EMPTY_GREY, dtype=np.uint8)
        for index, cell in enumerate(cells):
            top, left = height * (index // 2), width * (index % 2)
            canvas[top : top + cell.shape[0], left : left + cell.shape[1]] = cell[:height, :width]
        return canvas


def drop_repeats(frames: Sequence[Picture]) -> list[Picture]:
    """Frames in order without those that hardly differ from the one kept before them."""
    kept: list[Picture] = []
    before: Pixels | None = None
    for frame in frames:
        sign = signature(frame.pixels)
        if before is None or differs(before, sign):
            kept.append(frame)
            before = sign
    return kept


def make_grids(frames: Sequence[Picture], cell_side: int = CELL_SIDE) -> tuple[Grid, ...]:
    """Frames in time order as 2x2 grids; the last may have fewer."""
    return tuple(
        Grid(frames=tuple(frames[start : start + GRID_CELLS]), cell_side=cell_side)
        for start in range(0, len(frames), GRID_CELLS)
    )
