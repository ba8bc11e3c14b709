"""The offline communication expert: what the words of a span show by stated rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from admir.backends.base import ExpertRequest, Finding, InspectResult
from admir.backends.rules.ad_inferences import infer_span
from admir.backends.rules.arc import clipped
from admir.backends.rules.inference_answers import finding_of
from admir.backends.rules.question import understand
from admir.perception.visual_style import look_at
from admir.types import Inference, InferenceKind

_KINDS: dict[str, InferenceKind] = {
    "audience": "audience",
    "emotion": "emotion",
    "theme": "theme",
    "arc": "arc",
}
"""What a kind of question asks of the expert; any other asks for devices."""


def read_grids(reading: ExpertRequest) -> InspectResult:
    """What the words of the span show by rule, each with its words, time and rule.

    The kind that the focus asks for; all of them stand in the text.
    """
    inferences = _inferred_in(reading)
    asked = _KINDS.get(understand(reading.focus).kind.name, "device")
    findings = tuple(
        Finding(text=finding_of(i), span=i.span) for i in _spread(inferences) if i.kind == asked
    )
    light = [look_at(grid.pixels).light for grid in reading.grids]
    course = " -> ".join(dict.fromkeys(light)) or "unknown"
    named = "; ".join(map(_named, inferences)) or "none"
    text = f"Light: {course}. By stated rules, from the words of the ad: {named}."
    return InspectResult(text=text, findings=findings)


def _inferred_in(reading: ExpertRequest) -> list[Inference]:
    """All that the span shows, in order of time.

    The words of the span tell all but the arc, which needs the place in the whole ad.
    """
    told = [
        i
        for i in reading.narrative.inferences
        if i.span.overlap_s(reading.span) > 0 and (i.kind == "arc" or not i.quote)
    ]
    found = [*told, *infer_span(reading.screen_text, reading.utterances)]
    return sorted(found, key=lambda i: (i.span.start_s, -i.confidence))


def _spread(inferences: Sequence[Inference]) -> list[Inference]:
    """One of each label, surest first, before the next of any; an arc in order of time."""
    seen: Counter[str] = Counter()
    ranked = []
    for one in sorted(inferences, key=lambda i: (-i.confidence, i.span.start_s)):
        order = one.span.start_s if one.kind == "arc" else -one.confidence
        ranked.append((seen[one.label], order, one))
        seen[one.label] += 1
    return [one for _, _, one in sorted(ranked, key=lambda row: row[:2])]


def _named(inference: Inference) -> str:
    return f"{inference.kind}: {inference.label}" + (
        f' ("{clipped(inference.quote)}")' if inference.quote else ""
    )
