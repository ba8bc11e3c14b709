"""The subject registry: two sights of one subject united, and the whole numbered (2.2.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from admir.perception.people import merge_spans
from admir.types import Subject


def united(a: Subject, b: Subject) -> Subject:
    """One subject of two: `a` keeps its name, the fields are united, the earliest sight stays."""
    return replace(
        a,
        appearance=tuple(dict.fromkeys((*a.appearance, *b.appearance))),
        identity=tuple(dict.fromkeys((*a.identity, *b.identity))),
        first_seen_s=min(a.first_seen_s, b.first_seen_s),
        seen=merge_spans((*a.seen, *b.seen)),
    )


def numbered(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """The subjects with ids `s1`, `s2` ... in their order."""
    return tuple(replace(s, id=f"s{number}") for number, s in enumerate(subjects, start=1))
