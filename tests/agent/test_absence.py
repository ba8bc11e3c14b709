"""That something is not in an ad is believed after a search, a denial and a look at the frames."""

from __future__ import annotations

import pytest

from admir import ask
from admir.agent.grounding import asked_span
from admir.types import Span
from tests.model_replies import calls, finish
from tests.model_server import play

SEARCH = calls(("clip_search", {"query": "price"}))
DENIAL = "No price is shown."


def absent(answer: str = DENIAL):
    return calls(("finish", {"answer": answer, "evidence_ids": [], "absent": True}))


def word(status: str, **more):
    said = {"claim": 1, "status": status, "reason": "no frame shows one", **more}
    return lambda asked: {"claims": [said], "premise": ""}


@pytest.fixture
def told(grey, server, options):
    def run(*steps, status="verified", **more):
        server.script["controller"] = play(*steps)
        server.script["verify"] = word(status)
        return ask(grey, "What is the price?", **{**options, "cache": False, **more})

    return run


def test_an_absence_that_frames_were_looked_at_for_is_verified(told, server):
    answer = told(SEARCH, absent())
    assert (answer.grounded, answer.basis) == (True, "absence")
    assert answer.claims[0].reason.startswith("looked at 0.0-17.0 s: ")
    assert " frames, 0 lines on screen" in answer.claims[0].reason
    assert "speech" not in answer.claims[0].reason
    check = server.asked("verify")[0]
    assert len(check.images) >= 2, "grids from all over the video"
    assert "says that something is not there" in check.text


def test_frames_come_from_the_range_that_is_asked_about(grey, server, options):
    server.script["controller"] = play(SEARCH, absent())
    server.script["verify"] = word("verified")
    answer = ask(grey, "What is the price between 3 and 5 seconds?", **options)
    assert answer.claims[0].reason.startswith("looked at 2.0-6.0 s: ")


def test_an_absence_without_a_search_is_refused_by_code(told, server):
    answer = told(absent(), max_steps=2)
    assert not answer.grounded
    assert "search or look first" in answer.reason
    assert server.asked("verify") == []


def test_an_absence_that_denies_nothing_is_refused_by_code(told, server):
    answer = told(SEARCH, absent("The ad uses a fear appeal with Ferrari at $999."), max_steps=2)
    assert (answer.grounded, answer.basis) == (False, "none")
    assert server.asked("verify") == []


@pytest.mark.parametrize("status", ["unverified", "contradicted"])
def test_an_absence_that_the_check_does_not_bear_out_is_rejected(told, status):
    answer = told(SEARCH, absent(), status=status, max_steps=2)
    assert (answer.grounded, answer.basis) == (False, "none")


def test_a_rejected_absence_needs_another_look(told, server):
    answer = told(SEARCH, absent(), absent(), status="unverified", max_steps=3)
    assert len(server.asked("verify")) == 1
    assert "search or look first" in answer.steps[2].verdict.reason


def test_offline_an_absence_is_inferred_at_most(demo, memories):
    known = ask(demo, "What phone number is shown?", memories=memories)
    assert (known.basis, known.grounded) == ("absence", False)
    assert known.claims[0].status == "inferred"
    unknown = ask(demo, "What does the dog do?", memories=memories)
    assert (unknown.basis, unknown.grounded) == ("none", False)
    assert len(unknown.steps) < 8, "what cannot be found is not looked for again and again"


def test_a_finish_is_not_counted_as_a_search(told, server):
    answer = told(finish("A wall.", "e9"), absent(), max_steps=2)
    assert not answer.grounded
    assert server.asked("verify") == []


@pytest.mark.parametrize(
    "question",
    [
        "In the last 5 seconds, is a price shown?",
        "In the first 10 seconds, is a price shown?",
        "Is a price seen after 10 s?",
        "Does the car go from 0 to 60 in 3 seconds?",
        "Which price stands in the 1950s room?",
    ],
)
def test_other_words_of_time_narrow_nothing(grey, question):
    assert asked_span(question, grey) == grey.video.span


def test_a_named_time_narrows_the_look(grey):
    assert asked_span("What is shown at about 5 s?", grey) == Span(start_s=4.0, end_s=6.0)
    assert asked_span("第5秒有价格吗？", grey) == Span(start_s=4.0, end_s=6.0)


def test_what_an_absent_answer_says_to_be_there_is_checked_like_any_other_claim(told, server):
    both = 'There is no dog. The sign reads "FREE BEER" for $99.'
    answer = told(SEARCH, absent(both), max_steps=2)
    assert not answer.grounded
    assert "cites no evidence" in answer.reason


def test_without_frames_no_absence_is_verified(told):
    answer = told(SEARCH, absent(), visual_anchor=False, max_steps=2)
    assert not answer.grounded
    assert "no frame could be looked at" in answer.reason
