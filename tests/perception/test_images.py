"""Pictures on disk and made smaller."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.decode import by_whole_number, load_image, save_jpeg, shrink
from tests.drawing import flat
from tests.properties import examples


@examples(30)
@given(width=st.integers(1, 300), height=st.integers(1, 300), longest=st.integers(1, 400))
def test_shrinking_keeps_the_limit_and_never_enlarges(width, height, longest):
    small = shrink(np.zeros((height, width, 3), np.uint8), longest)
    assert max(small.shape[:2]) == min(longest, max(width, height))
    assert min(small.shape[:2]) >= 1


def test_a_saved_picture_is_loaded_alike(tmp_path):
    picture = flat((200, 120, 40))
    save_jpeg(tmp_path / "a.jpg", picture)
    loaded = load_image(tmp_path / "a.jpg")
    assert loaded.shape == picture.shape
    assert np.abs(loaded.astype(int) - picture).max() <= 4


@pytest.mark.parametrize("content", [b"", b"no picture"])
def test_a_broken_picture_raises_an_os_error(tmp_path, content):
    (tmp_path / "a.jpg").write_bytes(content)
    with pytest.raises(OSError, match="is not a picture"):
        load_image(tmp_path / "a.jpg")


@pytest.mark.parametrize("smaller", [1, 2, 4, 8])
def test_a_picture_is_loaded_smaller(tmp_path, smaller):
    """The left half is dark, the right one bright: both stay where they are."""
    picture = np.hstack([flat((20, 20, 20), (80, 96)), flat((230, 230, 230), (80, 96))])
    save_jpeg(tmp_path / "a.jpg", picture)
    loaded = load_image(tmp_path / "a.jpg", smaller=smaller)
    assert loaded.shape == (96 // smaller, 160 // smaller, 3)
    middle = loaded.shape[1] // 2
    assert loaded[:, : middle - 1].max() < 40
    assert loaded[:, middle + 1 :].min() > 210


@pytest.mark.parametrize("smaller", [2, 4, 8])
def test_a_png_is_loaded_smaller_too(tmp_path, smaller):
    cv2.imwrite(str(tmp_path / "a.png"), flat((10, 100, 200), (64, 32)))
    loaded = load_image(tmp_path / "a.png", smaller=smaller)
    assert loaded.shape == (32 // smaller, 64 // smaller, 3)


def test_a_size_that_no_jpeg_has_is_refused(tmp_path):
    save_jpeg(tmp_path / "a.jpg", flat((1, 2, 3)))
    with pytest.raises(KeyError):
        load_image(tmp_path / "a.jpg", smaller=3)


sizes = st.integers(1, 60)


@examples(80)
@given(height=sizes, width=sizes, factor=st.integers(-1, 9), seed=st.integers(0, 99))
def test_whole_blocks_are_averaged_and_the_rest_cut_off(height, width, factor, seed):
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    small = by_whole_number(pixels, factor)
    if factor <= 1:
        assert small is pixels
        return
    assert small.shape == (max(1, height // factor), max(1, width // factor), 3)
    if min(height, width) >= factor:
        rows, columns = small.shape[:2]
        blocks = pixels[: rows * factor, : columns * factor].reshape(
            rows, factor, columns, factor, 3
        )
        assert np.abs(blocks.mean(axis=(1, 3)) - small).max() <= 1
