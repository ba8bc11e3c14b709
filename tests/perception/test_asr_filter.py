"""What nobody can have said is left out; what people say in ads is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.asr_filter import (
    AsrSegment,
    believed,
    compression,
    exp_of,
    loops,
    too_fast,
    utterance_of,
    word_of,
)
from admir.types import Span
from tests.properties import examples


def heard(text, start_s=0.0, seconds=3.0, **told):
    span = Span(start_s=start_s, end_s=start_s + seconds)
    return AsrSegment(span=span, text=text, **{"log_prob": -0.3, **told})


def texts(*lines):
    return [each.text for each in believed(lines)]


SAID = {
    "plain": ("Try Aurora today, for only nine dollars.", 3.0),
    "chant": ("Go, go, go, go!", 1.5),
    "slogan twice": ("New York, New York. It's a wonderful town. New York, New York.", 4.0),
    "one word": ("Now!", 0.3),
    "a price": ("$9.99", 1.0),
    "digits": ("1, 2, 3", 1.5),
    "notice, sped up": (
        "Not available in all states. See dealer for details. Terms apply. Ends Sunday.",
        2.0,
    ),
    "refrain": ("Shake it, shake it, shake it, shake it off with the new Shaker.", 4.0),
    "chinese": ("这款新的面霜让你的皮肤更加光滑", 3.0),
    "chinese, fast": ("限时优惠仅此一天错过不再有", 1.0),
    "chinese, doubled": ("天天向上，快快乐乐，红红火火", 3.0),
    "german": ("Vorsprung durch Technik.", 1.6),
}


@pytest.mark.parametrize(("text", "seconds"), SAID.values(), ids=SAID)
def test_what_people_say_in_ads_is_believed(text, seconds):
    assert texts(heard(text, seconds=seconds)) == [text]


INVENTED = {
    "no letter": heard("... ♪♪"),
    "empty": heard(" "),
    "no time": heard("Hello there", seconds=0.0),
    "nobody speaks": heard("I'll see you there.", no_speech=0.8, log_prob=-1.3),
    "says itself": heard("the light of the light " * 12, seconds=28.0),
    "one word over and over": heard("buy buy buy buy buy buy", seconds=6.0),
    "a phrase over and over": heard("I don't know. " * 6, seconds=9.0),
    "a loop after a start": heard("Well, so it is, is, is, is, is, is, is.", seconds=8.0),
    "chinese loop": heard("好的好的好的好的好的好的", seconds=9.0),
    "too much for the time": heard("Thanks to all of you for being with us", seconds=0.4),
    "too much chinese for the time": heard("感谢各位一直以来的支持与陪伴", seconds=0.3),
}


@pytest.mark.parametrize("line", INVENTED.values(), ids=INVENTED)
def test_what_nobody_can_have_said_is_left_out(line):
    assert texts(line) == []


@pytest.mark.parametrize(("no_speech", "log_prob"), [(0.9, -0.4), (0.2, -1.6)])
def test_one_doubt_is_not_enough(no_speech, log_prob):
    assert texts(heard("Aurora.", no_speech=no_speech, log_prob=log_prob)) == ["Aurora."]


def test_of_a_line_that_repeats_on_end_the_first_is_kept():
    lines = [heard("See you.", start_s=10.0 * n) for n in range(5)]
    again = [heard("see you", start_s=60.0), heard("Buy now.", start_s=70.0)]
    assert [each.span.start_s for each in believed([*lines, *again])] == [0.0, 70.0]


def test_a_slogan_said_twice_and_again_at_the_end_stays():
    lines = [heard(t, start_s=5.0 * n) for n, t in enumerate(("Go.", "Go.", "Now.", "Go."))]
    assert texts(*lines) == ["Go.", "Go.", "Now.", "Go."]


def test_they_come_in_time_order():
    assert texts(heard("two", 5.0), heard("one", 1.0)) == ["one", "two"]


@examples(200)
@given(st.lists(st.tuples(st.text(max_size=60), st.floats(0, 30), st.floats(0, 30)), max_size=12))
def test_what_is_believed_is_a_part_of_what_was_heard_and_is_believed_again(lines):
    all_lines = [heard(text, start, seconds) for text, start, seconds in lines]
    kept = believed(all_lines)
    assert all(each in all_lines for each in kept)
    assert [each.span.start_s for each in kept] == sorted(each.span.start_s for each in kept)
    assert believed(kept) == kept


@examples(200)
@given(
    phrase=st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=1, max_size=8),
    times=st.integers(5, 40),
    before=st.lists(st.text("xyz", min_size=1, max_size=4), max_size=4),
)
def test_any_phrase_said_five_times_over_is_a_loop(phrase, times, before):
    if len(before) <= len(phrase) * times:
        assert loops(" ".join([*before, *(phrase * times)]))


@examples(200)
@given(st.lists(st.text("abcdefghijklmnop", min_size=3, max_size=8), unique=True, max_size=30))
def test_words_that_are_all_different_are_no_loop(words):
    assert not loops(" ".join(words))


@examples(100)
@given(text=st.text(max_size=80), seconds=st.floats(0.01, 30))
def test_more_time_makes_nothing_too_fast(text, seconds):
    assert too_fast(text, seconds) >= too_fast(text, 2 * seconds)


def test_compression_of_nothing_is_none():
    assert compression("") == 0.0
    assert compression("a" * 500) > 10
    assert compression("\ud83d") > 0


def test_an_utterance_is_as_sure_as_its_words():
    words = (word_of(" Try", 1.0, 1.2, 0.9), word_of(" Aurora", 1.2, 1.8, 0.5))
    sure = utterance_of(heard(" Try \n Aurora", words=words), "en")
    assert (sure.text, sure.confidence, sure.language) == ("Try Aurora", 0.7, "en")
    assert [word.text for word in sure.words] == ["Try", "Aurora"]
    assert utterance_of(heard("Try", log_prob=-0.1), None).confidence == pytest.approx(0.905)


@pytest.mark.parametrize("log_prob", [float("nan"), float("-inf"), 3.0, -1e9])
def test_any_number_is_a_probability(log_prob):
    assert 0.0 <= exp_of(log_prob) <= 1.0


def test_a_word_that_ends_before_it_begins_has_no_length():
    word = word_of(" Try", 2.0, 1.5, 1.2)
    assert (word.span, word.confidence) == (Span(start_s=2.0, end_s=2.0), 1.0)
