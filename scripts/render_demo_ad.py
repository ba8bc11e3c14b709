"""Draw, voice and encode the bundled demo advertisement, its subtitles and its truth."""

import argparse
import json
import shutil
import subprocess
from collections.abc import Iterator
from itertools import accumulate, pairwise
from math import cos, pi, sin
from pathlib import Path
from typing import Any, NamedTuple

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT, FPS, RATE, ZOOM = 1280, 720, 25, 48_000, 2
LEAD_S, GAP_S, MARGIN_S = 0.6, 0.35, 0.2  # before speech, between lines, before the next cut
BRAND, PRODUCT, SLOGAN = "LUMIVO", "Lumivo Halo", "Light that listens."
PRICE, OLD_PRICE, PERCENT, END_DATE = "$48", "$64", 25, "30 June"
ORDER, URL = "Order now at", "www.lumivo.example"
DISCLAIMER = "Offer valid online only. Bulb not included. While stocks last."
VOICES = {"Mia": "en-us+f3", "Tom": "en-us+m3", "Narrator": "en-gb"}
LOOKS = {"Mia": "woman, brown bob, red dress", "Tom": "man, ginger hair, glasses, green shirt"}
ABSENT = ["a phone number", "a dog", "a child", "a car", "a QR code", "a kitchen", "a blue lamp"]
SPEECH_RATE, WAV_HEADER = 22_050, 44  # what espeak-ng writes: 16 bits, mono
Colour = tuple[int, int, int] | tuple[int, int, int, int]
Point = tuple[float, float]
Row = dict[str, Any]
WHITE, CREAM, INK, NAVY = (255, 255, 255), (255, 243, 205), (34, 30, 48), (22, 32, 74)
RED, YELLOW, TEAL, GREEN = (222, 58, 62), (250, 190, 40), (16, 150, 150), (52, 150, 92)
SKIN, WOOD, NIGHT, ALL = (247, 205, 172), (166, 112, 76), (10, 16, 44), (0, 360)


class Pen:
    """Flat shapes on a canvas of twice the size, shrunk at the end for smooth edges."""

    def __init__(self, background: Colour) -> None:
        self.image = Image.new("RGB", (WIDTH * ZOOM, HEIGHT * ZOOM), background)
        self.draw = ImageDraw.Draw(self.image, "RGBA")

    def disc(self, at: Point, r: float, fill: Colour, ends: Point = ALL, width: float = 0) -> None:
        """Fill a disc or a slice of it; with a width, draw only the outline."""
        bounds = [(v + d) * ZOOM for d in (-r, r) for v in at]
        if width:
            self.draw.arc(bounds, *ends, fill=fill, width=round(width * ZOOM))
        else:
            self.draw.pieslice(bounds, *ends, fill=fill)

    def box(self, left: Point, right: Point, fill: Colour, radius: float = 0) -> None:
        """Fill a rounded rectangle between two corners."""
        self.draw.rounded_rectangle([v * ZOOM for v in left + right], radius * ZOOM, fill=fill)

    def limb(self, points: list[Point], fill: Colour, width: float = 0) -> None:
        """Draw a thick line with round ends and joints; without a width, fill a polygon."""
        scaled = [(x * ZOOM, y * ZOOM) for x, y in points]
        if width:
            self.draw.line(scaled, fill=fill, width=round(width * ZOOM))
            for point in points:
                self.disc(point, width / 2, fill)
        else:
            self.draw.polygon(scaled, fill=fill)


def wave_at(t: float, period: float, size: float = 1) -> float:
    """Swing gently between -size and size."""
    return size * sin(2 * pi * t / period)


