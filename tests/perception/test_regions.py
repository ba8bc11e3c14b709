"""Regions of a picture: turned upright and back."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.regions import cut, from_side, is_tall, slant, turned_regions
from tests.properties import examples

PIXELS = np.zeros((300, 400, 3), np.uint8)


def quad_at(angle, width=120, height=24, middle=(200, 150)):
    """A region whose text runs at this angle, degrees downwards from the level."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (width / 2, height / 2)
    way = np.deg2rad(angle)
    turn = np.array([[np.cos(way), np.sin(way)], [-np.sin(way), np.cos(way)]])
    return (corners @ turn + middle).astype(np.float32)


@pytest.mark.parametrize("angle", [-40, -13, 0, 20, 44])
def test_a_region_leans_as_it_was_drawn(angle):
    assert slant(quad_at(angle)) == pytest.approx(angle, abs=0.1)


def test_a_standing_region_is_tall_and_plumb():
    standing = quad_at(0, width=20, height=90)
    assert is_tall(standing)
    assert slant(standing) == pytest.approx(0)


@examples(20)
@given(angle=st.floats(-44, 44), x=st.integers(150, 250), y=st.integers(100, 200))
def test_what_is_found_in_a_turned_part_lies_where_it_was(angle, x, y):
    quad = quad_at(angle, middle=(x, y))
    picture = PIXELS.copy()
    cv2.fillPoly(picture, [quad.astype(np.int32)], (255, 255, 255))
    (part,) = turned_regions([quad], picture)
    left, top, width, height = cv2.boundingRect((part.pixels[..., 0] > 127).astype(np.uint8))
    assert (width, height) == (pytest.approx(120, abs=6), pytest.approx(24, abs=6))
    level = np.array([[left, top], [left + width, top], [left + width, top + height],
                      [left, top + height]], np.float32)  # fmt: skip
    assert part.back(level) == pytest.approx(quad, abs=6)


def test_regions_that_lean_alike_and_are_near_are_one_part():
    near = [quad_at(30), quad_at(33, middle=(190, 180))]
    assert len(turned_regions(near, PIXELS)) == 1
    assert len(turned_regions([near[0], quad_at(-30, middle=(190, 180))], PIXELS)) == 2


def test_a_standing_part_comes_turned_both_ways():
    parts = turned_regions([quad_at(0, width=20, height=120)], PIXELS)
    assert [part.vertical for part in parts] == [True, True]


def test_a_region_of_the_picture_on_its_side_is_cut_the_same_from_both():
    coarse = np.random.default_rng(0).integers(0, 255, (6, 9, 3), dtype=np.uint8)
    picture = cv2.resize(coarse, (90, 60), interpolation=cv2.INTER_CUBIC)
    side = np.ascontiguousarray(np.rot90(picture))
    lying = np.array([[10, 20], [40, 20], [40, 30], [10, 30]], np.float32)
    standing = from_side(lying, picture)
    assert is_tall(standing)
    apart = np.rot90(cut(picture, standing)).astype(int) - cut(side, lying)
    assert np.median(np.abs(apart)) < 12 < np.median(np.abs(picture.astype(int) - 128))
