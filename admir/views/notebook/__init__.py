"""Answers, memories and traces as HTML in a notebook.

The HTML stands alone: styles and frames are inside it, it needs no script and no other host, and
every text of a video, a question or a file is escaped.
"""

from __future__ import annotations

import warnings
from typing import Any

from admir.trace import Backtracked
from admir.trace_reader import Trace
from admir.types import Answer, Evidence, Memory, Step
from admir.views.notebook.answers import (
    answer_html,
    backtracked_html,
    step_html,
    trace_html,
)
from admir.views.notebook.evidence import evidence_html
from admir.views.notebook.memories import memory_html

__all__ = [
    "answer_html",
    "backtracked_html",
    "evidence_html",
    "memory_html",
    "register",
    "step_html",
    "trace_html",
]


def register(ip: Any) -> None:
    """Have an IPython shell show our types as HTML; `text/plain` stays their repr."""
    # A library of the build imports tqdm's bar for notebooks, which warns where ipywidgets are not
    # installed. No such bar is drawn here.
    warnings.filterwarnings("ignore", message="IProgress not found", module=r"tqdm\.auto")
    show = ip.display_formatter.formatters["text/html"]
    show.for_type(Answer, answer_html)
    show.for_type(Memory, memory_html)
    show.for_type(Step, step_html)
    show.for_type(Evidence, evidence_html)
    show.for_type(Backtracked, backtracked_html)
    show.for_type(Trace, trace_html)
