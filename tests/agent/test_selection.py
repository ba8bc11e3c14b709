"""What a memory cannot know, as far as it bears on a question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from admir import Memory
from admir.agent.selection import BY_WORDS, limits_of, memory_warnings
from admir.settings import load_settings
from admir.types import Frame


@pytest.fixture
def unheard():
    """A memory of a video whose sound nobody has listened to, and whose file breaks off."""
    told = Memory.from_timeline("tea", [{"t": 0, "ocr": ["Spring tea"]}])
    made = replace(
        told.provenance,
        preset="paper",
        speech_source='none: pip install "admir[speech]"',
        text_source="ocr",
        embedder="hashing-1024-v1",
        warnings=('speech is unknown (pip install "admir[speech]")',),
    )
    video = replace(told.video, stated_duration_s=30.0)
    frame = Frame(time_s=0.0, file="f.jpg")
    return replace(told, provenance=made, frames=(frame,), video=video, utterances=())


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What does the narrator say?", True),
        ("Which music plays?", True),
        ("旁白说了什么?", True),
        ("What is written on the card?", False),
        ("Which colour is the car?", False),
    ],
)
def test_that_speech_is_unknown_is_told_where_the_question_is_about_it(unheard, question, told):
    found = limits_of(unheard, question)
    assert any("speech" in limit for limit in found) is told
    assert any("breaks off at 1.0 s of 30.0 s" in limit for limit in found), "always"
    assert "pip" not in " ".join(found), "no hints for installing"


def test_nothing_limits_a_memory_that_is_whole(demo):
    assert limits_of(demo, "What does the narrator say?") == ()


def test_what_stands_in_the_way_of_a_good_answer_is_warned_of(unheard, demo):
    paper = load_settings(preset="paper", api_key="k", embedder="auto")
    warned = memory_warnings(unheard, paper)
    assert any("broken frames" in warning for warning in warned)
    assert BY_WORDS in warned
    chosen = load_settings(preset="paper", api_key="k", embedder="hashing")
    assert BY_WORDS not in memory_warnings(unheard, chosen), "it was asked for"
    assert memory_warnings(demo, load_settings()) == []
