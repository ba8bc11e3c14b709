"""Tables of runs as plain rows of text: the terminal, Markdown and HTML show the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from admir.evaluation.adsqa import DIMENSION_NAMES
from admir.evaluation.data import Item
from admir.evaluation.reference_scores import PUBLISHED
from admir.evaluation.run_folder import Run
from admir.evaluation.scores import (
    METRICS,
    OVERALL,
    RELAXED,
    RELAXED_PAPER,
    STRICT,
    Comparison,
    Scores,
)
from admir.evaluation.statistics import LEVEL, Difference, Share
from admir.types import Usage

VERDICT_VIDEOS = 10
"""Of fewer, no run is called better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a title; `note` says how to read them."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def percent(share: Share) -> str:
    """`38.1 [35.0, 41.2]`, in percent."""
    mean = f"{100 * share.mean:.1f}"
    if share.low is None or share.high is None:
        return mean
    return f"{mean} [{100 * share.low:.1f}, {100 * share.high:.1f}]"


def scores_table(scores: Scores) -> Table:
    """Accuracy overall and by ability, in percent."""
    if scores.videos > 1:
        how = f"In brackets: 95% intervals, drawn over {scores.videos:,} videos."
    else:
        how = "All items are of one video: no interval can be told."
    if any(_has_no_width(each) for row in scores.rows for each in row.shares.values()):
        how += " One without width says that all videos agree, not that others would."
    wrong = len(scores.failures)
    which = (
        "1 item without a score counts" if wrong == 1 else f"{wrong:,} items without a score count"
    )
    counted = f" {which} as wrong." if wrong else ""
    return Table(
        title="Accuracy, %",
        columns=("ability", "items", *METRICS),
        rows=tuple(
            (
                _named(row.name),
                f"{row.count:,}",
                *(percent(row.shares[metric]) for metric in METRICS),
            )
            for row in scores.rows
        ),
        note=f"{how}{counted}",
    )


def _has_no_width(share: Share) -> bool:
    return share.low is not None and share.low == share.high


def _named(group: str) -> str:
    return f"{group}: {DIMENSION_NAMES[group]}" if group in DIMENSION_NAMES else group


def published_table(run: Run, scores: Scores) -> Table:
    """Our overall row beside what others have published, in percent."""
    own = scores.rows[0].shares
    mine = (f"{run.info.name} (this run)", percent(own[STRICT]))
    return Table(
        title="Beside published results, %",
        columns=("system", STRICT, RELAXED, RELAXED_PAPER),
        rows=(
            (*mine, percent(own[RELAXED]), percent(own[RELAXED_PAPER])),
            *((row.name, f"{row.strict:.1f}", "", f"{row.relaxed:.1f}") for row in PUBLISHED),
        ),
    )


def cost_table(run: Run) -> Table:
    """What answers, scores and memories cost, and how long answers took."""
    answered = sum(1 for i in run.items if i.prediction and not i.prediction.error)
    mean_s = f"{run.seconds / answered:.1f} s an answer" if answered else ""
    return Table(
        title="Cost",
        columns=("what", "calls", "from cache", "input tokens", "output tokens", "US dollars", ""),
        rows=(
            ("answers", *_cost(run.usage), mean_s),
            ("scores", *_cost(run.judge_usage), ""),
            ("memories built", *_cost(run.info.build_usage), ""),
            ("all, with what failed", *_cost(run.info.spent), ""),
        ),
    )


def _cost(usage: Usage) -> tuple[str, ...]:
    unknown = f" and {usage.unpriced:,} calls without a price" if usage.unpriced else ""
    return (
        f"{usage.calls:,}",
        f"{usage.cached:,}",
        f"{usage.input_tokens:,}",
        f"{usage.output_tokens:,}",
        f"{usage.cost_usd:.2f}{unknown}",
    )


def answers_table(run: Run) -> Table:
    """What was answered, or why nothing was: all that a run without a judge can tell."""
    return Table(
        title="Answers (not judged)",
        columns=("item", "question", "answer"),
        rows=tuple((item.case.id, item.case.question, _answer_of(item)) for item in run.items),
    )


