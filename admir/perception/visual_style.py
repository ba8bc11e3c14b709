"""Colour, light, motion and pace by name, from pixels and cuts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.perception.decode import Pixels
from admir.types import Box, Shot, VisualStyle

LIVELY, MOVING = 0.08, 0.02
"""Least motion of a lively and of a moving picture."""

FAST_SHOT_S, SLOW_SHOT_S = 2.0, 5.0
"""Mean shot length under which an ad is cut fast, and from which on slowly."""

_SWATCHES = {
    "black": ("000000", "0f0f12", "1c1c1c", "16100c", "0a1018"),
    "grey": ("404040", "696969", "808080", "a9a9a9", "c0c0c0", "708090", "5a5550", "888078"),
    "white": ("ffffff", "f5f5f5", "e6e6e6", "d6d6d6", "f0f4ff", "fffaf5", "f0ebe1"),
    "beige": ("f5f5dc", "e8dcc4", "d9c7a5", "d2b48c", "c8b08a", "f5deb3"),
    "brown": ("8b4513", "6e5032", "784646", "5a3a22", "a0522d", "3c2a1e", "4a2c17", "7a5c3e"),
    "gold": ("d4af37", "c9a227", "b8860b", "daa520", "a67c00"),
    "red": ("ff0000", "dc143c", "b22222", "8b0000", "c8102e", "460505", "e03c3c"),
    "orange": ("ff8c00", "ffa500", "ff7f50", "ff6a13", "f4793b", "e2711d"),
    "yellow": ("ffff00", "ffd700", "ffe135", "fff44f", "ffc72c", "f7e98e", "ffc85a", "ffd166"),
    "green": ("00ff00", "008000", "228b22", "2e8b57", "556b2f", "98fb98", "0b3d0b", "6b8e23"),
    "teal": ("008080", "20b2aa", "0e6272", "2a9d8f", "06373a"),
    "light blue": ("add8e6", "87ceeb", "b0e0e6", "9fc5e8", "6fa8dc"),
    "blue": (
        *("0000ff", "1e90ff", "4169e1", "2056c8", "4682b4", "0064c8", "1414c8", "2828dc"),
        *("0000b4", "3c3cdc", "3232b4", "1e3cc8"),
    ),
    "dark blue": ("000080", "191970", "16204a", "0a1a3c", "1c2e5a", "203050", "10203a"),
    "purple": ("800080", "8a2be2", "8200c8", "6a0dad", "9370db", "432a7c", "4b0082", "dcd0f0"),
    "pink": ("ffc0cb", "ff69b4", "ff1493", "f4a6b8", "db7093", "fddde6", "ff00ff"),
}
_OF_SKIN = {
    "beige": ("f1c9a5", "e0ac86", "ffdbc4"),
    "brown": ("c68642", "b07850", "8d5524", "5c3a26", "3b2219"),
}
_LEAST_SHARE = 0.08
_CHROMA_WEIGHT = 1.6  # light changes over one thing far more than its hue does
_MOST_SAMPLES = 4096


def _lab(bgr: NDArray[Any]) -> NDArray[np.float32]:
    """Pixels [..., 3] as rows of CIE Lab (L 0 to 100), chroma weighted."""
    rows = np.asarray(bgr, dtype=np.float32).reshape(1, -1, 3) / 255
    lab = cv2.cvtColor(rows, cv2.COLOR_BGR2LAB)[0]
    return np.asarray(lab * (1.0, _CHROMA_WEIGHT, _CHROMA_WEIGHT), dtype=np.float32)


class _Known(NamedTuple):
    """Known colours: the name of each, its place in CIE Lab, and the square of that."""

    names: NDArray[np.str_]
    points: NDArray[np.float32]
    squares: NDArray[np.float32]


@cache
def _known() -> _Known:
    """Made when a colour is first named: OpenCV takes 50 ms for its tables of Lab."""
    pairs = [
        (name, bytes.fromhex(code)[::-1])
        for table in (_SWATCHES, _OF_SKIN)
        for name, codes in table.items()
        for code in codes
    ]
    colours = np.array([tuple(bgr) for _, bgr in pairs], dtype=np.uint8)
    points = _lab(colours)
    names = np.array([name for name, _ in pairs])
    return _Known(names=names, points=points, squares=np.square(points).sum(axis=1))


_AT_ONCE = 512
"""Pixels a step: their distances stay in the cache, and BLAS wakes no other thread for so few."""


def look_at(pixels: Pixels, motion: float = 0.0) -> VisualStyle:
    """The look of one BGR picture: up to three colours that fill it most, light and warmth."""
    small = cv2.resize(pixels, (64, 64), interpolation=cv2.INTER_AREA)
    shares = colour_shares(small)
    common = [(name, share) for name, share in shares if share >= _LEAST_SHARE][:3] or shares[:1]
    return VisualStyle(
        colours=tuple(name for name, _ in common),
        shares=tuple(round(share, 3) for _, share in common),
        light=_light(float(small.max(axis=2).mean())),
        warmth=_warmth(small),
        motion=round(motion, 3),
    )


def colour_shares(bgr: NDArray[Any]) -> list[tuple[str, float]]:
    """Names of the colours of pixels [..., 3] and the share of each, the largest first."""
    nearest = _nearest(bgr)
    counts = Counter[str]()
    for point, count in enumerate(np.bincount(nearest)):
        if count:
            counts[str(_known().names[point])] += int(count)
    return [(name, count / len(nearest)) for name, count in counts.most_common()]


def name_colours(bgr: NDArray[Any]) -> list[str]:
    """The name of each pixel of [..., 3]: that of the nearest known colour in CIE Lab."""
    return [str(name) for name in _known().names[_nearest(bgr)].tolist()]


def _nearest(bgr: NDArray[Any]) -> NDArray[np.intp]:
    """The known colour that is nearest to each pixel, by its number."""
    rows, known = _lab(bgr), _known()
    nearest = np.empty(len(rows), dtype=np.intp)
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        nearest[part] = (known.squares - 2 * rows[part] @ known.points.T).argmin(axis=1)
    return nearest


def ink_of(pixels: Pixels, box: Box) -> tuple[str, str]:
    """The colours of ink and ground in the box (shares of the picture) of a line of text.

    The ground is what the rim of the box is made of; the ink is what differs most from it. Both
    names are equal where the box holds one colour. Raises ValueError where it holds no pixel.
    """
    height, width = pixels.shape[:2]
    left, right = (round(v * width) for v in (box[0], box[2]))
    top, bottom = (round(v * height) for v in (box[1], box[3]))
    part = pixels[max(0, top) : bottom, max(0, left) : right]
    if part.size == 0:
        raise ValueError(f"no pixel lies in the box {box}")
    rim = np.concatenate([part[0], part[-1], part[:, 0], part[:, -1]])
    ground = np.median(rim, axis=0)
    rows = part.reshape(-1, 3)
    rows = rows[:: max(1, len(rows) // _MOST_SAMPLES)]
    away = np.linalg.norm(_lab(rows) - _lab(ground), axis=1)
    # Strokes blend into the ground at their edges: the colour of the ink is that of their core.
    core = rows[away >= max(0.7 * float(np.percentile(away, 98)), 8.0)]
    named = name_colours(ground)[0]
    return (colour_shares(core)[0][0] if len(core) else named), named


def _light(mean_value: float) -> Literal["dark", "dim", "bright"]:
    return "dark" if mean_value < 70 else "dim" if mean_value < 120 else "bright"


def _warmth(bgr: NDArray[Any]) -> Literal["warm", "cool", "neutral"]:
    blue, red = float(bgr[..., 0].mean()), float(bgr[..., 2].mean())
    return "warm" if red - blue > 18 else "cool" if blue - red > 12 else "neutral"


def merge_looks(looks: Sequence[VisualStyle], most: int = 3) -> VisualStyle | None:
    """The look of several pictures together, in at most so many colours; None of none."""
    if not looks:
        return None
    room: Counter[str] = Counter()
    for look in looks:
        shares = look.shares or (1 / len(look.colours),) * len(look.colours)
        room.update({c: s / len(looks) for c, s in zip(look.colours, shares, strict=True)})
    common = room.most_common(most)
    return VisualStyle(
        colours=tuple(name for name, _ in common),
        shares=tuple(round(share, 3) for _, share in common),
        light=Counter(look.light for look in looks).most_common(1)[0][0],
        warmth=Counter(look.warmth for look in looks).most_common(1)[0][0],
        motion=round(sum(look.motion for look in looks) / len(looks), 3),
    )


def look_words(look: VisualStyle) -> str:
    """Light, warmth, motion and colours as a phrase."""
    tone = "" if look.warmth == "neutral" else f"{look.warmth} "
    return f"A {look.light}, {tone}{motion_word(look)} picture in {', '.join(look.colours)}"


def motion_word(look: VisualStyle) -> Literal["still", "moving", "lively"]:
    """How much moves."""
    return "still" if look.motion < MOVING else "moving" if look.motion < LIVELY else "lively"


def palette_words(look: VisualStyle) -> str:
    """Colours with the share of the picture they take, light, warmth and motion."""
    shares = look.shares or (0.0,) * len(look.colours)
    named = [
        f"{name} {share:.0%}" if share else name
        for name, share in zip(look.colours, shares, strict=True)
    ]
    tone = "neither warm nor cool" if look.warmth == "neutral" else look.warmth
    return f"{', '.join(named)}; {tone}, {look.light}, {motion_word(look)}"


def pace_words(shots: Sequence[Shot]) -> str:
    """How fast it is cut: a word, the mean length of a shot and how many make a minute."""
    whole_s = sum(shot.span.duration_s for shot in shots)
    if len(shots) < 2 or whole_s <= 0:
        return "one shot without a cut" if shots else ""
    mean_s = whole_s / len(shots)
    word = "fast" if mean_s < FAST_SHOT_S else "medium" if mean_s < SLOW_SHOT_S else "slow"
    return (
        f"{word} pacing: {len(shots)} shots of {mean_s:.1f} s on average, "
        f"{60 / mean_s:.0f} a minute"
    )
