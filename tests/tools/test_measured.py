"""Measurements as evidence: of the whole memory, and of frames that are looked at."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from admir import Memory
from admir.agent.grounding import cheap_check
from admir.api import _agent
from admir.backends.rules.facts import colours_in, ink_in, length_in, person_in, shots_in
from admir.concurrency import run_sync
from admir.settings import load_settings
from admir.tools.base import measured_evidence
from admir.tools.registry import run_tool
from admir.types import Action, Claim, Evidence, Shot, Span, Subject


def test_the_demo_tells_its_length_and_its_shots(demo, facts):
    length, shots = measured_evidence(demo)
    assert length_in(length.quote) == pytest.approx(facts["duration_s"], abs=0.05)
    told = shots_in(shots.quote)
    assert told
    assert told.count == len(facts["scenes"])
    assert told.first_cut_s == pytest.approx(facts["cuts_s"][0], abs=0.1)
    assert told.last_cut_s == pytest.approx(facts["cuts_s"][-1], abs=0.1)
    assert {e.kind for e in (length, shots)} == {"measurement"}
    assert {e.span for e in (length, shots)} == {demo.video.span}


@pytest.mark.parametrize(
    ("cuts", "quote"),
    [
        ((), "1 shot"),
        ((2.0,), "2 shots, 1 cut, the first at 2.0 s, the last at 2.0 s"),
        ((2.0, 3.04, 5.0), "4 shots, 3 cuts, the first at 2.0 s, the last at 5.0 s"),
    ],
)
def test_shots_and_cuts_are_told_in_words(demo, cuts, quote):
    edges = (0.0, *cuts, demo.video.duration_s)
    shots = tuple(
        Shot(index=n, span=Span(start_s=a, end_s=b))
        for n, (a, b) in enumerate(itertools.pairwise(edges))
    )
    assert measured_evidence(replace(demo, shots=shots))[1].quote == quote
    assert shots_in(quote)


def test_people_are_told_with_their_first_sight_and_things_are_not(demo):
    seen = (Span(start_s=1, end_s=3), Span(start_s=8, end_s=9.5))
    person, thing = (
        Subject(id=name, name=name, kind=kind, first_seen_s=1.0, seen=seen)
        for name, kind in (("woman in red", "person"), ("lamp", "name"))
    )
    told = measured_evidence(replace(demo, subjects=(thing, person)))[2:]
    assert [person_in(e.quote) for e in told] == [("woman in red", person.on_screen_s)]
    assert told[0].span == seen[0]


def test_a_memory_of_text_alone_measures_nothing():
    memory = Memory.from_timeline("v", [{"t": 0, "ocr": ["x"], "asr": ""}])
    assert measured_evidence(memory) == []


@pytest.fixture(scope="module")
def context(demo, memories):
    return _agent(demo, "-", load_settings(memories=memories))[0].tools


def look(context, start_s: float, end_s: float, mode: str) -> list[Evidence]:
    arguments = {"question": "?", "start_s": start_s, "end_s": end_s, "mode": mode}
    return list(
        run_sync(run_tool(context, Action(tool="frame_inspect", arguments=arguments))).evidence
    )


def test_a_semantic_look_gives_measurements_with_their_frame(context):
    found = look(context, 16.5, 17.5, "semantic")
    assert {e.kind for e in found} == {"measurement"}
    assert colours_in(found[0].quote)[0] == "teal"
    assert [e.frame_s for e in found] == pytest.approx([16.64, 17.0, 17.32], abs=0.05)
    assert found[0].frame


def test_a_literal_look_gives_each_line_and_its_colours_as_a_measurement(context):
    found = look(context, 20.8, 21.2, "literal")
    lines = [e for e in found if e.kind == "frame"]
    inks = {ink.text: ink for e in found if (ink := ink_in(e.quote))}
    assert {e.quote for e in lines} == set(inks) >= {"25% OFF", "until 30 June"}
    assert (inks["25% OFF"].ink, inks["25% OFF"].ground) == ("white", "red")
    assert all(e.kind == "measurement" and e.box for e in found if ink_in(e.quote))


@pytest.mark.parametrize(
    ("seconds", "accepted"),
    [("About 2 seconds", True), ("2.1 s", True), ("2.4 s", False), ("11 seconds", True),
     ("20 s", False)],
)  # fmt: skip
def test_a_claim_may_state_when_its_evidence_is_or_how_long_it_lasts(seconds, accepted):
    line = Evidence(
        video_id="v", kind="screen_text", span=Span(start_s=10, end_s=12), quote="x", id="e1"
    )
    claim = cheap_check(Claim(text=seconds, evidence=("e1",)), [line])
    assert (claim.reason == "") == accepted


def test_measurements_are_read_by_the_facts():
    assert colours_in("colours: red, dark blue; a dark picture") == ("red", "dark blue")
    assert ink_in('"say "now"" in white on red').text == 'say "now"'
