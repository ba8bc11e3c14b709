"""`admir eval` as a person runs it, on the set that ships with the project."""

from __future__ import annotations

import json

import pytest

from admir.demo import AD
from tests.cli.running import admir
from tests.evaluation.making import judged, rows, write_answers, write_files

FILES = ("--questions", AD.parent / "testset_question.json",
         "--groundtruth", AD.parent / "testset_groundtruth.json", "--videos", AD.parent)  # fmt: skip
