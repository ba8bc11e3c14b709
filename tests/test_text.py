"""Words of English and Chinese."""

from __future__ import annotations

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.text import (
    NUMBER_WORDS,
    contains,
    content_words,
    excerpt,
    fold,
    holds_word,
    is_cjk,
    normalize,
    numbers,
    plain_number,
    spelt_number,
    stem,
    tokenize,
    words,
)
from tests.properties import examples

PLAIN = st.text(st.sampled_from("abzéÄ 48$%.,#半价灯ｘ４\n-'’"), max_size=20)


# Folding


@examples(200)
@given(st.text(max_size=30))
def test_squashed_text_has_no_spaces_and_squashing_again_changes_nothing(text):
    flat = normalize(text)
    assert not re.search(r"[\s_.,!?-]", flat)
    assert normalize(flat) == flat


@examples(200)
@given(PLAIN)
def test_squashing_sees_neither_case_nor_spaces_nor_width(text):
    spaced = " ".join(text.upper())
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    assert normalize(spaced) == normalize(wide) == normalize(text)


def test_folding_keeps_spaces_and_makes_quotes_plain():
    assert fold("Mia’s ＬＡＭＰ") == "mia's lamp"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("会听的台灯", True),
        ("LUMIVO 会听的台灯", False),
        ("半价 5", True),
        ("lamp", False),
        ("", False),
    ],
)
def test_a_text_is_cjk_when_most_of_it_is(text, expected):
    assert is_cjk(text) is expected


# Tokens


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Lamps listening", ("lamp", "listen")),
        ("Mia’s lamp", ("mia", "lamp")),
        ("NOW $48", ("now", "$48", "48")),
        ("＄４８", ("$48", "48")),
        ("$ 48", ("$48", "48")),
        ("€1,299.00", ("€1,299.00", "1,299.00")),
        ("48元", ("48元", "48")),
        ("25 % off", ("25%", "25", "off")),
        ("#Glow @Lumivo", ("#glow", "@lumivo")),
        ("会听的台灯", ("会听", "听的", "的台", "台灯")),
        ("灯", ("灯",)),
        ("30 June", ("30", "june")),
        ("", ()),
        ("?!…", ()),
    ],
)
def test_terms_are_stems_bigrams_and_amounts_kept_whole(text, terms):
    assert tokenize(text) == terms


def test_an_address_is_a_term_as_a_whole():
    assert "www.lumivo.example" in tokenize("Order at WWW.Lumivo.example!")
    assert "https://lumivo.example/halo" in tokenize("https://lumivo.example/halo")


@examples(200)
@given(st.text(max_size=40) | PLAIN)
def test_terms_of_any_text_are_folded_and_hold_no_space(text):
    for term in tokenize(text):
        assert term
        assert not re.search(r"\s", term)
    assert tokenize(text) == tokenize(fold(text))


@examples(100)
@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), max_size=6))
def test_each_word_is_one_term_in_order(parts):
    assert tokenize(" ".join(parts)) == tuple(stem(part) for part in parts)
    assert words(" ".join(parts)) == tuple(parts)


@pytest.mark.parametrize("text", ["Pack of 12\n$48", "Set of 3 $48"])
def test_a_price_behind_a_number_is_a_price(text):
    assert "$48" in tokenize(text)


@pytest.mark.parametrize("text", ["-" * 5000, "1." + "a." * 2500])
def test_a_long_run_without_spaces_is_cut_into_terms_quickly(text):
    started = time.process_time()
    tokenize(text)
    assert time.process_time() - started < 0.05


def test_words_are_plain_and_not_stemmed():
    assert words("Mia’s lamps cost $ 48!") == ("mia's", "lamps", "cost", "$48")


@pytest.mark.parametrize(
    ("word", "expected"), [("lamps", "lamp"), ("mia's", "mia"), ("its", "its"), ("灯", "灯")]
)
def test_stems_are_english_and_leave_short_words_and_other_scripts(word, expected):
    assert stem(word) == expected


# Numbers


@examples(200)
@given(st.integers(0, 10**9))
def test_a_number_in_digits_is_found_as_it_stands_with_or_without_commas(number):
    assert numbers(f"only {number} left") == (str(number),)
    assert numbers(f"only {number:,} left") == (str(number),)


def spell(number):
    """English below a thousand, with the words of the source in their order."""
    units, tens = NUMBER_WORDS[:20], NUMBER_WORDS[20:28]
    if number < 20:
        return units[number]
    if number < 100:
        return tens[number // 10 - 2] + (f"-{units[number % 10]}" if number % 10 else "")
    rest = f" and {spell(number % 100)}" if number % 100 else ""
    return f"{units[number // 100]} hundred{rest}"


def test_the_words_of_numbers_are_those_of_english_in_order():
    assert NUMBER_WORDS[:3] == ("zero", "one", "two")
    assert NUMBER_WORDS[11:14] == ("eleven", "twelve", "thirteen")
    assert NUMBER_WORDS[19:] == (
        *("nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty"),
        *("ninety", "hundred", "thousand"),
    )


@pytest.mark.parametrize("start", range(0, 1000, 250))
def test_numbers_below_a_thousand_are_understood_as_english_spells_them(start):
    for number in range(start, start + 250):
        assert numbers(f"It costs {spell(number)} dollars") == (str(number),)
        assert spelt_number(spell(number)) == number


@pytest.mark.parametrize(
    ("text", "value"), [("one thousand", 1000), ("two hundred thousand", 200_000)]
)
def test_whole_thousands_are_understood(text, value):
    assert spelt_number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("two thousand five hundred", 2500), ("one thousand two hundred and five", 1205)],
)
def test_hundreds_behind_thousands_are_understood(text, value):
    assert spelt_number(text) == value


