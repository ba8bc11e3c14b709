"""Videos of on-screen text in one difficulty each, drawn on the spot, with their truth.

Lines stand over a busy picture that moves. The fonts are those that Pillow carries or finds, so
the Chinese rows come only where a font for them is installed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT, FPS = 1280, 720, 25
SCREENS, SCREEN_S = 4, 2.0
_ENGLISH = (
    "Summer sale ends Sunday",
    "Fresh from the farm",
    "Only $24.99 today",
    "Terms and conditions apply",
    "Order now at brillo.example",
    "Free delivery over $50",
    "Taste the difference",
    "Made for mornings",
    "New colours this spring",
    "Drive away happy",
    "Your skin, your rules",
    "Up to 40% off",
    "Save energy every day",
    "The quiet revolution",
    "Two for one on Fridays",
    "Call 0800 123 456",
    "Sugar free since 1982",
    "Open all night",
    "Feel the rhythm",
    "Batteries not included",
    "Made in Portugal",
    "Ask your doctor first",
    "Simply better bread",
    "Limited edition",
    "Join the club",
    "Run lighter",
    "Always on time",
    "Pure mountain water",
    "Grown with care",
    "Play it loud",
)
_CHINESE = ("限时特价", "立即购买", "新鲜上市", "买一送一", "天然成分", "全国包邮", "品质生活")
_SERIF = ("DejaVuSerif-BoldItalic.ttf", "LiberationSerif-BoldItalic.ttf")
_BOLD = ("DejaVuSans-Bold.ttf", "LiberationSans-Bold.ttf")
_HAN = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansSC-Regular.otf",
    "wqy-microhei.ttc",
    "wqy-zenhei.ttc",
    "DroidSansFallbackFull.ttf",
    "msyh.ttc",
    "PingFang.ttc",
    "simsun.ttc",
)

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the lines of one video are drawn; `angle` in degrees against the clock.

    `sweep`: the degrees of a circle around which they run, feet inside or, below 0, outside.
    """

    size: tuple[int, int] = (34, 56)
    angle: tuple[int, ...] = (0,)
    ink: tuple[int, ...] = (0, 255)
    alpha: float = 1.0
    fonts: tuple[str, ...] = ()
    stroke: int = 0
    stacked: bool = False
    sweep: tuple[int, ...] = ()
    shown_s: float = SCREEN_S
    lines: int = 3
    texts: tuple[str, ...] = _ENGLISH
    scene: bool = False

    @property
    def turned(self) -> bool:
        """Whether no line of it stands upright, as a viewer would say."""
        return self.stacked or bool(self.sweep) or all(abs(angle) >= 30 for angle in self.angle)


LOOKS: dict[str, Look] = {
    "plain": Look(),
    "small": Look(size=(9, 13), lines=4),
    "faint": Look(alpha=0.22, ink=(255,), size=(20, 36)),
    "stylised": Look(fonts=_SERIF, size=(24, 60), stroke=3, alpha=0.6),
    "script": Look(fonts=("hershey",), size=(24, 44), alpha=0.7),
    "flash": Look(shown_s=0.32, lines=2),
    "turned 90": Look(angle=(90,), lines=4, size=(14, 30), alpha=0.6),
    "turned 270": Look(angle=(-90,), lines=4, size=(14, 30), alpha=0.6),
    "upside down": Look(angle=(180,)),
    "tilted 10-25": Look(angle=(-25, -15, -10, 10, 15, 25)),
    "tilted 30-60": Look(angle=(-60, -45, -30, 30, 45, 60), lines=2, size=(18, 30), alpha=0.6),
    "stacked": Look(stacked=True, size=(20, 40), lines=4, texts=_ENGLISH[-6:], fonts=_BOLD),
    "around": Look(
        sweep=(-110, -60, 60, 110), angle=(0, 0, 40, -70, 150), size=(22, 40), alpha=0.9
    ),
    "in the scene": Look(scene=True, angle=(-8, -4, 5, 9), size=(20, 40), alpha=0.7),
}


def draw_stress(folder: Path) -> Iterator[tuple[str, Path, list[dict[str, Any]]]]:
    """(name, video, truth rows) of each difficulty; the same on every machine with its fonts."""
    looks = dict(LOOKS)
    if (han := _first_font(_HAN)) is not None:
        looks["chinese"] = Look(fonts=(han,), texts=_CHINESE)
        looks["chinese down"] = Look(fonts=(han,), texts=_CHINESE, stacked=True)
    for name, look in looks.items():
        video = folder / f"{name.replace(' ', '-')}.mp4"
        yield name, video, _draw(video, look, random.Random(name))


