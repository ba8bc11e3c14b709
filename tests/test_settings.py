"""Settings: from the environment and from arguments, refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from admir.errors import OptionError
from admir.settings import Settings, load_settings
from admir.types import CLIP_S

PAPER = {
    "clip_s": 5.0,
    "frame_fps": 1.0,
    "search_top_k": 8,
    "browse_top_k": 40,
    "max_steps": 8,
    "answer_words": 29,
}


def test_the_defaults_are_those_of_the_paper():
    settings = load_settings()
    assert {name: getattr(settings, name) for name in PAPER} == PAPER
    assert (settings.preset, settings.memories) == ("offline", Path("memories"))
    assert settings.clip_s == CLIP_S


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("memories", "/tmp/m", Path("/tmp/m")),
        ("preset", "paper", "paper"),
        ("beta", "2.5", 2.5),
        ("search_top_k", "3", 3),
        ("workers", "64", 64),
    ],
)
def test_each_setting_can_come_from_the_environment(monkeypatch, name, text, value):
    monkeypatch.setenv(f"ADMIR_{name.upper()}", text)
    assert getattr(load_settings(), name) == value


def test_an_argument_wins_over_the_environment_and_none_does_not(monkeypatch):
    monkeypatch.setenv("ADMIR_BETA", "2.5")
    assert load_settings(beta=0.5).beta == 0.5
    assert load_settings(beta=None).beta == 2.5
    assert load_settings(beta=0).beta == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("clip_s", 0.5),
        ("clip_s", 61),
        ("clip_s", float("nan")),
        ("frame_fps", 0),
        ("beta", -0.1),
        ("beta", float("inf")),
        ("search_top_k", 0),
        ("search_top_k", 2.5),
        ("max_steps", "many"),
        ("answer_words", 4),
        ("workers", 0),
        ("preset", "dream"),
        ("colour", "blue"),
        ("memories", 5),
        ("preset", "two\nlines"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line_that_names_it(name, value):
    with pytest.raises(OptionError, match=f"setting `{name}`: ") as caught:
        load_settings(**{name: value})
    assert "\n" not in str(caught.value)
    assert repr(value)[:20] in str(caught.value)


def test_a_wrong_environment_is_refused_in_one_line_that_names_it(monkeypatch):
    monkeypatch.setenv("ADMIR_CLIP_S", "soon")
    with pytest.raises(OptionError, match=r"setting `clip_s`: .*'soon'"):
        load_settings()


def test_the_edges_of_the_ranges_are_allowed():
    settings = load_settings(clip_s=60, frame_fps=10, beta=100, search_top_k=50, workers=1)
    assert (settings.clip_s, settings.frame_fps, settings.workers) == (60, 10, 1)


def test_settings_cannot_be_changed_once_made():
    with pytest.raises(ValidationError, match="frozen"):
        load_settings().beta = 2.0


def test_every_setting_says_what_it_is():
    assert all(field.description for field in Settings.model_fields.values())
