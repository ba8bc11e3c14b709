"""Text around a circle: found by the outline of its core, and made straight."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from admir.perception.curved_text import TextArc, find_bends
from admir.perception.ocr import RapidOcrReader
from admir.text import normalize
from tests.properties import examples

WIDTH, HEIGHT = 640, 480


def arc_map(first, last, radius=150, thick=14, middle=(320, 240)):
    """What the detector answers to a line around a circle; degrees with the clock."""
    core = np.zeros((HEIGHT, WIDTH), np.uint8)
    cv2.ellipse(core, middle, (radius, radius), 0, first, last, 255, thick)
    return core.astype(np.float32) / 255


@examples(20)
@given(
    first=st.integers(0, 359),
    sweep=st.integers(60, 240),
    radius=st.integers(80, 200),
    thick=st.integers(8, 20),
)
def test_an_arc_is_found_where_it_was_drawn(first, sweep, radius, thick):
    (bend,) = find_bends(arc_map(first, first + sweep, radius, thick), WIDTH, HEIGHT)
    way = np.radians(np.linspace(first, first + sweep, 50))
    x, y = 320 + radius * np.cos(way) - bend.x, 240 + radius * np.sin(way) - bend.y
    assert np.hypot(x, y) == pytest.approx(bend.radius, abs=0.25 * thick)
    assert bend.height == pytest.approx(2.6 * thick, rel=0.3)
    middle = math.degrees((bend.first + bend.last) / 2)
    assert (middle - first - sweep / 2 + 180) % 360 - 180 == pytest.approx(0, abs=4)


@pytest.mark.parametrize("slope", [0, 90, 200])
def test_straight_lines_and_blobs_are_not_bent(slope):
    core = np.zeros((HEIGHT, WIDTH), np.uint8)
    cv2.line(core, (100, 100), (400, 100 + slope), 255, 12)
    cv2.circle(core, (500, 350), 60, 255, -1)
    cv2.rectangle(core, (100, 350), (130, 380), 255, -1)
    assert find_bends(core.astype(np.float32) / 255, WIDTH, HEIGHT) == []


def test_a_whole_ring_and_an_empty_map_have_no_bent_line():
    assert find_bends(arc_map(0, 360), WIDTH, HEIGHT) == []
    assert find_bends(np.zeros((HEIGHT, WIDTH), np.float32), WIDTH, HEIGHT) == []


def test_bends_of_one_picture_are_few_and_the_largest():
    core = sum(
        arc_map(200, 340, 12 + x // 40, 4, (x, y))
        for x in range(40, 600, 60)
        for y in range(40, 440, 60)
    )
    bends = find_bends(core, WIDTH, HEIGHT)
    assert len(bends) == 8
    assert min(bend.radius for bend in bends) > 22


@examples(30)
@given(seed=st.integers(0, 10_000), coarse=st.integers(4, 60), power=st.sampled_from([0.5, 1, 4]))
def test_a_map_of_any_noise_gives_few_bends_that_can_be_cut(seed, coarse, power):
    small = np.random.default_rng(seed).random((coarse, 2 * coarse), np.float32)
    noise = np.clip(cv2.resize(small, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC), 0, 1)
    bends = find_bends(noise**power, WIDTH, HEIGHT)
    assert len(bends) <= 8
    for bend in bends:
        assert min(bend.cut(np.zeros((HEIGHT, WIDTH, 3), np.uint8)).shape[:2]) > 1


def test_a_map_smaller_than_its_picture_gives_places_in_the_picture():
    (bend,) = find_bends(arc_map(200, 340), 2 * WIDTH, 2 * HEIGHT)
    assert (bend.x, bend.y, bend.radius) == pytest.approx((640, 480, 300), abs=8)


def test_a_ring_is_cut_into_a_straight_band():
    picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    cv2.circle(picture, (320, 240), 150, (255, 255, 255), 8)
    bend = TextArc(x=320, y=240, radius=150, first=3.5, last=5.5, height=40)
    rows = bend.cut(picture)[..., 0].mean(axis=1)
    assert bend.cut(picture).shape == (40, 300, 3)
    assert rows[18:22].min() > 240
    assert rows[:12].max() == rows[28:].max() == 0


def test_its_pieces_cover_it_and_its_region_is_ordered_as_in_the_picture():
    bend = TextArc(x=320, y=240, radius=150, first=-2.4, last=-0.8, height=40)
    band = math.pi * (170**2 - 130**2) * 1.6 / math.tau
    assert sum(map(cv2.contourArea, bend.pieces())) == pytest.approx(band, rel=0.05)
    corners = bend.quad()
    for piece in bend.pieces():
        for x, y in piece:
            assert cv2.pointPolygonTest(corners, (float(x), float(y)), measureDist=True) > -1
    assert corners[0][0] < corners[1][0]
    assert corners[0][1] < corners[3][1]


def around(text, sweep, turn=0, size=40):
    """The text in white on blue around a circle, over `sweep` degrees, feet out where below 0."""
    font = ImageFont.load_default(size=size)
    left, top, right, bottom = (round(v) for v in font.getbbox(text))
    line = Image.new("L", (right - left, bottom - top))
    ImageDraw.Draw(line).text((-left, -top), text, 255, font)
    way, radius = math.copysign(1, sweep), line.width / math.radians(abs(sweep))
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    x, y = x - WIDTH / 2, y - HEIGHT / 2
    x, y = (x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn))
    along = np.arctan2(x, -way * y) * radius + line.width / 2
    up = np.hypot(x, y) - radius
    down = line.height - up if way > 0 else up
    mask = cv2.remap(np.asarray(line), along, down, cv2.INTER_LINEAR)[..., None] / 255
    return (np.array((60, 30, 20)) * (1 - mask) + 255 * mask).astype(np.uint8)


@pytest.fixture(scope="module")
def reader():
    return RapidOcrReader()


@pytest.mark.parametrize(("sweep", "turn"), [(120, 0.0), (-100, 0.0), (110, 1.2), (-140, 2.6)])
def test_a_line_around_a_circle_is_read_feet_inside_or_outside(reader, sweep, turn):
    (line,) = reader.read(around("FRESHWATER", sweep, turn))
    assert normalize(line.text) == "freshwater"


def test_what_stands_inside_the_circle_is_kept(reader):
    picture = around("FRESHWATER", 150)
    cv2.putText(picture, "SINCE 1952", (240, 240), cv2.FONT_HERSHEY_SIMPLEX, 0.9,
                (255, 255, 255), 2, cv2.LINE_AA)  # fmt: skip
    texts = {normalize(line.text) for line in reader.read(picture)}
    assert texts == {"freshwater", "since1952"}
