"""How well shot boundaries are found: recall and precision against known truth.

    python benchmarks/shots.py [--videos 40] [--first-seed 1000]
    python benchmarks/shots.py --media DIR [--truth DIR]

Without `--media`, videos are drawn (see `shots_material.py`), encoded and found by the shipped
path. Seeds under 1000 are for work on the detector, those from 1000 for printed figures. With it,
each `<name>.json` of the truth folder is looked up as `<name>.mp4` there: `shots` lists
`{"kind": "cut|dissolve|fade|wipe", "start_s", "end_s"}`.

What has another kind there (a flicker of light, say) is left to taste: finds in it do not count.

Truth and finds are matched one to one, the nearest first: a cut within one frame, any other within
half its length of its middle. Prints `name kind recall precision found true`, then how many of the
matched dissolves and fades carry the right kind.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from shots_material import Boundary, material, write

from admir.perception.decode import Thumb, decode
from admir.perception.shots import ShotDetector
from admir.types import Shot

HERE = Path(__file__).parent
KINDS = ("cut", "dissolve", "fade", "wipe")
GRADUAL = ("dissolve", "fade")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One video: what is true, what was found, and which belong together (by index)."""

    name: str
    true: tuple[Boundary, ...]
    found: tuple[Shot, ...]
    pairs: dict[int, int]


def main() -> None:
    """Find, match, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--videos", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--media", type=Path)
    parser.add_argument("--truth", type=Path, default=HERE / "truth")
    parser.add_argument("--each", action="store_true", help="name what was missed and made up")
    options = parser.parse_args()
    if options.media:
        results = list(real(options.truth, options.media))
    else:
        results = list(drawn(range(options.first_seed, options.first_seed + options.videos)))
    print(f"{'name':12} {'kind':9} recall precision  found  true")
    for result in results if options.media else ():
        show(result.name, [result])
    show("all", results)
    show_kinds(results)
    if options.each:
        show_faults(results)


def drawn(seeds: Sequence[int]) -> Iterator[Result]:
    """Videos made for this, one a seed."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            path, made = Path(folder) / f"{seed}.mp4", material(seed)
            write(path, made)
            yield find(path, made.boundaries)
            path.unlink()


def real(truth: Path, media: Path) -> Iterator[Result]:
    """Videos whose boundaries people wrote down; those without media are left out."""
    for file in sorted(truth.glob("*.json")):
        video = media / f"{file.stem}.mp4"
        if video.exists():
            rows = json.loads(file.read_text("utf-8")).get("shots", [])
            yield find(video, [_boundary(row) for row in rows])


def _boundary(row: dict[str, str | float]) -> Boundary:
    return Boundary(kind=str(row["kind"]), start_s=float(row["start_s"]), end_s=float(row["end_s"]))


def find(path: Path, true: Sequence[Boundary]) -> Result:
    """Walk a video as the shipped build does."""
    detector, times = ShotDetector(), list[float]()

    def feed(thumb: Thumb) -> None:
        detector.add(thumb)
        times.append(thumb.time_s)

    facts = decode(path, feed, lambda _: None)
    clear = tuple(b for b in true if b.kind in KINDS)
    unclear = [b for b in true if b.kind not in KINDS]
    shots = detector.shots(facts.duration_s)[1:]
    pairs = match(clear, shots, times)
    counted = [
        j
        for j, shot in enumerate(shots)
        if j in pairs.values() or not any(_inside(shot.span.start_s, b, times) for b in unclear)
    ]
    return Result(
        name=path.stem,
        true=clear,
        found=tuple(shots[j] for j in counted),
        pairs={i: counted.index(j) for i, j in pairs.items()},
    )


def _inside(time_s: float, boundary: Boundary, times_s: Sequence[float]) -> bool:
    return abs(time_s - boundary.middle_s) <= _slack_s(boundary, times_s) + 0.05


def match(
    true: Sequence[Boundary], found: Sequence[Shot], times_s: Sequence[float]
) -> dict[int, int]:
    """Which found boundary each true one is, the nearest pairs first."""
    near = sorted(
        (abs(b.middle_s - s.span.start_s), i, j)
        for i, b in enumerate(true)
        for j, s in enumerate(found)
        if abs(b.middle_s - s.span.start_s) <= _slack_s(b, times_s)
    )
    pairs: dict[int, int] = {}
    for _, i, j in near:
        if i not in pairs and j not in pairs.values():
            pairs[i] = j
    return pairs


def _slack_s(boundary: Boundary, times_s: Sequence[float]) -> float:
    """A frame (the longer of the two beside a cut), or half the length where that is more."""
    after = bisect(times_s, boundary.middle_s + 1e-3)
    beside = times_s[max(0, after - 2) : after + 1]
    frame_s = max((b - a for a, b in pairwise(beside)), default=0.0)
    return max(frame_s, (boundary.end_s - boundary.start_s) / 2) + 2e-3


def show(name: str, results: Sequence[Result]) -> None:
    """A row for each kind there is, and one for all of them."""
    for kind in KINDS:
        if any(b.kind == kind for r in results for b in r.true) or any(
            s.transition == kind for r in results for s in r.found
        ):
            _row(name, kind, results, (kind,))
    _row(name, "all", results, KINDS)


def _row(name: str, label: str, results: Sequence[Result], kinds: Sequence[str]) -> None:
    true = sum(b.kind in kinds for r in results for b in r.true)
    hit = sum(r.true[i].kind in kinds for r in results for i in r.pairs)
    found = sum(s.transition in kinds for r in results for s in r.found)
    right = sum(r.found[j].transition in kinds for r in results for j in r.pairs.values())
    print(f"{name:12} {label:9} {_share(hit, true)}     {_share(right, found)} {found:6} {true:5}")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:6.3f}" if whole else "     -"


def show_kinds(results: Sequence[Result]) -> None:
    """How many matched dissolves and fades are called what they are."""
    for kind in GRADUAL:
        named = [
            r.found[j].transition
            for r in results
            for i, j in r.pairs.items()
            if r.true[i].kind == kind
        ]
        print(f"{kind}: {sum(n == kind for n in named)} of {len(named)} matched carry their kind")


def show_faults(results: Sequence[Result]) -> None:
    """Each boundary missed and each made up."""
    for r in results:
        for i, b in enumerate(r.true):
            if i not in r.pairs:
                print(f"{r.name}: missed {b.kind} {b.start_s:.3f}-{b.end_s:.3f}")
        for j, s in enumerate(r.found):
            if j not in r.pairs.values():
                length = s.transition_s
                print(f"{r.name}: made up {s.transition} {s.span.start_s:.3f} ({length:.2f} s)")


if __name__ == "__main__":
    main()
