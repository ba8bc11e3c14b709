"""Reports: the same table everywhere, self-contained, safe, and readable in a real browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from admir.evaluation.data import Case, Item, Judgement, Prediction, Reference
from admir.evaluation.report import write_comparison, write_report
from admir.evaluation.run_folder import Run, RunInfo
from admir.evaluation.sweep import Variant, variants, write_sweep
from admir.settings import load_settings
from admir.types import Usage
from tests.browsing import browser

__all__ = ["browser"]

HOSTILE = '<img src=x onerror="window.pwned=1"> | `x` \u202e $1 ![a](http://b) [c](javascript:d)'


def run_of(scores, name="run", **info) -> Run:
    """A run with these scores (None: the judge failed), two items a video."""
    dimensions = ("VU", "ER", "TE", "PS", "AM")
    items = tuple(
        Item(
            case=Case(id=f"q{n}", video=f"v{n // 2}", question=f"What is {n}? {HOSTILE}"),
            reference=Reference(
                answer=f"Golden {n}", meta_info="", dimensions=(dimensions[n % 5],)
            ),
            prediction=Prediction(text=f"Answer {n} {HOSTILE}", seconds=1.0, usage=Usage(calls=2)),
            judgement=Judgement(
                score=score, reason=HOSTILE, error="" if score is not None else "no JSON"
            ),
        )
        for n, score in enumerate(scores)
    )
    config = {
        "system": "agent",
        "settings": {"preset": "paper", "beta": 2.0},
        "models": {"controller": "gpt-4o"},
        "prompts": {"controller": "0123456789abcdef"},
    }
    told = {"judge": "gpt-4o 12345678", "code": "abc", "admir_version": "0.1.0", **info}
    return Run(
        info=RunInfo(name=name, suite="AdsQA", dimensions=dimensions, config=config, **told),
        items=items,
    )


A = run_of([1, 0, 0.5, 1, 0, 1, 0.5, 0, 1, None], "a")
B = run_of([1, 1, 0.5, 0, 1, 1, 1, 0, 1, 0.5], "b")


class Links(HTMLParser):
    """What a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.found += [v for k, v in attrs if k in ("src", "href", "xlink:href") and v]


def test_a_report_needs_nothing_else_and_runs_nothing(tmp_path):
    write_report(tmp_path, A)
    page = (tmp_path / "report.html").read_text("utf-8")
    links = Links()
    links.feed(page)
    assert [each for each in links.found if not each.startswith("#")] == []
    assert not links.tags & {"script", "img", "link", "iframe", "object"}
    assert "url(http" not in page
    assert "\u202e" not in page


def test_html_and_markdown_tell_the_same(tmp_path):
    write_report(tmp_path, A)
    text = (tmp_path / "report.md").read_text("utf-8")
    page = re.sub(r"<[^>]+>", " ", (tmp_path / "report.html").read_text("utf-8"))
    overall = next(line for line in text.splitlines() if line.startswith("| overall"))
    cells = [cell.strip() for cell in overall.split("|")[1:-1]]
    assert cells[:2] == ["overall", "10"]
    assert cells[2].startswith("40.0 [")
    assert cells[3].startswith("50.0 [")
    assert cells[4].startswith("60.0 [")
    for told in (
        *cells,
        "38.1",
        "gpt-4o 12345678",
        "beta: 2.0",
        "0123456789ab",
        "no score: no JSON",
    ):
        assert told in page, told
        assert told in text, told
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(row.replace("\\|", "").count("|") >= 3 for row in rows)
    assert "<img" not in text
    told = re.sub(r"\\.", "", text)
    assert re.findall(r"!?\[[^\]]*\]\((.*?)\)", told) == ["accuracy.svg", "published.svg"]


