"""The stagnation guard (paper B.3.1, eq. 6)."""

from __future__ import annotations

from collections.abc import Sequence

from admir.tools.registry import ToolError, parse
from admir.types import Action, Span, Step

OVERLAP = 0.6
MOST_REPEATS = 2
BOUNDARY_S = 15.0
NARROWER = 0.5
"""A range of at most this share of an earlier one is looked at more closely than that was."""

RANGED = ("frame_inspect", "communication_expert")
"""Tools that look at a range of the video."""


def guard(
    action: Action, looked: list[tuple[str, Span]], steps: Sequence[Step], whole: Span
) -> tuple[Action, str]:
    """The action, moved elsewhere when it goes over the same ground again (B.3.1); and a note.

    That holds for each tool with a range, among its own calls: what the expert has read may well
    be looked at. `looked` gets the range. A call that was made before is carried out, and the note
    says when it was.
    """
    before = [
        step.index
        for step in steps
        for done, observation in zip(step.actions, step.observations, strict=False)
        if done == action and not observation.failed
    ]
    note = f"Asked before, in step {before[0]}: it brings the same again.\n" if before else ""
    if action.tool not in RANGED:
        return action, note
    try:
        asked = parse(action)
    except ToolError:
        return action, ""
    end_s = whole.end_s if asked.end_s is None else asked.end_s
    span = Span(start_s=min(asked.start_s, end_s), end_s=end_s).clamp(whole)
    own = [other for tool, other in looked if tool == action.tool]
    moved = redirect_if_stagnant(span, own, whole.duration_s)
    looked.append((action.tool, moved or span))
    if moved is None:
        return action, note
    arguments = {**action.arguments, "start_s": moved.start_s, "end_s": moved.end_s}
    note = f"Redirected: {span} was looked at more than twice, so {moved} is shown instead.\n"
    return Action(tool=action.tool, arguments=arguments), note


def redirect_if_stagnant(span: Span, looked: Sequence[Span], duration_s: float) -> Span | None:
    """Where to look instead, when `span` was looked at too often; None when it may stand.

    A new range that overlaps more than two earlier looks by more than 0.6 of its own length
    is moved to the first or the last 15 s, whichever was looked at less. Under 30 s the halves
    of the video serve. Earlier ranges that are twice as long do not count: eq. 6 alone would take
    narrowing in, where each look shows more frames a second, for going round in circles.
    """
    if span.duration_s <= 0:
        return None
    repeats = sum(
        span.overlap_s(other) / span.duration_s > OVERLAP
        and span.duration_s > NARROWER * other.duration_s
        for other in looked
    )
    if repeats <= MOST_REPEATS:
        return None
    reach = min(BOUNDARY_S, duration_s / 2)
    first = Span(start_s=0.0, end_s=reach)
    last = Span(start_s=duration_s - reach, end_s=duration_s)
    seen = {s: sum(s.overlap_s(other) for other in looked) for s in (first, last)}
    return min((first, last), key=lambda s: seen[s])