def lamp(pen: Pen, x: float, y: float, u: float, colour: Colour, t: float) -> None:
    """Draw the desk lamp standing at (x, y), 200 units high, with its pulsing cone of light."""
    head, shade, light = x + 40 * u, y - 146 * u, round(68 + wave_at(t, 2.2, 22))
    for top, foot in ((44, 96), (37, 82), (30, 68)):
        ends = ((-top, shade), (top, shade), (foot, y), (-foot, y))
        pen.limb([(head + dx * u, edge) for dx, edge in ends], (255, 236, 160, light))
    elbow = (x - 52 * u, y - 104 * u)
    pen.limb([(x - 24 * u, y - 8 * u), elbow, (head, y - 190 * u)], INK, 7 * u)
    pen.disc((head, shade), 17 * u, (255, 250, 225))
    pen.disc((head, shade), 46 * u, colour, (180, 360))
    pen.box((head - 12 * u, y - 200 * u), (head + 12 * u, y - 184 * u), INK, 5 * u)
    pen.disc(elbow, 7 * u, colour)
    pen.box((x - 66 * u, y - 13 * u), (x + 18 * u, y), colour, 6 * u)


def figure(pen: Pen, x: float, head: Point, cloth: Colour, legs: Colour, hand: Point) -> None:
    """Draw a tired person at a desk with notes; `hand` is where the right one rests."""
    for side in (-1, 1):
        pen.box((x + side * 165 - 10, 510), (x + side * 165 + 10, 668), (120, 78, 54), 6)
        pen.limb([(x + side * 22, 500), (x + side * 22, 652)], legs, 30)
        pen.box((x + side * 22 - 16, 652), (x + side * 22 + 20, 669), INK, 8)
    pen.box((x - 15, 310), (x + 15, 372), SKIN, 10)
    pen.box((x - 70, 350), (x + 70, 506), cloth, 34)
    pen.box((x - 190, 496), (x + 190, 522), WOOD, 10)
    pen.limb([(x - 40, 496), (x + 75, 496), (x + 90, 482), (x - 25, 482)], (236, 236, 240))
    for side, palm in ((-1, (x - 52, 480)), (1, hand)):
        pen.limb([(x + side * 56, 372), (x + side * 88, 446), palm], cloth, 30)
        pen.disc(palm, 17, SKIN)
    pen.disc(head, 57, SKIN)
    for side, (cx, cy) in ((-1, head), (1, head)):
        pen.disc((cx + side * 22, cy + 2), 11, INK, (20, 160), 4)
        pen.disc((cx + side * 36, cy + 22), 9, (240, 150, 130, 110))
    pen.disc((head[0], head[1] + 38), 13, (160, 70, 64), (205, 335), 4)


def mia(pen: Pen, x: float, t: float) -> None:
    """Draw Mia, writing: brown bob, red dress."""
    y, hair = 280 + wave_at(t, 2.4, 5), (74, 44, 36)
    pen.box((x - 66, y - 64), (x + 66, y + 76), hair, 56)
    figure(pen, x, (x, y), RED, SKIN, (x + 62 + wave_at(t, 0.9, 13), 478))
    pen.limb([(x - 72, 522), (x + 72, 522), (x + 92, 606), (x - 92, 606)], RED)
    pen.disc((x, y - 8), 62, hair, (176, 318))
    pen.disc((x + 14, y - 12), 50, hair, (262, 364))


def tom(pen: Pen, x: float, t: float) -> None:
    """Draw Tom, holding his head: ginger hair, glasses, green shirt."""
    middle, hair = x + wave_at(t, 3.1, 4), (190, 92, 40)
    figure(pen, x, (middle, 280), GREEN, (52, 60, 92), (x + 66, 306 + wave_at(t, 0.8, 4)))
    pen.disc((middle, 262), 58, hair, (180, 360))
    pen.limb([(middle - 50, 256), (middle + 50, 256)], hair, 14)
    for side in (-21, 21):
        pen.disc((middle + side, 281), 23, INK, width=4)


def hook(pen: Pen, t: float) -> None:
    """Scene 1: Mia writes at night."""
    pen.box((0, 650), (WIDTH, HEIGHT), (15, 22, 54))
    pen.box((180, 190), (460, 480), (52, 66, 122), 18)
    for x, y in ((194, 204), (325, 204), (194, 341), (325, 341)):
        pen.box((x, y), (x + 121, y + 125), NIGHT, 6)
        pen.disc((x + 20 + y / 5, y + x / 5 - 10), 3 + wave_at(t + y / 90, 1.8), CREAM)
    pen.disc((390, 264), 32, CREAM)
    pen.disc((377, 255), 28, NIGHT)
    mia(pen, 830, t)


