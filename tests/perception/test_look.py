"""Colour and light by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.look import look_at, merge_looks
from admir.types import Look
from tests.conftest import flat
from tests.properties import examples

RED, BLUE, WHITE, BLACK = (0, 0, 255), (255, 0, 0), (255, 255, 255), (0, 0, 0)


@pytest.mark.parametrize(
    ("bgr", "name"),
    [
        (RED, "red"),
        ((0, 255, 0), "green"),
        (BLUE, "blue"),
        ((0, 255, 255), "yellow"),
        ((0, 140, 255), "orange"),
        ((128, 128, 0), "teal"),
        ((180, 105, 255), "pink"),
        ((200, 0, 130), "purple"),
        ((19, 69, 139), "brown"),
        ((50, 80, 110), "brown"),
        ((70, 70, 120), "brown"),
        ((5, 5, 70), "red"),
        (WHITE, "white"),
        ((128, 128, 128), "grey"),
        (BLACK, "black"),
        ((74, 32, 22), "blue"),
    ],
)
def test_a_flat_picture_is_called_by_its_colour(bgr, name):
    assert look_at(flat(bgr)).colours == (name,)


def test_a_deep_red_is_red_and_not_brown():
    assert look_at(flat((0, 0, 139))).colours == ("red",)


@pytest.mark.parametrize(
    ("bgr", "light"), [(WHITE, "bright"), ((90, 90, 90), "dim"), ((30, 30, 30), "dark")]
)
def test_light_follows_brightness(bgr, light):
    assert look_at(flat(bgr)).light == light


@pytest.mark.parametrize(
    ("bgr", "warmth"),
    [((120, 180, 255), "warm"), ((255, 180, 120), "cool"), ((150, 150, 150), "neutral")],
)
def test_warmth_follows_the_balance_of_red_and_blue(bgr, warmth):
    assert look_at(flat(bgr)).warmth == warmth


def test_the_colours_of_a_picture_come_by_the_room_they_take():
    stripes = [flat(RED, (320, 150)), flat(BLUE, (320, 80)), flat(WHITE, (320, 10))]
    assert look_at(np.concatenate(stripes)).colours == ("red", "blue")


def test_the_dark_end_card_and_the_bright_offer_of_the_ad_are_seen_so(demo):
    by_time = {clip.span.start_s: clip.look for clip in demo.clips}
    assert (by_time[30.0].light, by_time[30.0].colours[0]) == ("dark", "black")
    assert (by_time[20.0].light, by_time[20.0].colours[0]) == ("bright", "red")
    assert by_time[0.0].warmth == "cool"


@examples(40)
@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_any_colour_has_one_name_a_light_and_a_warmth(bgr):
    look = look_at(flat(bgr, (64, 48)), motion=0.25)
    assert len(look.colours) == 1
    assert look.colours[0].isalpha()
    assert look.light in ("dark", "dim", "bright")
    assert look.warmth in ("warm", "cool", "neutral")
    assert look.motion == 0.25


def test_the_look_of_nothing_is_none():
    assert merge_looks([]) is None


def test_several_looks_become_the_most_common_one_with_the_mean_motion():
    night = Look(colours=("blue", "black"), light="dark", warmth="cool", motion=0.0)
    day = Look(colours=("yellow",), light="bright", warmth="warm", motion=0.3)
    merged = merge_looks([night, night, day])
    assert merged == Look(
        colours=("blue", "black", "yellow"), light="dark", warmth="cool", motion=0.1
    )
