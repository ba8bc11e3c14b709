"""Frames as small JPEGs inside the HTML, with what is pointed at in them."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from pathlib import Path

from PIL import Image, ImageDraw

from admir.types import Box
from admir.views.notebook.markup import Html, div, picture, tag

EVIDENCE_WIDTH, STRIP_WIDTH = 320, 160
_CROP_SIZE = (360, 72)
_MOST_PIXELS = 50_000_000
_SMALL_BOX = 0.15
_MARK = "#ffd60a"


def figure(path: str, caption: str, *, width: int, boxes: Iterable[Box] = ()) -> Html:
    """A frame with its caption, the boxes drawn in; of one that cannot be read, the path."""
    image = _opened(path)
    if image is None:
        return div("missing", f"frame missing or unreadable: {path}")
    _shrink(image, (width, width * 6 // 5))
    for box in boxes:
        _draw(image, box)
    shown = picture(_uri(image), f"frame, {caption}")
    return tag("figure", shown, tag("figcaption", caption))


def crop(path: str, box: Box, alt: str) -> Html:
    """The boxed part of a frame alone, where it is too small to be read in the whole frame."""
    left, top, right, bottom = box
    image = _opened(path) if (right - left) * (bottom - top) < _SMALL_BOX else None
    if image is None or (area := _area(image, box, margin=0.2)) is None:
        return Html()
    part = image.crop(area)
    _shrink(part, _CROP_SIZE)
    return div("crop", picture(_uri(part), alt))


def _opened(path: str) -> Image.Image | None:
    """The picture in RGB, or None. A file named by a trace may be anything."""
    try:
        if not Path(path).is_file():
            return None
        with Image.open(path, formats=("JPEG", "PNG")) as image:
            if image.width * image.height > _MOST_PIXELS:
                return None
            return image.convert("RGB")
    except Exception:  # noqa: BLE001 - broken pictures raise even SyntaxError and struct.error
        return None


def _shrink(image: Image.Image, size: tuple[int, int]) -> None:
    image.thumbnail(size, Image.Resampling.BILINEAR)


def _area(image: Image.Image, box: Box, margin: float) -> tuple[int, int, int, int] | None:
    """The box in pixels, widened by a share of its height; None where it is none."""
    width, height = image.size
    left, top, right, bottom = (min(1.0, max(0.0, edge)) for edge in box)
    extra = margin * (bottom - top) * height
    area = (
        max(0, int(left * width - extra)),
        max(0, int(top * height - extra)),
        min(width, round(right * width + extra)),
        min(height, round(bottom * height + extra)),
    )
    return area if area[0] + 1 < area[2] and area[1] + 1 < area[3] else None


def _draw(image: Image.Image, box: Box) -> None:
    """Two lines, a dark one around a light one: one of them shows on any picture."""
    if (area := _area(image, box, margin=0.1)) is None:
        return
    pen = ImageDraw.Draw(image)
    left, top, right, bottom = area
    thick = 1 if image.width <= STRIP_WIDTH else 2
    pen.rectangle((left - 1, top - 1, right, bottom), outline="black", width=2 * thick)
    pen.rectangle((left, top, right - 1, bottom - 1), outline=_MARK, width=thick)


def _uri(image: Image.Image) -> str:
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=72, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
