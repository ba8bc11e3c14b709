"""Whether a picture is worth reading again."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.frame_diff import BriefSights, differs, signature
from tests.conftest import flat
from tests.properties import examples


def written(text, size=0.6):
    picture = flat((40, 60, 90))
    cv2.putText(picture, text, (20, 200), cv2.FONT_HERSHEY_SIMPLEX, size, (255, 255, 255), 1)
    return picture


def changed(before, after):
    return differs(signature(before), signature(after))


@pytest.mark.parametrize("size", [(320, 240), (240, 426), (31, 17)])
def test_a_signature_is_small_and_grey_whatever_the_picture(size):
    assert signature(flat((1, 2, 3), size)).shape == (192, 192)


def test_a_small_line_that_appears_is_a_change():
    assert changed(written(""), written("Terms apply"))


def test_another_price_in_the_same_place_is_a_change():
    assert changed(written("$48", 1.0), written("$64", 1.0))


@examples(20)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_noise_of_a_codec_is_no_change(seed):
    picture = written("Terms apply")
    noise = np.random.default_rng(seed).integers(-2, 3, picture.shape)
    assert not changed(picture, np.clip(picture + noise, 0, 255).astype(np.uint8))


@examples(20)
@given(a=st.integers(0, 255), b=st.integers(0, 255))
def test_a_change_is_one_in_both_directions(a, b):
    dark, light = flat((a, a, a)), flat((b, b, b))
    assert changed(dark, light) == changed(light, dark) == (abs(a - b) > 4)


def watch(levels, sampled_s=(0.0, 1.0, 2.0), every_s=2.0):
    """(held, given): times at which thumbs of these grey levels, 25 a second, were chosen."""
    sights = BriefSights(every_s)
    held, given = [], []
    for number, level in enumerate(levels):
        time_s = number / 25
        choice = sights.see(time_s, np.full((90, 160), level, np.uint8))
        if choice == "hold":
            held.append(time_s)
        if choice == "give":
            given.append(held[-1])
            sights.sampled(held[-1])
        if any(abs(time_s - second) < 0.001 for second in sampled_s):
            sights.sampled(time_s)
    return held, given


def test_a_shot_between_two_samples_is_held_and_given():
    _, given = watch([40] * 32 + [160] * 8 + [40] * 20)
    assert len(given) == 1
    assert 1.28 + 0.1 <= given[0] < 1.6


def test_a_shot_that_a_sample_falls_into_is_not_given_again():
    assert watch([40] * 20 + [160] * 15 + [40] * 20)[1] == []


def test_a_still_picture_and_a_slow_fade_give_nothing():
    assert watch([80] * 75)[1] == []
    assert watch(list(range(50, 125)))[1] == []


def test_a_flicker_shorter_than_a_glance_gives_nothing():
    assert watch([40] * 32 + [160] * 2 + [40] * 20)[1] == []


@examples(10)
@given(seed=st.integers(0, 2**32 - 1))
def test_restless_pictures_give_few(seed):
    random = np.random.default_rng(seed)
    levels = np.repeat(random.integers(0, 255, 40), random.integers(3, 12, 40))
    assert len(watch(levels, every_s=2.0)[1]) <= 4 + len(levels) / 25 / 2
