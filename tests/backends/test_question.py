"""Questions are understood by their words: kind, channel, aspect, window."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.backends.rules.question import understand
from admir.types import Span


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What price is shown?", "price"),
        ("How much does it cost?", "price"),
        ("What discount is offered?", "offer"),
        ("When does the sale end?", "end_date"),
        ("Until when is the offer valid?", "end_date"),
        ("Which date is shown?", "date"),
        ("What year is mentioned?", "year"),
        ("What is the website?", "url"),
        ("Which number can one call?", "phone"),
        ("What is the tagline?", "slogan"),
        ("What does the fine print say?", "small_print"),
        ("What should viewers do next?", "call_to_action"),
        ("What does the ad ask people to do?", "call_to_action"),
        ("Which two brands appear at the end?", "brand"),
        ("What product is advertised?", "brand"),
        ("What does the woman say?", "speech"),
        ("What does the caption say?", "text"),
        ("What happens in the ad, in order?", "order"),
        ("Which comes first, the price or the slogan?", "order"),
        ("Which persuasion strategy is used?", "strategy"),
        ("Who designed the watch?", "fact"),
        ("广告是什么品牌？", "brand"),
        ("现在多少钱？", "price"),
    ],
)
def test_the_kind_of_a_question(question, kind):
    assert understand(question).kind.name == kind


@pytest.mark.parametrize(
    ("question", "channel", "strict"),
    [
        ("What price is written on the screen?", "screen", True),
        ("What price is shown?", "screen", False),
        ("What does the narrator say?", "speech", True),
        ("What does the caption say?", "screen", True),
        ("How much does it cost?", None, False),
    ],
)
def test_the_channel_a_question_asks_about(question, channel, strict):
    query = understand(question)
    assert (query.channel, query.strict_channel) == (channel, strict)


@pytest.mark.parametrize(
    ("question", "aspect"),
    [
        ("When is the price shown?", "time"),
        ("At what second does the logo appear?", "time"),
        ("When does the logo disappear?", "end_time"),
        ("When does the offer end?", "content"),
        ("What price is shown?", "content"),
    ],
)
def test_a_question_for_a_time_is_told_from_one_for_a_date(question, aspect):
    assert understand(question).aspect == aspect


@pytest.mark.parametrize(
    ("question", "window"),
    [
        ("What text is shown at the end?", Span(start_s=30, end_s=40)),
        ("What is said at the beginning?", Span(start_s=0, end_s=10)),
        ("What is shown between 5 and 8 seconds?", Span(start_s=5, end_s=8)),
        ("What is shown at 12 s?", Span(start_s=11.5, end_s=12.5)),
        ("What is shown?", None),
    ],
)
def test_the_stretch_a_question_is_about(question, window):
    assert understand(question).window(40.0) == window


@given(st.text(min_size=1, max_size=300))
def test_every_question_has_a_kind(question):
    assert understand(question).kind.name
