"""Inferences as evidence tells them are read back; times that lines are seen are counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from admir.backends.rules import facts
from admir.backends.rules.arc import clipped
from admir.backends.rules.count_answers import stretches
from admir.backends.rules.evidence_pool import material
from admir.backends.rules.inference_answers import finding_of, reading_drafts, reading_in
from admir.backends.rules.question import understand
from admir.types import Evidence, Inference, Span
from tests.properties import examples

SECOND = Span(start_s=0, end_s=1)
LABELS = st.text("abcdefghij äé紧迫感-", min_size=1, max_size=20)
MARKS = st.text('ab "()[]{}:;,.\n“”紧', max_size=60) | st.text(max_size=90)


def inference(label="urgency", quote="now", rule="a rule", confidence=0.8) -> Inference:
    return Inference(
        kind="device", label=label, span=SECOND, quote=quote, rule=rule, confidence=confidence
    )


@examples(300)
@given(LABELS, MARKS, st.text('ab "():,.\n', min_size=1, max_size=40), st.floats(0, 1))
@example("urgency", 'say "now" (only)', "a rule", 0.5)
@example("urgency", "a\nb", "two\nlines", 0.5)
@example("urgency", 'x"), by the rule: y, confidence 0.5', "z", 0.5)
@example("urgency", "q", "r, confidence 0.10 of it", 1.0)
def test_a_reading_is_read_back_whatever_it_quotes(label, quote, rule, confidence):
    told = reading_in(finding_of(inference(label, quote, rule, confidence)))
    assert told
    assert (told.label, told.quote, told.rule) == (label, clipped(quote), rule)


@pytest.mark.parametrize("text", ["", "urgency", "LIMITED (now), by my rule", "7 shots"])
def test_what_is_no_reading_is_not_read_as_one(text):
    assert reading_in(text) is None


def expert(told: Inference, name: str) -> Evidence:
    return Evidence(video_id="v", kind="expert", span=SECOND, quote=finding_of(told), id=name)


@pytest.mark.parametrize(
    ("question", "answer", "cited"),
    [
        (
            "Which persuasion strategies are used?",
            'By rule: urgency ("now": it hurries); scarcity ("few")',
            ["e1", "e3"],
        ),
        ("Does it use scarcity?", 'By rule: scarcity ("few": it is rare)', ["e3"]),
        (
            "用了什么说服策略？",
            "按规则判断：紧迫感（“now”，规则：it hurries）；稀缺（“few”）",
            ["e1", "e3"],
        ),
    ],
)
def test_readings_are_told_each_label_once_the_first_with_its_rule(question, answer, cited):
    told = [
        expert(inference("urgency", "now", "it hurries"), "e1"),
        expert(inference("urgency", "hurry", "it hurries"), "e2"),
        expert(inference("scarcity", "few", "it is rare"), "e3"),
    ]
    (draft,) = reading_drafts(material(understand(question), told, 30.0))
    assert draft.text == answer
    assert [e.id for e in draft.evidence] == cited


@examples(150)
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)), max_size=12))
def test_stretches_cover_all_their_lines_and_stay_apart(spans):
    lines = [
        Evidence(
            video_id="v",
            kind="screen_text",
            span=Span(start_s=start / 10, end_s=(start + length) / 10),
            quote="x",
        )
        for start, length in spans
    ]
    found = stretches(lines)
    for line in lines:
        assert any(s.start_s <= line.span.start_s and line.span.end_s <= s.end_s for s in found)
    assert all(b.start_s - a.end_s >= 0.5 for a, b in pairwise(found))
    edges = {line.span.start_s for line in lines}, {line.span.end_s for line in lines}
    assert all(s.start_s in edges[0] and s.end_s in edges[1] for s in found)


def test_stretches_do_not_depend_on_the_order_of_the_lines():
    line = Evidence(video_id="v", kind="screen_text", span=Span(start_s=1, end_s=2), quote="x")
    later = replace(line, span=Span(start_s=2.4, end_s=3))
    apart = replace(line, span=Span(start_s=3.5, end_s=4))
    assert stretches([apart, later, line]) == [
        Span(start_s=1, end_s=3),
        Span(start_s=3.5, end_s=4),
    ]


@given(st.text(max_size=60), st.sampled_from(["red", "dark blue"]), st.sampled_from(["white"]))
def test_measured_facts_are_read_back(text, ink, ground):
    told = facts.ink_in(facts.ink_fact(text, ink, ground))
    if "\n" not in text:
        assert told == facts.Ink(text=text, ink=ink, ground=ground)
    assert facts.colours_in(facts.colours_fact((ink, ground), "dark")) == (ink, ground)


@pytest.mark.parametrize("count", [1, 2, 17])
def test_a_count_of_faces_is_read_back(count):
    assert facts.faces_in(facts.faces_fact(count)) == count


@pytest.mark.parametrize(
    "quote", ["", "7 cuts", "shots: 7", "seven shots", "7 shots in the dark", "1 shot, 3 cuts"]
)
def test_other_texts_tell_no_number_of_shots(quote):
    assert facts.shots_in(quote) is None
