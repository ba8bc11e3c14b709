"""The offline backend's own words, in the language of the question (`words/phrases.toml`)."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from admir.text import words

Language = Literal["en", "zh"]

_HAN = re.compile(r"[\u3400-\u9fff]")
_IN_QUOTES = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』")
_FIELD = re.compile(r"\{\w+\}")


def language_of(question: str) -> Language:
    """Chinese where the question has Chinese characters outside of what it quotes."""
    return "zh" if _HAN.search(_IN_QUOTES.sub(" ", question)) else "en"


def say(language: Language, phrase: str, **values: object) -> str:
    """The phrase with its fields filled in. Raises KeyError for one that is not there."""
    return str(_phrases()[language][phrase]).format(**values)


def colour_name(language: Language, colour: str) -> str:
    """A colour's name, which the senses give in English."""
    return str(_phrases()["colours"][colour]) if language == "zh" else colour


def colours() -> tuple[str, ...]:
    """The English names of all colours."""
    return tuple(_phrases()["colours"])


def count_word(language: Language, count: int) -> str:
    """A small count in words, as in "two times"; in digits beyond twelve."""
    spelt = str(_phrases()["counts"][language]).split()
    return spelt[count] if 1 < count < len(spelt) else str(count)


@cache
def own_words() -> frozenset[str]:
    """Every word of the phrases: they frame what is claimed, they do not assert."""
    texts = [text for language in ("en", "zh") for text in _phrases()[language].values()]
    return frozenset(word for text in texts for word in words(_FIELD.sub(" ", text)))


@cache
def _phrases() -> dict[str, dict[str, Any]]:
    path = files("admir.backends.rules.words") / "phrases.toml"
    return tomllib.loads(path.read_text("utf-8"))
