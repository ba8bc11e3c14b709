"""Reports of a run and of a comparison: an HTML file that needs nothing else, and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from admir.errors import MemoryStoreError, writing
from admir.evaluation.data import Item
from admir.evaluation.plots import COLOURS, Dot, Panel, dots_svg
from admir.evaluation.reference_scores import NOTE, PUBLISHED
from admir.evaluation.run_folder import Run
from admir.evaluation.scores import (
    METRICS,
    RELAXED_PAPER,
    STRICT,
    Comparison,
    Flip,
    Scores,
    compare,
    scores_of,
    worst,
)
from admir.evaluation.tables import (
    Table,
    answers_table,
    cost_table,
    difference_table,
    failures_table,
    item_lines,
    origin_table,
    published_table,
    scores_table,
    verdict_of,
)
from admir.memory.fs import write_whole
from admir.text import to_printable
from admir.trace_reader import open_trace
from admir.types import Step
from admir.views.notebook.markup import Html, cut, div, folded, joined, tag

MOST_WORST, MOST_FLIPS, MOST_FAILURES = 20, 100, 500
_LONGEST = 1_500
_STEERS = re.compile(r"[\\|`]|\](?=\()|!(?=\[)")
"""What Markdown takes for links, pictures, code and cells."""


def write_report(folder: Path, run: Run) -> Scores:
    """Write `report.html` and `report.md` of a run; the scores that they show."""
    scores, judged = scores_of(run), run.is_judged
    tables = [scores_table(scores) if judged else answers_table(run)]
    if judged and run.info.suite == "AdsQA":
        tables.append(published_table(run, scores))
    plots = _plots(run, scores) if judged else []
    after = [cost_table(run), *([failures_table(scores)] if judged and scores.failures else [])]
    shown = worst(run, MOST_WORST) if judged else []
    title = f"{run.info.suite}: {run.info.name}"
    parts = [
        *(tag("p", line, class_="warning") for line in _warned(run)),
        html_table(tables[0]),
        *(figure(svg, alt) for _, svg, alt in plots),
        *(joined((html_table(table), tag("p", NOTE, class_="soft"))) for table in tables[1:]),
        *map(html_table, after),
        tag("h2", f"The {len(shown)} worst answers") if shown else Html(),
        *map(_worst, shown),
        html_table(origin_table(run)),
    ]
    write_page(folder / "report.html", title, parts)
    texts = [f"# {title}", *_warned(run)]
    for name, svg, alt in plots:
        write_text(folder / name, svg)
        texts.append(f"![{alt}]({name})")
    texts += [markdown(table) for table in tables] + ([NOTE] if len(tables) > 1 else [])
    texts += [markdown(table) for table in after]
    texts += ["## The worst answers", *map(_worst_text, shown)] if shown else []
    texts.append(markdown(origin_table(run)))
    write_text(folder / "report.md", "\n\n".join(texts) + "\n")
    return scores


def write_comparison(folder: Path, a: Run, b: Run) -> Comparison:
    """Write `diff.html` and `diff.md` of run B against run A; the comparison that they show.

    Raises OptionError where the runs are not of the same questions.
    """
    found = compare(a, b)
    title = f"B, {b.info.name}, against A, {a.info.name}"
    table, flips = difference_table(found), found.flips[:MOST_FLIPS]
    heading = f"{len(found.flips):,} answers changed their score"
    parts = [
        tag("p", verdict_of(found), class_="verdict"),
        html_table(table),
        tag("h2", heading),
        *(_flip(flip) for flip in flips),
        tag("h2", "A"),
        html_table(origin_table(a)),
        tag("h2", "B"),
        html_table(origin_table(b)),
    ]
    write_page(folder / "diff.html", title, parts)
    texts = [f"# {title}", verdict_of(found), markdown(table), f"## {heading}"]
    texts += [_flip_text(flip) for flip in flips]
    texts += ["## A", markdown(origin_table(a)), "## B", markdown(origin_table(b))]
    write_text(folder / "diff.md", "\n\n".join(texts) + "\n")
    return found


def _warned(run: Run) -> list[str]:
    """What must be known before the figures are read."""
    told = []
    if run.info.stopped:
        told.append(f"This run was broken off: {run.info.stopped}.")
    if not run.info.judge:
        told.append("Nothing was judged: these are answers without scores.")
    return told


def _plots(run: Run, scores: Scores) -> list[tuple[str, str, str]]:
    """File names, SVGs, and what each shows."""
    panels = [
        Panel(
            title=metric,
            dots=tuple(
                Dot(
                    label=row.name,
                    value=100 * row.shares[metric].mean,
                    low=_percent(row.shares[metric].low),
                    high=_percent(row.shares[metric].high),
                )
                for row in scores.rows
            ),
        )
        for metric in METRICS
    ]
    what = "Accuracy overall and by ability, with 95% intervals"
    plots = [("accuracy.svg", dots_svg(panels), what)]
    if run.info.suite == "AdsQA":
        own = scores.rows[0].shares
        name = "this run"
        beside = [
            Panel(
                title=f"{metric}, beside published",
                ours=frozenset({name}),
                dots=(
                    Dot(
                        label=name,
                        value=100 * own[metric].mean,
                        low=_percent(own[metric].low),
                        high=_percent(own[metric].high),
                    ),
                    *(Dot(label=row.name, value=getattr(row, field)) for row in PUBLISHED),
                ),
            )
            for metric, field in ((STRICT, "strict"), (RELAXED_PAPER, "relaxed"))
        ]
        plots.append(("published.svg", dots_svg(beside), "This run beside published results"))
    return plots


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def write_page(path: Path, title: str, parts: Iterable[str]) -> None:
    """Write an HTML page that loads nothing; raises MemoryStoreError."""
    head = joined(
        (
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            tag("title", title),
            Html(f"<style>{_css()}</style>"),
        )
    )
    body = tag("main", tag("h1", title), *parts)
    page = tag("html", tag("head", head), tag("body", body), lang="en")
    write_text(path, f"<!doctype html>\n{page}\n")


@cache
def _css() -> str:
    light = "".join(f"--{name}:{day};" for name, day, _ in COLOURS.values())
    dark = "".join(f"--{name}:{night};" for name, _, night in COLOURS.values())
    own = resources.files("admir.evaluation").joinpath("report.css").read_text("utf-8")
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}{own}"


def html_table(table: Table) -> Html:
    """A table under its title."""
    head = tag("tr", *(tag("th", name, scope="col") for name in table.columns))
    rows = (
        tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:]))
        for row in table.rows[:MOST_FAILURES]
    )
    left = len(table.rows) - MOST_FAILURES
    note = table.note or (f"and {left:,} more, in predictions.jsonl" if left > 0 else "")
    body = div("scroll", tag("table", tag("thead", head), tag("tbody", *rows)))
    return joined((tag("h2", table.title), body, tag("p", note, class_="soft") if note else Html()))


def figure(svg: str, alt: str) -> Html:
    """A plot, and what it shows for people who do not see it."""
    return tag("figure", Html(svg), role="img", aria_label=alt)


def _worst(item: Item) -> Html:
    lines = [
        joined((tag("dt", name), tag("dd", cut(text, _LONGEST))))
        for name, text in item_lines(item)
        if text
    ]
    return tag("article", tag("dl", *lines), _trace(item))


def _trace(item: Item) -> Html:
    """What the agent did, in words, where its trace is still there."""
    path = item.prediction.trace if item.prediction else ""
    if not path:
        return Html()
    try:
        steps = open_trace(path).steps
    except MemoryStoreError as error:
        return tag("p", str(error), class_="soft")
    return folded(f"Trace, {len(steps)} steps", *map(_step, steps), tag("p", path, class_="soft"))


def _step(step: Step) -> Html:
    calls = [
        tag("pre", cut(f"{action.tool}({dict(action.arguments)})", _LONGEST))
        for action in step.actions
    ]
    seen = [tag("pre", cut(each.text, _LONGEST)) for each in step.observations]
    verdict = []
    if step.verdict:
        word = "accepted" if step.verdict.accepted else "rejected"
        verdict.append(tag("p", f"Draft {word}. {step.verdict.reason}"))
    thought = tag("p", f"{step.index}. {cut(step.thought, _LONGEST)}")
    return div("step", thought, *calls, *seen, *verdict)


def _flip(flip: Flip) -> Html:
    before, after = flip.before, flip.after
    rows = [
        ("question", after.case.question),
        ("golden answer", after.reference.answer),
        (f"A, {before.score:g}", before.prediction.text if before.prediction else before.failure),
        (f"B, {after.score:g}", after.prediction.text if after.prediction else after.failure),
    ]
    lines = [joined((tag("dt", name), tag("dd", cut(text, _LONGEST)))) for name, text in rows]
    return tag("article", tag("dl", *lines))


def markdown(table: Table) -> str:
    """A table in Markdown under its title."""
    rows = [table.columns, tuple("---" for _ in table.columns), *table.rows[:MOST_FAILURES]]
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    left = len(table.rows) - MOST_FAILURES
    note = table.note or (f"and {left:,} more, in predictions.jsonl" if left > 0 else "")
    return "\n".join([f"## {table.title}", "", *lines, *(["", note] if note else [])])


def _cell(text: str) -> str:
    line = " ".join(to_printable(text).split()).replace("<", "&lt;")
    return _STEERS.sub(r"\\\g<0>", line)


def _worst_text(item: Item) -> str:
    return "\n".join(f"- **{name}**: {_cell(text)}" for name, text in item_lines(item) if text)


def _flip_text(flip: Flip) -> str:
    before, after = flip.before, flip.after
    rows: Sequence[tuple[str, Item]] = (("A", before), ("B", after))
    lines = [f"- **{_cell(after.case.question)}**"]
    lines += [
        f"  - {name}, {item.score:g}: {_cell(item.prediction.text if item.prediction else '')}"
        for name, item in rows
    ]
    return "\n".join(lines)


def write_text(path: Path, text: str) -> None:
    """Write a file whole; raises MemoryStoreError."""
    with writing(path):
        write_whole(path, text)
