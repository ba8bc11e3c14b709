"""How much legible on-screen text is found, on ads with truth written by eye and on drawn ones.

    python benchmarks/screen_text.py [--truth DIR] [--media DIR] [--memories DIR] [--stress]

A truth file DIR/NAME.json holds `{"video": NAME, "screen_text": [{"text", "start_s", "end_s",
"turned", "scene"}]}`; NAME `demo` is the bundled ad, any other is MEDIA/NAME.mp4. `--stress` adds
videos drawn on the spot (see stress_text.py), a row a difficulty. Each memory is built by the
shipped builder, or opened where MEMORIES holds it and nothing has changed.

A truth line is found when a line or a block of lines of the memory stands within 0.7 s of it and,
both squashed (case, spaces and punctuation aside),
  - the two are alike by 0.8 (rapidfuzz ratio), or
  - one is part of the other and has 0.8 of the truth line's characters; from 5 characters on, a
    part may have one error in five (rapidfuzz partial ratio).
A found line is right when it is alike or part of a truth line by the same rule. `scene` is the
share of found lines of scenes, `overlay` that of overlays, that are told to be what they are.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rapidfuzz.fuzz import partial_ratio, ratio
from stress_text import draw_stress

from admir import Memory, build_memory
from admir.demo import AD
from admir.memory.text_blocks import text_blocks
from admir.text import normalize
from admir.types import ScreenText, Span

SLACK_S = 0.7
ALIKE = 80.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueLine:
    """One line as a viewer wrote it down."""

    text: str
    span: Span
    turned: bool = False
    scene: bool = False


@dataclass(slots=True, kw_only=True)
class Score:
    """Hits and counts of one video, or of several together."""

    upright: list[bool] = field(default_factory=list)
    turned: list[bool] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    scene: list[bool] = field(default_factory=list)
    overlay: list[bool] = field(default_factory=list)
    cpu_s: float = 0.0
    frames: int = 0

    def add(self, other: Score) -> None:
        """Take the counts of another."""
        for name in ("upright", "turned", "right", "scene", "overlay"):
            getattr(self, name).extend(getattr(other, name))
        self.cpu_s += other.cpu_s
        self.frames += other.frames

    def row(self, name: str) -> str:
        """One line of the table."""
        columns = (self.upright, self.turned, self.right, self.scene, self.overlay)
        shares = " ".join(_share(column) for column in columns)
        return f"{name:14} {shares} {self.frames:7d} {self.cpu_s:7.1f}"


def _share(hits: Sequence[bool]) -> str:
    return f"{sum(hits) / len(hits):5.2f} of{len(hits):4d}" if hits else " " * 12


def main() -> None:
    """Build, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--truth", type=Path, default=Path(__file__).with_name("truth"))
    parser.add_argument("--media", type=Path, default=Path())
    parser.add_argument("--memories", type=Path)
    parser.add_argument("--stress", action="store_true")
    parser.add_argument("--misses", action="store_true", help="print what was not found")
    options = parser.parse_args()
    print(f"{'':14} {'upright':>12} {'turned':>12} {'right':>12} {'scene':>12} {'overlay':>12}"
          f" {'frames':>7} {'CPU s':>7}")  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        memories = options.memories or Path(scratch)
        run(list(_ads(options.truth, options.media)), "ads", memories, options.misses)
        if options.stress:
            run(list(_drawn(Path(scratch))), "drawn", memories, options.misses)


def run(cases: Sequence[tuple[str, Path, list[TrueLine]]], name: str, memories: Path,
        misses: bool) -> None:  # fmt: skip
    """A row for each video, and one for all."""
    whole = Score()
    for video_id, video, truth in cases:
        score, missed = measure(video, truth, memories)
        print(score.row(video_id), flush=True)
        for line in missed if misses else ():
            kind = "turned " * line.turned + "scene" * line.scene
            print(f"    not found: {line.span} {line.text!r} {kind}")
        whole.add(score)
    print(whole.row(f"all {name}"), flush=True)


def _ads(truth: Path, media: Path) -> Iterator[tuple[str, Path, list[TrueLine]]]:
    for file in sorted(truth.glob("*.json")):
        stored = json.loads(file.read_text("utf-8"))
        if "screen_text" not in stored:
            continue
        video = AD if stored["video"] == "demo" else media / f"{stored['video']}.mp4"
        yield stored["video"], video, [_true_line(row) for row in stored["screen_text"]]


def _drawn(folder: Path) -> Iterator[tuple[str, Path, list[TrueLine]]]:
    for name, video, rows in draw_stress(folder):
        yield name, video, [_true_line(row) for row in rows]


def _true_line(row: dict[str, Any]) -> TrueLine:
    span = Span(start_s=row["start_s"], end_s=row["end_s"])
    turned, scene = bool(row.get("turned")), bool(row.get("scene"))
    return TrueLine(text=row["text"], span=span, turned=turned, scene=scene)


def measure(video: Path, truth: Sequence[TrueLine], memories: Path) -> tuple[Score, list[TrueLine]]:
    """The score of one video, and the lines that were not found."""
    before = _cpu_s()
    memory = build_memory(video, memories=memories)
    score = Score(cpu_s=_cpu_s() - before, frames=memory.provenance.frames_read)
    missed = []
    found = (*memory.screen_text, *text_blocks(memory.screen_text))
    for line in truth:
        hits = [other for other in found if is_found(line, other)]
        (score.turned if line.turned else score.upright).append(bool(hits))
        if not hits:
            missed.append(line)
    score.right = [_is_right(line, truth) for line in memory.screen_text]
    _weigh_scenes(score, memory, truth)
    return score, missed


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def is_found(line: TrueLine, found: ScreenText) -> bool:
    """The rule of the module's docstring."""
    if not _near(line.span, found.span):
        return False
    one, two = normalize(line.text), normalize(found.text)
    if ratio(one, two) >= ALIKE:
        return True
    return len(two) >= 0.8 * len(one) and _is_part(one, two)


def _is_right(found: ScreenText, truth: Sequence[TrueLine]) -> bool:
    text = normalize(found.text)
    near = [normalize(line.text) for line in truth if _near(line.span, found.span)]
    return any(ratio(text, other) >= ALIKE or _is_part(text, other) for other in near)


def _is_part(one: str, two: str) -> bool:
    short, long = sorted((one, two), key=len)
    if len(short) < 5:
        return bool(short) and short in long
    return partial_ratio(short, long) >= ALIKE


def _near(a: Span, b: Span) -> bool:
    return a.start_s < b.end_s + SLACK_S and b.start_s < a.end_s + SLACK_S


def _weigh_scenes(score: Score, memory: Memory, truth: Sequence[TrueLine]) -> None:
    """Each found line beside the truth line most like it."""
    for found in memory.screen_text:
        alike = [line for line in truth if is_found(line, found)]
        if not alike:
            continue
        best = max(alike, key=lambda line: ratio(normalize(line.text), normalize(found.text)))
        kinds = {line.scene for line in alike if line.text == best.text}
        if len(kinds) == 1:
            column = score.scene if best.scene else score.overlay
            column.append(found.scene == best.scene)


if __name__ == "__main__":
    main()
