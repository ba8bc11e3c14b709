"""Benchmarks of answers: cases, systems, a runner, a judge, statistics, reports.

`admir eval` is the way in; `read_adsqa`, `Runner` and `scores_of` are the same from Python.
"""

from admir.evaluation.adsqa import read_adsqa
from admir.evaluation.runner import Runner
from admir.evaluation.scores import scores_of

__all__ = ["Runner", "read_adsqa", "scores_of"]
