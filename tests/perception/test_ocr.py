"""Reading the text of one picture. Few pictures: each reading costs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from admir.perception.ocr import RapidOcrReader
from admir.perception.ocr_models import TextNet
from admir.text import normalize

SIZE = (640, 360)


def page(*lines):
    """Lines of (x, y, text) in white on blue, BGR."""
    image = Image.new("RGB", SIZE, (20, 30, 60))
    pen = ImageDraw.Draw(image)
    for x, y, text in lines:
        pen.text((x, y), text, fill="white", font=ImageFont.load_default(size=36))
    return np.asarray(image)[:, :, ::-1].copy()


CARD = page(
    (40, 40, "$48 today"), (40, 160, "Light that listens."), (40, 280, "www.lumivo.example")
)


@pytest.fixture(scope="module")
def reader():
    return RapidOcrReader()


@pytest.fixture(scope="module")
def card(reader):
    return reader.read(CARD)


def test_a_price_a_slogan_and_an_address_are_read_from_top_to_bottom(card):
    assert [line.text for line in card] == [
        "$48 today",
        "Light that listens.",
        "www.lumivo.example",
    ]
    assert not any(line.vertical for line in card)
    assert all(0.6 <= line.confidence <= 1 for line in card)


def test_the_box_of_a_line_stands_around_it(card):
    left, top, right, bottom = card[0].box
    inside = CARD[int(top * 360) : int(bottom * 360) + 1, int(left * 640) : int(right * 640) + 1]
    white, all_white = (inside > 200).all(axis=2).sum(), (CARD[:120] > 200).all(axis=2).sum()
    assert white >= 0.98 * all_white
    assert (right - left) * (bottom - top) < 0.15


@pytest.mark.parametrize("quarters", [1, 3])
def test_a_line_that_runs_upwards_or_downwards_is_read_and_called_vertical(reader, quarters):
    picture = np.rot90(page((60, 150, "THREE NEW COLOURS")), quarters)
    (line,) = reader.read(np.ascontiguousarray(picture))
    assert (normalize(line.text), line.vertical) == (normalize("THREE NEW COLOURS"), True)


def test_pictures_without_text_have_no_lines(reader):
    texture = np.random.default_rng(0).integers(0, 255, (120, 160, 3), dtype=np.uint8)
    assert reader.read(page()) == reader.read(texture) == ()


@pytest.mark.parametrize("shape", [(2, 2, 3), (1, 200, 3), (600, 4, 3)])
def test_pictures_of_any_shape_can_be_read(reader, shape):
    assert reader.read(np.zeros(shape, np.uint8)) == ()


def test_two_threads_read_the_same_as_one(reader, card):
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(reader.read, [CARD, CARD])) == [card, card]


def test_characters_that_steer_a_terminal_are_left_out(monkeypatch):
    quad = np.array([[10, 10], [90, 10], [90, 30], [10, 30]], dtype=np.float32)
    places = [[quad], [], []]
    monkeypatch.setattr(TextNet, "find_all", lambda self, pixels, side: (places.pop(0), []))
    reading = ("SA\x1bLE\u202e\u202848\ud800", 0.99)
    monkeypatch.setattr(TextNet, "read", lambda self, crops: [reading for _ in crops])
    (found,) = RapidOcrReader().read(np.zeros((100, 200, 3), dtype=np.uint8))
    assert found.text == "SALE 48"


def leaning(text, angle, size=44):
    """The text in white on blue at this angle, degrees against the clock."""
    image = Image.new("L", SIZE, 0)
    ImageDraw.Draw(image).text(
        (SIZE[0] / 2, SIZE[1] / 2), text, 255, ImageFont.load_default(size=size), "mm"
    )
    mask = np.asarray(image.rotate(angle, Image.Resampling.BICUBIC))[..., None] / 255
    return (np.array((60, 30, 20)) * (1 - mask) + 255 * mask).astype(np.uint8)


def test_a_line_upside_down_is_read(reader):
    (line,) = reader.read(leaning("Free delivery", 180))
    assert normalize(line.text) == "freedelivery"


@pytest.mark.parametrize("angle", [-30, 20])
def test_a_leaning_line_is_read_with_its_tilt(reader, angle):
    (line,) = reader.read(leaning("Free delivery", angle))
    assert normalize(line.text) == "freedelivery"
    assert line.tilt == pytest.approx(-angle, abs=4)


def test_faint_print_is_read(reader):
    faint = (leaning("Terms apply", 0, 28).astype(float) * 0.12 + 90).astype(np.uint8)
    (line,) = reader.read(faint)
    assert normalize(line.text) == "termsapply"


def test_a_picture_is_read_in_a_bounded_number_of_steps(monkeypatch):
    """However many regions are unsure and lean, second tries are few."""
    quads = [
        np.array([[x, y], [x + 40, y + 20], [x + 36, y + 28], [x - 4, y + 8]], np.float32)
        for x in range(20, 580, 60)
        for y in range(20, 320, 40)
    ]
    searched, read = [], []
    monkeypatch.setattr(
        TextNet, "find_all", lambda s, pixels, side: searched.append(0) or (quads, [])
    )
    monkeypatch.setattr(
        TextNet, "read", lambda s, crops: read.extend(crops) or [("x", 0.3)] * len(crops)
    )
    RapidOcrReader().read(page())
    assert len(searched) <= 6
    assert len(read) <= 15 * len(quads)


def test_of_a_picture_full_of_text_the_largest_lines_are_read(monkeypatch):
    words = [(10 + 100 * x, 100 + 24 * y, f"word {x}{y}") for x in range(6) for y in range(10)]
    picture = page((30, 20, "FINAL HEADLINE"))
    for x, y, text in words:
        cv2.putText(picture, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1)
    read, one = [], TextNet._read
    monkeypatch.setattr(TextNet, "_read", lambda net, crop: read.append(0) or one(net, crop))
    lines = RapidOcrReader(most_lines=10).read(picture)
    assert len(lines) == 10
    assert "finalheadline" in [normalize(line.text) for line in lines]
    assert len(read) < len(words)