def problem(pen: Pen, t: float) -> None:
    """Scene 2: Mia and Tom, tired, and a clock near noon."""
    pen.box((0, 650), (WIDTH, HEIGHT), (128, 132, 140))
    pen.disc((1110, 290), 70, (228, 230, 234))
    pen.disc((1110, 290), 78, (84, 88, 98), width=12)
    tip = (1110 + wave_at(t - 8.8, 24, 50), 290 - wave_at(t - 2.8, 24, 50))
    pen.limb([(1108, 250), (1110, 290), tip], (164, 168, 178), 12)
    mia(pen, 340, t)
    tom(pen, 740, t)


def reveal(pen: Pen, t: float) -> None:
    """Scene 3: the lamp, and the sound waves that it hears."""
    pen.disc((330, 380), 280 + wave_at(t, 2.4, 8), (255, 226, 142))
    pen.box((0, 620), (WIDTH, HEIGHT), (232, 150, 54))
    lamp(pen, 290, 622, 2.25, RED, t)
    for i in range(3):
        pen.disc((660, 540), 28 + i * 24 + wave_at(t - i * 0.3, 1.8, 6), RED, (130, 230), 8)


def price(pen: Pen, t: float) -> None:
    """Scene 4: the lamp beside the price; the old one is struck through."""
    pen.disc((290, 400), 236 + wave_at(t, 2.2, 6), (24, 122, 138))
    pen.box((0, 640), (WIDTH, HEIGHT), (6, 66, 84))
    lamp(pen, 265, 642, 1.95, YELLOW, t)
    pen.limb([(690, 258), (1070, 202)], RED, 6)


def offer(pen: Pen, t: float) -> None:
    """Scene 5: a slowly turning badge."""
    ring = [(i * pi / 20 + t * 0.08, 330 if i % 2 else 300) for i in range(40)]
    pen.limb([(640 + 1.55 * r * cos(a), 360 + r * sin(a)) for a, r in ring], (178, 34, 50))


def colours(pen: Pen, t: float) -> None:
    """Scene 6: three lamps in three colours."""
    pen.box((0, 600), (WIDTH, HEIGHT), (188, 176, 222))
    pen.box((0, 0), (160, HEIGHT), (72, 52, 130))
    for x, colour in ((350, RED), (700, YELLOW), (1050, TEAL)):
        pen.disc((x, 370), 160, (240, 236, 252))
        lamp(pen, x - 30, 602, 1.65, colour, t + x)


def end_card(pen: Pen, t: float) -> None:
    """Scene 7: the logo's halo breathes above the address."""
    for r in (82, 68, 54):
        pen.disc((640, 110), r + wave_at(t, 2.6, 4), (250, 200, 60, 26))
    pen.disc((640, 110), 44, YELLOW, width=10)
    pen.disc((640, 110), 15 + wave_at(t, 2.6, 2), CREAM)
    pen.box((340, 504), (940, 600), YELLOW, 48)


class Text(NamedTuple):
    """One text on the screen; `delay` is in seconds after the scene's start."""

    scene: str
    text: str
    at: tuple[int, int]
    size: int
    colour: Colour
    delay: float = 0.0
    vertical: bool = False

    def row(self) -> Row:
        """Tell what it says and when it is seen."""
        start, end = SPANS[self.scene]
        row = {"text": self.text, "start_s": round(start + self.delay, 3), "end_s": end}
        return row | {"vertical": self.vertical, "small": self.size < 30}


