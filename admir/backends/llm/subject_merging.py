"""Partial registries into one (paper 2.2.2): models say who is who, arithmetic loses nobody."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import count

from admir.backends.base import MergedSubjects
from admir.backends.llm.content import data_block
from admir.backends.llm.schemas import Group
from admir.backends.subjects import assign_ids, merge_subjects
from admir.concurrency import gather_all
from admir.errors import ModelError
from admir.types import Subject

MOST_AT_ONCE = 60
"""Subjects in one request; more are merged in batches, then the batches together."""

_WORTH_ANOTHER_ROUND = 0.9
"""Several batches are merged again while at least a tenth was united: rounds must end."""

AskGroups = Callable[[str], Awaitable[Sequence[Group]]]


async def merge_registries(partial: Sequence[Sequence[Subject]], ask: AskGroups) -> MergedSubjects:
    """One registry: earliest sight kept, fields united, everybody in it once.

    `ask` gets the subjects as lines with ids and says which are one. Where it fails, the subjects
    of its batch stay apart; `MergedSubjects.failed` says why. Of several batches those of the first
    round are near in time; in the second, which brings the batches together, near in name.
    """
    subjects = _without_repeats([s for group in partial for s in group])
    failed = ""
    for turn in count():
        if len(subjects) < 2:
            break
        ordered = sorted(subjects, key=lambda s: (s.kind, s.name)) if turn % 2 else subjects
        batches = [ordered[n : n + MOST_AT_ONCE] for n in range(0, len(ordered), MOST_AT_ONCE)]
        results = await gather_all([_merge_batch(batch, ask) for batch in batches])
        merged = _by_first_sight([s for batch, _ in results for s in batch])
        failed = failed or next((why for _, why in results if why), "")
        worth = len(merged) <= _WORTH_ANOTHER_ROUND * len(subjects)
        subjects = merged
        if len(batches) == 1 or (turn and not worth):
            break
    return MergedSubjects(subjects=assign_ids(subjects), failed=failed)


async def _merge_batch(batch: list[Subject], ask: AskGroups) -> tuple[list[Subject], str]:
    lines = [_line(f"p{n}", subject) for n, subject in enumerate(batch, start=1)]
    try:
        groups = await ask(data_block("subjects", lines))
    except ModelError as error:
        return batch, str(error)
    return joined(batch, groups), ""


def _line(id_: str, subject: Subject) -> str:
    looks = "; ".join((*subject.appearance, *subject.identity))
    what = f"{id_} ({subject.kind}, first seen at {subject.first_seen_s:.1f} s)"
    return f"{what} {subject.name}: {looks}"


def joined(subjects: Sequence[Subject], groups: Sequence[Group]) -> list[Subject]:
    """The subjects `p1`, `p2` ... with those of a group united.

    Ids that are unknown or taken by an earlier group are passed over; a group joins one kind.
    """
    left = {f"p{n}": subject for n, subject in enumerate(subjects, start=1)}
    found: list[Subject] = []
    for group in groups:
        ids = [i for i in dict.fromkeys(group.ids) if i in left]
        ids = [i for i in ids if left[i].kind == left[ids[0]].kind]
        if len(ids) < 2:
            continue
        found.append(_one([left.pop(i) for i in ids], group.name))
    return _by_first_sight([*found, *left.values()])


def _one(members: list[Subject], name: str) -> Subject:
    """The members united, under the chosen name where one of them has it."""
    first, *others = _by_first_sight(members)
    whole = first
    for other in others:
        whole = merge_subjects(whole, other)
    names = dict.fromkeys(member.name for member in (first, *others))
    chosen = name if name in names else first.name
    aliases = (f"also called {each}" for each in names if each != chosen)
    return replace(whole, name=chosen, identity=tuple(dict.fromkeys((*whole.identity, *aliases))))


def _by_first_sight(subjects: Sequence[Subject]) -> list[Subject]:
    return sorted(subjects, key=lambda s: s.first_seen_s)


def _without_repeats(subjects: Sequence[Subject]) -> list[Subject]:
    """Subjects that are told in the very same words are one."""
    kept: dict[tuple[object, ...], Subject] = {}
    for subject in _by_first_sight(subjects):
        key = (subject.kind, subject.name, subject.appearance, subject.identity)
        kept[key] = merge_subjects(kept[key], subject) if key in kept else subject
    return list(kept.values())