def test_equal_runs_make_equal_reports(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_report(tmp_path / name, A)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_a_run_that_is_not_whole_says_so_first(tmp_path):
    bare = replace(run_of([1, 1], judge="", stopped="$1.00 of $1.00 are spent"))
    nothing = replace(bare, items=tuple(replace(i, judgement=None) for i in bare.items))
    write_report(tmp_path, nothing)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.index("broken off: $1.00 of $1.00") < page.index("<table")
    assert "Nothing was judged" in page
    assert "Nothing was judged" in (tmp_path / "report.md").read_text("utf-8")
    write_report(tmp_path, replace(A, items=()))
    assert "no interval" in (tmp_path / "report.md").read_text("utf-8")


def test_an_interval_without_width_is_explained(tmp_path):
    write_report(tmp_path, run_of([0] * 6))
    assert "0.0 [0.0, 0.0]" in (tmp_path / "report.md").read_text("utf-8")
    assert "not that others would" in (tmp_path / "report.md").read_text("utf-8")


def test_a_comparison_says_whether_the_difference_is_real(tmp_path):
    found = write_comparison(tmp_path, A, B)
    assert len(found.flips) == 5
    text = (tmp_path / "diff.md").read_text("utf-8")
    assert text.startswith("# B, b, against A, a\n\nNo difference can be told: +20.0 points")
    many = [run_of([score] * 60, name) for name, score in (("a", 0), ("b", 1))]
    write_comparison(tmp_path, *many)
    assert "B is better: +100.0 points" in (tmp_path / "diff.md").read_text("utf-8")
    few = [run_of([score] * 4, name) for name, score in (("a", 0), ("b", 1))]
    write_comparison(tmp_path, *few)
    assert "2 videos say too little" in (tmp_path / "diff.md").read_text("utf-8")
    other = [many[0], run_of([1] * 60, "b", judge="o1 1234")]
    write_comparison(tmp_path, *other)
    assert "B by o1 1234: no fair race" in (tmp_path / "diff.md").read_text("utf-8")


def planned() -> list[Variant]:
    def settings_with(told):
        name, _, value = told.partition("=")
        return load_settings(**{name: value})

    values = {"beta": [0.0, 2.0], "max_steps": [4.0, 8.0, 12.0]}
    return variants(settings_with, load_settings(), values, components=True)


def test_a_sweep_changes_one_thing_at_a_time():
    labels = [variant.label for variant in planned()]
    assert labels == [
        *("default", "beta=0", "max_steps=4", "max_steps=12", "without-hybrid_index"),
        *("without-subject_registry", "without-communication_expert", "without-visual_anchor"),
    ]
    default, *others = planned()
    plain = default.settings.model_dump()
    for variant in others:
        changed = {k for k, v in variant.settings.model_dump().items() if v != plain[k]}
        assert changed == {variant.name}


def test_the_figures_of_a_sweep_have_every_configuration(tmp_path):
    runs = [(variant, B if n % 2 else A) for n, variant in enumerate(planned())]
    table = write_sweep(tmp_path, runs)
    assert [row[0] for row in table.rows] == [variant.label for variant, _ in runs]
    page = (tmp_path / "sweep.html").read_text("utf-8")
    assert page.count("<figure") == 3
    for told in ("lexical weight beta", "most steps T_max", "w/o visual anchor", "with all"):
        assert told in page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_reports_are_read_in_a_browser(browser, tmp_path, width, scheme):
    write_report(tmp_path, A)
    write_comparison(tmp_path, A, B)
    write_sweep(tmp_path, [(variant, A) for variant in planned()])
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    errors = []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: errors.append(request.url) if "report" not in request.url
            and "diff" not in request.url and "sweep" not in request.url else None)  # fmt: skip
    for name in ("report", "diff", "sweep"):
        page.goto(f"file://{tmp_path}/{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.evaluate("window.pwned") is None
        ink = page.evaluate(
            "[...document.querySelectorAll('figure svg text')].map((e) => getComputedStyle(e).fill)"
        )
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground not in ink
        assert name == "diff" or len(ink) > 10
    assert errors == []
    context.close()