@pytest.mark.parametrize(
    ("digits", "plain"),
    [("1,299.00", "1299"), ("48.00", "48"), ("48.5", "48.5"), ("12:30", "12:30"), ("1.0", "1")],
)
def test_a_plain_number_has_no_commas_and_no_empty_cents(digits, plain):
    assert plain_number(digits) == plain


def test_words_that_are_no_numbers_count_nothing():
    assert numbers("someone often weighs nothing") == ()
    assert spelt_number("lamp") == 0


# Matching


@pytest.mark.parametrize(
    ("haystack", "needle"),
    [
        ("Light that listens.", "LIGHT THAT LISTENS"),
        ("Lightthatlistens", "light that listens"),
        ("NOW $48", "$48"),
        ("NOW ＄４８", "$48"),
        ("$1,299", "$1299"),
        ("今天半价 48 元", "48元"),
        ("www.lumivo.example", "lumivo"),
        ("MODEL A5", "5"),
        ("25 % OFF", "25% off"),
    ],
)
def test_a_text_is_found_whatever_ocr_did_to_its_spaces(haystack, needle):
    assert contains(haystack, needle)


@pytest.mark.parametrize(
    ("haystack", "needle"),
    [
        ("15", "5"),
        ("call 5551", "555"),
        ("$148", "$14"),
        ("1 5", "15"),
        ("10 20", "1020"),
        ("555-0123", "5550123"),
        ("lamp", ""),
        ("lamp", "!?"),
        ("", "lamp"),
        ("Light that listens.", "listens light"),
    ],
)
def test_a_part_of_a_number_and_nothing_at_all_are_not_found(haystack, needle):
    assert not contains(haystack, needle)


@pytest.mark.parametrize(("haystack", "needle"), [("NOW $499", "$4.99"), ("Model 485", "48.5")])
def test_an_amount_with_cents_is_not_one_a_hundred_times_larger(haystack, needle):
    assert not contains(haystack, needle)


@pytest.mark.parametrize(
    ("haystack", "needle"),
    [
        ("Only $48, 25% off", "$48"),
        ("Only $48, 25% off", "25% off"),
        ("Until 30.6.2026. 25% off", "25% off"),
    ],
)
def test_a_number_is_found_beside_another_one_behind_a_mark(haystack, needle):
    assert contains(haystack, needle)


WORDY = st.text(st.sampled_from("abc灯$% "), min_size=1, max_size=10).filter(normalize)
NUMBER = st.integers(0, 9999).map(str)


@examples(200)
@given(before=WORDY, needle=WORDY | NUMBER, after=WORDY)
def test_what_stands_in_a_text_is_found_in_it(before, needle, after):
    assert contains(f"{before} {needle} {after}", needle)
    assert contains(f"{before}{needle}{after}", needle)


@examples(200)
@given(st.integers(0, 99_999), st.integers(0, 99_999))
def test_a_number_is_found_only_in_itself(a, b):
    assert contains(f"just {a} today", str(b)) == (a == b)
    assert contains(f"{a} {b}", str(b))
    assert contains(f"{a} {b}", str(a))
    assert not contains(f"{a} {b}", f"{a}{b}")


def test_many_threads_stem_at_once_and_alike():
    """The stemmer of the library writes into itself: a shared one mixes words up, or fails."""
    many = [f"{a}{b}{end}" for a in "bcdfg" for b in ("right", "argain", "rill")
            for end in ("ing", "ations", "ness", "ly", "edly")]  # fmt: skip
    right = {word: stem.__wrapped__(word) for word in many}
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda word: (word, stem.__wrapped__(word)), many * 40))
    finally:
        sys.setswitchinterval(before)
    assert [word for word, stemmed in found if stemmed != right[word]] == []


# Excerpts


LONG = "Four friends walk along a beach at dawn and nobody speaks. " * 4


def test_an_excerpt_stands_where_the_words_are_and_cuts_no_word():
    text = f"{LONG}Then a card says JUST LAMPS, 25% off until 30 June. {LONG}"
    found = excerpt(text, 120, "discount lamps june")
    assert "JUST LAMPS, 25% off until 30 June." in found
    assert len(found) <= 120
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert set(found.strip("… ").split()) <= set(text.split())


def test_an_excerpt_without_the_words_is_the_beginning():
    assert excerpt(LONG, 40, "zebra").startswith("Four friends walk")
    assert excerpt(LONG, 40).endswith("…")
    assert excerpt("short", 40, "zebra") == "short"


def test_an_excerpt_of_chinese_is_cut_between_characters():
    text = "春天来了大家一起去公园里面散步看花" * 6 + "全场五折限时三天" + "春天来了" * 20
    assert "五折" in excerpt(text, 40, "五折")


@examples(200)
@given(st.text(max_size=300), st.integers(8, 120), st.text(max_size=30))
def test_an_excerpt_is_never_too_long_and_invents_nothing(text, most, about):
    found = excerpt(text, most, about)
    assert len(found) <= most
    if len(text) <= most:
        assert found == text
    else:
        assert found.removeprefix("… ").removesuffix(" …") in text


@pytest.mark.parametrize(
    ("text", "word", "holds"),
    [
        ("The lamps that listen", "lamp", True),
        ("The lamplighter", "lamp", False),
        ("全场五折", "五折", True),
        ("NOW $48", "48", True),
        ("NOW $148", "48", False),
    ],
)
def test_a_word_is_held_in_any_form_but_not_as_a_part(text, word, holds):
    assert holds_word(text, word) is holds


def test_function_words_say_nothing_of_what_is_sought():
    assert content_words("What is the price of the lamp on the lamp?") == ("price", "lamp")
