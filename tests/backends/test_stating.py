"""What a claim states: figures and colours in order, ordinals, denials, unknown words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.backends.rules import claim_values
from admir.backends.rules.phrases import colour_name, colours
from tests.properties import examples


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("two times: at 10.6 s, 27.2 s", ["2", "10.6", "27.2"]),
        ("Twice, at 4.20 s", ["2", "4.2"]),
        ("forty-eight of 1,299", ["48", "1299"]),
        ("once", ["1"]),
        ("nothing", []),
        ("7个镜头", ["7"]),
    ],
)
def test_figures_come_in_the_order_of_the_text(text, told):
    assert claim_values.figures(text) == told


@pytest.mark.parametrize(
    ("stated", "given", "follows"),
    [
        ("2", "2 10.6 27.2", True),
        ("2 27.2", "2 10.6 27.2", True),
        ("2 27.2 10.6", "2 10.6 27.2", False),
        ("10.6", "2 10.6 27.2", False),
        ("32", "32.2", True),
        ("33", "32.2", False),
        ("32.2", "32", False),
        ("7 7", "7", False),
        ("", "7", False),
        ("7", "", False),
    ],
)
def test_stated_figures_begin_with_the_first_and_keep_the_order(stated, given, follows):
    assert claim_values.figures_follow(stated.split(), given.split()) == follows


@given(st.lists(st.integers(0, 99).map(str), min_size=1, max_size=5), st.data())
def test_a_measurement_follows_itself_and_no_figure_can_be_added(told, data):
    assert claim_values.figures_follow(told, told)
    more = data.draw(st.integers(100, 200).map(str))
    assert not claim_values.figures_follow([*told, more], told)


@pytest.mark.parametrize(
    ("stated", "given", "follows"),
    [
        ("white", "white on red", True),
        ("white on red", "white on red", True),
        ("red on white", "white on red", False),
        ("red", "white on red", False),
        ("white on white", "white on red", False),
        ("blue", "dark blue", True),
        ("light blue", "dark blue", False),
        ("dark blue", "blue", False),
        ("gray", "grey", True),
        ("主要是紫色", "mostly purple, then white", True),
        ("no colour", "white", False),
    ],
)
def test_stated_colours_are_the_first_that_were_measured(stated, given, follows):
    names = claim_values.colours_of(stated), claim_values.colours_of(given)
    assert claim_values.colours_follow(*names) == follows


@pytest.mark.parametrize("colour", colours())
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_colour_of_the_senses_is_known_in_both_languages(colour, language):
    assert claim_values.colours_of(f"it is {colour_name(language, colour)}.") == [colour]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the second cut", {"second"}),
        ("4.2 seconds", set()),
        ("at the 4 second mark", set()),
        ("the last shot, not the first one", {"last", "first"}),
    ],
)
def test_an_ordinal_is_told_from_a_time(text, told):
    assert claim_values.ordinals(text) == told


@pytest.mark.parametrize(
    ("text", "denial"),
    [
        ("It is not teal", True),
        ("It isn't teal", True),
        ("no cut", True),
        ("不是青色", True),
        ("没有切换", True),
        ("It is teal", False),
        ("青色", False),
        ("a knot of notes", False),
    ],
)
def test_denials(text, denial):
    assert claim_values.denies(text) == denial


def test_what_is_repeated_is_taken_out():
    assert claim_values.bare('"25% OFF" is white; NOW $48 too', ["NOW $48"]).split() == (
        ["is", "white;", "too"]
    )


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("seven shots of a dog", ["dog"]),
        ("shots", []),
        ("7 faces", ["faces"]),
        ("4 seconds", []),
        ("共镜头", []),
        ("镜头里有狗", ["镜头里有狗"]),
    ],
)
def test_words_that_nothing_gives(text, unknown):
    neutral = frozenset(("of", "a", "共", "有", "里"))
    assert claim_values.unknown_words(text, "7 shot at 4 s 镜头", neutral) == unknown


@examples(100)
@given(st.text(max_size=80), st.text(max_size=40))
def test_no_text_breaks_the_comparing(text, phrase):
    told = claim_values.bare(text, [phrase] if phrase else [])
    claim_values.figures(told)
    claim_values.colours_of(told)
    claim_values.denies(told)
    assert claim_values.unknown_words(told, told, frozenset()) == []
