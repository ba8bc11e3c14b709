"""Whether a picture is worth reading again."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.changes import differs, signature
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
