"""A question that supposes what the ad does not have gets no value for an answer."""

from __future__ import annotations

import pytest

from admir import Memory, ask
from admir.agent.grounding import verify
from admir.backends.factory import open_backend
from admir.concurrency import run_sync
from admir.settings import load_settings
from admir.tools.finish import Finish
from admir.types import Evidence, Span

FALSE = [
    ("What is the price of the shoes?", "shoes"),
    ("Which car brand is shown?", "car"),
    ("What is the slogan of the airline?", "airline"),
    ("What does the floor lamp cost?", "floor lamp"),
    ("How much is the pizza?", "pizza"),
    ("What discount does the hotel offer?", "hotel"),
    ("Which website sells the sneakers?", "sneakers"),
    ("When does the airline's offer end?", "airline"),
    ("Which shampoo brand is advertised?", "shampoo"),
    ("鞋子多少钱？", "鞋子"),
]


@pytest.mark.parametrize(("question", "missing"), FALSE)
def test_no_value_is_given_for_a_thing_that_nothing_speaks_of(demo, memories, question, missing):
    answer = ask(demo, question, memories=memories)
    assert (answer.basis, answer.grounded) == ("premise", False)
    assert missing in answer.answer
    assert answer.reason == f"of {missing} nothing is read or heard"
    assert {claim.status for claim in answer.claims} == {"unverified"}


@pytest.mark.parametrize(
    "question",
    [
        "What does the desk lamp cost?",
        "What does the lamp cost?",
        "What is the price of the product?",
        "Which brand is advertised?",
        "What does the bulb note say?",
        "What phone number is shown?",
        "What is the price on the table?",
        "What website is shown on the laptop?",
    ],
)
def test_a_true_question_is_not_taken_for_a_false_premise(demo, memories, question):
    assert ask(demo, question, memories=memories).basis != "premise"


def test_an_ad_that_names_no_kind_of_thing_denies_none():
    rows = [{"t": 0, "ocr": ["Iconic in every era", "#CokePartner"], "asr": ""}]
    answer = ask(Memory.from_timeline("v", rows), "Which drink brand is this ad promoting?")
    assert answer.basis != "premise"


def test_a_value_handed_in_for_another_thing_is_refused(demo):
    lamp = Evidence(
        video_id=demo.video.id,
        kind="screen_text",
        span=Span(start_s=16.3, end_s=19.6),
        quote="NOW $48",
        id="e1",
    )
    draft = Finish(answer="$48", evidence_ids=("e1",))
    reasoner = open_backend(load_settings()).reasoner
    found, _ = run_sync(verify(draft, "What is the price of the shoes?", [lamp], demo, reasoner))
    assert (found.accepted, found.premise) == (False, "shoes")


@pytest.mark.parametrize(
    ("question", "kind"),
    [("Why does it say tired eyes?", "none"), ("Who is it for?", "none")],
)
def test_an_answer_is_of_the_kind_that_was_asked_for(demo, memories, question, kind):
    answer = ask(demo, question, memories=memories)
    assert (answer.basis, answer.grounded) == (kind, False)
    assert "LUMIVO" not in answer.answer
    assert "By rule" not in answer.answer


def test_several_candidates_without_a_winner_are_unverified():
    rows = [
        {"t": 0, "ocr": ["TALVIK"], "asr": ""},
        {"t": 1, "ocr": [], "asr": ""},
        {"t": 2, "ocr": ["ORMENT"], "asr": ""},
    ]
    answer = ask(Memory.from_timeline("v", rows), "Which brand is advertised?")
    assert not answer.grounded
    assert answer.basis in ("none", "inference")
