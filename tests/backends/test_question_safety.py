"""No text, however odd, stops or slows the understanding of a question."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.backends.rules.question import understand
from tests.properties import examples

MOST_LETTERS = 2000
MOST_S = 0.2
OPENINGS = ("", "which ", "when ", "how many ")
FRAGMENTS = (
    *("which a ", "what the ", "how many ", "who is the ", "first, a or ", "is a shown before "),
    *("when the ", "what is the product ", '"a" ', "说", "第1秒", "与a和", "先", "at 1 ", "1"),
    *("from 1 to ", "two brand ", "number a ", "call a ", "is the beginning or ", "offer ends "),
    *("a-", "and, ", "12:", "between 1 and ", "how long a ", "is there a ", "whose a ", "1.1.1"),
    *("target a ", "person a ", "价", "什么", "according to the ", "last ", "“a", "「a", "'a", "("),
    *("when does the offer ", "what a-b ", "while the ", "1到", "1:1", "at the beginning or "),
)

PIECES = st.sampled_from(
    [*FRAGMENTS, "in the first ", "five seconds ", "最后", "秒", "\n", "\ud800"]
)


@examples(200)
@given(st.text(max_size=300) | st.lists(PIECES, max_size=60).map("".join))
def test_every_text_is_understood(text):
    query = understand(text[:MOST_LETTERS])
    assert query.kind.name
    window = query.window(30.0)
    assert window is None or window.start_s <= window.end_s


def seconds_for(text: str) -> float:
    """CPU seconds to understand it."""
    understand.cache_clear()
    start = time.process_time()
    understand(text)
    return time.process_time() - start


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_fragment_repeated_to_the_longest_question_is_understood_at_once(fragment):
    for opening in OPENINGS:
        text = (opening + fragment * MOST_LETTERS)[: MOST_LETTERS - 1] + "?"
        took = seconds_for(text)
        assert took < MOST_S or seconds_for(text) < MOST_S, opening
