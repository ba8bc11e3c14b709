"""Fig. 3 of the paper on one's own data: beta, T_max, and each component switched off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from admir.evaluation.plots import Chart, Series, bars_svg, lines_svg
from admir.evaluation.report import figure, html_table, markdown, write_page, write_text
from admir.evaluation.run_folder import Run
from admir.evaluation.scores import METRICS, OVERALL, RELAXED, STRICT, compare, scores_of
from admir.evaluation.statistics import Share
from admir.evaluation.tables import Table, percent, points
from admir.settings import Settings
from admir.views.notebook.markup import tag

DEFAULT = "default"
COMPONENTS: Mapping[str, str] = {
    "hybrid_index": "hybrid index",
    "subject_registry": "subject registry",
    "communication_expert": "communication expert",
    "visual_anchor": "visual anchor",
}
_SWEPT: Mapping[str, str] = {"beta": "lexical weight beta", "max_steps": "most steps T_max"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One configuration: `value` of the setting `name`. The default one stands in every figure."""

    label: str
    settings: Settings
    name: str = ""
    value: float = 0.0


Measured = tuple[Variant, Run]
"""A configuration and its run."""


def variants(
    settings_with: Callable[[str], Settings],
    default: Settings,
    values: Mapping[str, Sequence[float]],
    *,
    components: bool,
) -> list[Variant]:
    """The default first, then one for each other value, then one without each component.

    `settings_with("beta=1")` are the default's with that set; raises OptionError.
    """
    found = [Variant(label=DEFAULT, settings=default)]
    for name, wanted in values.items():
        for value in wanted:
            told = f"{name}={value:g}"
            if getattr(default, name) != value:
                settings = settings_with(told)
                found.append(Variant(label=told, settings=settings, name=name, value=value))
    for name in COMPONENTS if components else ():
        if getattr(default, name):
            without = settings_with(f"{name}=false")
            found.append(Variant(label=f"without-{name}", settings=without, name=name))
    return found


def write_sweep(folder: Path, runs: Sequence[Measured]) -> Table:
    """Write `sweep.html` and `sweep.md`; the table that they show."""
    table = sweep_table(runs)
    title = "Sensitivity and ablation (Fig. 3)"
    figures = [(name, _lines(name, runs)) for name in _SWEPT if _points_of(name, runs)]
    figures += [("components", _bars(runs))] if _without(runs) else []
    parts = [html_table(table), *(figure(svg, f"Accuracy by {name}") for name, svg in figures)]
    write_page(folder / "sweep.html", title, [*parts, tag("p", table.note, class_="soft")])
    write_text(folder / "sweep.md", f"# {title}\n\n{markdown(table)}\n")
    return table


def sweep_table(runs: Sequence[Measured]) -> Table:
    """Overall accuracy of each configuration in percent, and its difference from the default."""
    default = next(run for variant, run in runs if variant.label == DEFAULT)
    rows = []
    for variant, run in runs:
        shares = scores_of(run).rows[0].shares
        groups = compare(default, run).groups[OVERALL]
        changed = "" if run is default else points(groups[STRICT])
        rows.append((variant.label, *(percent(shares[m]) for m in METRICS), changed))
    return Table(
        title="Overall accuracy, %",
        columns=("configuration", *METRICS, f"{STRICT} against the default"),
        rows=tuple(rows),
        note=(
            "In brackets: 95% intervals drawn over videos; the difference is paired, with a star "
            "where 0 lies outside."
        ),
    )


def _points_of(name: str, runs: Sequence[Measured]) -> list[tuple[float, Run]]:
    """The runs of a swept setting by its value, the default among them; none where only that."""
    swept = [(variant.value, run) for variant, run in runs if variant.name == name]
    if not swept:
        return []
    default = next((v, run) for v, run in runs if v.label == DEFAULT)
    own = float(getattr(default[0].settings, name))
    return sorted([*swept, (own, default[1])], key=lambda pair: pair[0])


def _without(runs: Sequence[Measured]) -> dict[str, Run]:
    return {v.name: run for v, run in runs if v.name in COMPONENTS}


def _lines(name: str, runs: Sequence[Measured]) -> str:
    """Strict above relaxed, a line an ability."""
    found = _points_of(name, runs)
    tables = [{row.name: row.shares for row in scores_of(run).rows} for _, run in found]
    charts = [
        Chart(
            title=metric,
            places=tuple(f"{value:g}" for value, _ in found),
            series=tuple(
                _series(group, [table[group][metric] for table in tables]) for group in tables[0]
            ),
        )
        for metric in (STRICT, RELAXED)
    ]
    return lines_svg(charts, _SWEPT[name])


def _series(group: str, shares: Sequence[Share]) -> Series:
    """The values of a group; the intervals of all items together are drawn, those of parts not."""
    intervals = [
        (100 * s.low, 100 * s.high) for s in shares if s.low is not None and s.high is not None
    ]
    return Series(
        name=group,
        values=tuple(100 * share.mean for share in shares),
        intervals=tuple(intervals) if group == OVERALL else (),
    )


def _bars(runs: Sequence[Measured]) -> str:
    """Strict above relaxed: at each ability the whole, then without each component."""
    default = next(run for variant, run in runs if variant.label == DEFAULT)
    shown = {"with all": default}
    shown |= {f"w/o {COMPONENTS[name]}": run for name, run in _without(runs).items()}
    tables = {name: scores_of(run).rows for name, run in shown.items()}
    charts = [
        Chart(
            title=metric,
            places=tuple(row.name for row in tables["with all"]),
            series=tuple(
                Series(name=name, values=tuple(100 * row.shares[metric].mean for row in rows))
                for name, rows in tables.items()
            ),
        )
        for metric in (STRICT, RELAXED)
    ]
    return bars_svg(charts)
