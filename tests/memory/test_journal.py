"""The journal of a build: what is recorded survives a kill at any moment."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.memory.journal import Journal
from tests.properties import examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
ENTRIES = st.dictionaries(st.text(max_size=8), JSON, max_size=6)


def write(path, entries):
    journal = Journal(path)
    for key, value in entries.items():
        journal.put(key, value)


def held(journal, entries):
    """How many of the first entries are there, provided that no other one is."""
    there = [key for key in entries if key in journal]
    assert there == list(entries)[: len(there)]
    assert all(journal[key] == entries[key] for key in there)
    return len(there)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.jsonl"


def test_a_new_journal_holds_nothing(path):
    journal = Journal(path)
    assert "survey" not in journal
    with pytest.raises(KeyError):
        journal["survey"]


@examples()
@given(entries=ENTRIES)
def test_what_was_put_is_there_again_after_reopening(tmp_path_factory, entries):
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    write(path, entries)
    assert held(Journal(path), entries) == len(entries)


@examples(120)
@given(entries=ENTRIES, data=st.data())
def test_cut_at_any_byte_it_keeps_every_whole_entry_and_can_go_on(tmp_path_factory, entries, data):
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    write(path, entries)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    kept = held(Journal(path), entries)
    assert kept >= whole[:cut].count(b"\n")
    write(path, dict(list(entries.items())[kept:]) | {"after": 1})
    again = Journal(path)
    assert held(again, entries) == len(entries) - ("after" in entries)
    assert again["after"] == 1


def test_the_last_value_of_a_key_counts(path):
    journal = Journal(path)
    journal.put("a", 1)
    journal.put("a", 2)
    assert Journal(path)["a"] == 2


def test_zeros_that_a_power_cut_leaves_at_the_end_are_dropped(path):
    write(path, {"a": 1})
    path.write_bytes(path.read_bytes() + b"\x00" * 4096)
    journal = Journal(path)
    journal.put("b", 2)
    assert held(Journal(path), {"a": 1, "b": 2}) == 2


def test_threads_that_put_together_lose_nothing(path):
    journal = Journal(path)
    entries = {f"frames/{n}": ["Light that listens."] * 40 for n in range(60)}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda item: journal.put(*item), entries.items()))
    again = Journal(path)
    assert all(again[key] == value for key, value in entries.items())
    assert len([json.loads(line) for line in path.read_text("utf-8").splitlines()]) == 60
