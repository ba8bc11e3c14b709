"""Videos drawn for `shots.py`: varied scenes under cuts, dissolves and fades at known times.

Everything follows from a seed. Scenes are photo-like noise of several scales under a camera that
rests, pans, zooms, shakes or whips; moving shapes; product cards with text that pops in or fades
in; with grain, flicker, flashes, dimming light and things that pass close to the camera.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

SIZES = ((320, 180), (180, 320), (240, 300))
RATES = (24, 25, 30, 60)
MS = Fraction(1, 1000)

Image = NDArray[np.uint8]
Draw = Callable[[float], Image]
"""A scene: its picture, BGR [height, width, 3], so many seconds after it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """A true boundary. For a cut, start and end are the time of the first new frame."""

    kind: str
    start_s: float
    end_s: float
    colour: float = 0.0
    hold: float = 0.0
    eased: bool = False

    @property
    def middle_s(self) -> float:
        """The time it is looked for at."""
        return (self.start_s + self.end_s) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A drawn video: the times of its frames, its scenes and the boundaries between them."""

    size: tuple[int, int]
    times_s: tuple[float, ...]
    scenes: tuple[Draw, ...]
    boundaries: tuple[Boundary, ...]
    opens_s: float
    closes_s: float

    def frames(self) -> Iterator[Image]:
        """The pictures, in order."""
        for time_s in self.times_s:
            yield self._picture(time_s)

    def _picture(self, time_s: float) -> Image:
        end_s = self.times_s[-1]
        picture = self._mixed(time_s)
        light = min(1.0, time_s / self.opens_s if self.opens_s else 1.0)
        light = min(light, (end_s - time_s) / self.closes_s if self.closes_s else 1.0)
        return picture if light >= 1 else cv2.convertScaleAbs(picture, alpha=light)

    def _mixed(self, time_s: float) -> Image:
        number = sum(b.start_s <= time_s + 1e-9 for b in self.boundaries)
        began_s = self.boundaries[number - 1].start_s if number else 0.0
        if not number or time_s >= self.boundaries[number - 1].end_s:
            return self.scenes[number](time_s - began_s)
        boundary = self.boundaries[number - 1]
        before_s = self.boundaries[number - 2].start_s if number > 1 else 0.0
        share = (time_s - boundary.start_s) / (boundary.end_s - boundary.start_s)
        old = self.scenes[number - 1](time_s - before_s)
        return _join(old, self.scenes[number](time_s - began_s), boundary, share)


def _join(old: Image, new: Image, boundary: Boundary, share: float) -> Image:
    """The picture so far through a dissolve or a fade."""
    if boundary.kind == "dissolve":
        weight = share * share * (3 - 2 * share) if boundary.eased else share
        return cv2.addWeighted(old, 1 - weight, new, weight, 0)
    half = (1 - boundary.hold) / 2
    left = max(0.0, 1 - share / half)
    right = max(0.0, 1 - (1 - share) / half)
    picture, weight = (old, left) if share < 0.5 else (new, right)
    return cv2.convertScaleAbs(picture, alpha=weight, beta=boundary.colour * (1 - weight))


def material(seed: int) -> Material:
    """One video of 12 to 30 s."""
    random = np.random.default_rng(seed)
    size, rate = SIZES[random.integers(3)], RATES[random.integers(4)]
    plan = list(_plan(random, rate))
    end_s = (plan[-1].end_s if plan else 0.0) + random.uniform(1.2, 3)
    times = _times(random, rate, end_s)
    boundaries = [_on_frames(b, times) for b in plan]
    scenes, last = [], None
    for _ in range(len(boundaries) + 1):
        last = _scene(random, size, last)
        scenes.append(last.draw)
    fades = random.uniform(0.3, 1.0, 2) * (random.random(2) < 0.3)
    return Material(
        size=size,
        times_s=times,
        scenes=tuple(scenes),
        boundaries=tuple(boundaries),
        opens_s=float(fades[0]),
        closes_s=float(fades[1]),
    )


def _plan(random: Generator, rate: int) -> Iterator[Boundary]:
    time_s = random.uniform(1.2, 3)
    for _ in range(random.integers(5, 9)):
        kind = random.choice(["cut", "dissolve", "fade", "montage"], p=[0.45, 0.28, 0.17, 0.1])
        for boundary in _at(random, str(kind), time_s, rate):
            yield boundary
            time_s = boundary.end_s
        time_s += random.uniform(0.7, 3)


def _at(random: Generator, kind: str, time_s: float, rate: int) -> Sequence[Boundary]:
    if kind == "cut":
        return [Boundary(kind="cut", start_s=time_s, end_s=time_s)]
    if kind == "montage":
        steps = np.cumsum(random.integers(4, 8, random.integers(3, 7)) / min(rate, 30))
        return [Boundary(kind="cut", start_s=time_s + s, end_s=time_s + s) for s in (0.0, *steps)]
    length_s = random.uniform(0.3, 2.0 if kind == "dissolve" else 3.0)
    return [
        Boundary(
            kind=kind,
            start_s=time_s,
            end_s=time_s + length_s,
            colour=float(random.choice([0, 0, 16, 255])),
            hold=float(random.choice([0.0, 0.1, 0.3])),
            eased=bool(random.random() < 0.5),
        )
    ]


def _times(random: Generator, rate: int, end_s: float) -> tuple[float, ...]:
    """A fixed rate, or one of five times a variable one, in whole milliseconds."""
    times = [round(n / rate, 3) for n in range(int(end_s * rate))]
    if random.random() < 0.2:
        kept = random.random(len(times)) < 0.8
        return tuple(t for t, keep in zip(times, kept, strict=True) if keep or not t)
    return tuple(times)


def _on_frames(boundary: Boundary, times_s: Sequence[float]) -> Boundary:
    if boundary.kind != "cut":
        return boundary
    first = next(t for t in times_s if t >= boundary.start_s)
    return Boundary(kind="cut", start_s=first, end_s=first)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    draw: Draw
    texture: Image


def _scene(random: Generator, size: tuple[int, int], last: _Scene | None) -> _Scene:
    """A scene; one of six shows the last one's place from elsewhere."""
    same = last is not None and random.random() < 0.17
    texture = last.texture if same and last else _texture(random, size)
    base = _camera(random, texture, size, elsewhere=same)
    if random.random() < 0.45:
        base = _over(base, _shapes(random, size))
    if random.random() < 0.35:
        base = _over(base, _title(random, size))
    if random.random() < 0.08:
        base = _over(base, _passer(random, size))
    return _Scene(draw=_lit(random, base), texture=texture)


