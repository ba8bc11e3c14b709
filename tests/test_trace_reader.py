"""A trace file read back is what was told while it was written."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir import ask, open_trace
from admir.demo import QUESTIONS
from admir.errors import MemoryStoreError
from admir.trace import Backtracked, to_plain, write_event
from admir.trace_reader import Trace, _event
from admir.types import Claim, Span
from tests.properties import examples


@pytest.fixture(scope="module")
def asked(demo, memories):
    return ask(demo, QUESTIONS[1], memories=memories)


def test_a_trace_gives_the_steps_and_the_answer_as_they_were(asked):
    trace = open_trace(asked.trace)
    assert trace.question == QUESTIONS[1]
    assert to_plain(trace.answer) == to_plain(asked)
    assert to_plain(trace.steps) == to_plain(asked.steps)
    assert trace.steps[0].observations[0].evidence[0].span.end_s > 0
    assert len(trace.backtracks) == 1


@pytest.fixture
def modelled(grey, options):
    """The trace of a question to models; its controller looks and then answers."""
    return open_trace(ask(grey, "What is seen?", **options).trace)


def test_a_trace_of_models_is_told_whole(modelled):
    kinds = [type(event).__name__ for event in modelled.events]
    assert kinds == ["Asked", "Oriented", "StepTaken", "StepTaken", "Reworded", "Answered"]
    reworded = modelled.events[-2]
    assert (reworded.draft, reworded.answer) == ("A grey wall.", modelled.answer.answer)
    assert reworded.usage.calls == 0, "it was short enough"
    assert modelled.events[1].scores
    assert modelled.answer.usage.calls == 4
    assert modelled.events[0].models["expert"] == "o1"
    [look] = modelled.steps_of("frame_inspect")
    assert look.observations[0].grids_s


def test_writing_a_trace_of_models_again_changes_nothing(modelled, tmp_path):
    path = tmp_path / "again.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for event in modelled.events:
            write_event(stream, event)
    assert path.read_bytes() == Path(modelled.path).read_bytes()
    assert open_trace(path).events == modelled.events


def without(plain, *names):
    """JSON data in which these fields are nowhere."""
    if isinstance(plain, dict):
        return {key: without(each, *names) for key, each in plain.items() if key not in names}
    return [without(each, *names) for each in plain] if isinstance(plain, list) else plain


def test_a_trace_of_an_older_version_can_be_read(modelled, tmp_path):
    """Before models there was no `reword`, no scores of subjects, no hits, no prices."""
    lines = [json.loads(line) for line in Path(modelled.path).read_text("utf-8").splitlines()]
    newer = ("scores", "hits", "grids_s", "unpriced", "retries", "cached", "anchors")
    old = [without(line, *newer) for line in lines if line["event"] != "reworded"]
    path = tmp_path / "old.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in old), encoding="utf-8")
    trace = open_trace(path)
    assert trace.answer.answer == modelled.answer.answer
    assert trace.events[1].scores == ()
    assert [step.thought for step in trace.steps] == [step.thought for step in modelled.steps]
    assert trace.steps[0].observations[0].grids_s == ()


def test_steps_are_found_by_their_tool(asked):
    trace = open_trace(asked.trace)
    [inspected] = trace.steps_of("frame_inspect")
    assert inspected.observations[0].looked_at == Span(start_s=16.5, end_s=17.5)
    assert inspected.actions[0].arguments["start_s"] == 16.5
    assert [s.verdict.accepted for s in trace.steps_of("finish")] == [False, True]
    assert trace.steps_of("no_such_tool") == ()


def test_a_killed_run_leaves_a_trace_that_can_be_read(asked, tmp_path):
    whole = Path(asked.trace).read_bytes()
    second = whole.index(b"step_taken") + 40
    (tmp_path / "t.jsonl").write_bytes(whole[:second])
    trace = open_trace(tmp_path / "t.jsonl")
    assert (trace.question, trace.steps, trace.answer) == (QUESTIONS[1], (), None)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "holds no event"),
        (b"no json\n", "line 1"),
        (b"[1]\n", "line 1"),
        (b'{"event": "dreamt"}\n', "line 1"),
        (b'{"event": "step_taken", "step": {"index": "x"}}\n', "line 1"),
        (b'{"event": "step_taken", "step": null}\n', "line 1"),
        (b'{"event": "backtracked", "constraint": "", "ranges": 3, "claims": []}\n', "line 1"),
        (b"\xff\xfe\n", "line 1"),
        (b"[" * 100_000 + b"\n", "line 1"),
    ],
)
def test_what_is_no_trace_is_one_clear_error(tmp_path, content, told):
    (tmp_path / "t.jsonl").write_bytes(content)
    with pytest.raises(MemoryStoreError, match=told):
        open_trace(tmp_path / "t.jsonl")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MemoryStoreError, match=r"missing\.jsonl"):
        open_trace(tmp_path / "missing.jsonl")


times = st.integers(0, 10**6).map(lambda n: n / 1000)
spans = st.builds(Span, start_s=times, end_s=times)
words = st.text(st.characters(codec="utf-8"), max_size=20)
ids = st.lists(words, max_size=3).map(tuple)
statuses = st.sampled_from(["verified", "expert", "unverified", "contradicted"])
claims = st.builds(Claim, text=words, status=statuses, evidence=ids, reason=words)
events = st.builds(
    Backtracked,
    constraint=words,
    ranges=st.lists(spans, max_size=3).map(tuple),
    claims=st.lists(claims, max_size=3).map(tuple),
)


@examples(60)
@given(events)
def test_writing_and_reading_are_each_others_reverse(event):
    stream = io.StringIO()
    write_event(stream, event)
    back = _event("t", 1, stream.getvalue().encode())
    assert back == event
    assert Trace(path="t", events=(back,)).backtracks == (event,)
