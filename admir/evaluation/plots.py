"""Plots as SVG whose colours are those of the page around them, light or dark."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SOFT, LINE, ACCENT = "#010101", "#020202", "#030303", "#040404"
_SERIES = ("#050505", "#060606", "#070707", "#080808", "#090909", "#0a0a0a")
COLOURS: Mapping[str, tuple[str, str, str]] = {
    INK: ("ink", "#1d1f23", "#eceae5"),
    SOFT: ("soft", "#5c5f66", "#a8adb5"),
    LINE: ("line", "#dedbd3", "#363b42"),
    ACCENT: ("accent", "#0f5c6e", "#7cc7d8"),
    _SERIES[0]: ("series-0", "#0f5c6e", "#7cc7d8"),
    _SERIES[1]: ("series-1", "#b4501e", "#f0a070"),
    _SERIES[2]: ("series-2", "#6a4c9c", "#bfa6ee"),
    _SERIES[3]: ("series-3", "#3d7a2e", "#93d07f"),
    _SERIES[4]: ("series-4", "#a8326e", "#f08cba"),
    _SERIES[5]: ("series-5", "#7a6a10", "#d8c656"),
}
"""What stands in the SVG -> the name of the CSS property, and its light and dark value."""

_STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "svg.hashsalt": "admir",
    "font.family": ["sans-serif"],
    "font.size": 10,
    "axes.edgecolor": LINE,
    "axes.labelcolor": SOFT,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": INK,
    "grid.color": LINE,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A value in percent with its interval, if it has one."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Dots below one another; those of `ours` are drawn in the accent, the others beside them."""

    title: str
    dots: tuple[Dot, ...]
    ours: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line over the values of a sweep, or bars over groups; values in percent.

    `intervals` (low, high) are drawn where there are as many as values.
    """

    name: str
    values: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Series over shared places on the x axis."""

    title: str
    places: tuple[str, ...]
    series: tuple[Series, ...]


def dots_svg(panels: Sequence[Panel]) -> str:
    """Panels side by side: a dot a row, its interval as a line, its value beside it."""
    rows = max(len(panel.dots) for panel in panels)

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for panel, axis in zip(panels, axes, strict=True):
            _draw_dots(axis, panel)

    return _svg(draw, (3.6 * len(panels), 0.9 + 0.32 * rows))


def _draw_dots(axis: Axes, panel: Panel) -> None:
    places = range(len(panel.dots), 0, -1)
    for place, dot in zip(places, panel.dots, strict=True):
        own = panel.ours is None or dot.label in panel.ours
        colour = ACCENT if own else SOFT
        if dot.low is not None and dot.high is not None:
            axis.plot([dot.low, dot.high], [place, place], color=colour, linewidth=2)
        marker = "o" if own else "D"
        axis.plot([dot.value], [place], marker, color=colour, markersize=6 if own else 4)
        axis.annotate(
            f"{dot.value:.1f}",
            (dot.high if dot.high is not None else dot.value, place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=INK,
        )
    axis.set_yticks(list(places), [dot.label for dot in panel.dots])
    axis.set_ylim(0.4, len(panel.dots) + 0.6)
    axis.set_xlim(0, 112)
    axis.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    axis.set_title(panel.title, loc="left", fontsize=11)
    axis.grid(axis="x")
    axis.tick_params(length=0)


def lines_svg(charts: Sequence[Chart], x_label: str) -> str:
    """Charts one above the other with one legend; the first series of each is drawn bold."""

    def draw(figure: Figure) -> None:
        for axis, chart in _stacked(figure, charts):
            for number, series in enumerate(chart.series):
                axis.plot(
                    range(len(chart.places)),
                    series.values,
                    marker="o",
                    markersize=5 if number == 0 else 3.5,
                    linewidth=2.6 if number == 0 else 1.3,
                    color=_SERIES[number % len(_SERIES)],
                    label=series.name,
                )
                if len(series.intervals) == len(series.values):
                    low, high = zip(*series.intervals, strict=True)
                    axis.vlines(range(len(low)), low, high, color=_SERIES[0], linewidth=1.2)
            axis.set_ylim(bottom=0)
            axis.set_xlabel(x_label)

    return _svg(draw, (7.2, 2.7 * len(charts) + 0.3))


def bars_svg(charts: Sequence[Chart]) -> str:
    """Charts one above the other: at each place a bar a series."""

    def draw(figure: Figure) -> None:
        for axis, chart in _stacked(figure, charts):
            width = 0.8 / len(chart.series)
            for number, series in enumerate(chart.series):
                left = (number - (len(chart.series) - 1) / 2) * width
                places = [place + left for place in range(len(chart.places))]
                colour = _SERIES[number % len(_SERIES)]
                axis.bar(places, series.values, 0.9 * width, color=colour, label=series.name)

    return _svg(draw, (7.2, 2.7 * len(charts) + 0.3))


def _stacked(figure: Figure, charts: Sequence[Chart]) -> list[tuple[Axes, Chart]]:
    axes = figure.subplots(len(charts), 1, squeeze=False)[:, 0]
    pairs = list(zip(axes, charts, strict=True))
    for axis, chart in pairs:
        axis.set_xticks(range(len(chart.places)), list(chart.places))
        axis.set_title(chart.title, loc="left", fontsize=11)
        axis.set_ylabel("%")
        axis.grid(axis="y")
        axis.set_axisbelow(True)
        axis.tick_params(length=0)
    return pairs


def _svg(draw: Any, size: tuple[float, float]) -> str:
    """The drawing, with CSS properties for its colours; equal drawings are equal texts."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        handles, names = figure.axes[0].get_legend_handles_labels()
        if names:
            figure.legend(handles, names, loc="outside right upper", fontsize=9)
        told = io.StringIO()
        figure.savefig(told, format="svg", metadata={"Date": None, "Creator": None})
    text = told.getvalue()
    for colour, (name, light, _) in COLOURS.items():
        text = text.replace(colour, f"var(--{name}, {light})")
    return text[text.index("<svg") :]