SCENES = (  # name, frames, background, what draws it
    ("hook", 105, NAVY, hook),
    ("problem", 159, (164, 168, 176), problem),
    ("reveal", 118, (255, 203, 92), reveal),
    ("price", 108, (10, 96, 116), price),
    ("offer", 104, (240, 112, 84), offer),
    ("colours", 87, (222, 214, 244), colours),
    ("end card", 123, (20, 18, 26), end_card),
)
EDGES = [frame / FPS for frame in accumulate((row[1] for row in SCENES), initial=0)]
SPANS = {row[0]: span for row, span in zip(SCENES, pairwise(EDGES), strict=True)}
TEXTS = (
    Text("hook", "STILL WORKING IN THE DARK?", (640, 96), 74, WHITE),
    Text("problem", "Tired eyes by noon", (640, 96), 80, INK),
    Text("reveal", PRODUCT.upper(), (905, 260), 92, INK),
    Text("reveal", SLOGAN, (905, 358), 58, (150, 30, 34)),
    Text("price", f"WAS {OLD_PRICE}", (880, 230), 88, (196, 234, 240)),
    Text("price", f"NOW {PRICE}", (880, 390), 132, (255, 214, 92), delay=1.0),
    Text("offer", f"{PERCENT}% OFF", (640, 315), 168, WHITE),
    Text("offer", f"until {END_DATE}", (640, 455), 74, CREAM, delay=0.8),
    Text("colours", "THREE NEW COLOURS", (80, 360), 60, WHITE, vertical=True),
    Text("end card", BRAND, (640, 258), 128, WHITE),
    Text("end card", SLOGAN, (640, 364), 52, (255, 214, 110)),
    Text("end card", ORDER, (640, 456), 44, (220, 220, 230)),
    Text("end card", URL, (640, 550), 56, INK),
    Text("end card", DISCLAIMER, (640, 670), 22, (206, 206, 216)),
)
LINES = (
    ("hook", "Mia", "I can hardly see my own notes."),
    ("problem", "Tom", "My eyes hurt before lunch."),
    ("problem", "Narrator", "A lamp like this usually costs ninety dollars."),
    ("reveal", "Narrator", "Meet Halo, the desk lamp that follows your voice."),
    ("price", "Narrator", "Now it is yours for forty-eight dollars."),
    ("offer", "Narrator", "Save a quarter until the end of June."),
    ("colours", "Tom", "I took the yellow one."),
    ("end card", "Narrator", "Order today and see the difference."),
)


