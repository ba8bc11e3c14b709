"""Lines of one caption joined into a block, as a reader takes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from admir.types import ScreenText, Span

_SAME_TIME = 0.6
_BUCKET_S = 5.0
_MOST_HEIGHT_RATIO = 1.6
_MOST_GAP = 0.8
_SENTENCE_END = (".", "!", "?", "。", "！", "？")


def text_blocks(lines: Sequence[ScreenText]) -> tuple[ScreenText, ...]:
    """Lines shown together, one right below the other, in type of one size, as one text."""
    groups: list[list[ScreenText]] = []
    shown: defaultdict[int, set[int]] = defaultdict(set)  # groups by the time of their last line
    for line in sorted(lines, key=lambda x: (x.box[1], x.box[0])):
        # Lines that share over half of their time share the middle of each.
        near = sorted(shown[_bucket((line.span.start_s + line.span.end_s) / 2)])
        home = next((n for n in near if _continues(groups[n][-1], line)), len(groups))
        if home == len(groups):
            groups.append([])
        groups[home].append(line)
        for bucket in range(_bucket(line.span.start_s), _bucket(line.span.end_s) + 1):
            shown[bucket].add(home)
    return tuple(sorted(map(_joined, groups), key=lambda b: (b.span.start_s, b.box[1])))


def _bucket(time_s: float) -> int:
    return int(time_s // _BUCKET_S)


def _continues(above: ScreenText, below: ScreenText) -> bool:
    if above.vertical or below.vertical or above.text == below.text:
        return False
    if above.scene != below.scene:
        return False
    if above.text.endswith(_SENTENCE_END) and not above.text.endswith("..."):
        return False
    if above.text.isupper() != below.text.isupper():
        return False
    return _together(above.span, below.span) and _stacked(above, below)


def _together(a: Span, b: Span) -> bool:
    longer = max(a.duration_s, b.duration_s)
    return longer > 0 and a.overlap_s(b) >= _SAME_TIME * longer


def _stacked(above: ScreenText, below: ScreenText) -> bool:
    a, b = above.box, below.box
    high, low = a[3] - a[1], b[3] - b[1]
    if min(high, low) <= 0 or max(high, low) / min(high, low) > _MOST_HEIGHT_RATIO:
        return False
    gap = b[1] - a[3]
    beside = min(a[2], b[2]) - max(a[0], b[0])
    return -0.5 * low < gap < _MOST_GAP * max(high, low) and beside > 0


def _joined(group: Sequence[ScreenText]) -> ScreenText:
    if len(group) == 1:
        return group[0]
    boxes = list(zip(*(line.box for line in group), strict=True))
    best = max(group, key=lambda line: line.confidence)
    corrected = any(line.was for line in group)
    reread = any(line.ocr_text for line in group)
    return replace(
        best,
        text=" ".join(line.text for line in group),
        was=" ".join(line.was or line.text for line in group) if corrected else "",
        ocr_text=" ".join(line.ocr_text or line.text for line in group) if reread else "",
        # While all of its lines stand: of any other time it would say too much.
        span=Span(
            start_s=max(line.span.start_s for line in group),
            end_s=min(line.span.end_s for line in group),
        ),
        box=(min(boxes[0]), min(boxes[1]), max(boxes[2]), max(boxes[3])),
        confidence=min(line.confidence for line in group),
    )
