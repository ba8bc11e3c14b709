"""Colour and light by name."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.visual_style import (
    ink_of,
    look_at,
    merge_looks,
    name_colours,
    pace_words,
    palette_words,
)
from admir.types import Shot, Span, VisualStyle
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
        ((74, 32, 22), "dark blue"),
        ((200, 220, 238), "beige"),
        ((55, 175, 212), "gold"),
        ((193, 182, 255), "pink"),
        ((61, 33, 20), "dark blue"),
        ((190, 82, 42), "blue"),
        ((240, 216, 167), "light blue"),
        ((33, 67, 101), "brown"),
        ((36, 85, 141), "brown"),
        ((168, 200, 240), "beige"),
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
    assert by_time[20.0].light == "bright"
    assert set(by_time[20.0].colours[:2]) == {"orange", "red"}
    assert by_time[0.0].warmth == "cool"


@examples(40)
@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_any_colour_has_one_name_a_light_and_a_warmth(bgr):
    look = look_at(flat(bgr, (64, 48)), motion=0.25)
    assert len(look.colours) == 1
    assert look.colours[0].replace(" ", "").isalpha()
    assert look.shares == (1.0,)
    assert look.light in ("dark", "dim", "bright")
    assert look.warmth in ("warm", "cool", "neutral")
    assert look.motion == 0.25


def test_the_look_of_nothing_is_none():
    assert merge_looks([]) is None


def test_several_looks_become_the_most_common_one_with_the_mean_motion():
    night = VisualStyle(colours=("blue", "black"), light="dark", warmth="cool", motion=0.0)
    day = VisualStyle(colours=("yellow",), light="bright", warmth="warm", motion=0.3)
    merged = merge_looks([night, night, day])
    assert merged is not None
    assert set(merged.colours) == {"blue", "black", "yellow"}
    assert (merged.light, merged.warmth, merged.motion) == ("dark", "cool", 0.1)


def test_colours_of_several_looks_come_by_the_room_they_take_together():
    little = VisualStyle(colours=("red", "blue"), shares=(0.5, 0.1), light="dim", warmth="warm")
    much = VisualStyle(colours=("blue", "red"), shares=(0.9, 0.1), light="dim", warmth="cool")
    merged = merge_looks([little, much])
    assert merged is not None
    assert merged.colours == ("blue", "red")
    assert merged.shares == (0.5, 0.3)
    few = merge_looks([little, much], most=1)
    assert few is not None
    assert few.colours == ("blue",)


def rendered(ink, ground):
    """Antialiased words on a ground, and the box of them."""
    picture = flat(ground, (640, 200))
    cv2.putText(
        picture, "Light that listens", (40, 110), cv2.FONT_HERSHEY_DUPLEX, 1.6, ink, 3, cv2.LINE_AA
    )
    return picture, (30 / 640, 60 / 200, 620 / 640, 130 / 200)


@pytest.mark.parametrize(
    ("ink", "ground", "names"),
    [
        (WHITE, BLACK, ("white", "black")),
        (BLACK, WHITE, ("black", "white")),
        ((0, 215, 255), (114, 98, 14), ("yellow", "teal")),
        ((40, 30, 180), (90, 200, 255), ("red", "yellow")),
        (WHITE, (60, 20, 200), ("white", "red")),
        ((128, 0, 0), (225, 235, 240), ("dark blue", "white")),
    ],
)
def test_the_ink_of_a_text_is_told_from_its_ground(ink, ground, names):
    assert ink_of(*rendered(ink, ground)) == names


def test_a_box_of_one_colour_has_an_ink_like_its_ground():
    assert ink_of(flat(RED, (64, 48)), (0.1, 0.1, 0.9, 0.9)) == ("red", "red")


def test_a_box_without_a_pixel_is_refused():
    with pytest.raises(ValueError, match="no pixel"):
        ink_of(flat(RED, (64, 48)), (0.5, 0.5, 0.5, 0.6))


def shots(*lengths_s):
    edges = np.concatenate([[0.0], np.cumsum(lengths_s)])
    return tuple(
        Shot(index=i, span=Span(start_s=float(a), end_s=float(b)))
        for i, (a, b) in enumerate(pairwise(edges))
    )


@pytest.mark.parametrize(
    ("lengths_s", "words"),
    [
        ((), ""),
        ((9.0,), "one shot without a cut"),
        ((1.0, 2.0), "fast pacing: 2 shots of 1.5 s on average, 40 a minute"),
        ((2.0, 2.0), "medium pacing: 2 shots of 2.0 s on average, 30 a minute"),
        ((5.0, 5.0), "slow pacing: 2 shots of 5.0 s on average, 12 a minute"),
    ],
)
def test_the_pace_has_a_word_by_the_mean_shot(lengths_s, words):
    assert pace_words(shots(*lengths_s)) == words


def test_a_palette_is_told_with_shares_and_motion():
    look = VisualStyle(
        colours=("red", "white"), shares=(0.6, 0.25), light="dim", warmth="neutral", motion=0.05
    )
    assert palette_words(look) == "red 60%, white 25%; neither warm nor cool, dim, moving"


def test_each_pixel_of_a_large_picture_is_named_as_if_alone():
    pixels = np.random.default_rng(1).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    alone = [name_colours(pixel)[0] for pixel in pixels.reshape(-1, 3)]
    assert name_colours(pixels) == alone
    assert len(set(alone)) > 5
