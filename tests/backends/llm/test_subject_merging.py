"""Who is who: whatever a model says, nobody is lost and nobody appears later than seen."""

from __future__ import annotations

import asyncio
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.backends.llm import llm_backend
from admir.backends.llm.schemas import Group
from admir.backends.llm.subject_merging import MOST_AT_ONCE, joined, merge_registries
from admir.concurrency import run_sync
from admir.errors import EndpointError, ModelError
from admir.types import Subject
from tests.model_server import Http
from tests.properties import examples

WORDS = st.sampled_from(["red coat", "tall", "a dog", "chef", ""])
SUBJECTS = st.lists(
    st.builds(
        Subject,
        id=st.just(""),
        name=st.sampled_from(["Anna", "woman in red", "bottle", "Bo", "car"]),
        kind=st.sampled_from(["person", "object"]),
        appearance=st.lists(WORDS, max_size=2).map(tuple),
        identity=st.lists(WORDS, max_size=2).map(tuple),
        first_seen_s=st.floats(0, 60).map(lambda s: round(s, 3)),
    ),
    max_size=14,
)
IDS = st.one_of(
    st.integers(-1, 20).map(lambda n: f"p{n}"), st.sampled_from(["", "P1", "p01", "s1", "e1"])
)
GROUPS = st.lists(
    st.builds(
        Group,
        name=st.sampled_from(["Anna", "Bo", "somebody", ""]),
        ids=st.lists(IDS, max_size=6),
    ),
    max_size=6,
)


def names_of(subject: Subject) -> set[str]:
    also = {i.removeprefix("also called ") for i in subject.identity if i.startswith("also ")}
    return {subject.name, *also}


def is_said(text: str, items: tuple[str, ...]) -> bool:
    """Whether an item has all words of a text."""
    return not text or any(set(text.split()) <= set(item.split()) for item in items)


def is_told_by(seen: Subject, whole: Subject) -> bool:
    """Whether nothing of a partial subject is missing in the registry's."""
    return (
        seen.kind == whole.kind
        and seen.name in names_of(whole)
        and all(is_said(text, whole.appearance) for text in seen.appearance)
        and all(is_said(text, whole.identity) for text in seen.identity)
        and whole.first_seen_s <= seen.first_seen_s
    )


def check_nobody_is_lost(before, after):
    for seen in before:
        assert any(is_told_by(seen, whole) for whole in after), seen
    for whole in after:
        mine = [seen for seen in before if is_told_by(seen, whole)]
        assert mine, f"{whole} was never seen"
        assert whole.first_seen_s in {seen.first_seen_s for seen in mine}, "the earliest sight"
        told = {*whole.appearance, *whole.identity} - {f"also called {n}" for n in names_of(whole)}
        assert told <= {word for seen in mine for word in (*seen.appearance, *seen.identity)}
    assert [s.first_seen_s for s in after] == sorted(s.first_seen_s for s in after)


@given(SUBJECTS, GROUPS)
@examples(100)
def test_joining_loses_and_invents_nobody(subjects, groups):
    after = joined(subjects, groups)
    check_nobody_is_lost(subjects, after)
    used, gone = set(), 0
    for group in groups:
        ids = [i for i in dict.fromkeys(group.ids) if i[1:].isdigit() and i == f"p{int(i[1:])}"]
        ids = [i for i in ids if 0 < int(i[1:]) <= len(subjects) and i not in used]
        ids = [
            i for i in ids if subjects[int(i[1:]) - 1].kind == subjects[int(ids[0][1:]) - 1].kind
        ]
        if len(ids) > 1:
            used.update(ids)
            gone += len(ids) - 1
    assert len(after) == len(subjects) - gone, "each valid group became one subject"


@given(st.lists(SUBJECTS, max_size=4), st.lists(st.one_of(GROUPS, st.none()), max_size=5))
@examples(60)
def test_a_registry_has_everybody_once(partial, replies):
    left = list(replies)

    async def ask(lines):
        reply = left.pop(0) if left else []
        if reply is None:
            raise ModelError("the model is tired")
        return reply

    merged = asyncio.run(merge_registries(partial, ask))
    everybody = [subject for group in partial for subject in group]
    check_nobody_is_lost(everybody, merged.subjects)
    assert [s.id for s in merged.subjects] == [f"s{n + 1}" for n in range(len(merged.subjects))]
    told = [(s.kind, s.name, s.appearance, s.identity) for s in merged.subjects]
    assert merged.failed in ("", "the model is tired")
    if not replies:
        assert max(Counter(told).values(), default=1) == 1, "the very same words are one subject"


