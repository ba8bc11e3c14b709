"""Each ablation of Fig. 3 changes the trace as it should, and nothing else breaks."""

from __future__ import annotations

import pytest

from admir import ask, open_trace
from admir.trace import Oriented, Reworded
from tests.model_replies import calls, evidence_ids, finish, finish_long
from tests.model_server import play

SEARCH = calls(("clip_search", {"query": "grey wall"}))
LOOK = calls(("frame_inspect", {"question": "q", "start_s": 0, "end_s": 2}))
EXPERT = calls(("communication_expert", {"focus": "strategy"}))
NAMED = {
    "summary": "It is grey.",
    "findings": [{"time_s": 0.5, "text": "a wall at Acme, 7 m high"}],
}
QUESTION, OFFLINE_QUESTION = "What does the wall do?", "What price is shown?"


def draft(asked):
    """A finish that cites whatever frames were seen."""
    return finish("A grey wall.", *evidence_ids(asked, "frame")[:1])


@pytest.fixture
def told(grey, server, options):
    """The trace of a question whose controller takes these steps, under these settings."""

    def run(*steps, **more):
        server.requests.clear()
        server.script["controller"] = play(*steps)
        return open_trace(ask(grey, QUESTION, **options, **more).trace)

    return run


@pytest.fixture
def told_offline(demo_copy):
    """The trace of the offline backend, under these settings."""
    return lambda **more: open_trace(
        ask("ad", OFFLINE_QUESTION, memories=demo_copy, preset="offline", **more).trace
    )


def event(trace, kind):
    """The one event of a kind."""
    [found] = [each for each in trace.events if isinstance(each, kind)]
    return found


def hits_of(trace):
    return [h for step in trace.steps for o in step.observations for h in o.hits]


def without_words(hits):
    """Whether the words of the query were left out of every score, and are told all the same."""
    assert any(hit.lexical > 0 for hit in hits)
    return all(hit.score == pytest.approx(hit.semantic) for hit in hits)


@pytest.mark.parametrize("ablated", [{"beta": 0.0}, {"hybrid_index": False}])
def test_without_the_lexical_part_hits_are_scored_by_meaning_alone(told, told_offline, ablated):
    assert without_words(hits_of(told(SEARCH, draft, max_steps=2, **ablated)))
    assert without_words(hits_of(told_offline(**ablated)))


def test_beta_weighs_the_lexical_part(told, told_offline):
    for trace in (told(SEARCH, draft, max_steps=2, beta=0.5), told_offline(beta=0.5)):
        hits = hits_of(trace)
        assert any(hit.lexical > 0 for hit in hits)
        for hit in hits:
            assert hit.score == pytest.approx(hit.semantic + 0.5 * hit.lexical, abs=2e-3)


def test_two_steps_are_two_steps(told, server):
    trace = told(SEARCH, LOOK, draft, max_steps=2)
    assert len(trace.steps) == len(server.asked("controller")) == 2
    assert "2 steps are spent" in trace.answer.reason
    assert not trace.answer.grounded
    assert "This is the last step" in server.asked("controller")[1].text


def test_two_steps_are_two_steps_offline(demo_copy):
    """The question backtracks: it takes more than two."""
    question = "What does a lamp like this cost, according to the on-screen text?"
    whole = ask("ad", question, memories=demo_copy, preset="offline")
    short = ask("ad", question, memories=demo_copy, preset="offline", max_steps=2)
    assert len(whole.steps) > len(short.steps) == 2
    assert "2 steps are spent" in short.reason
    assert not short.grounded


def test_without_the_registry_nobody_is_active(told, server):
    whole = told(LOOK, draft)
    assert [s.name for s in event(whole, Oriented).subjects][:1] == ["grey bottle"]
    assert len(event(whole, Oriented).scores) == len(event(whole, Oriented).subjects)
    assert "object grey bottle" in server.asked("controller")[0].text
    ablated = told(LOOK, draft, subject_registry=False)
    assert (event(ablated, Oriented).subjects, event(ablated, Oriented).scores) == ((), ())
    assert all("object grey bottle" not in asked.text for asked in server.asked("controller"))


def test_without_the_registry_nobody_is_active_offline(told_offline):
    assert event(told_offline(), Oriented).subjects
    assert event(told_offline(subject_registry=False), Oriented).subjects == ()


def test_without_the_expert_no_function_calls_it(told, server):
    told(LOOK, draft)
    assert "communication_expert" in functions(server)
    trace = told(EXPERT, LOOK, draft, communication_expert=False)
    assert functions(server) == ["global_browse", "clip_search", "frame_inspect", "finish"]
    [refused] = trace.steps[0].observations
    assert refused.failed
    assert "communication_expert" in refused.text
    assert server.asked("expert") == []
    assert trace.answer.grounded, "the loop goes on without it"


def functions(server):
    """The functions that every turn was offered."""
    [offered] = {
        tuple(tool["function"]["name"] for tool in asked.body["tools"])
        for asked in server.asked("controller")
    }
    return list(offered)


def test_without_the_expert_nothing_calls_it_offline(demo_copy):
    question = "What persuasion strategy does this ad use?"
    whole = ask("ad", question, memories=demo_copy, preset="offline")
    ablated = ask("ad", question, memories=demo_copy, preset="offline", communication_expert=False)
    assert any(o.tool == "communication_expert" for s in whole.steps for o in s.observations)
    assert all(
        o.failed for s in ablated.steps for o in s.observations if o.tool == "communication_expert"
    )
    assert ablated.basis != "expert"


def test_without_anchors_no_frame_is_looked_at_and_nothing_is_named(told, server):
    server.script["inspect"] = lambda asked: NAMED
    whole = told(LOOK, finish_long)
    assert len(server.asked("verify")[0].images) == 1
    assert event(whole, Reworded).anchors == ("a wall at Acme, 7 m high",)
    assert whole.steps[-1].verdict.anchors == ("a wall at Acme, 7 m high",)
    assert 'kind="seen there">\na wall at Acme' in server.asked("verify")[0].text
    assert 'kind="anchors">\na wall at Acme' in server.asked("refine")[0].text
    ablated = told(LOOK, finish_long, visual_anchor=False)
    assert server.asked("verify")[0].images == []
    assert event(ablated, Reworded).anchors == ()
    assert ablated.steps[-1].verdict.anchors == ()
    assert 'kind="anchors">\n(none)' in server.asked("refine")[0].text


def test_without_anchors_the_offline_backend_names_none(demo_copy):
    question = "What colour is most of the picture at 12 s?"
    whole = ask("ad", question, memories=demo_copy, preset="offline")
    ablated = ask("ad", question, memories=demo_copy, preset="offline", visual_anchor=False)
    assert any("yellow" in anchor for anchor in whole.steps[-1].verdict.anchors)
    assert ablated.steps[-1].verdict.anchors == ()
