"""Spaces that OCR lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.spacing import restore_spaces
from tests.properties import examples


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("Thelinebetween", "The line between"),
        ("WORKINGINTHEDARK", "WORKING IN THE DARK"),
        ("onlineonly.Bulbnotincluded", "online only. Bulb not included"),
        ("Hi,Tom", "Hi, Tom"),
        ("Glow&Go", "Glow & Go"),
    ],
)
def test_lost_spaces_come_back(read, meant):
    assert restore_spaces(read) == meant


@pytest.mark.parametrize(
    "line",
    [
        "LUMIVO",
        "Lumivo",
        "iPhone",
        "Notebook",
        "therapist",
        "everywhere you go",
        "www.thelinebetween.com",
        "@thelinebetween",
        "小明Thelinebetween",
        "Light that listens.",
        "U.S.Army",
        "",
    ],
)
def test_names_words_addresses_and_other_scripts_stay_as_they_are_read(line):
    assert restore_spaces(line) == line


@pytest.mark.parametrize("line", ["Thelinebetween us", "BulbNotIncluded", "Glow&Go", "Now $48"])
def test_a_restored_line_needs_no_second_restoring(line):
    once = restore_spaces(line)
    assert restore_spaces(once) == once


@examples(150)
@given(
    st.text(st.sampled_from("abeiTnO &$.,!5%\n小é"), max_size=25)
    | st.lists(st.sampled_from(["the", "Line", "NOT", "lamp", "."])).map("".join)
)
def test_nothing_but_spaces_is_ever_added(line):
    restored = restore_spaces(line)
    assert restored.replace(" ", "") == line.replace(" ", "")
    assert restored.count(" ") >= line.count(" ")