def _first_font(names: tuple[str, ...]) -> str | None:
    for name in names:
        try:
            ImageFont.truetype(name, 20)
        except OSError:
            continue
        return name
    return None


def _draw(video: Path, look: Look, chance: random.Random) -> list[dict[str, Any]]:
    """Write the video; the truth rows."""
    rows: list[dict[str, Any]] = []
    screens = []
    texts = chance.sample(look.texts, min(len(look.texts), look.lines * SCREENS))
    for number in range(SCREENS):
        # A flash comes at any time of its screen, the more so between whole seconds.
        start = number * SCREEN_S + chance.uniform(0, SCREEN_S - look.shown_s)
        chosen = [texts[(number * look.lines + n) % len(texts)] for n in range(look.lines)]
        layer, drawn = _layer(chosen, look, chance)
        screens.append((start, start + look.shown_s, layer))
        span = {"start_s": round(start, 2), "end_s": round(start + look.shown_s, 2)}
        kind = {"turned": look.turned, "scene": look.scene}
        rows += [{"text": text} | span | kind for text in drawn]
    _encode(video, lambda index: _picture(index, screens, look))
    return rows


def _layer(texts: list[str], look: Look, chance: random.Random) -> tuple[Pixels, list[str]]:
    """RGBA [HEIGHT, WIDTH, 4] with the texts that found a free place, and those texts."""
    layer = Image.new("RGBA", (WIDTH, HEIGHT), (0, 0, 0, 0))
    taken: list[tuple[int, int, int, int]] = []
    drawn = []
    for text in texts:
        stamp = _stamp(text, look, chance)
        place = _free_place(stamp.size, taken, chance)
        if place is not None:
            layer.alpha_composite(stamp, place)
            taken.append((*place, place[0] + stamp.width, place[1] + stamp.height))
            drawn.append(text)
    return np.asarray(layer), drawn


def _free_place(
    size: tuple[int, int], taken: list[tuple[int, int, int, int]], chance: random.Random
) -> tuple[int, int] | None:
    room = (WIDTH - size[0] - 40, HEIGHT - size[1] - 40)
    for _ in range(200 if min(room) > 0 else 0):
        x, y = 20 + int(chance.random() * room[0]), 20 + int(chance.random() * room[1])
        if all(
            x > r + 12 or x + size[0] < a - 12 or y > b + 12 or y + size[1] < t - 12
            for a, t, r, b in taken
        ):
            return x, y
    return None


def _stamp(text: str, look: Look, chance: random.Random) -> Image.Image:
    """The text alone, in its ink and angle, cut to its edges."""
    size, ink = chance.randint(*look.size), chance.choice(look.ink)
    colour = (ink, ink, ink, round(255 * look.alpha))
    if look.fonts == ("hershey",):
        stamp = _hershey(text, size, colour)
    else:
        stamp = _typed(text, look, size, colour)
    stamp = _around(stamp, chance.choice(look.sweep)) if look.sweep else stamp
    turned = stamp.rotate(chance.choice(look.angle), Image.Resampling.BICUBIC, expand=True)
    return turned.crop(turned.getbbox())


