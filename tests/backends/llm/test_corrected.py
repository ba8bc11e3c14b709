"""What people have corrected, as models are told of it."""

from __future__ import annotations

from pathlib import Path

from admir import ask
from admir.memory.corrections import new_correction
from admir.memory.store import MemoryStore
from admir.prompts import load_prompt
from tests.model_replies import calls, evidence_ids, finish

VOUCHED = load_prompt("vouched")


def corrected(memory, **correction):
    store = MemoryStore(Path(memory.folder).parents[2])
    return store.correct(memory.video.id, new_correction("brand", **correction))


def test_a_check_is_told_of_a_persons_word(grey, server, options):
    server.script["controller"] = lambda asked: (
        finish("The brand is Halden.", *evidence_ids(asked, "person"))
        if asked.step
        else calls(("clip_search", {"query": "brand"}))
    )
    answer = ask(corrected(grey, text="Halden"), "Which brand?", **options)
    assert answer.grounded, answer.reason
    assert [piece.source for piece in answer.evidence] == ["person"]
    [check] = server.asked("verify")
    assert VOUCHED.text in check.text
    assert "person: The brand is Halden." in check.text
    assert answer.prompt_hashes["vouched"] == VOUCHED.sha256


def test_nobody_is_told_of_corrections_where_there_are_none(grey, server, options):
    ask(grey, "What is seen?", **options)
    assert VOUCHED.text not in server.asked("verify")[0].text


def test_what_a_model_sees_again_is_told_in_the_right_words(grey, server, options):
    server.script["inspect"] = lambda asked: {
        "summary": "It reads HALD3N.",
        "findings": [{"text": 'The sign "HALD3N" is lit.', "time_s": 1.0}],
    }
    answer = ask(corrected(grey, text="HALDEN", was="HALD3N"), "What is seen?", **options)
    assert "HALD3N" not in server.asked("controller")[1].text
    assert (
        'frame, corrected by a person: The sign "HALDEN" is lit.' in server.asked("verify")[0].text
    )
    assert answer.evidence[0].corrected


def test_what_the_expert_says_is_told_in_the_right_words(grey, server, options):
    finding = {
        "kind": "strategy",
        "text": "HALD3N stands for calm.",
        "start_s": 0.0,
        "end_s": 2.0,
        "tied_to": "",
    }
    server.script["expert"] = lambda asked: {"reading": "HALD3N calms.", "findings": [finding]}
    server.script["controller"] = lambda asked: (
        finish("HALDEN stands for calm.", *evidence_ids(asked, "expert"))
        if asked.step
        else calls(("communication_expert", {"focus": "strategy"}))
    )
    memory = corrected(grey, text="HALDEN", was="HALD3N")
    answer = ask(memory, "What does it stand for?", **options)
    assert [e.quote for e in answer.evidence] == [
        "HALDEN calms.",
        "strategy: HALDEN stands for calm.",
    ]
    assert "HALD3N" not in server.asked("controller")[1].text
