"""Concepts: asked for by a name, shown by other words, by inferences or by their place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.memory.concepts import ConceptScorer, concepts_in
from tests.memory.test_lexical import clips_of
from tests.properties import examples


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("Who is the target audience?", 1),
        ("目标受众是谁？", 1),
        ("Which lamp is it?", 0),
        ("", 0),
    ],
)
def test_a_query_names_its_concepts(query, count):
    assert (len(concepts_in(query)) >= count) if count else concepts_in(query) == []


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("Who is the target audience?", 0),
        ("受众", 0),
        ("How does it urge people to buy?", 1),
        ("How much is saved by the discount?", 2),
    ],
)
def test_the_clip_that_shows_a_concept_in_other_words_is_the_best(query, best):
    ad = ("For busy parents and their kids", "Hurry, only today, last chance", "Save 25% now")
    found = list(ConceptScorer(clips_of(*ad)).scores(query))
    assert found[best] == max(found) == pytest.approx(1.0)
    assert sum(score == max(found) for score in found) == 1


@pytest.mark.parametrize(
    ("query", "sign"),
    [
        ("Which endorsement is given?", "4.8 out of 5 stars"),
        ("How does it persuade people to act?", "Only 3 left"),
    ],
)
def test_what_the_story_rules_infer_from_a_clip_finds_it_without_a_cue(query, sign):
    plain, _, other = clips_of("", "", "")
    clips = [replace(plain, screen_text=(t,)) for t in ("A lamp", sign, "A lamp of glass")]
    clips = [replace(clip, index=n) for n, clip in enumerate([*clips, other])]
    scorer = ConceptScorer(clips)
    (concept,) = concepts_in(query)
    assert not scorer._shown(concept).any()
    assert scorer.scores(query).argmax() == 1


def test_a_query_without_a_concept_scores_nothing():
    assert not ConceptScorer(clips_of("For busy parents")).scores("Which lamp?").any()


def test_no_clips_have_no_scores():
    assert ConceptScorer([]).scores("target audience").shape == (0,)


@examples(100)
@given(
    st.lists(st.sampled_from(["busy parents", "hurry", "lamp", "受众 妈妈", ""]), max_size=6),
    st.sampled_from(["target audience", "受众 痛点", "urgency hook", "lamp"])
    | st.text(max_size=30),
)
def test_scores_stay_in_0_to_1(captions, query):
    found = ConceptScorer(clips_of(*captions)).scores(query)
    assert found.shape == (len(captions),)
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("query", ["How many grams are in it?", "里面有多少克？"])
def test_a_question_for_a_quantity_is_about_clips_with_a_number(query):
    ad = ("A soft towel for you", "It weighs 300 grams", "Grams of softness")
    assert ConceptScorer(clips_of(*ad)).scores(query).tolist() == [0.0, 1.0, 0.0]


def test_a_question_about_a_label_is_about_text_that_nobody_says():
    """A line spoken in the next clip is a subtitle; one that stands everywhere is a mark."""
    said = ("soft and warm every night", "made with care", "for your home")
    shown = (("Soft and warm!", "Made with care"), ("Lumen",), ("for your home", "Net 300 ml"))
    clips = [
        replace(clip, speech=speech, screen_text=(*lines, "ShopTV"))
        for clip, speech, lines in zip(clips_of("", "", ""), said, shown, strict=True)
    ]
    found = ConceptScorer(clips).scores("What is printed on the package?")
    assert found[0] < 0.3 < found[1] == pytest.approx(found[2]) == 1.0


def test_a_question_about_a_label_finds_nothing_where_all_is_said():
    clips = [replace(clips_of("")[0], speech="soft and warm", screen_text=("Soft and warm!",))]
    assert not ConceptScorer(clips).scores("What does the label say?").any()