def write_text(image: Image.Image, text: Text) -> None:
    """Put one text on a finished picture; a vertical one reads from bottom to top."""
    mask, font = Image.new("L", (WIDTH, text.size * 2)), ImageFont.load_default(text.size)
    end, gap, bold = 0.0, min(text.size * 0.28, 10 + text.size * 0.13), text.size // 30
    for word in text.text.split():
        ImageDraw.Draw(mask).text((end + gap, text.size), word, 255, font, "lm", stroke_width=bold)
        end += gap + font.getlength(word)
    mask = mask.crop((0, 0, round(end + gap), mask.height)).rotate(90 * text.vertical, expand=True)
    image.paste(text.colour, (text.at[0] - mask.width // 2, text.at[1] - mask.height // 2), mask)


def pictures() -> Iterator[Image.Image]:
    """Draw the advertisement frame by frame."""
    for name, frames, background, draw in SCENES:
        for number in range(frames):
            pen = Pen(background)
            draw(pen, number / FPS)
            image = pen.image.reduce(ZOOM)
            for text in TEXTS:
                if text.scene == name and number >= round(text.delay * FPS):
                    write_text(image, text)
            yield image


def voice(speaker: str, text: str) -> NDArray[np.float64]:
    """Speak one line with espeak-ng: trimmed, at RATE, at an even level."""
    wav = subprocess.check_output(["espeak-ng", "-v", VOICES[speaker], "-s150", "--stdout", text])
    raw = np.frombuffer(wav[WAV_HEADER:], np.int16) / 32768
    loud = np.flatnonzero(np.abs(raw) > 0.01)
    raw = raw[loud[0] : loud[-1] + 1]
    heard = np.interp(np.arange(0, len(raw), SPEECH_RATE / RATE), np.arange(len(raw)), raw)
    return np.asarray(heard * 0.7 / np.abs(heard).max())


def narrate(track: NDArray[np.float64]) -> list[Row]:
    """Add every spoken line to the track and tell who says it and when."""
    rows: list[Row] = []
    for scene, speaker, text in LINES:
        free = rows[-1]["end_s"] + GAP_S if rows else 0.0
        samples, start = voice(speaker, text), round(max(SPANS[scene][0] + LEAD_S, free), 3)
        end, first = round(start + len(samples) / RATE, 3), round(start * RATE)
        if end > SPANS[scene][1] - MARGIN_S:
            raise SystemExit(f"render_demo_ad: this line is too long for its scene: {text}")
        track[first : first + len(samples)] += samples
        rows.append({"speaker": speaker, "text": text, "start_s": start, "end_s": end})
    return rows


def encode(path: Path, track: NDArray[np.float64]) -> None:
    """Write the pictures and the sound as H.264 and AAC in an mp4."""
    x264 = {"crf": "20", "preset": "slow", "x264-params": "colormatrix=smpte170m"}
    with av.open(str(path), "w", options={"movflags": "+faststart"}) as out:
        video = out.add_stream("libx264", rate=FPS, options=x264)
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        audio = out.add_stream("aac", rate=RATE, layout="mono")
        for image in pictures():
            out.mux(video.encode(av.VideoFrame.from_ndarray(np.asarray(image), "rgb24")))
        whole = av.AudioFrame.from_ndarray(track[None, :].astype(np.float32), "fltp", "mono")
        whole.sample_rate, whole.pts = RATE, 0
        out.mux([*video.encode(), *audio.encode(whole), *audio.encode()])


def subtitles(speech: list[Row]) -> str:
    """Write the lines (all within the first minute) as SRT, the speaker as a prefix."""
    written = ""
    for number, row in enumerate(speech, 1):
        times = f"00:00:{row['start_s']:06.3f} --> 00:00:{row['end_s']:06.3f}".replace(".", ",")
        written += f"{number}\n{times}\n{row['speaker']}: {row['text']}\n\n"
    return written


def facts(speech: list[Row]) -> Row:
    """Collect what is true of the advertisement."""
    names = {"title": f"{PRODUCT}: {SLOGAN}", "brand": BRAND, "product": PRODUCT, "slogan": SLOGAN}
    sale = {"percent": PERCENT, "text": f"{PERCENT}% OFF until {END_DATE}", "end_date": END_DATE}
    prices = {"price": PRICE, "old_price": OLD_PRICE, "offer": sale}
    order = {"url": URL, "call_to_action": ORDER, "disclaimer": DISCLAIMER}
    video = {"fps": FPS, "duration_s": EDGES[-1], "width": WIDTH, "height": HEIGHT}
    scenes = [{"start_s": a, "end_s": b, "name": n} for n, (a, b) in SPANS.items()]
    seen = {"cuts_s": EDGES[1:-1], "scenes": scenes, "screen_text": [text.row() for text in TEXTS]}
    people = {"characters": [{"name": n, "appearance": a} for n, a in LOOKS.items()]}
    return names | prices | order | people | video | seen | {"speech": speech, "absent": ABSENT}


def main() -> None:
    """Render the advertisement, its subtitles and its truth into a folder."""
    home = Path(__file__).resolve().parents[1] / "admir" / "demo"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=home, help="folder for the three files")
    out: Path = parser.parse_args().out
    if shutil.which("espeak-ng") is None:
        raise SystemExit("render_demo_ad: espeak-ng is not installed, and it speaks the lines")
    t = np.arange(round(EDGES[-1] * RATE)) / RATE
    track = 0.008 * np.sin(pi * t / 4) * sum(np.sin(2 * pi * note * t) for note in (131, 196, 330))
    speech = narrate(track)
    out.mkdir(parents=True, exist_ok=True)
    encode(out / "ad.mp4", track)
    (out / "ad.srt").write_text(subtitles(speech), encoding="utf-8")
    (out / "facts.json").write_text(json.dumps(facts(speech), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
