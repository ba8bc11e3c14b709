"""On-screen lines followed over the sampled frames, with a start and an end.

Sampling once a second tells when a line was seen, not when it came. The thumbnails between two
samples tell: the moment at which the line's place changes most is its start or its end. No line
crosses a cut behind which it was not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.fuzz import ratio

from admir.perception.ocr import TextLine
from admir.perception.scene_text import drifts, leans, wanders
from admir.perception.spacing import restore_spaces
from admir.text import normalize, numbers
from admir.types import Box, ScreenText, Span

SAME_TEXT = 70.0
SAME_TEXT_ELSEWHERE = 90.0
_MAX_MISSED = 1
_CLEAN_PRINT = 0.9
_SURE, _SURE_BOTH = 0.8, 0.9
_SAME_SURE_TEXT = 88.0
"""Two readings that OCR is sure of hardly differ where they are of one line."""

_OTHER_WORD = 4
"""Characters in a row that are all others: misreadings are of one or two."""

_SAME_PLACE = 0.5
_squash = lru_cache(maxsize=8192)(normalize)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The lines read in the sampled frame at `time_s`."""

    time_s: float
    lines: tuple[TextLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbs:
    """Grey thumbnails [n, h, w] of the whole video at `times_s`, ascending."""

    times_s: NDArray[np.float64]
    pixels: NDArray[np.uint8]


@dataclass(slots=True, eq=False)
class _Track:
    seen: list[tuple[int, TextLine]] = field(default_factory=list)

    @property
    def first(self) -> int:
        return self.seen[0][0]

    @property
    def last(self) -> int:
        return self.seen[-1][0]


_EPSILON_S = 1e-3
"""Times of frames are kept to the millisecond, those of cuts are not."""

NO_THUMBS = Thumbs(times_s=np.zeros(0), pixels=np.zeros((0, 1, 1), dtype=np.uint8))
"""Where there are none: starts and ends are then as coarse as the sampling."""


def follow_lines(
    readings: Sequence[Reading], span: Span, thumbs: Thumbs, cuts_s: Sequence[float]
) -> tuple[ScreenText, ...]:
    """The lines of a stretch of video, in order of their start."""
    tracks: list[_Track] = []
    live: list[_Track] = []
    times = [reading.time_s for reading in readings]
    for index, reading in enumerate(readings):
        live = [track for track in live if _goes_on(track, index, readings, cuts_s)]
        fresh = _extend(live, index, reading.lines)
        live += fresh
        tracks += fresh
    clock = _Clock(times=times, span=span, thumbs=thumbs, cuts_s=tuple(cuts_s))
    texts = [track for track in tracks if _is_text(track)]
    lines = _without_overlap([(track, _screen_text(track, clock)) for track in texts])
    return tuple(
        sorted(_whole(lines), key=lambda line: (line.span.start_s, line.box[1], line.box[0]))
    )


def _goes_on(
    track: _Track, index: int, readings: Sequence[Reading], cuts_s: Sequence[float]
) -> bool:
    """Whether a line that is seen in this sample may be one of a track.

    A sample that missed it is forgiven within a shot, where no other line stood in its place.
    """
    missed = index - track.last - 1
    if missed == 0:
        return True
    from_s, to_s = readings[track.last].time_s, readings[index].time_s + _EPSILON_S
    if missed > _MAX_MISSED or any(from_s < cut_s <= to_s for cut_s in cuts_s):
        return False
    seen = track.seen[-1][1]
    return not any(
        line.confidence >= _SURE
        and _share(line.box, seen.box) > _SAME_PLACE
        and _squash(line.text) not in _squash(seen.text)  # a piece of it was read
        for line in readings[index - 1].lines
    )


def _without_overlap(tracked: Sequence[tuple[_Track, ScreenText]]) -> list[ScreenText]:
    """The lines; one ends where another comes in its place.

    What stood in the place of a line only while that was missed is what OCR made of it.
    """
    ordered = sorted(tracked, key=lambda pair: (pair[1].span.start_s, pair[0].first))
    lines = [line for _, line in ordered]
    shown: list[int] = []
    misread: set[int] = set()
    for index, (track, new) in enumerate(ordered):
        shown = [n for n in shown if lines[n].span.end_s > new.span.start_s]
        for n in shown:
            old, old_track = lines[n], ordered[n][0]
            if not _in_one_place(old, new):
                continue
            if old_track.last < track.first:
                span = Span(start_s=old.span.start_s, end_s=new.span.start_s)
                lines[n] = replace(old, span=span)
            elif _stood_there(old_track, track) and not _share_samples(old_track, track):
                misread.add(index)
        shown.append(index)
    return [line for n, line in enumerate(lines) if n not in misread]


def _stood_there(old: _Track, new: _Track) -> bool:
    """Whether a line stood in the place of another before that was seen: one that moves did not."""
    before = [line for n, line in old.seen if n < new.first]
    return bool(before) and _share(before[-1].box, new.seen[0][1].box) > _SAME_PLACE


def _share_samples(a: _Track, b: _Track) -> bool:
    return bool({n for n, _ in a.seen} & {n for n, _ in b.seen})


def _in_one_place(a: ScreenText, b: ScreenText) -> bool:
    return _share(a.box, b.box) > _SAME_PLACE


def _whole(lines: Sequence[ScreenText]) -> Iterator[ScreenText]:
    """The lines that are not pieces of another one."""
    by_start = sorted(lines, key=lambda line: line.span.start_s)
    shown: list[ScreenText] = []
    pieces: set[int] = set()
    for line in by_start:
        shown = [other for other in shown if other.span.end_s >= line.span.start_s]
        for other in shown:
            if _is_fragment(line, other):
                pieces.add(id(line))
            elif _is_fragment(other, line):
                pieces.add(id(other))
        shown.append(line)
    return (line for line in by_start if id(line) not in pieces)


def _is_fragment(line: ScreenText, other: ScreenText) -> bool:
    """Whether `line` is a piece of `other`, read apart from it in some frames."""
    part, text = _squash(line.text), _squash(other.text)
    if len(part) >= len(text) or part not in text or _share(line.box, other.box) <= 0.7:
        return False
    return line.span.overlap_s(other.span) >= 0.5 * line.span.duration_s


def _extend(live: Sequence[_Track], index: int, lines: Sequence[TextLine]) -> list[_Track]:
    """Give each line to a live track, the surest pairs first, or a new track; returns the new."""
    pairs = [
        (likeness, place, track)
        for place, line in enumerate(lines)
        for track in live
        if (likeness := _likeness(track.seen[-1][1], line)) > 0
    ]
    taken: dict[int, _Track] = {}
    for _, place, track in sorted(pairs, key=lambda pair: -pair[0]):
        if place not in taken and track.last < index:
            taken[place] = track
            track.seen.append((index, lines[place]))
    return [_Track(seen=[(index, line)]) for n, line in enumerate(lines) if n not in taken]


def _likeness(a: TextLine, b: TextLine) -> float:
    """How surely two readings are one line; 0 where they are not."""
    one, two = _squash(a.text), _squash(b.text)
    share = _share(a.box, b.box)
    likeness = ratio(one, two, score_cutoff=SAME_TEXT if share > 0.3 else SAME_TEXT_ELSEWHERE)
    if likeness == 0 or _other_digits(one, two) or _other_number_words(a.text, b.text):
        return 0.0
    sure = min(a.confidence, b.confidence) >= _SURE_BOTH
    if likeness < _SAME_SURE_TEXT and _differ(one, two, sure=sure):
        return 0.0
    return likeness + share


def _differ(a: str, b: str, *, sure: bool) -> bool:
    """Whether two texts that are alike are two lines: `sure` readings, or another word in one.

    What breaks off, or begins late, is one line that is being shown.
    """
    if a in b or b in a:
        return False
    return sure or _has_other_word(a, b)


@lru_cache(maxsize=8192)
def _has_other_word(a: str, b: str) -> bool:
    """Whether a run of characters stands in each at one place that has nothing of the other."""
    return any(
        block.tag == "replace"
        and min(block.src_end - block.src_start, block.dest_end - block.dest_start) >= _OTHER_WORD
        for block in Levenshtein.opcodes(a, b)
    )


@lru_cache(maxsize=8192)
def _other_digits(a: str, b: str) -> bool:
    """Whether two squashed texts tell different numbers: another price is another line.

    A digit read as a letter is noise, and a text that breaks off before a number is being typed.
    """
    short, long = sorted((a, b), key=len)
    if long.startswith(short):
        return short != long and short[-1:].isdigit() and long[len(short)].isdigit()
    return any(edit.isdigit() for edit in _edits(a, b))


def _edits(a: str, b: str) -> Iterator[str]:
    """What makes `b` of `a`: a character that comes or goes, or the two of a replacement."""
    for edit in Levenshtein.editops(a, b):
        old = "" if edit.tag == "insert" else a[edit.src_pos]
        new = "" if edit.tag == "delete" else b[edit.dest_pos]
        yield old + new


def _other_number_words(a: str, b: str) -> bool:
    """Whether both texts spell a number, and not the same one."""
    one, two = _number_words(a), _number_words(b)
    return bool(one and two) and one != two


@lru_cache(maxsize=8192)
def _number_words(text: str) -> tuple[str, ...]:
    return numbers("".join(" " if c.isdigit() else c for c in text))


def _share(a: Box, b: Box) -> float:
    """Intersection of two boxes over the smaller of them."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    smaller = min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1]))
    return width * height / smaller if min(width, height) > 0 and smaller > 0 else 0.0


def _is_text(track: _Track) -> bool:
    """A short line seen once without confidence is texture."""
    best = max(line.confidence for _, line in track.seen)
    length = max(len(_squash(line.text)) for _, line in track.seen)
    return length > 0 and (best >= _SURE or length > 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clock:
    """Sample times made finer with the thumbnails between them."""

    times: list[float]
    span: Span
    thumbs: Thumbs
    cuts_s: tuple[float, ...]

    def start_s(self, index: int, box: Box) -> float:
        """When a line came that is seen in this sample first: not before the cut it follows."""
        before_s = self.times[index - 1] if index else self.span.start_s
        cuts = [c for c in self.cuts_s if before_s < c <= self.times[index] + _EPSILON_S]
        if index == 0:
            return max([self.span.start_s, *cuts])
        return max([self._change(before_s, self.times[index], box), *cuts])

    def end_s(self, index: int, box: Box) -> float:
        """When a line went that is seen in this sample last: not behind the cut that follows."""
        last = index + 1 >= len(self.times)
        after_s = self.span.end_s if last else self.times[index + 1]
        cuts = [c for c in self.cuts_s if self.times[index] + _EPSILON_S < c <= after_s]
        end_s = after_s if last else self._change(self.times[index], after_s, box)
        return min([end_s, *cuts])

    def _change(self, before_s: float, after_s: float, box: Box) -> float:
        """When the place `box` changed most in (before_s, after_s]."""
        first, last = np.searchsorted(self.thumbs.times_s, (before_s - 1e-6, after_s + 1e-6))
        if last - first < 2:
            return after_s
        series = _region(self.thumbs.pixels[first:last], box)
        found = float(self.thumbs.times_s[first + _best_split(series)])
        near = [cut for cut in self.cuts_s if abs(cut - found) < 0.15]
        return near[0] if near else found


def _region(pixels: NDArray[np.uint8], box: Box) -> NDArray[np.float32]:
    """The box cut from each thumbnail: [n, pixels of the box]."""
    height, width = pixels.shape[1:3]
    left, right = int(box[0] * width), max(int(box[0] * width) + 2, round(box[2] * width))
    top, bottom = int(box[1] * height), max(int(box[1] * height) + 2, round(box[3] * height))
    return pixels[:, top:bottom, left:right].reshape(len(pixels), -1).astype(np.float32)


def _best_split(series: NDArray[np.float32]) -> int:
    """The index k >= 1 at which a least-squares step from one mean to another fits best."""
    count = len(series)
    sums = np.cumsum(series, axis=0, dtype=np.float64)
    sizes = np.arange(1, count)[:, None]
    left, right = sums[:-1] / sizes, (sums[-1] - sums[:-1]) / (count - sizes)
    gain = (sizes * (count - sizes) / count)[:, 0] * np.square(left - right).sum(axis=1)
    return int(np.argmax(gain)) + 1


def _screen_text(track: _Track, clock: _Clock) -> ScreenText:
    reread = [(i, line) for i, line in track.seen if line.reread]
    by_ocr = [line for _, line in track.seen if not line.reread]
    text = _vote([line for _, line in reread] or by_ocr)
    readings = [(i, x) for i, x in reread or track.seen if _squash(x.text) == _squash(text)]
    index, best = max(readings, key=lambda pair: pair[1].confidence)
    start = clock.start_s(track.first, track.seen[0][1].box)
    end = max(start, clock.end_s(track.last, track.seen[-1][1].box))
    span = Span(start_s=start, end_s=end)
    same = [line for _, line in readings]
    ocr_text = _vote(by_ocr) if reread and by_ocr else ""
    return ScreenText(
        span=span,
        text=text if reread else restore_spaces(text),
        ocr_text=ocr_text if ocr_text != text else "",
        box=best.box,
        confidence=best.confidence,
        frame_s=clock.times[index],
        vertical=best.vertical,
        scene=_in_scene(same, best, clock.times[index], span, clock.thumbs),
    )


def _in_scene(
    same: Sequence[TextLine], best: TextLine, time_s: float, span: Span, thumbs: Thumbs
) -> bool:
    """Whether a line moves with the picture or, seen once, leans and is hard to read."""
    if len(same) > 1:
        return wanders([line.box for line in same])
    if leans(best.tilt) and best.confidence < _CLEAN_PRINT:
        return True
    return drifts(best.box, time_s, span, thumbs.times_s, thumbs.pixels)


def _vote(lines: Sequence[TextLine]) -> str:
    """The reading with most confidence behind it; of its spellings the one with most spaces.

    OCR loses spaces, it does not invent them.
    """
    votes: dict[str, float] = {}
    for line in lines:
        key = _squash(line.text)
        votes[key] = votes.get(key, 0.0) + line.confidence
    winner = max(votes, key=lambda key: (votes[key], len(key)))
    spellings = [" ".join(line.text.split()) for line in lines if _squash(line.text) == winner]
    return max(spellings, key=lambda text: (text.count(" "), spellings.count(text)))
