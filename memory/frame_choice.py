"""Which frames of a clip a model is shown, and which of the lines that OCR read in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rapidfuzz import fuzz

from admir.backends.base import CAPTION_FRAMES, MOST_CAPTION_FRAMES
from admir.memory.video_scan import SampledFrame
from admir.perception.ocr import TextLine
from admir.text import normalize, numbers
from admir.types import Span

_SAME_LINE = 80.0
_LEAST_CHARS = 2
_SURE, _SURE_CHARS = 0.8, 5

T = TypeVar("T")


def spread(items: Sequence[T], most: int) -> list[T]:
    """At most so many, evenly over the whole, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(n * (len(items) - 1) / (most - 1))] for n in range(most)]


def choose_frames(
    samples: Sequence[SampledFrame], shots: Sequence[Span], read: Mapping[str, Sequence[TextLine]]
) -> list[SampledFrame]:
    """One frame a shot, then those with text that no other shows, at most 8, in order of time.

    Where these are fewer than five, others follow, as far as can be from those that are chosen.
    `read` has what OCR read, by the file of a kept frame.
    """
    chosen: list[SampledFrame] = []
    shown: list[str] = []

    def count_new(sample: SampledFrame) -> int:
        return sum(len(text) for text in _texts(read, sample) if not _is_known(text, shown))

    def choose(sample: SampledFrame) -> None:
        chosen.append(sample)
        shown.extend(_texts(read, sample))

    by_shot = [[s for s in samples if shot.contains(s.frame.time_s)] for shot in shots]
    for group in spread([group for group in by_shot if group], MOST_CAPTION_FRAMES):
        middle_s = (group[0].frame.time_s + group[-1].frame.time_s) / 2
        choose(max(group, key=lambda s: (count_new(s), -abs(s.frame.time_s - middle_s))))
    while (best := _best(samples, chosen, count_new)) and len(chosen) < MOST_CAPTION_FRAMES:
        choose(best)
    while len(chosen) < min(CAPTION_FRAMES, len(samples)):
        choose(max((s for s in samples if s not in chosen), key=lambda s: _distance(s, chosen)))
    return sorted(chosen, key=lambda sample: sample.frame.time_s)


def _best(
    samples: Sequence[SampledFrame],
    chosen: Sequence[SampledFrame],
    count_new: Callable[[SampledFrame], int],
) -> SampledFrame | None:
    """The frame that shows most new text; None where none shows any."""
    best = max((s for s in samples if s not in chosen), key=count_new, default=None)
    return best if best is not None and count_new(best) > 0 else None


def _distance(sample: SampledFrame, chosen: Sequence[SampledFrame]) -> float:
    return min((abs(sample.frame.time_s - c.frame.time_s) for c in chosen), default=0.0)


def _texts(read: Mapping[str, Sequence[TextLine]], sample: SampledFrame) -> list[str]:
    return [normalize(line.text) for line in read.get(sample.read_from, ()) if is_legible(line)]


def is_legible(line: TextLine) -> bool:
    """Whether a reading is text at all: a single character, or a short unsure one, is a scrap."""
    length = len(normalize(line.text))
    return length >= _LEAST_CHARS and (line.confidence >= _SURE or length > _SURE_CHARS)


def _is_known(text: str, shown: Sequence[str]) -> bool:
    return any(_same(text, other) for other in shown)


def _same(a: str, b: str) -> bool:
    if a in b:
        return True
    return fuzz.ratio(a, b) >= _SAME_LINE and numbers(a) == numbers(b)


def distinct_lines(lines: Sequence[TextLine]) -> tuple[str, ...]:
    """The lines in their order, each once in its surest reading, without pieces and scraps.

    A model's reading is surer than OCR's; unsure lines are among them, for a model to put right.
    """
    long_enough = [line for line in lines if len(normalize(line.text)) >= _LEAST_CHARS]
    surest = sorted(
        long_enough, key=lambda line: (not line.reread, -line.confidence, -len(line.text))
    )
    kept: list[TextLine] = []
    for line in surest:
        if not _is_known(normalize(line.text), [normalize(other.text) for other in kept]):
            kept.append(line)
    texts = [line.text for line in lines if line in kept]
    whole = [t for t in texts if not any(t != o and normalize(t) in normalize(o) for o in texts)]
    return tuple(dict.fromkeys(whole))
