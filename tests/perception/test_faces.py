"""Faces: what must not be taken for one, and that a drawn one is found where it stands."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from admir.perception.faces import SURE, CascadeFaces
from tests.conftest import flat

SIZE = (640, 480)  # width, height


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


def ring():
    picture = flat((25, 20, 20), SIZE)
    for radius, colour in ((74, (30, 60, 90)), (58, (40, 180, 250)), (40, (25, 20, 20))):
        cv2.circle(picture, (320, 200), radius, colour, -1, cv2.LINE_AA)
    cv2.circle(picture, (320, 200), 18, (200, 240, 255), -1, cv2.LINE_AA)
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


def test_without_the_upside_down_look_a_ring_would_be_a_face(detector, monkeypatch):
    monkeypatch.setattr(CascadeFaces, "_is_wheel", lambda *_: False)
    assert detector.find(ring())
