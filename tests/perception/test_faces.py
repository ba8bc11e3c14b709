"""Faces: what must not be taken for one, and that a drawn one is found where it stands."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from admir.demo import AD
from admir.perception.faces import SURE, CascadeFaces
from tests.conftest import flat
from tests.perception.videos import shown_at

SIZE = (640, 480)  # width, height
RINGS = (0.8, 1.0, 1.3, 1.6, 2.0, 2.5)


@pytest.fixture(scope="module")
def detector():
    return CascadeFaces()


def head(tone=200, ground=90):
    """A shaded head with brows, eyes, nose and mouth in front of an even ground, BGR."""
    y, x = np.mgrid[0:480, 0:640].astype(np.float32)
    grey = np.full((480, 640), float(ground), np.float32)
    skin = tone * (1 - 0.25 * ((x - 320) / 110) ** 2)
    inside = ((x - 320) / 100) ** 2 + ((y - 240) / 135) ** 2 < 1
    grey[inside] = skin[inside]
    hair = inside & (y < 150)
    grey[hair] = 0.25 * tone
    for side in (-1, 1):
        brow = (np.abs(x - 320 - side * 40) < 26) & (np.abs(y - 196) < 5)
        socket = ((x - 320 - side * 40) / 27) ** 2 + ((y - 216) / 14) ** 2 < 1
        pupil = ((x - 320 - side * 40) / 9) ** 2 + ((y - 216) / 9) ** 2 < 1
        grey[socket] = 0.62 * tone
        grey[brow] = 0.35 * tone
        grey[pupil] = 0.12 * tone
    grey[((x - 320) / 9) ** 2 + ((y - 250) / 32) ** 2 < 1] = 1.1 * tone
    grey[((x - 320) / 20) ** 2 + ((y - 278) / 6) ** 2 < 1] = 0.55 * tone
    grey[((x - 320) / 36) ** 2 + ((y - 318) / 9) ** 2 < 1] = 0.4 * tone
    grey = cv2.GaussianBlur(grey, (0, 0), 4)
    return np.repeat(grey.clip(0, 255).astype(np.uint8)[..., None], 3, axis=2)


def text(words):
    picture = flat((240, 240, 240), SIZE)
    for row, word in enumerate(words):
        cv2.putText(
            picture, word, (20, 90 + 90 * row), cv2.FONT_HERSHEY_DUPLEX, 2.5, (20, 20, 20), 5
        )
    return picture


def noise(seed, blur):
    picture = np.random.default_rng(seed).integers(0, 256, (480, 640, 3), dtype=np.uint8)
    return cv2.GaussianBlur(picture, (0, 0), blur) if blur else picture


def ring(size=1.0):
    """A glowing ring about a dot, as a brand's mark may be."""
    picture = flat((25, 20, 20), SIZE)
    for radius in range(56, 30, -1):
        glow = (25, 20 + (56 - radius) * 3, 20 + (56 - radius) * 4)
        cv2.circle(picture, (320, 200), int(size * radius), glow, -1, cv2.LINE_AA)
    for radius, colour in ((30, (40, 180, 250)), (21, (25, 20, 20)), (9, (200, 240, 255))):
        cv2.circle(picture, (320, 200), int(size * radius), colour, -1, cv2.LINE_AA)
    return picture


def dial():
    picture = flat((60, 50, 40), SIZE)
    cv2.circle(picture, (320, 240), 170, (225, 225, 225), -1, cv2.LINE_AA)
    for hour in range(1, 13):
        angle = np.pi * hour / 6
        at = (int(300 + 130 * np.sin(angle)), int(255 - 130 * np.cos(angle)))
        cv2.putText(picture, str(hour), at, cv2.FONT_HERSHEY_SIMPLEX, 1.2, (20, 20, 20), 3)
    cv2.line(picture, (320, 240), (320, 140), (20, 20, 160), 6)
    cv2.line(picture, (320, 240), (250, 270), (20, 20, 160), 6)
    return picture


def board():
    squares = (np.indices((480, 640)) // 40).sum(axis=0) % 2 * 255
    return np.repeat(squares.astype(np.uint8)[..., None], 3, axis=2)


@pytest.mark.parametrize("tone", [225, 150, 90, 50])
def test_a_face_is_found_where_it_stands_however_dark_it_is(detector, tone):
    ground = 30 if tone > 120 else 140
    found = detector.find(head(tone, ground))
    assert len(found) == 1
    assert found[0].score >= SURE
    left, top, right, bottom = found[0].box
    assert left < 320 / 640 < right
    assert top < 240 / 480 < bottom
    assert 0.2 < right - left < 0.5


def test_a_face_upside_down_is_none(detector):
    assert detector.find(np.ascontiguousarray(head()[::-1])) == ()


@pytest.mark.parametrize(
    "picture",
    [
        flat((90, 120, 200), SIZE),
        text(["WAS $64", "NOW $48", "25% OFF", "THREE"]),
        text(["oOo 8@8", "(o_o)", "QUARTZ 00", "8O8O8O"]),
        noise(1, 0),
        noise(2, 6),
        noise(3, 20),
        ring(),
        dial(),
        board(),
        flat((10, 10, 10), (2, 2)),
        flat((10, 200, 10), (30, 900)),
    ],
    ids=[
        "flat",
        "words",
        "eyes of text",
        "noise",
        "grain",
        "clouds",
        "ring",
        "dial",
        "board",
        "dot",
        "strip",
    ],
)
def test_no_face_is_invented(detector, picture):
    assert detector.find(picture) == ()


def test_what_looks_the_same_upside_down_is_no_face(detector, monkeypatch):
    """The mark at the end of the bundled ad is a ring that all cascades take for a face."""
    marks = shown_at(AD, [28.0, 29.0, 30.0, 31.0])
    assert not any(detector.find(mark.pixels) for mark in marks)
    monkeypatch.setattr(CascadeFaces, "_is_wheel", lambda *_: False)
    assert any(detector.find(mark.pixels) for mark in marks)


def test_a_ring_of_any_size_is_no_face(detector):
    assert not any(detector.find(ring(size)) for size in RINGS)
