"""What a person sees: statuses, times, frames; and text of a video is never markup."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from admir import Memory, ask
from admir.memory.corrections import corrected, new_correction
from admir.types import Span
from admir.views.terminal import show_answer, show_list, show_memory, show_trace


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


def test_an_absence_is_not_called_grounded(demo, memories):
    text = printed(show_answer, ask(demo, "Is there a zebra?", memories=memories))
    assert "nothing in the video supports an answer" in text
    assert "Not grounded" in text


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
