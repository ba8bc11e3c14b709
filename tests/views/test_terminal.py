"""What a person sees: statuses, times, frames; and text of a video is never markup."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import get_args

import pytest
from rich.console import Console

from admir import Memory, ask
from admir.memory.corrections import corrected, new_correction
from admir.types import Basis, Claim, Span
from admir.views.labels import BASES
from admir.views.terminal import show_answer, show_list, show_memory, show_trace
from tests.answers import inferred_answer


def printed(show, *arguments, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    show(console, *arguments)
    return console.file.getvalue()


def test_an_answer_shows_claims_evidence_times_and_frames(demo, memories):
    answer = ask(demo, "What price is shown?", memories=memories)
    text = printed(show_answer, answer)
    assert "$48" in text
    assert "verified" in text
    assert "grounded in the video" in text
    assert answer.evidence[0].frame in text.replace("\n", "")
    assert str(answer.evidence[0].span) in text


def test_an_inferred_claim_is_quoted_and_says_how_sure_it_is():
    text = printed(show_answer, inferred_answer())
    assert "≈ inferred     NOW $48  quoted; that it answers is inferred (62%), or:" in text
    assert "WAS $64 / 25% off" in text
    told = "Quoted, not proved: these words stand in the video; that they answer the question is"
    assert told in text
    assert "grounded" not in text.lower()


def test_an_inferred_answer_has_a_colour_of_its_own():
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system="standard")
    show_answer(console, inferred_answer())
    assert "\x1b[35m" in console.file.getvalue()
    assert "\x1b[33m" not in console.file.getvalue()
    assert "\x1b[32m" not in console.file.getvalue()


def test_a_draft_with_an_inferred_claim_is_accepted_as_quoted():
    text = printed(show_trace, inferred_answer())
    assert "verdict: accepted as quoted; that it answers is inferred" in text


def test_what_nothing_shows_is_said():
    claim = Claim(text="a golden lamp", unsupported=("golden",), reason="no frame shows it")
    text = printed(show_answer, replace(inferred_answer(), basis="none", claims=(claim,)))
    assert "a golden lamp  nothing shows: golden  (no frame shows it)" in text


@pytest.mark.parametrize(
    ("basis", "grounded", "told"),
    [
        ("absence", False, "Not found; that it is absent is not proved (no frame)"),
        ("absence", True, "looked for, and not there"),
        ("premise", False, "the question supposes something that nothing in the ad speaks of"),
        ("none", False, "Not grounded: no frame"),
    ],
)
def test_what_an_answer_rests_on_is_said(basis, grounded, told):
    answer = replace(
        inferred_answer(), basis=basis, grounded=grounded, claims=(), reason="no frame"
    )
    text = printed(show_answer, answer, width=110)
    assert told in text
    assert ("Not" in text) == told.startswith("Not")


@pytest.mark.parametrize("basis", get_args(Basis))
def test_a_narrow_terminal_shows_what_it_rests_on(basis):
    answer = replace(inferred_answer(), basis=basis)
    assert BASES[basis] in printed(show_answer, answer, width=80)


def test_a_trace_shows_thoughts_actions_and_verdicts(demo, memories):
    question = "What does a lamp like this cost, according to the on-screen text?"
    answer = ask(demo, question, memories=memories)
    text = printed(show_trace, answer, width=160)
    for word in ("clip_search(", "frame_inspect(", "rejected, backtracking", "accepted"):
        assert word in text
    assert answer.trace in text.replace("\n", "")


def test_a_memory_reads_like_the_ad(demo, facts):
    text = printed(show_memory, demo, width=160)
    for line in facts["screen_text"]:
        assert line["text"] in text
    for spoken in facts["speech"]:
        assert spoken["text"] in text
    for person in facts["characters"]:
        assert person["name"] in text


def test_markup_in_a_video_stays_text(demo):
    hostile = "[bold red]not bold[/] [/nothing]"
    said = replace(demo.utterances[0], text=hostile)
    line = replace(demo.screen_text[0], text=f"{hostile} on screen")
    text = printed(show_memory, replace(demo, utterances=(said,), screen_text=(line,)), width=160)
    assert text.count(hostile) == 2


def test_a_line_is_shown_once_with_its_times_and_marks_are_summed_up(demo):
    long = replace(demo.screen_text[0], text="ALL WEEK", span=Span(start_s=1.0, end_s=30.0))
    marks = [replace(long, text=text) for text in ("7", "12")]
    text = printed(show_memory, replace(demo, screen_text=(long, *marks)), width=160)
    assert text.count("ALL WEEK") == 1
    assert "1.0-30.0 s  ALL WEEK" in text
    assert "and 2 short marks" in text


def test_a_list_names_what_cannot_be_read(demo):
    assert "32.2 s" in printed(show_list, [demo])


def test_what_a_person_has_corrected_is_shown_as_such():
    bare = Memory.from_timeline("ad", [{"t": 0, "ocr": ["LUMIV0"], "asr": ""}])
    right = [new_correction("screen_text", "LUMIVO", "LUMIV0"), new_correction("brand", "Acme")]
    told = printed(show_memory, corrected(bare, right))
    assert 'corrected by a person: screen text "LUMIVO", not "LUMIV0"' in told
    assert 'corrected by a person: brand "Acme"' in told
