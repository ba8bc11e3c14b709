"""Events as data and as JSON Lines."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.trace import (
    Backtracked,
    BuildProgress,
    StepTaken,
    event_name,
    to_json,
    to_plain,
    write_event,
)
from admir.types import Claim, Span, Step, Utterance
from tests.properties import examples
from tests.traces import read_trace

STEP = StepTaken(step=Step(index=1, thought="look 灯", actions=()))
BACK = Backtracked(
    constraint="no range again",
    ranges=(Span(start_s=0.0, end_s=5.0),),
    claims=(Claim(text="It is blue."),),
)


@dataclass(frozen=True)
class Odd:
    """Something of every kind that data may hold."""

    path: Path
    table: dict[int, tuple[float, ...]]
    nothing: None = None


def written(path, *events):
    with path.open("w", encoding="utf-8") as stream:
        for event in events:
            write_event(stream, event)
    return read_trace(path)


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (BuildProgress(stage="hash", done=0, total=0), "build_progress"),
        (STEP, "step_taken"),
        (BACK, "backtracked"),
    ],
)
def test_an_event_is_named_after_its_class(event, name):
    assert event_name(event) == name


def test_data_becomes_plain_lists_tables_and_texts_with_rounded_seconds():
    odd = Odd(path=Path("a/b"), table={1: (0.12345, 2.0)})
    assert to_plain(odd) == {"path": "a/b", "table": {"1": [0.123, 2.0]}, "nothing": None}


def test_a_span_is_told_by_its_start_and_end_in_what_it_belongs_to():
    spoken = Utterance(span=Span(start_s=0.6, end_s=2.5594), text="Hi", speaker="Mia")
    told = {"start_s": 0.6, "end_s": 2.559, "text": "Hi", "speaker": "Mia"}
    unknown = {"language": None, "confidence": None, "words": []}
    assert to_plain(spoken) == told | unknown


def test_events_are_read_back_in_the_order_they_were_written(tmp_path):
    found = written(tmp_path / "t.jsonl", STEP, BACK)
    assert [line["event"] for line in found] == ["step_taken", "backtracked"]
    assert found[0]["step"]["thought"] == "look 灯"
    assert found[1]["ranges"] == [{"start_s": 0.0, "end_s": 5.0}]
    assert found[1]["claims"][0]["status"] == "unverified"


def test_an_event_is_one_line_and_is_on_the_disk_at_once(tmp_path):
    path = tmp_path / "t.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        write_event(stream, BACK)
        assert len(read_trace(path)) == 1
        write_event(stream, STEP)
        assert len(read_trace(path)) == 2


def test_the_memory_of_the_ad_is_plain_json(demo):
    plain = to_plain(demo)
    assert json.loads(json.dumps(plain)) == plain
    assert len(plain["clips"]) == len(demo.clips)


@examples(200)
@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_any_words_stay_on_one_line_of_json(words):
    stream = io.StringIO()
    write_event(stream, Backtracked(constraint=words, ranges=(), claims=()))
    line, rest = stream.getvalue().split("\n", 1)
    assert json.loads(line)["constraint"] == words
    assert rest == ""


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85"])
def test_words_with_a_line_end_of_unicode_are_read_back(tmp_path, mark):
    event = Backtracked(constraint=f"one{mark}two", ranges=(), claims=())
    assert written(tmp_path / "t.jsonl", event)[0]["constraint"] == f"one{mark}two"


@pytest.mark.parametrize("mark", ["\ud800", "\x9b", "\u202e"])
def test_what_a_file_or_a_terminal_would_trip_over_is_escaped(tmp_path, mark):
    event = Backtracked(constraint=f"one{mark}two", ranges=(), claims=())
    assert written(tmp_path / "t.jsonl", event)[0]["constraint"] == f"one{mark}two"
    assert mark.encode("utf-8", "surrogatepass") not in (tmp_path / "t.jsonl").read_bytes()


def test_an_empty_trace_holds_no_events(tmp_path):
    (tmp_path / "t.jsonl").write_text("")
    assert read_trace(tmp_path / "t.jsonl") == []


@pytest.mark.parametrize(
    "plain",
    [{"n": 2**70}, ["\ud800", "\u2028", "\x7f"], {"a": [1, 2.5, None, True]}, "ü" * 3, {}],
)
def test_a_line_is_json_that_says_the_same_and_stays_a_line(plain):
    line = to_json(plain)
    assert json.loads(line) == plain
    assert len(line.splitlines()) == 1
    line.encode("utf-8")


def test_what_is_not_plain_is_made_so():
    assert to_json({"at": Path("a")}, default=str) == '{"at":"a"}'
    with pytest.raises(TypeError):
        to_json({"at": Path("a")})
