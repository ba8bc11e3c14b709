"""The offline communication expert: what the words of a span show by stated rules."""

from __future__ import annotations

from collections import Counter

from admir.backends.base import Finding, GridReading, Report
from admir.backends.offline.arc import clipped
from admir.backends.offline.cues import kind_asked
from admir.backends.offline.story import BY_RULE, infer_span
from admir.perception.look import look_at
from admir.types import Inference

_ORDER = ("device", "arc", "audience", "emotion", "theme")


def read_grids(reading: GridReading) -> Report:
    """What the words of the span show by rule, each with its words, time and rule."""
    inferences = _inferred_in(reading)
    findings = tuple(Finding(text=_finding(i), span=i.span) for i in inferences)
    light = [look_at(grid.pixels).light for grid in reading.grids]
    course = " -> ".join(dict.fromkeys(light)) or "unknown"
    named = "; ".join(f.text for f in findings) or "no device shows in its words"
    text = f"Light: {course}. By rule, from the words of the ad: {named}."
    return Report(text=text, findings=findings)


def _inferred_in(reading: GridReading) -> list[Inference]:
    """The kind that is asked for first; one of each label, surest first, before the next of any.

    The words of the span tell all but the arc, which needs the place in the whole ad.
    """
    told = [
        i
        for i in reading.narrative.inferences
        if i.span.overlap_s(reading.span) > 0 and (i.kind == "arc" or not i.quote)
    ]
    found = [*told, *infer_span(reading.screen_text, reading.utterances)]
    asked = kind_asked(reading.focus)
    found.sort(key=lambda i: (i.kind != asked, _ORDER.index(i.kind), -i.confidence, i.span.start_s))
    seen: Counter[tuple[str, str]] = Counter()
    rank = {}
    for index, one in enumerate(found):
        rank[index] = (one.kind != asked, seen[one.kind, one.label], index)
        seen[one.kind, one.label] += 1
    return [found[index] for index in sorted(rank, key=lambda index: rank[index])]


def _finding(inference: Inference) -> str:
    quote = f' ("{clipped(inference.quote)}")' if inference.quote else ""
    why = f"{BY_RULE}{inference.rule}, confidence {inference.confidence:.2f}"
    return f"{inference.label}{quote}{why}"
