"""The bar of a table of questions: how many of how many, on a terminal alone."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from admir.trace import STAGES, BuildProgress
from admir.views.progress import RowsBar, share_done


def test_the_share_of_a_build_grows_from_stage_to_stage() -> None:
    shares = [
        share_done(BuildProgress(stage=stage, done=done, total=4))
        for stage in STAGES
        for done in (0, 2, 4, 9)
    ]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert share_done(BuildProgress(stage="decode", done=0, total=0)) < 0.1


@pytest.mark.parametrize("terminal", [True, False])
def test_it_counts_rows_on_a_terminal(terminal: bool) -> None:
    out = StringIO()
    screen = Console(file=out, force_terminal=terminal, width=120, color_system=None)
    with RowsBar(screen, "q\x1b[31m.csv") as bar:
        bar.start(12)
        bar.building(BuildProgress(stage="read text", done=3, total=9))
        bar._bar.refresh()
        bar.step()
        bar._bar.refresh()
    told = out.getvalue()
    assert ("0/12  building: read text 3/9" in told) == terminal
    assert ("1/12" in told) == terminal
    assert "\x1b[31m.csv" not in told
    assert bool(told) == terminal
