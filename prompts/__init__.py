"""Prompts: one Markdown file each, its variables declared, rendered strictly, hashed.

A file starts with a line `variables: name, other` (or `variables: none`) and an empty line; the
rest is the text, where `{{name}}` stands for a variable.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_HOLE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt file. `sha256` covers the whole file; traces record it."""

    name: str
    variables: frozenset[str]
    text: str
    sha256: str

    def render(self, **values: str) -> str:
        """The text with every variable filled; raises ValueError on one too few or too many."""
        if values.keys() != self.variables:
            missing = sorted(self.variables - values.keys())
            unknown = sorted(values.keys() - self.variables)
            raise ValueError(f"prompt {self.name}: missing {missing}, unknown {unknown}")
        return _HOLE.sub(lambda hole: values[hole.group(1)], self.text)


@cache
def load_prompt(name: str) -> Prompt:
    """A prompt by its file name without `.md`.

    Raises ValueError when its holes are not exactly its declared variables.
    """
    raw = (files("admir.prompts") / f"{name}.md").read_text("utf-8")
    head, _, text = raw.partition("\n\n")
    declared = head.removeprefix("variables:").replace("none", "")
    variables = frozenset(part.strip() for part in declared.split(",") if part.strip())
    if not head.startswith("variables:") or set(_HOLE.findall(text)) != variables:
        raise ValueError(f"prompt {name}: the holes and the declared variables differ")
    digest = hashlib.sha256(raw.encode()).hexdigest()
    return Prompt(name=name, variables=variables, text=text.strip(), sha256=digest)


def prompt_names() -> tuple[str, ...]:
    """Every prompt there is."""
    folder = files("admir.prompts")
    return tuple(
        sorted(p.name.removesuffix(".md") for p in folder.iterdir() if p.name.endswith(".md"))
    )
