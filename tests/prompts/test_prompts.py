"""Prompts are rendered strictly, and every one of them loads."""

from __future__ import annotations

import pytest

from admir.prompts import load_prompt, prompt_names
from admir.tools.registry import TOOLS


@pytest.mark.parametrize("name", prompt_names())
def test_every_prompt_loads_and_renders_with_its_declared_variables(name):
    prompt = load_prompt(name)
    text = prompt.render(**{variable: f"<{variable}>" for variable in prompt.variables})
    assert text
    assert "{{" not in text
    for variable in prompt.variables:
        assert f"<{variable}>" in text
    assert len(prompt.sha256) == 64


def test_a_missing_or_unknown_variable_is_an_error():
    with pytest.raises(ValueError, match="missing \\['most_words'\\]"):
        load_prompt("refine").render(words="25")
    with pytest.raises(ValueError, match="unknown \\['extra'\\]"):
        load_prompt("tool_finish").render(extra="x")


def test_a_value_is_never_read_as_a_hole():
    text = load_prompt("refine").render(words="{{most_words}}", most_words="29")
    assert "Aim at {{most_words}} words" in text


def test_every_tool_has_its_description():
    assert {f"tool_{name}" for name in TOOLS} <= set(prompt_names())
