"""The registry of subjects: merged from the clips, and chosen for a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.backends.rules.brand_names import same_name
from admir.backends.rules.perceiver import OfflinePerceiver
from admir.backends.subjects import unite_texts
from admir.concurrency import run_sync
from admir.memory.subjects import SubjectIndex
from admir.perception.embed import HashingEmbedder
from admir.perception.ocr import RapidOcrReader
from admir.types import Narrative, Subject
from tests.properties import examples

EMBEDDER = HashingEmbedder()
NOTHING = Narrative(summary="")
CAST = (
    Subject(id="s1", name="Mia", appearance=("brown bob, red dress",)),
    Subject(id="s2", name="Tom", appearance=("ginger hair, glasses",)),
    Subject(id="s3", name="Lumivo Halo", identity=("a desk lamp",)),
)


def chosen(question, top_k=3, narrative=NOTHING):
    found = SubjectIndex(CAST, EMBEDDER).active(question, narrative, top_k)
    return [subject.name for subject, _ in found]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What does Mia say?", "Mia"),
        ("Who has ginger hair?", "Tom"),
        ("What is the Halo?", "Lumivo Halo"),
    ],
)
def test_the_subject_that_a_question_is_about_comes_first(question, name):
    assert chosen(question)[0] == name


def test_the_narrative_weighs_in_where_the_question_says_nothing():
    assert chosen("?", 1, Narrative(summary="Tom with glasses")) == ["Tom"]


def test_no_more_subjects_than_asked_and_none_of_none():
    assert len(chosen("Mia", 2)) == 2
    assert len(chosen("Mia", 99)) == 3
    assert SubjectIndex((), EMBEDDER).active("Mia", NOTHING, 5) == ()


def test_profiles_are_embedded_once_however_many_questions_come():
    class Counting(HashingEmbedder):
        texts = 0

        def encode(self, texts):
            self.texts += len(texts)
            return super().encode(texts)

    embedder = Counting()
    index = SubjectIndex(CAST, embedder)
    for question in ("Mia", "Tom", "Halo"):
        index.active(question, NOTHING, 1)
    assert embedder.texts == len(CAST) + 3


def test_subjects_that_fit_equally_keep_their_order():
    assert chosen("?") == ["Mia", "Tom", "Lumivo Halo"]


# The merge of the offline backend


def merged(groups):
    return run_sync(OfflinePerceiver(RapidOcrReader()).merge_subjects(groups)).subjects


def test_the_characters_and_the_product_of_the_ad_are_in_its_registry(demo, facts):
    names = {subject.name.casefold() for subject in demo.subjects}
    assert {c["name"].casefold() for c in facts["characters"]} | {"lumivo halo"} <= names


def test_one_name_in_two_clips_is_one_subject_seen_first_and_told_by_both():
    late = Subject(id="", name="mia", appearance=("red dress",), first_seen_s=20.0)
    early = Subject(id="", name="Mia", identity=("speaks",), first_seen_s=0.6)
    assert merged([[late], [early]]) == (
        Subject(
            id="s1",
            name="Mia",
            appearance=("red dress",),
            identity=("speaks",),
            first_seen_s=0.6,
        ),
    )


SUBJECTS = st.builds(
    Subject,
    id=st.just(""),
    name=st.sampled_from(["Mia", "MIA", "Tom", "Lumivo", "LUMIVO HALO", "Lumiv0", "Halo", "小明"]),
    appearance=st.lists(st.sampled_from("ABC"), max_size=2, unique=True).map(tuple),
    identity=st.lists(st.sampled_from("XYZ"), max_size=2, unique=True).map(tuple),
    first_seen_s=st.integers(0, 30).map(float),
)


@examples(150)
@given(st.lists(st.lists(SUBJECTS, max_size=4), max_size=4))
def test_merging_loses_nobody_and_keeps_the_earliest_sight(groups):
    found = merged(groups)
    everyone = [subject for group in groups for subject in group]
    assert [subject.id for subject in found] == [f"s{n + 1}" for n in range(len(found))]
    for one in everyone:
        assert any(
            same_name(one.name, known.name)
            and set(one.appearance) <= set(known.appearance)
            and set(one.identity) <= set(known.identity)
            and known.first_seen_s <= one.first_seen_s
            for known in found
        )
    seen = {(subject.name, subject.first_seen_s) for subject in everyone}
    assert all((known.name, known.first_seen_s) in seen for known in found)
    assert min((s.first_seen_s for s in everyone), default=None) == min(
        (s.first_seen_s for s in found), default=None
    )
    assert not any(same_name(a.name, b.name) for i, a in enumerate(found) for b in found[i + 1 :])


def test_an_object_gives_way_to_a_person():
    """Ads have many things in them; who is in it is what a question may go on from."""
    things = [
        Subject(id=f"o{n}", name=f"lamp {n}", kind="object", appearance=("a lamp",))
        for n in range(5)
    ]
    mia = Subject(id="p1", name="Mia", kind="person", appearance=("red dress",))
    found = SubjectIndex([*things, mia], EMBEDDER).active("Which lamp?", NOTHING, 3)
    assert [s.kind for s, _ in found].count("person") == 1
    assert len(found) == 3
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (("red coat",), ("Red coat.",), 1),
        (("coat",), ("red coat",), 1),
        (("red coat", "tall"), ("blue coat",), 3),
        ((), ("tall",), 1),
    ],
)
def test_attributes_are_united_without_repeats(one, other, both):
    assert len(unite_texts(one, other)) == both
