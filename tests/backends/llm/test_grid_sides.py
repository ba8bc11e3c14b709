"""Frames of a grid are decoded in the size in which the grid is sent."""

from __future__ import annotations

import base64

import cv2
import numpy as np
import pytest

from admir.backends.llm.content import image, image_tokens
from admir.backends.llm.perceiver import GRID_SHORT_SIDE, GRID_SIDE, LlmPerceiver
from admir.perception.decode import Picture, shrink
from admir.perception.grids import make_grids


def grid_of(width, height, side):
    """A grid of frames of a video so large, whose longest side is at most `side`."""
    pixels = shrink(np.full((height, width, 3), 90, dtype=np.uint8), side)
    return make_grids([Picture(time_s=0.0, pixels=pixels)] * 4, side)[0]


def seen(sent):
    """The pixels that a server finds in an image."""
    packed = sent.url.removeprefix("data:image/jpeg;base64,")
    data = np.frombuffer(base64.b64decode(packed), dtype=np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)


@pytest.mark.parametrize(
    "size", [(1280, 720), (720, 1280), (1920, 1080), (1440, 1080), (720, 900), (1080, 1080)]
)
def test_a_grid_is_sent_in_the_size_in_which_it_was_made(size):
    grid = grid_of(*size, LlmPerceiver.cell_side(*size))
    sent = seen(image(grid, GRID_SIDE))
    assert sent.shape == grid.pixels.shape
    assert min(sent.shape[:2]) >= 0.85 * GRID_SHORT_SIDE, "as much as a model sees"
    whole = image_tokens(2 * size[0], 2 * size[1])  # 2H x 2W, as the paper has it
    assert image_tokens(*sent.shape[1::-1]) <= whole


@pytest.mark.parametrize("size", [(0, 0), (4000, 1)])
def test_an_unknown_or_odd_size_has_a_side_too(size):
    assert 1 <= LlmPerceiver.cell_side(*size) <= GRID_SIDE // 2


def test_a_small_video_is_not_enlarged():
    assert LlmPerceiver.cell_side(160, 120) == 160


def test_a_grid_of_known_frames_is_drawn_and_encoded_once():
    def frames(key):
        pixels = np.full((20, 20, 3), 90, dtype=np.uint8)
        return [Picture(time_s=n, pixels=pixels, key=key and (key, n)) for n in range(4)]

    first, again, other = (image(make_grids(frames(key))[0], 64) for key in ("a", "a", "b"))
    assert first is again
    assert other == first
    assert other is not first
    assert image(make_grids(frames(None))[0], 64) == first
    assert image(make_grids(frames("a"), cell_side=8)[0], 64) != first