def _typed(text: str, look: Look, size: int, colour: tuple[int, int, int, int]) -> Image.Image:
    found = _first_font(look.fonts)
    font = ImageFont.truetype(found, size) if found else ImageFont.load_default(size)
    text = "\n".join(text.replace(" ", "")) if look.stacked else text
    stamp = Image.new("RGBA", (WIDTH, 32 * size if look.stacked else 3 * size), (0, 0, 0, 0))
    edge = (255 - colour[0],) * 3 + (colour[3],)
    ImageDraw.Draw(stamp).multiline_text(
        (size, size // 2), text, colour, font, spacing=2, align="center",
        stroke_width=look.stroke, stroke_fill=edge if look.stroke else None,
    )  # fmt: skip
    return stamp.crop(stamp.getbbox())


def _around(stamp: Image.Image, sweep: int) -> Image.Image:
    """The stamp laid around a circle."""
    way = math.copysign(1, sweep)
    radius = stamp.width / math.radians(abs(sweep))
    side = math.ceil(2 * (radius + stamp.height))
    y, x = (np.mgrid[0:side, 0:side] - side / 2).astype(np.float32)
    along = np.arctan2(x, -way * y) * radius + stamp.width / 2
    up = np.hypot(x, y) - radius
    down = stamp.height - up if way > 0 else up
    laid = cv2.remap(np.asarray(stamp), along, down, cv2.INTER_LINEAR, borderValue=(0, 0, 0, 0))
    return Image.fromarray(laid)


def _hershey(text: str, size: int, colour: tuple[int, int, int, int]) -> Image.Image:
    mask = np.zeros((3 * size, WIDTH), np.uint8)
    face = cv2.FONT_HERSHEY_SCRIPT_COMPLEX
    cv2.putText(mask, text, (10, 2 * size), face, size / 30, 255, 3, cv2.LINE_AA)
    stamp = Image.new("RGBA", (WIDTH, 3 * size), (*colour[:3], 0))
    stamp.putalpha(Image.fromarray(mask))
    return stamp.crop(stamp.getbbox())


def _picture(index: int, screens: list[tuple[float, float, Pixels]], look: Look) -> Pixels:
    """Frame `index`, BGR: the moving background and the layer of its time."""
    time_s = index / FPS
    picture = _background(time_s)
    for start, end, layer in screens:
        if start <= time_s < end:
            shown = _in_scene(layer, time_s - start) if look.scene else layer
            picture = _blend(picture, shown)
    return picture


def _blend(picture: Pixels, layer: Pixels) -> Pixels:
    rows, columns = (np.flatnonzero(layer[..., 3].any(axis=axis)) for axis in (1, 0))
    where = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    picture, part = picture.copy(), layer[where]
    alpha = part[..., 3:].astype(np.float32) / 255
    picture[where] = picture[where] * (1 - alpha) + part[..., 2::-1] * alpha
    return picture


def _in_scene(layer: Pixels, after_s: float) -> Pixels:
    """The layer as part of the picture: in perspective, moving as the camera does."""
    corners = np.array([[0, 0], [WIDTH, 0], [WIDTH, HEIGHT], [0, HEIGHT]], np.float32)
    slant = np.array([[60, 40], [-40, -10], [-10, 20], [20, -60]], np.float32)
    moved = corners + slant + np.array([70 * after_s, 22 * after_s], np.float32)
    matrix = cv2.getPerspectiveTransform(corners, moved.astype(np.float32))
    return np.asarray(cv2.warpPerspective(layer, matrix, (WIDTH, HEIGHT)), np.uint8)


def _background(time_s: float) -> Pixels:
    """A crop that wanders over one large texture: soft shapes, hard edges, some grain."""
    x, y = int(200 + 70 * time_s) % 1200, int(150 + 22 * time_s) % 700
    return _make_texture()[y : y + HEIGHT, x : x + WIDTH]


@lru_cache(maxsize=1)
def _make_texture() -> Pixels:
    random_ = np.random.default_rng(5)
    height, width = HEIGHT + 800, WIDTH + 1300
    picture = np.full((height, width, 3), 110, np.float32)
    for side, strength in ((6, 50), (20, 25), (90, 10)):
        tint = random_.normal(0, strength / 3, (side, 2 * side, 3)).astype(np.float32)
        small = tint + random_.normal(0, strength, (side, 2 * side, 1)).astype(np.float32)
        picture += cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    for _ in range(40):
        a, b = random_.integers(0, width, 2), random_.integers(0, height, 2)
        colour = random_.integers(30, 200, 3).tolist()
        cv2.rectangle(picture, (int(a[0]), int(b[0])), (int(a[1] % 300 + a[0]), int(b[0]) + 120),
                      colour, -1)  # fmt: skip
    picture += random_.normal(0, 2, picture.shape)
    return np.clip(picture, 40, 215).astype(np.uint8)


def _encode(video: Path, draw: Callable[[int], Pixels]) -> None:
    with av.open(str(video), "w") as container:
        options = {"crf": "23", "preset": "ultrafast"}
        stream = container.add_stream("libx264", rate=FPS, options=options)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for index in range(round(SCREENS * SCREEN_S * FPS)):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(draw(index)), format="bgr24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
