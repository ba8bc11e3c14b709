"""What a model is asked to check, and what its word does to a draft."""

from __future__ import annotations

import pytest

from admir import ask
from tests.model_replies import calls, evidence_ids, finish
from tests.model_server import play

LOOK = {"question": "q", "start_s": 0, "end_s": 2}
EXPERT = calls(("communication_expert", {"focus": "strategy"}))


def findings(*texts: str):
    found = [{"time_s": 0.2 * n, "text": text} for n, text in enumerate(texts)]
    return lambda asked: {"summary": "It is grey.", "findings": found}


def word(status="verified", reason="so it is", **more):
    return {"claim": 1, "status": status, "reason": reason, **more}


@pytest.fixture
def told(grey, server, options):
    def run(*steps, verify=(), **more):
        server.script["controller"] = play(*steps)
        if verify:
            server.script["verify"] = [{"claims": list(claims)} for claims in verify]
        return ask(grey, "What is seen?", **{**options, "cache": False, **more})

    return run


def cite(answer: str, kind: str = "frame", most: int = 9):
    return lambda asked: finish(answer, *evidence_ids(asked, kind)[:most])


def test_question_answer_and_all_cited_evidence_are_checked_as_one(told, server):
    server.script["inspect"] = findings("LUMIVO HALO", "25% OFF")
    told(calls(("frame_inspect", LOOK)), cite("Zorba Cola, half price"), max_steps=2)
    text = server.asked("verify")[0].text
    assert "Question: What is seen?" in text
    assert "LUMIVO HALO" in text
    assert "25% OFF" in text
    assert 'kind="in no line: the frames show it, or nothing does">\nCola' in text


def test_each_of_six_cited_frames_is_shown(told, server):
    server.script["inspect"] = findings(*(f"person {name}" for name in "abcdef"))
    told(calls(("frame_inspect", LOOK)), cite("It shows 6 people."))
    check = server.asked("verify")[0]
    assert len(check.images) == 2, "two grids of four cells"
    assert all(f"e{n}" in check.text for n in range(1, 7))


def test_frames_around_a_stated_time_are_shown(told, server):
    told(calls(("frame_inspect", LOOK)), cite("It begins at 0.3 s."))
    shown = [part for part in server.asked("verify")[0].sequence if isinstance(part, str)]
    assert any("at 0.300 s" in part for part in shown)


def test_a_word_that_fails_is_named_and_the_good_evidence_stays(told, server):
    server.script["inspect"] = findings("a pagoda")
    answer = told(
        calls(("frame_inspect", LOOK)),
        cite("It shows a Chinese pagoda."),
        cite("It shows a pagoda."),
        verify=([word("unverified", "nothing says Chinese", unsupported=["Chinese"])], [word()]),
    )
    assert (answer.answer, answer.grounded) == ("It shows a pagoda.", True)
    third = server.asked("controller")[2]
    assert "[e1]" in third.text, "the evidence is not taken away"
    assert "support by new evidence: 'Chinese'" in third.text


def test_what_stood_is_told_to_the_controller(told, server):
    told(
        calls(("frame_inspect", LOOK)),
        cite("A wall is seen. It is red."),
        verify=([word(), {"claim": 2, "status": "unverified", "reason": "it is grey"}],),
        max_steps=3,
    )
    assert "may be said again: A wall is seen." in server.asked("controller")[2].text


@pytest.mark.parametrize("again", ["A wall of gold.", "It is a golden wall, a wall of gold."])
def test_the_same_claim_on_the_same_evidence_is_refused_without_a_call(told, server, again):
    answer = told(
        calls(("frame_inspect", LOOK)),
        cite("A wall of gold."),
        cite(again),
        verify=([word("unverified", "it is grey")], [word()]),
        max_steps=3,
    )
    assert not answer.grounded
    assert len(server.asked("verify")) == 1
    assert "rejected on this evidence" in answer.steps[2].verdict.reason


def test_a_draft_that_nobody_could_check_may_come_again(told, server):
    server.script["controller"] = None
    server.script["verify"] = lambda asked: "no JSON"
    answer = told(calls(("frame_inspect", LOOK)), cite("A wall."), max_steps=2)
    assert not answer.steps[-1].verdict.checked


def test_what_the_question_supposes_in_vain_is_told_to_the_controller(grey, server, options):
    server.script["controller"] = play(calls(("frame_inspect", LOOK)), cite("It is grey."))
    claims = [word("unverified", "no car is seen")]
    server.script["verify"] = lambda asked: {"claims": claims, "premise": "a car"}
    answer = ask(grey, "What colour is the car?", **options, max_steps=3)
    assert not answer.grounded
    assert "supposes, and nothing bears out: a car" in server.asked("controller")[2].text


def test_a_claim_that_the_check_left_out_may_come_again(told, server):
    answer = told(
        calls(("frame_inspect", LOOK)),
        cite("A wall is seen."),
        cite("A wall is seen."),
        verify=([{"claim": 7, "status": "verified", "reason": "so"}], [word()]),
    )
    assert answer.grounded
    assert len(server.asked("verify")) == 2
    assert "[e1]" in server.asked("controller")[2].text, "its evidence stays"


def expert(kind: str, text: str, tied_to: str = ""):
    finding = {"kind": kind, "text": text, "start_s": 0, "end_s": 5, "tied_to": tied_to}
    return lambda asked: {"reading": "It grows bright.", "findings": [finding]}


def test_the_reading_of_the_expert_can_be_cited(told):
    answer = told(EXPERT, cite("It grows bright.", "expert", 1))
    assert answer.evidence[0].quote == "It grows bright."
    assert answer.basis == "expert"


def test_written_words_that_only_the_expert_reads_prove_nothing(told, server):
    server.script["expert"] = expert("on_screen_text", "BUY ZORBA", "BUY ZORBA")
    answer = told(EXPERT, cite('It reads "BUY ZORBA".', "caption"), max_steps=2)
    assert not answer.grounded
    assert server.asked("verify") == []


def test_a_price_that_only_the_expert_has_is_refused_by_code(told, server):
    server.script["expert"] = expert("strategy", "It is cheap at $999.")
    answer = told(EXPERT, cite("It costs $999.", "expert"), max_steps=2)
    assert not answer.grounded
    assert "only the communication expert has 999" in answer.reason
    assert server.asked("verify") == []


def test_a_range_behind_the_end_is_an_error_that_says_where_the_end_is(told):
    answer = told(
        calls(("frame_inspect", {**LOOK, "start_s": 20, "end_s": 30})),
        calls(("communication_expert", {"focus": "q", "start_s": 20, "end_s": 30})),
        max_steps=2,
    )
    told_of = [step.observations[0] for step in answer.steps]
    assert all(o.failed and "the video has 17.00 s" in o.text for o in told_of)


def test_a_fourth_reading_of_one_range_is_moved(told):
    steps = [
        calls(("communication_expert", {"focus": f"q{n}", "start_s": 1, "end_s": 5}))
        for n in range(4)
    ]
    answer = told(*steps, max_steps=4)
    assert "Redirected" not in answer.steps[2].observations[0].text
    assert "Redirected" in answer.steps[3].observations[0].text


def test_a_repeated_search_is_told(told):
    search = calls(("clip_search", {"query": "wall"}))
    answer = told(search, search, max_steps=2)
    assert "Asked before" not in answer.steps[0].observations[0].text
    assert "Asked before, in step 1" in answer.steps[1].observations[0].text