def _answer_of(item: Item) -> str:
    if item.prediction is None or item.prediction.error:
        return f"({item.failure})"
    return item.prediction.text


def failures_table(scores: Scores) -> Table:
    """The items that have no score, and why."""
    return Table(
        title="Without a score (counted as wrong)",
        columns=("item", "why"),
        rows=scores.failures,
    )


def origin_table(run: Run) -> Table:
    """Everything that one needs to know to run it again."""
    info = run.info
    models: Mapping[str, str] = info.config.get("models") or {}
    prompts: Mapping[str, str] = info.config.get("prompts") or {}
    settings: Mapping[str, object] = info.config.get("settings") or {}
    rows = (
        ("suite", info.suite),
        ("system", str(info.config.get("system", ""))),
        ("preset", str(settings.get("preset", ""))),
        ("models", _listed(models)),
        ("judge", info.judge or "none"),
        ("prompts", _listed({name: digest[:12] for name, digest in prompts.items()})),
        ("settings", _listed({k: v for k, v in settings.items() if v not in (None, {}, [])})),
        ("seed of the intervals", str(info.seed)),
        ("files", _listed({name: digest[:12] for name, digest in info.files.items()})),
        ("left out: without ground truth", ", ".join(info.left_out)),
        ("admir", f"{info.admir_version}, sources {info.code}"),
        ("broken off", info.stopped),
    )
    return Table(
        title="How it was run", columns=("what", ""), rows=tuple(row for row in rows if row[1])
    )


def _listed(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in values.items())


def difference_table(comparison: Comparison) -> Table:
    """B against A, in points of a hundred."""
    rows = [
        (
            _named(group),
            f"{by_metric[STRICT].count:,}",
            *(points(by_metric[metric]) for metric in METRICS),
            f"{by_metric[STRICT].gained} / {by_metric[STRICT].lost}",
            f"{by_metric[STRICT].p_value:.3g}",
        )
        for group, by_metric in comparison.groups.items()
    ]
    return Table(
        title="B against A, points of 100",
        columns=("ability", "items", *METRICS, "only B / only A right", "McNemar p"),
        rows=tuple(rows),
        note=(
            "In brackets: 95% intervals of the difference, paired and drawn over videos; a star "
            "where 0 lies outside. McNemar's exact test is of items that only one run has wholly "
            "right, and takes items for independent."
        ),
    )


def points(found: Difference) -> str:
    """`+2.1 [-0.4, +4.6]`, in points of a hundred; a star where 0 lies outside."""
    mean = f"{100 * found.mean:+.1f}"
    if found.low is None or found.high is None:
        return mean
    star = " *" if found.is_sure else ""
    return f"{mean} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]{star}"


def verdict_of(comparison: Comparison) -> str:
    """In a sentence or two, whether B is better, by strict accuracy."""
    found = comparison.groups[OVERALL][STRICT]
    told = f"{100 * found.mean:+.1f} points of strict accuracy"
    a, b = comparison.judges
    judged = (
        "" if a == b else f" A was judged by {a or 'nobody'}, B by {b or 'nobody'}: no fair race."
    )
    if comparison.videos < VERDICT_VIDEOS:
        videos = "1 video says" if comparison.videos == 1 else f"{comparison.videos} videos say"
        few = f"{videos} too little of others"
        return f"No difference can be told: {told}, and {few}.{judged}"
    if found.is_sure and found.p_value < 1 - LEVEL:
        word = "better" if found.mean > 0 else "worse"
        return f"B is {word}: {told}, more than chance explains.{judged}"
    return f"No difference can be told: {told}, which chance explains as well.{judged}"


def item_lines(item: Item) -> Sequence[tuple[str, str]]:
    """What is to be known of one item."""
    prediction, judgement = item.prediction, item.judgement
    return (
        ("question", item.case.question),
        ("video", item.case.video),
        ("golden answer", item.reference.answer),
        ("answer", prediction.text if prediction else ""),
        ("score", f"{item.score:g}" if not item.failure else item.failure),
        ("judge", judgement.reason if judgement else ""),
    )
