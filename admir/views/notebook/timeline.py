"""Time lines in SVG. Places are percentages, so that a narrow page never shrinks the letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from admir.types import Memory, Span
from admir.views.notebook.markup import Html, cut, div, span, tag

_ROW, _BAR = 22, 18
_STEPS_S = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_MOST_TICKS = 6
_MOST_MARKS, _MOST_ROWS = 120, 10
_LEAST_PERCENT, _LABEL_PERCENT, _FLAG_PERCENT = 0.7, 6.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A bar on a time line; `tone` names its colour, `title` is what hovering tells."""

    span: Span
    label: str
    title: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Marks of one sort. `flags` puts the labels beside the bars, for short ones."""

    name: str
    marks: Sequence[Mark]
    flags: bool = False


def timeline(length_s: float, lanes: Iterable[Lane]) -> Html:
    """The lanes that hold something, one below another over [0, length_s], and the seconds."""
    drawn = [_lane(lane, length_s) for lane in lanes if lane.marks]
    if not drawn or length_s <= 0:
        return Html()
    return div("timeline", *drawn, div("lane", span("soft lane-name", "seconds"), _axis(length_s)))


def shot_lane(memory: Memory) -> Lane:
    """The shots, by number; a change that takes time is named."""
    return Lane(name="shots", marks=[_shot(memory, n) for n in range(len(memory.shots))])


def _shot(memory: Memory, number: int) -> Mark:
    shot = memory.shots[number]
    slow = shot.transition in ("dissolve", "fade")
    opens = f"{shot.transition} of {shot.transition_s:.1f} s" if slow else shot.transition
    return Mark(
        span=shot.span,
        label=f"{'~' if slow else ''}{number + 1}",
        title=f"shot {number + 1}, {shot.span}, opens with: {opens}",
        tone=f"shot-{number % 2}",
    )


def _lane(lane: Lane, length_s: float) -> Html:
    """A lane; what finds no row is counted, not drawn."""
    rows: list[float] = []
    placed, left_out = [], max(0, len(lane.marks) - _MOST_MARKS)
    for mark in sorted(lane.marks[:_MOST_MARKS], key=lambda m: m.span.start_s):
        start, width = _place(mark.span, length_s)
        end = start + width + (_FLAG_PERCENT if lane.flags else 0.0)
        row = next((n for n, free in enumerate(rows) if free <= start + 0.01), len(rows))
        if row >= _MOST_ROWS:
            left_out += 1
            continue
        rows[row : row + 1] = [end]
        placed.append(
            _flag(mark, start, width, row) if lane.flags else _bar(mark, start, width, row)
        )
    name = span("soft lane-name", lane.name)
    rest = [span("soft lane-more", f"and {left_out:,} more, not drawn")] if left_out else []
    return div("lane", name, _svg(placed, _ROW * len(rows), f"time line: {lane.name}"), *rest)


def _place(where: Span, length_s: float) -> tuple[float, float]:
    """Start and width in percent, inside the line and wide enough to be seen."""
    start = min(max(0.0, 100 * where.start_s / length_s), 100 - _LEAST_PERCENT)
    end = min(100.0, 100 * where.end_s / length_s)
    return start, max(_LEAST_PERCENT, end - start)


def _bar(mark: Mark, start: float, width: float, row: int) -> Html:
    """A bar with its label inside, clipped; none where only a letter of it would fit."""
    fits = width >= _LABEL_PERCENT or (len(mark.label) <= 2 and width >= _LABEL_PERCENT / 2)
    label = [tag("text", cut(mark.label, 80), x="4", y="13")] if fits else []
    return tag(
        "svg",
        tag("title", cut(mark.title, 400)),
        tag("rect", width="100%", height="100%", rx="2"),
        *label,
        class_=f"mark {mark.tone}",
        x=f"{start:.2f}%",
        y=str(row * _ROW + 2),
        width=f"{width:.2f}%",
        height=str(_BAR),
    )


def _flag(mark: Mark, start: float, width: float, row: int) -> Html:
    """A bar with its label behind it, before it at the end of the line."""
    late = start + width > 100 - _FLAG_PERCENT
    x, dx, anchor = (start, "-3", "end") if late else (start + width, "3", "start")
    y = row * _ROW + 2
    label = tag(
        "text", mark.label, class_="flag", x=f"{x:.2f}%", dx=dx, y=str(y + 13), text_anchor=anchor
    )
    return tag(
        "g",
        _bar(Mark(span=mark.span, label="", title=mark.title, tone=mark.tone), start, width, row),
        label,
    )


def _axis(length_s: float) -> Html:
    step = next((s for s in _STEPS_S if length_s / s <= _MOST_TICKS), length_s / _MOST_TICKS)
    ticks = []
    for n in range(int(length_s / step) + 1):
        x = f"{100 * n * step / length_s:.2f}%"
        late = n * step > 0.93 * length_s
        anchor = "start" if n == 0 else "end" if late else "middle"
        ticks.append(tag("line", x1=x, x2=x, y1="0", y2="5"))
        ticks.append(tag("text", f"{n * step:g}", class_="flag", x=x, y="17", text_anchor=anchor))
    return _svg(ticks, _ROW, f"seconds from 0 to {length_s:.1f}")


def _svg(children: Sequence[str], height: int, label: str) -> Html:
    return tag(
        "svg", *children, class_="line", style=f"height:{height}px", role="img", aria_label=label
    )
