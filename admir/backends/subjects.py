"""The subject registry: two sights of one subject united, and the whole numbered (2.2.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from admir.perception.people import merge_spans
from admir.text import normalize, words
from admir.types import Subject


def merge_subjects(a: Subject, b: Subject) -> Subject:
    """One subject of two: `a` keeps its name, the fields are united, the earliest sight stays."""
    return replace(
        a,
        appearance=unite_texts(a.appearance, b.appearance),
        identity=unite_texts(a.identity, b.identity),
        first_seen_s=min(a.first_seen_s, b.first_seen_s),
        seen=merge_spans((*a.seen, *b.seen)),
    )


def unite_texts(a: Iterable[str], b: Iterable[str]) -> tuple[str, ...]:
    """Both lists in one, without what another item says as well: "coat" beside "red coat"."""
    items = {normalize(text): text for text in (*a, *b)}
    return tuple(
        text
        for text in items.values()
        if words(text) and not any(_says(other, text) for other in items.values())
    )


def _says(text: str, other: str) -> bool:
    """Whether all words of `other` stand in `text`, and more."""
    return set(words(other)) < set(words(text))


def assign_ids(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """The subjects with ids `s1`, `s2` ... in their order."""
    return tuple(replace(s, id=f"s{number}") for number, s in enumerate(subjects, start=1))