def _over(base: Draw, paint: Callable[[Image, float], None]) -> Draw:
    def draw(time_s: float) -> Image:
        picture = base(time_s)
        paint(picture, time_s)
        return picture

    return draw


def _texture(random: Generator, size: tuple[int, int]) -> Image:
    """Twice the size of the picture: noise of several scales in a palette of its own."""
    width, height = 2 * size[0], 2 * size[1]
    middle = random.uniform(40, 200)
    picture = np.full((height, width, 3), middle) + random.normal(0, 18, 3)
    tints = random.normal(0, 9, (3, 3)) + random.uniform(15, 45)
    rough = random.uniform(0.45, 0.95)
    for level in range(1, 8):
        cells = (2**level, max(2, width * 2**level // height))
        layer = random.normal(0, 1, (*cells, 3)) @ tints / 2
        layer = cv2.resize(layer, (width, height), interpolation=cv2.INTER_CUBIC)
        picture += rough ** (level - 1) * layer
    if random.random() < 0.25:
        picture = picture.mean(axis=(0, 1)) + 0.08 * (picture - picture.mean(axis=(0, 1)))
    return np.clip(picture, 0, 255).astype(np.uint8)


def _camera(random: Generator, texture: Image, size: tuple[int, int], *, elsewhere: bool) -> Draw:
    width, height = size
    kind = random.choice(["rest", "pan", "zoom", "shake", "whip"], p=[0.35, 0.25, 0.2, 0.15, 0.05])
    drift = random.uniform(-0.25, 0.25, 2) * (kind == "pan")
    growth = random.uniform(-0.12, 0.2) * (kind == "zoom")
    at, wide = random.uniform(0.35, 0.65, 2), random.uniform(0.55, 0.9) if elsewhere else 1.0
    phase, whip_s = random.uniform(0, 6, 4), random.uniform(0.3, 1.0)

    def draw(time_s: float) -> Image:
        x, y = at + drift * time_s
        if kind == "shake":
            x += 0.012 * np.sin(9 * time_s + phase[0]) + 0.008 * np.sin(23 * time_s + phase[1])
            y += 0.012 * np.sin(11 * time_s + phase[2]) + 0.006 * np.sin(19 * time_s + phase[3])
        if kind == "whip":
            x += 0.8 * np.clip((time_s - whip_s) / 0.3, 0, 1)
        scale = wide * np.exp(-growth * time_s)
        x, y = 1 - abs(1 - x % 2), 1 - abs(1 - y % 2)
        matrix = np.array(
            [
                [scale, 0, x * 2 * width - scale * width / 2],
                [0, scale, y * 2 * height - scale * height / 2],
            ]
        )
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return cv2.warpAffine(texture, matrix, size, flags=flags, borderMode=cv2.BORDER_REFLECT)

    return draw


def _shapes(random: Generator, size: tuple[int, int]) -> Callable[[Image, float], None]:
    width, height = size
    count = random.integers(1, 5)
    at, speed = random.uniform(0, 1, (count, 2)), random.normal(0, 0.25, (count, 2))
    radii = random.uniform(0.04, 0.25, count) * min(size)
    colours = random.uniform(0, 255, (count, 3))

    def paint(picture: Image, time_s: float) -> None:
        places = 1 - abs(1 - (at + speed * time_s) % 2)
        for (x, y), radius, colour in zip(places, radii, colours, strict=True):
            centre = (int(x * width * 16), int(y * height * 16))
            cv2.circle(picture, centre, int(radius * 16), colour.tolist(), -1, cv2.LINE_AA, 4)

    return paint


def _title(random: Generator, size: tuple[int, int]) -> Callable[[Image, float], None]:
    """Words that pop in or fade in, and may go again."""
    width, height = size
    from_s, stays_s = random.uniform(0.2, 1.2), random.uniform(0.5, 3)
    ramp_s = float(random.choice([0.0, 0.4]))
    tall = random.uniform(0.5, 1.3)
    place = (int(0.05 * width), int(random.uniform(0.2, 0.9) * height))
    colour = (255, 255, 255) if random.random() < 0.6 else random.uniform(0, 255, 3).tolist()

    def paint(picture: Image, time_s: float) -> None:
        if not from_s <= time_s < from_s + stays_s:
            return
        words = picture.copy()
        cv2.putText(words, "BUY NOW 9.99", place, 2, tall, colour, 2, cv2.LINE_AA)
        weight = min(1.0, (time_s - from_s) / ramp_s if ramp_s else 1.0)
        cv2.addWeighted(words, weight, picture, 1 - weight, 0, dst=picture)

    return paint


def _passer(random: Generator, size: tuple[int, int]) -> Callable[[Image, float], None]:
    """Something tall that crosses the whole picture in a third of a second to a second."""
    width, height = size
    from_s, takes_s = random.uniform(0.2, 0.8), random.uniform(0.35, 1.0)
    broad, colour = random.uniform(0.3, 0.6) * width, random.uniform(0, 255, 3).tolist()

    def paint(picture: Image, time_s: float) -> None:
        x = -broad + (width + broad) * (time_s - from_s) / takes_s
        cv2.rectangle(picture, (int(x), 0), (int(x + broad), height), colour, -1)

    return paint


def _lit(random: Generator, base: Draw) -> Draw:
    """Grain, flicker, a flash of 1 to 3 frames, light that grows or goes."""
    grain = float(random.choice([0, 3, 8], p=[0.5, 0.35, 0.15]))
    flicker = float(random.choice([0, 0.06, 0.15], p=[0.8, 0.12, 0.08]))
    flash_s = random.uniform(0.3, 1.0) if random.random() < 0.12 else -1.0
    long_s, dims = random.uniform(0.02, 0.08), random.random() < 0.08
    goal, noise = random.uniform(0.45, 1.5), np.random.default_rng(random.integers(1 << 30))

    def draw(time_s: float) -> Image:
        picture = base(time_s)
        light = 1 + flicker * np.sin(time_s * 40)
        if dims:
            light *= 1 + (goal - 1) * min(1.0, time_s)
        bright = 200.0 if 0 <= time_s - flash_s < long_s and flash_s > 0 else 0.0
        picture = cv2.convertScaleAbs(picture, alpha=light, beta=bright)
        if grain:
            picture = cv2.add(picture.astype(np.float32), _grain(noise, grain, picture.shape))
            picture = np.clip(picture, 0, 255).astype(np.uint8)
        return picture

    return draw


def _grain(noise: Generator, grain: float, shape: tuple[int, ...]) -> NDArray[np.float32]:
    return grain * noise.standard_normal(shape, dtype=np.float32)


def write(path: Path, made: Material) -> None:
    """Encode it with libx264 at ordinary quality, each frame at its own time."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=1000, options={"crf": "23", "preset": "fast"})
        video.width, video.height = made.size
        video.pix_fmt, video.codec_context.time_base = "yuv420p", MS
        for time_s, pixels in zip(made.times_s, made.frames(), strict=True):
            frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
            frame.pts, frame.time_base = round(time_s * 1000), MS
            container.mux(video.encode(frame))
        container.mux(video.encode())
