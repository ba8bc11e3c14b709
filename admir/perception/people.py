"""Faces followed over the pictures of a shot, and joined over cuts into people.

Within a shot, place and size tell who is who. Over a cut only colours do: of face and hair, and of
what is worn. Both must match closely, for two people joined are worse than one counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from admir.perception.decode import Pixels
from admir.perception.faces import SURE, Face
from admir.perception.visual_style import colour_shares
from admir.types import Shot, Span, Subject

MOST_PEOPLE = 20
"""How many people are kept, by their seconds on screen."""

_REACH_S = 1.0
_MOST_GAP_S = 2.5
_MOST_MOVE, _MOST_GROWTH = 1.5, 1.8
_BINS = 12
_SAME_FACE, _SAME_CLOTHES = 0.8, 0.75
_CLOSE_UP, _SMALL = 0.25, 0.1
_MOSTLY = 0.5
_LIKE_SKIN = 16.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FaceDetection:
    """One face in one picture, with the colours about it.

    `head` and `clothes` are shares of brightness and of the two axes of hue; `clothes` is empty,
    and `worn` too, where the picture ends below the face.
    """

    face: Face
    head: tuple[float, ...]
    clothes: tuple[float, ...] = ()
    worn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaceFrame:
    """Everybody who is seen at one time."""

    time_s: float
    sights: tuple[FaceDetection, ...]


@dataclass(slots=True)
class _Track:
    """One face followed through one shot; `span` also holds pictures between that missed it."""

    span: Span
    sights: list[FaceDetection] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)

    def add(self, time_s: float, about: Span, sight: FaceDetection) -> None:
        self.sights.append(sight)
        self.times_s.append(time_s)
        self.span = Span(start_s=self.span.start_s, end_s=about.end_s)


def sight_of(face: Face, pixels: Pixels) -> FaceDetection:
    """A face with the colours of its picture (BGR) about it."""
    head = _part(pixels, face, (0.0, -0.35, 1.0, 1.0))
    skin = np.median(_part(pixels, face, (0.3, 0.45, 0.7, 0.8)).reshape(-1, 3), axis=0)
    worn = _unlike(_part(pixels, face, (-0.3, 1.5, 1.3, 2.8)).reshape(-1, 3), skin)
    if len(worn) * 4 < _area(face, pixels):
        return FaceDetection(face=face, head=_histogram(head))
    name, share = colour_shares(worn[:: max(1, len(worn) // 2000)])[0]
    return FaceDetection(
        face=face,
        head=_histogram(head),
        clothes=_histogram(worn),
        worn=name if share >= _MOSTLY else "",
    )


def _area(face: Face, pixels: Pixels) -> float:
    """Pixels inside the box of a face."""
    left, top, right, bottom = face.box
    height, width = pixels.shape[:2]
    return float((right - left) * (bottom - top) * height * width)


def _part(pixels: Pixels, face: Face, part: tuple[float, float, float, float]) -> Pixels:
    """A part of the picture, in widths and heights of the face from its top left corner."""
    height, width = pixels.shape[:2]
    left, top, right, bottom = face.box
    wide, high = right - left, bottom - top
    across = [round((left + v * wide) * width) for v in (part[0], part[2])]
    down = [round((top + v * high) * height) for v in (part[1], part[3])]
    return pixels[max(0, down[0]) : max(0, down[1]), max(0, across[0]) : max(0, across[1])]


def _unlike(rows: Pixels, skin: NDArray[Any]) -> Pixels:
    """The pixels that are not of the colour of this very face: a bare neck is not worn."""
    if not len(rows):
        return rows
    one = np.asarray(skin, dtype=np.uint8).reshape(1, 1, 3)
    lab = _lab(rows.reshape(1, -1, 3))[0, :, 1:]
    away = np.abs(lab - _lab(one)[0, 0, 1:]).sum(axis=1)
    return np.asarray(rows[away > _LIKE_SKIN], dtype=np.uint8)


def _lab(pixels: NDArray[Any]) -> NDArray[np.int16]:
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2LAB), dtype=np.int16)


def _histogram(pixels: Pixels) -> tuple[float, ...]:
    """Shares of brightness and of the two axes of hue, each in `_BINS` steps."""
    lab = _lab(pixels.reshape(1, -1, 3))[0]
    edges = ((0, 256), (98, 170), (98, 170))
    shares: list[float] = []
    for channel, limits in zip(lab.T, edges, strict=True):
        count, _ = np.histogram(channel.clip(limits[0], limits[1] - 1), _BINS, limits)
        shares += [round(float(n), 3) for n in count / max(1, len(channel))]
    return tuple(shares)


def follow_people(moments: Sequence[FaceFrame], shots: Sequence[Shot]) -> tuple[Subject, ...]:
    """The people of a video in the order of their first sight, at most `MOST_PEOPLE` and a rest.

    `moments` are in time order, at any spacing. Every face that is sure, or that was followed from
    one that is, belongs to one person; of more people than that, the last subject tells the rest.
    """
    tracks = [track for shot in shots for track in _followed(moments, shot)]
    sure = [track for track in tracks if any(s.face.score >= SURE for s in track.sights)]
    people: list[list[_Track]] = []
    for track in sorted(sure, key=lambda t: t.times_s[0]):
        _home(people, track).append(track)
    named = [_person(number, person) for number, person in enumerate(people, start=1)]
    return _bounded(named)


def _followed(moments: Sequence[FaceFrame], shot: Shot) -> list[_Track]:
    tracks: list[_Track] = []
    for index, moment in enumerate(moments):
        if shot.span.contains(moment.time_s):
            about = _about(moments, index).clamp(shot.span)
            _extend(tracks, moment, about)
    return tracks


def _about(moments: Sequence[FaceFrame], index: int) -> Span:
    """Half the way to the picture before and to the one after, at most `_REACH_S`.

    At either end of the video the one step that is there counts for both.
    """
    now = moments[index].time_s
    steps = [abs(now - m.time_s) for m in moments[max(0, index - 1) : index + 2] if m.time_s != now]
    before, after = (steps[0], steps[-1]) if steps else (2 * _REACH_S, 2 * _REACH_S)
    return Span(
        start_s=max(0.0, now - min(_REACH_S, before / 2)),
        end_s=now + min(_REACH_S, after / 2),
    )


def _extend(tracks: list[_Track], moment: FaceFrame, about: Span) -> None:
    """Each sight goes to the nearest track that it can continue, else it begins one."""
    pairs = sorted(
        (cost, t, s)
        for t, track in enumerate(tracks)
        for s, sight in enumerate(moment.sights)
        if moment.time_s - track.times_s[-1] <= _MOST_GAP_S
        and (cost := _distance(track.sights[-1].face, sight.face)) is not None
    )
    taken: set[int] = set()
    placed: set[int] = set()
    for _, t, s in pairs:
        if t not in taken and s not in placed:
            taken.add(t)
            placed.add(s)
            tracks[t].add(moment.time_s, about, moment.sights[s])
    for s, sight in enumerate(moment.sights):
        if s not in placed:
            tracks.append(_Track(span=about))
            tracks[-1].add(moment.time_s, about, sight)


def _distance(a: Face, b: Face) -> float | None:
    """How far one face moved and grew to be the other; None where it cannot have."""
    wide = [face.box[2] - face.box[0] for face in (a, b)]
    high = [face.box[3] - face.box[1] for face in (a, b)]
    across = abs(a.box[0] + a.box[2] - b.box[0] - b.box[2]) / sum(wide)
    down = abs(a.box[1] + a.box[3] - b.box[1] - b.box[3]) / sum(high)
    growth = max(wide) / max(min(wide), 1e-6)
    move = float(np.hypot(across, down))
    return move + growth - 1 if move <= _MOST_MOVE and growth <= _MOST_GROWTH else None


def _home(people: list[list[_Track]], track: _Track) -> list[_Track]:
    """The person whom the track shows again, else a new one."""
    alike = [
        (max(_similarity(known, track) for known in person), -n)
        for n, person in enumerate(people)
        if not any(_overlap(known, track) for known in person)
    ]
    best = max(alike, default=(0.0, 0))
    if best[0] > 0:
        return people[-best[1]]
    people.append([])
    return people[-1]


def _overlap(a: _Track, b: _Track) -> bool:
    """Whether both are seen at one time: nobody is in two places."""
    return a.times_s[0] <= b.times_s[-1] and b.times_s[0] <= a.times_s[-1]


def _similarity(a: _Track, b: _Track) -> float:
    """Above 0 where face and clothes of two tracks are of the same colours."""
    head = _shared(_mean([s.head for s in a.sights]), _mean([s.head for s in b.sights]))
    worn = [_mean([s.clothes for s in track.sights if s.clothes]) for track in (a, b)]
    if not all(worn) or head < _SAME_FACE:
        return 0.0
    clothes = _shared(*worn)
    return head + clothes if clothes >= _SAME_CLOTHES else 0.0


def _mean(histograms: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(float(v) for v in np.mean(histograms, axis=0)) if histograms else ()


def _shared(a: Sequence[float], b: Sequence[float]) -> float:
    """The least share of the three axes that two histograms have in common."""
    both = np.minimum(a, b).reshape(3, _BINS).sum(axis=1)
    return float(both.min())


def _person(number: int, tracks: Sequence[_Track]) -> Subject:
    sights = [sight for track in tracks for sight in track.sights]
    seen = merge_spans(track.span for track in tracks)
    pictures = "picture" if len(sights) == 1 else "pictures"
    return Subject(
        id="",
        name=f"Person {number}",
        kind="person",
        appearance=tuple(_appearance(sights)),
        identity=(f"a face seen in {len(sights)} {pictures}",),
        first_seen_s=seen[0].start_s,
        seen=seen,
    )


def _appearance(sights: Sequence[FaceDetection]) -> Iterator[str]:
    worn = [sight.worn for sight in sights if sight.worn]
    if worn:
        common = max(dict.fromkeys(worn), key=worn.count)
        if worn.count(common) * 2 > len(sights):
            yield f"wearing mostly {common}"
    high = median(sight.face.box[3] - sight.face.box[1] for sight in sights)
    if high >= _CLOSE_UP:
        yield "large in the picture (close-up)"
    elif high < _SMALL:
        yield "small in the picture"
    middle = median((sight.face.box[0] + sight.face.box[2]) / 2 for sight in sights)
    yield "on the left" if middle < 0.4 else "on the right" if middle > 0.6 else "in the centre"
    if all(sight.face.view == "side" for sight in sights):
        yield "seen from the side"


def merge_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in time order; those that touch or overlap are one."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start_s, s.end_s)):
        if merged and span.start_s <= merged[-1].end_s + 1e-6:
            end_s = max(merged[-1].end_s, span.end_s)
            merged[-1] = Span(start_s=merged[-1].start_s, end_s=end_s)
        else:
            merged.append(span)
    return tuple(Span(start_s=round(s.start_s, 3), end_s=round(s.end_s, 3)) for s in merged)


def _bounded(people: Sequence[Subject]) -> tuple[Subject, ...]:
    """Those longest on screen; the others together as one subject that says how many they are."""
    if len(people) <= MOST_PEOPLE:
        return tuple(people)
    ranked = sorted(people, key=lambda p: (-p.on_screen_s, p.first_seen_s))
    kept, rest = ranked[:MOST_PEOPLE], ranked[MOST_PEOPLE:]
    others = replace(
        rest[0],
        name=f"{len(rest)} more {'person' if len(rest) == 1 else 'people'}",
        appearance=("on screen for less time than those listed",),
        identity=(),
        first_seen_s=min(person.first_seen_s for person in rest),
        seen=merge_spans(span for person in rest for span in person.seen),
    )
    return (*sorted(kept, key=lambda p: p.first_seen_s), others)


def most_at_once(subjects: Sequence[Subject]) -> int:
    """The most people seen together at one time."""
    people = [subject for subject in subjects if subject.kind == "person"]
    starts = [span.start_s for person in people for span in person.seen]
    return max(
        (sum(any(s.contains(t) for s in person.seen) for person in people) for t in starts),
        default=0,
    )


def people_words(subjects: Sequence[Subject]) -> str:
    """How many people were found, in a sentence; empty where none."""
    people = [subject for subject in subjects if subject.kind == "person"]
    if not people:
        return ""
    if len(people) == 1:
        return "The face of one person was found."
    about = "more than" if len(people) > MOST_PEOPLE else "about"
    count = min(len(people), MOST_PEOPLE)
    at_once = most_at_once(people)
    together = f", at least {at_once} at once" if at_once > 1 else ", one at a time"
    return f"Faces of {about} {count} different people were found{together}."
