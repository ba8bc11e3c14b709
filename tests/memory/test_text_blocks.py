"""Lines joined into the blocks that a reader sees."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.memory.text_blocks import text_blocks
from admir.types import ScreenText, Span
from tests.properties import examples


def line(text, top, *, height=0.06, left=0.2, right=0.8, span=(0.0, 4.0), **rest):
    values = {"confidence": 0.9, "frame_s": span[0]} | rest
    return ScreenText(
        span=Span(start_s=span[0], end_s=span[1]),
        text=text,
        box=(left, top, right, top + height),
        **values,
    )


FIRST = line("the line between day", 0.40)
SECOND = line("and night", 0.48)


def test_many_lines_are_joined_quickly():
    lines = [line(f"line {n}", 0.4, span=(float(n), n + 1.0)) for n in range(5_000)]
    started = time.process_time()
    assert len(text_blocks(lines)) == 5_000
    assert time.process_time() - started < 1.0


def texts(*lines):
    return [block.text for block in text_blocks(lines)]


def test_two_lines_right_below_each_other_are_one_block_from_top_to_bottom():
    assert texts(SECOND, FIRST) == ["the line between day and night"]


def test_a_block_lasts_while_all_of_it_stands_and_trusts_the_least_sure_line():
    sure = line("and night", 0.48, span=(0.5, 4.5), left=0.1, confidence=0.99, frame_s=2.0)
    (block,) = text_blocks([FIRST, sure])
    assert block.span == Span(start_s=0.5, end_s=4.0), "while both stand"
    assert block.box == (0.1, 0.40, 0.8, pytest.approx(0.54))
    assert (block.confidence, block.frame_s) == (0.9, 2.0)


@pytest.mark.parametrize(
    "other",
    [
        line("and night", 0.60),
        line("and night", 0.48, height=0.12),
        line("and night", 0.48, span=(3.0, 9.0)),
        line("and night", 0.48, left=0.85, right=0.99),
        line("and night", 0.48, scene=True),
        line("AND NIGHT", 0.48),
        line("the line between day", 0.48),
        line("and night", 0.48, vertical=True),
    ],
    ids=["far below", "larger", "later", "beside", "scene", "in capitals", "the same", "vertical"],
)
def test_lines_that_do_not_belong_together_stay_apart(other):
    assert texts(FIRST, other) == [FIRST.text, other.text]


def test_a_sentence_that_has_ended_is_not_continued():
    assert texts(line("Light that listens.", 0.4), SECOND) == ["Light that listens.", "and night"]
    assert texts(line("the line between...", 0.4), SECOND) == ["the line between... and night"]


def test_the_lines_of_the_ad_stay_single_since_each_says_its_own_thing(demo):
    blocks = [block.text for block in text_blocks(demo.screen_text)]
    assert sorted(blocks) == sorted(x.text for x in demo.screen_text)


LINES = st.builds(
    line,
    st.sampled_from(["one", "two", "THREE", "four.", "$5"]),
    st.sampled_from([0.1, 0.17, 0.24, 0.6]),
    height=st.sampled_from([0.06, 0.07, 0.2]),
    span=st.sampled_from([(0.0, 4.0), (1.0, 4.0), (5.0, 9.0)]),
    vertical=st.booleans(),
)


@examples(100)
@given(st.lists(LINES, max_size=6))
def test_every_line_is_in_exactly_one_block_and_blocks_come_in_order(lines):
    blocks = text_blocks(lines)
    assert sorted(" ".join(b.text for b in blocks).split()) == sorted(x.text for x in lines)
    starts = [block.span.start_s for block in blocks]
    assert starts == sorted(starts)
