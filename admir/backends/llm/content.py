"""What a request is made of: instructions, labelled pictures, and fenced data of a video.

Text and speech of a video, and whatever models said of it, are data: they enter prompts inside a
fence that they cannot close, and marks by which some servers tell roles apart are taken out.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from admir.backends.llm.quirks import Message
from admir.concurrency import BoundedCache
from admir.perception.decode import Picture, Pixels, jpeg_of, shrink
from admir.perception.grids import Grid
from admir.text import to_printable

FENCE = "video_data"
_BRACKET_MARKS = re.compile(
    r"\[(/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS)\])", re.IGNORECASE
)
_NO_ANGLES = str.maketrans({"<": "‹", "＜": "‹"})
"""Fences and the role marks of most models (ChatML, DeepSeek, Llama, Gemma) begin with one."""

_TILE, _LONG, _SHORT = 512, 2048, 768
_TILE_TOKENS, _BASE_TOKENS = 170, 85
_LEAST_SIZE = 0.85
_QUALITY = 85


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture for a model: the data URL of a JPEG."""

    url: str


ENCODED: BoundedCache[Image] = BoundedCache(64_000_000)

Part = str | Image


def data_block(label: str, lines: Iterable[str]) -> str:
    """Lines of a video in a fence that says what they are; each stays one line."""
    kept = [clean(line) for line in lines]
    return "\n".join([f'<{FENCE} kind="{label}">', *(kept or ["(none)"]), f"</{FENCE}>"])


def clean(text: str) -> str:
    """Text of a video on one line, without anything that closes a fence or marks a role."""
    return _BRACKET_MARKS.sub(r"(\1", to_printable(text).translate(_NO_ANGLES))


def image(shown: Picture | Grid, longest: int, *, whole: bool = False) -> Image:
    """A picture as a JPEG of at most so many pixels a side, and of no more tiles than it fills.

    With `whole` it has all of these pixels, whatever its tiles cost.
    One that was sent before is known by its key, where it has one: then it is not even drawn.
    """
    if shown.key is None:
        return _encoded(shown.pixels, longest, whole=whole)
    return ENCODED.made(
        (shown.key, longest, whole),
        lambda: _encoded(shown.pixels, longest, whole=whole),
        lambda sent: len(sent.url),
    )


def _encoded(pixels: Pixels, longest: int, *, whole: bool) -> Image:
    height, width = pixels.shape[:2]
    side = longest if whole else max(pixels_of((width, height), longest))
    packed = base64.b64encode(jpeg_of(shrink(pixels, side), _QUALITY)).decode("ascii")
    return Image(url=f"data:image/jpeg;base64,{packed}")


@lru_cache(maxsize=256)
def pixels_of(size: tuple[int, int], longest: int) -> tuple[int, int]:
    """Width and height that a picture is sent in: no tile is bought for a narrow strip of it.

    Vision models of OpenAI charge for tiles of 512 pixels: a little less may cost half.
    """
    width, height = size
    side = min(longest, max(size))
    sides = range(side, max(1, int(side * _LEAST_SIZE)) - 1, -1)
    scale = 1 / max(size)
    best = min(sides, key=lambda s: (image_tokens(width * s * scale, height * s * scale), -s))
    return max(1, round(width * best * scale)), max(1, round(height * best * scale))


def image_tokens(width: float, height: float) -> int:
    """Tokens of a picture in high detail by OpenAI's published rule for gpt-4o."""
    fit = min(1.0, _LONG / max(width, height))
    fit *= min(1.0, _SHORT / (min(width, height) * fit))
    tiles = ceil(round(width * fit) / _TILE) * ceil(round(height * fit) / _TILE)
    return _BASE_TOKENS + _TILE_TOKENS * tiles


def system(text: str) -> Message:
    """Instructions. Nothing of a video ever goes in here."""
    return {"role": "system", "content": text}


def user(parts: Sequence[Part]) -> Message:
    """What a request is about: text and pictures in order."""
    if all(isinstance(part, str) for part in parts):
        return {"role": "user", "content": "\n\n".join(str(part) for part in parts)}
    return {"role": "user", "content": [_content(part) for part in parts]}


def _content(part: Part) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": part.url, "detail": "high"}}
