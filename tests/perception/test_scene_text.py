"""Lines of the scene told from lines laid over it."""

from __future__ import annotations

import numpy as np
import pytest

from admir.perception.scene_text import drifts, leans, wanders
from admir.types import Span

BOX = (0.3, 0.4, 0.6, 0.55)
SPAN = Span(start_s=0.0, end_s=2.0)
TIMES_S = np.arange(25) * 0.08


def film(*, picture_moves, line_moves):
    """Grey thumbs [25, 90, 160]: a texture, and a pattern in BOX for a line; moves in pixels."""
    random = np.random.default_rng(3)
    texture = np.kron(random.integers(60, 140, (40, 60)), np.ones((4, 4))).astype(np.uint8)
    line = random.integers(0, 2, (13, 48)).astype(np.uint8) * 255
    thumbs = []
    for n in range(len(TIMES_S)):
        left, drift = int(n * picture_moves), int(n * line_moves)
        thumb = texture[20:110, left : left + 160].copy()
        thumb[36:49, 48 - drift : 96 - drift] = line
        thumbs.append(thumb)
    return np.stack(thumbs)


def told(thumbs, time_s=1.0, span=SPAN):
    return drifts(BOX, time_s, span, TIMES_S, thumbs)


def test_a_line_that_moves_with_the_picture_is_of_the_scene():
    assert told(film(picture_moves=1, line_moves=1))


@pytest.mark.parametrize("speed", [0, 1, 3])
def test_a_line_that_stands_is_laid_over_however_the_picture_moves(speed):
    assert not told(film(picture_moves=speed, line_moves=0))


def test_a_line_that_slides_in_and_stands_is_laid_over():
    moving, standing = film(picture_moves=0, line_moves=1), film(picture_moves=0, line_moves=0)
    moving[12:] = standing[12:]
    assert not told(moving)


@pytest.mark.parametrize("span", [Span(start_s=1.0, end_s=1.1), Span(start_s=9.0, end_s=9.5)])
def test_a_line_too_short_to_tell_is_laid_over(span):
    assert not told(film(picture_moves=1, line_moves=1), span=span)


def test_without_thumbs_nothing_drifts():
    assert not drifts(BOX, 1.0, SPAN, np.zeros(0), np.zeros((0, 1, 1), np.uint8))


def test_a_line_elsewhere_in_each_sample_wanders_and_one_that_came_to_rest_does_not():
    places = [(0.1 + 0.05 * n, 0.2, 0.3 + 0.05 * n, 0.3) for n in range(4)]
    assert wanders(places)
    assert not wanders([places[0], *places[3:] * 3])
    assert not wanders(places[:1])


def test_a_line_leans_to_either_side():
    assert leans(9.0)
    assert leans(-9.0)
    assert not leans(-2.0)
