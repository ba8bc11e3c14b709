"""Questions over a server that fails: faults become data, and the answer says what is proven."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pytest

from admir import ask
from admir.errors import EndpointError, ModelError
from admir.text import truncate_words
from tests.model_replies import LONG_DRAFT, Say, calls, evidence_ids, finish, finish_long
from tests.model_server import DROP, Http, Raw, play

LOOK = {"question": "q", "start_s": 0, "end_s": 2}


def results_of(server, turn=1):
    """What the tools said, as the controller was told at a turn."""
    return [m["content"] for m in server.asked("controller")[turn].messages if m["role"] == "tool"]


@pytest.mark.parametrize("preset", ["paper", "local"])
def test_a_question_is_answered_with_proof(grey, server, options, preset):
    answer = ask(grey, "What is seen?", **{**options, "preset": preset})
    assert answer.grounded
    assert answer.answer == "A grey wall."
    assert answer.evidence[0].kind == "frame"
    assert [asked.role for asked in server.requests] == [
        *("controller", "inspect", "controller", "verify")
    ], "what is short enough is not worded anew"
    checked = server.asked("verify")[0]
    assert len(checked.images) == 1, "the cited frame is shown to the check"


ODD_CALLS = {
    "arguments that are no JSON": (("clip_search", "query=wall"), "clip_search: .*Field required"),
    "cut arguments": (("clip_search", '{"query": "wa'), "clip_search: .*Field required"),
    "a list of arguments": (("clip_search", "[1]"), "clip_search: .*Field required"),
    "no arguments": (("clip_search", ""), "clip_search: query: Field required"),
    "an unknown field": (("clip_search", {"query": "a", "depth": 3}), "clip_search: depth: Extra"),
    "a wrong type": (("frame_inspect", {**LOOK, "start_s": "soon"}), "start_s: .*number"),
    "a number that is none": (("frame_inspect", '{"question":"q","start_s":NaN,"end_s":2}'), "."),
    "half a character": (("clip_search", '{"query": "wall \\ud83d"}'), "Moments found"),
    "an unknown tool": (("look_around", {"x": 1}), "there is no tool 'look_around'; there are"),
    "a tool of odd name": (("functions.clip search:1", {}), "there is no tool"),
    "a tool without a name": (("", {}), "there is no tool ''"),
}


@pytest.mark.parametrize("name", ODD_CALLS)
def test_a_call_that_cannot_be_carried_out_is_an_observation(grey, server, options, name):
    call, told = ODD_CALLS[name]
    server.script["controller"] = play(
        calls(call),
        calls(("frame_inspect", LOOK)),
        lambda asked: finish("A grey wall.", *evidence_ids(asked, "frame")[:1]),
    )
    answer = ask(grey, "What is seen?", **options)
    assert answer.grounded
    assert len(answer.steps) == 3
    [result] = results_of(server)
    assert re.search(told, result), result


@pytest.mark.parametrize("reply", [Say(content="I think it is a wall."), Say(content="")])
def test_a_turn_without_a_call_is_told_so(grey, server, options, reply):
    server.script["controller"] = [reply]
    answer = ask(grey, "What is seen?", **options)
    assert "call a tool" in server.asked("controller")[1].text
    assert answer.steps[0].observations[0].failed


def test_a_controller_that_never_calls_ends_without_an_answer(grey, server, options):
    server.script["controller"] = lambda asked: Say(content="It is a wall, believe me.")
    answer = ask(grey, "What is seen?", **options, max_steps=3)
    assert not answer.grounded
    assert len(server.asked("controller")) == 3
    assert "no draft was handed in" in answer.reason


def test_arguments_may_come_as_an_object(grey, server, options):
    """Some servers do not write them as a text."""
    body = Say(calls=(("clip_search", {"query": "wall"}),), finish="tool_calls").body("m")
    body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = {"query": "wall"}
    server.script["controller"] = [Raw(json.dumps(body))]
    ask(grey, "What is seen?", **options)
    assert "Moments found" in results_of(server)[0]


def test_many_calls_at_once_are_cut_to_eight_and_that_is_told(grey, server, options):
    server.script["controller"] = [calls(*[("clip_search", {"query": f"w{n}"}) for n in range(9)])]
    answer = ask(grey, "What is seen?", **options)
    assert len(answer.steps[0].actions) == 8
    assert "of 9 calls the first 8" in answer.steps[0].thought


def use_long_draft(server, role):
    """Have the final wording asked for, where it is what a test is about."""
    if role == "refine":
        server.script["controller"] = play(calls(("frame_inspect", LOOK)), finish_long)


@pytest.mark.parametrize("fault", [Http(429), Http(500), DROP, Raw("{}")])
@pytest.mark.parametrize("role", ["controller", "inspect", "verify", "refine"])
def test_a_fault_that_passes_changes_nothing(grey, server, options, role, fault):
    use_long_draft(server, role)
    server.script[role] = [fault, fault]
    answer = ask(grey, "What is seen?", **options)
    assert answer.grounded
    assert answer.answer == "A grey wall."
    assert answer.usage.retries == 2


def test_a_look_that_fails_is_an_observation(grey, server, options):
    server.script["inspect"] = lambda asked: Http(400, "too many pictures")
    answer = ask(grey, "What is seen?", **options, max_steps=2)
    assert "too many pictures" in results_of(server)[0]
    assert not answer.grounded


def test_a_check_that_fails_proves_nothing(grey, server, options):
    server.script["verify"] = lambda asked: "no JSON"
    answer = ask(grey, "What is seen?", **options, max_steps=2)
    assert not answer.grounded
    assert "it could not be checked" in answer.reason
    assert answer.claims[0].status == "unverified"


CHECKS = {
    "nobody asked for": [{"claim": 7, "status": "verified", "reason": "sure"}],
    "none": [],
    "first word counts": [
        {"claim": 1, "status": "contradicted", "reason": "it is a door"},
        {"claim": 1, "status": "verified", "reason": "sure"},
    ],
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_of_other_claims_proves_nothing(grey, server, options, name):
    server.script["verify"] = lambda asked: {"claims": CHECKS[name]}
    assert not ask(grey, "What is seen?", **options, max_steps=2).grounded


@pytest.mark.parametrize("ids", [["e99"], ["e1", "e99"], ["", "[e1]"], []])
def test_invented_evidence_is_refused_before_any_model_is_asked(grey, server, options, ids):
    server.script["controller"] = play(calls(("frame_inspect", LOOK)), finish("A wall.", *ids))
    answer = ask(grey, "What is seen?", **options, max_steps=3)
    assert not answer.grounded
    assert server.asked("verify") == []


def test_a_caption_alone_proves_nothing(grey, server, options):
    server.script["controller"] = play(
        calls(("clip_search", {"query": "wall"})),
        lambda asked: finish("A wall.", *evidence_ids(asked, "caption")),
    )
    assert not ask(grey, "What is seen?", **options, max_steps=2).grounded
    assert server.asked("verify") == []


def test_an_expert_is_a_golden_source(grey, server, options):
    server.script["controller"] = play(
        calls(("communication_expert", {"focus": "strategy"})),
        lambda asked: finish("It persuades by growing brightness.", *evidence_ids(asked, "expert")),
    )
    answer = ask(grey, "How does it persuade?", **options)
    assert answer.grounded
    assert answer.basis == "expert"


WORDINGS = {
    "fails": Http(400, "no"),
    "empty": {"answer": "  "},
    "invents a number": {"answer": "A grey wall of 7 m."},
    "denies": {"answer": "No grey wall."},
    "no JSON": "A wall",
}


@pytest.mark.parametrize("name", WORDINGS)
def test_a_wording_that_loses_or_adds_facts_is_undone(grey, server, options, name):
    use_long_draft(server, "refine")
    server.script["refine"] = lambda asked: WORDINGS[name]
    answer = ask(grey, "What is seen?", **options)
    assert server.asked("refine")
    assert answer.answer == truncate_words(LONG_DRAFT, 29)
    assert answer.grounded
    assert "its start stands" in answer.warnings[0]


def test_only_a_long_draft_or_one_without_an_anchor_is_worded_anew(grey, server, options):
    use_long_draft(server, "refine")
    assert ask(grey, "How is the mood?", **options).answer == "A grey wall."
    assert len(server.asked("refine")) == 1
    server.script["inspect"] = lambda asked: {
        "summary": "A bottle.",
        "findings": [{"time_s": 1.0, "text": "a bottle of Acme"}],
    }
    for question, draft, worded in (
        ("What is seen?", "A thing of Acme.", 0),
        ("How is the mood?", "It is calm.", 0),
        ("What is seen?", "A thing.", 1),
    ):
        server.requests.clear()
        server.script["controller"] = play(
            calls(("frame_inspect", LOOK)),
            lambda asked, draft=draft: finish(draft, *evidence_ids(asked, "frame")[:1]),
        )
        ask(grey, question, **{**options, "cache": False})
        assert len(server.asked("refine")) == worded, draft


def test_a_long_wording_is_cut(grey, server, options):
    use_long_draft(server, "refine")
    server.script["refine"] = lambda asked: {"answer": "A grey wall " + "and a wall " * 40}
    assert len(ask(grey, "What is seen?", **options).answer.split()) < 30


@pytest.mark.parametrize("role", ["controller", "inspect", "verify", "refine"])
@pytest.mark.parametrize("status", [401, 404])
def test_an_endpoint_that_refuses_ends_the_question(grey, server, options, role, status):
    use_long_draft(server, role)
    server.script[role] = lambda asked: Http(status, "who are you?")
    with pytest.raises(EndpointError, match="who are you"):
        ask(grey, "What is seen?", **options)
    assert len(server.asked(role)) == 1


def test_a_controller_that_fails_for_good_is_an_error(grey, server, options):
    server.script["controller"] = lambda asked: Http(400, "no tools here")
    with pytest.raises(ModelError, match="no tools here"):
        ask(grey, "What is seen?", **options)


@pytest.mark.parametrize(
    "refused",
    [{"json_schema", "json_object"}, {"temperature", "max_tokens", "parallel_tool_calls"}],
)
def test_a_picky_server_answers_all_the_same(grey, server, options, refused):
    server.refuses = refused
    assert ask(grey, "What is seen?", **options).grounded


EXPERT_RANGE = (4.0, 16.0)
SLACK = 0.6
"""Of brightness, in steps of 256: a fifth of a second is two steps or more."""


def expert_request(grey, server, options, arguments):
    server.script["controller"] = play(
        calls(("communication_expert", {"focus": "light", **arguments})), finish("A wall.")
    )
    ask(grey, "How is it lit?", **options, max_steps=2)
    [asked] = server.asked("expert")
    return asked


def cells_of(grid):
    """The middles of the cells in reading order."""
    height, width = grid.shape[0] // 2, grid.shape[1] // 2
    corners = [(0, 0), (0, width), (height, 0), (height, width)]
    return [grid[y + 8 : y + height - 8, x + 8 : x + width - 8] for y, x in corners]


def test_the_expert_sees_at_most_three_frames_a_second(level_shown, grey, server, options):
    start_s, end_s = EXPERT_RANGE
    asked = expert_request(grey, server, options, {"start_s": start_s, "end_s": end_s})
    assert asked.body["model"] == "o1"
    times, seen = [], []
    for before, picture in pairwise(asked.sequence):
        if isinstance(picture, str):
            continue
        assert isinstance(before, str), "a text stands before each picture"
        told = before.partition("frames at ")[2].partition(" s")[0].split(", ")
        empty = 4 - len(told)
        assert (f"({empty} grey, empty)" in before) == bool(empty)
        times += [float(time_s) for time_s in told]
        seen += [float(np.mean(cell)) for cell in cells_of(picture)[: len(told)]]
    assert len(asked.images) == -(-len(times) // 4)
    assert len(times) == len(seen) <= 3 * (end_s - start_s)
    assert all(start_s <= time_s < end_s for time_s in times)
    assert times == sorted(set(times))
    assert seen == sorted(seen)
    assert max(b - a for a, b in pairwise(times)) < 0.8, "spread evenly over the range"
    assert min(b - a for a, b in pairwise(seen)) > 3, "and none hardly differs from the one before"
    for time_s, level in zip(times, seen, strict=True):
        assert abs(level - level_shown(time_s)) < SLACK, (time_s, level)


def test_the_expert_sees_the_whole_ad_where_no_range_is_asked(level_shown, grey, server, options):
    asked = expert_request(grey, server, options, {})
    cells = [cell for grid in asked.images for cell in cells_of(grid)]
    levels = [float(np.mean(cell)) for cell in cells if cell.std() > 0 or np.mean(cell) != 128]
    assert 24 <= len(levels) <= 17 * 3
    assert levels[0] < level_shown(0.5)
    assert max(levels) > level_shown(16.3)


def test_two_questions_on_one_range_send_the_same_pictures_in_the_same_order(grey, server, options):
    """What both have in common stands first: a server need not read it twice."""
    expert = [("communication_expert", {"focus": focus}) for focus in ("the mood", "the promise")]
    server.script["controller"] = play(Say(calls=tuple(expert)), finish("A wall."))
    ask(grey, "What is seen?", **options, max_steps=2)
    one, two = ([str(part) for part in asked.sequence] for asked in server.asked("expert"))
    assert one[:-1] == two[:-1]
    assert {one[-1], two[-1]} == {"Focus: the mood", "Focus: the promise"}


def test_a_literal_look_shows_four_frames_a_second(level_shown, grey, server, options):
    server.script["controller"] = play(
        calls(("frame_inspect", {"question": "q", "start_s": 6, "end_s": 9})), finish("A wall.")
    )
    ask(grey, "What is seen?", **options, max_steps=2)
    [asked] = server.asked("inspect")
    levels = [float(np.mean(cell)) for grid in asked.images for cell in cells_of(grid)]
    assert len(levels) == 12
    assert levels == sorted(levels)
    assert level_shown(5.9) < levels[0] < levels[-1] < level_shown(9.0)


def test_frames_of_a_clip_carry_their_times(level_shown, ramp, server, options):
    from admir import build_memory

    build_memory(ramp, **options)
    for asked in server.asked("caption"):
        for before, picture in pairwise(asked.sequence):
            if not isinstance(picture, str):
                time_s = float(before.removeprefix("Frame at ").removesuffix(" s:"))
                assert abs(picture.mean() - level_shown(time_s)) < SLACK
