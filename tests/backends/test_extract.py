"""Typed values in lines of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.backends.rules import extract
from admir.backends.rules.brand_names import Line, rank_names
from admir.types import Span


def texts(values) -> list[str]:
    return [value.text for value in values]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("NOW $48", ["$48"]),
        ("only €1,299.00 today", ["€1,299.00"]),
        ("forty-eight dollars", ["forty-eight dollars"]),
        ("到手价199元", ["199元"]),
        ("£3.40 or 2 pounds", ["£3.40", "2 pounds"]),
        ("call 555 0199", []),
        ("25% off", []),
        ("in 1988", []),
    ],
)
def test_prices(line, found):
    assert texts(extract.prices(line)) == found


def test_equal_amounts_have_one_key_whatever_they_are_written_like():
    keys = {
        extract.prices(t)[0].key for t in ("$48", "48 dollars", "forty-eight dollars", "$48.00")
    }
    assert keys == {"48"}


def test_equal_numbers_of_two_currencies_are_two_amounts():
    dollars, euros, words = (
        extract.prices(text)[0] for text in ("$48", "€48", "forty-eight dollars")
    )
    assert extract.same_amount(dollars, words)
    assert not extract.same_amount(dollars, euros)


@pytest.mark.parametrize(
    ("line", "roles"),
    [
        ("WAS $64", ["old"]),
        ("NOW $48", ["now"]),
        ("was $64, now $48", ["old", "now"]),
        ("A lamp like this usually costs ninety dollars.", ["old"]),
        ("$48", ["plain"]),
        ("It was good. $48", ["plain"]),
    ],
)
def test_what_a_price_is_is_said_before_it(line, roles):
    assert [value.role for value in extract.prices(line)] == roles


@pytest.mark.parametrize(
    ("kind", "line", "found"),
    [
        ("offer", "Save 25 % now", ["25 %"]),
        ("offer", "Buy one, get one free", ["Buy one, get one free"]),
        ("date", "until 30 June", ["30 June"]),
        ("date", "10.09.25", ["10.09.25"]),
        ("date", "3月15日截止", ["3月15日"]),
        ("date", "until the end of June", ["the end of June"]),
        ("year", "HAWKINS, 1987", ["1987"]),
        ("year", "$1987", []),
        ("url", "at www.lumivo.example today", ["www.lumivo.example"]),
        ("url", "e.g. this", []),
        ("phone", "CALL 555 0199", ["555 0199"]),
        ("phone", "+1 (212) 555-0199", ["+1 (212) 555-0199"]),
        ("phone", "10.09.2025", []),
        ("call_to_action", "Order now at", ["Order now at"]),
        ("call_to_action", "立即下单", ["立即下单"]),
        ("call_to_action", "Light that listens.", []),
    ],
)
def test_other_values(kind, line, found):
    assert texts(extract.EXTRACTORS[kind](line)) == found


@given(st.text(max_size=200))
def test_no_line_breaks_an_extractor_and_every_value_has_a_key(line):
    for find in extract.EXTRACTORS.values():
        assert all(value.key or not value.text for value in find(line))


def shown(text: str, start: float, *, height: float = 0.04) -> Line:
    span = Span(start_s=start, end_s=start + 2)
    return Line(text=text, span=span, kind="screen_text", height=height)


def test_a_brand_recurs_stands_alone_and_closes_the_ad():
    lines = [
        shown("Morning comes early", 0),
        shown("Nothing wakes you like Orvela does", 4),
        shown("FRESH START", 8),
        shown("Fun for the whole family", 10),
        shown("ORVELA", 18, height=0.1),
    ]
    assert rank_names(lines, 20)[0].name == "ORVELA"


def test_an_address_speaks_for_its_brand():
    lines = [shown("TORVANE", 2), shown("KESTRIL", 4), shown("www.kestril.example", 4)]
    assert rank_names(lines, 20)[0].name == "KESTRIL"


def test_a_name_read_with_and_without_its_space_is_one():
    lines = [shown("NORDENHAAL", 0), shown("created for Norden Haal", 5)]
    assert rank_names(lines, 20)[0].name == "Norden Haal"