def crowd(count):
    return [
        Subject(id="", name=f"person {n}", kind="person", appearance=(f"hat {n % 40}",))
        for n in range(count)
    ]


def by_hats(lines):
    """A model that unites those with one hat."""
    found = re.findall(r"^(p\d+) .*?: (hat \d+)", lines, re.MULTILINE)
    hats = {}
    for id_, hat in found:
        hats.setdefault(hat, []).append(id_)
    return [Group(name="", ids=ids) for ids in hats.values() if len(ids) > 1]


@pytest.mark.parametrize("count", [MOST_AT_ONCE, MOST_AT_ONCE + 1, 130])
def test_a_crowd_is_merged_in_batches(count):
    sizes = []

    async def ask(lines):
        sizes.append(len(re.findall(r"^p\d+ ", lines, re.MULTILINE)))
        return by_hats(lines)

    merged = asyncio.run(merge_registries([crowd(count)], ask))
    check_nobody_is_lost(crowd(count), merged.subjects)
    assert max(sizes) <= MOST_AT_ONCE
    assert len(merged.subjects) == 40, "also those of two batches are compared"


def test_a_crowd_of_strangers_ends_soon():
    asked = []

    async def ask(lines):
        asked.append(lines)
        return []

    merged = asyncio.run(merge_registries([crowd(400)], ask))
    assert len(merged.subjects) == 400
    assert len(asked) == 14, "once by time and once by name, so that all batches meet"


def test_a_model_that_unites_a_pair_at_a_time_is_not_asked_without_end():
    asked = []

    async def ask(lines):
        asked.append(lines)
        return [Group(name="", ids=["p1", "p2"])]

    merged = asyncio.run(merge_registries([crowd(200)], ask))
    check_nobody_is_lost(crowd(200), merged.subjects)
    assert len(asked) <= 30


def test_what_fails_leaves_its_batch_apart():
    async def ask(lines):
        if "person 0:" in lines:
            raise ModelError("tired")
        return by_hats(lines)

    merged = asyncio.run(merge_registries([crowd(120)], ask))
    check_nobody_is_lost(crowd(120), merged.subjects)
    assert merged.failed == "tired"
    assert len(merged.subjects) < 120


def test_one_subject_and_none_need_no_model():
    async def ask(lines):
        raise AssertionError(lines)

    assert asyncio.run(merge_registries([], ask)).subjects == ()
    assert len(asyncio.run(merge_registries([crowd(1), crowd(1)], ask)).subjects) == 1


def test_the_model_is_asked_over_the_wire(server, settings):
    server.script["merge"] = [{"groups": [{"name": "person 1", "ids": ["p2", "p1", "p99"]}]}]
    merged = run_sync(llm_backend(settings()).perceiver.merge_subjects([crowd(2)]))
    assert [(s.name, s.identity) for s in merged.subjects] == [
        ("person 1", ("also called person 0",))
    ]
    server.script["merge"] = lambda asked: Http(400, "too many people")
    failed = run_sync(llm_backend(settings()).perceiver.merge_subjects([crowd(3)]))
    assert len(failed.subjects) == 3
    assert "too many people" in failed.failed
    server.script["merge"] = lambda asked: Http(401, "no key")
    with pytest.raises(EndpointError):
        run_sync(llm_backend(settings()).perceiver.merge_subjects([crowd(4)]))


def test_one_subject_in_two_batches_is_found_by_its_name():
    """The first and the last of a crowd are the same man; nothing else is one."""
    crowd_of = [
        Subject(id="", name=f"person {n:03}", kind="person", first_seen_s=float(n))
        for n in range(2, 100)
    ]
    ann = [
        Subject(id="", name="Ann", kind="person", appearance=(look,), first_seen_s=at_s)
        for look, at_s in (("red coat", 1.0), ("blue coat", 100.0))
    ]

    async def ask(lines):
        ids = re.findall(r"(p\d+) \(person, first seen at [\d.]+ s\) Ann:", lines)
        return [Group(name="Ann", ids=ids)] if len(ids) > 1 else []

    merged = asyncio.run(merge_registries([[ann[0]], crowd_of, [ann[1]]], ask))
    (one,) = [s for s in merged.subjects if s.name == "Ann"]
    assert (one.first_seen_s, one.appearance) == (1.0, ("red coat", "blue coat"))
    assert len(merged.subjects) == 99
