"""Faults of the reply: cut, fenced, incomplete, of the wrong kind, refused, empty."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from admir.backends.llm.client import RawReply, ToolCall
from admir.backends.llm.parsing import InvalidReply, json_schema, parse_reply
from admir.backends.llm.schemas import (
    AnswerForm,
    CaptionForm,
    CheckForm,
    GroupsForm,
    InspectionForm,
    LinesForm,
)
from admir.backends.llm.typed_client import arguments_of
from admir.concurrency import run_sync
from admir.errors import ModelError
from tests.backends.llm.asking import complete, said
from tests.model_replies import Say
from tests.properties import examples

GOOD = '{"answer": "a red car"}'

BROKEN = {
    "cut": ('{"answer": "a red c', "no whole JSON|breaks off"),
    "cut inside a list": ('{"claims": [{"claim": 1}, {"claim": 2', "breaks off"),
    "not JSON": ("It is a red car.", "no whole JSON object"),
    "a list": ('["a red car"]', "no JSON object|no whole JSON object"),
    "missing field": ('{"reply": "a red car"}', "answer: Field required"),
    "wrong type": ('{"answer": ["a", "red car"]}', "answer: Input should be a valid string"),
    "null": ('{"answer": null}', "answer: Input should be a valid string"),
    "empty": ("", "it is empty"),
    "spaces": (" \n ", "it is empty"),
    "nothing": (None, "it is empty"),
    "length": (Say(content=GOOD, finish="length"), "cut off for its length"),
    "refusal": (Say(refusal="I cannot help with cars"), "I cannot help with cars"),
    "filter": (Say(finish="content_filter"), "it is empty"),
    "deep": ('{"answer": ' + "[" * 3_000, "breaks off|cannot be read|no whole JSON"),
}


def as_reply(content):
    return content if isinstance(content, Say) else Say(content=content)


@pytest.mark.parametrize("name", BROKEN)
def test_a_reply_that_cannot_be_used_goes_back_with_what_is_wrong(server, model, name):
    server.script["refine"] = [as_reply(BROKEN[name][0])]
    reply = complete(model)
    assert reply.value.answer == "a red car"
    assert reply.usage.calls == 2
    first, second = server.requests
    assert second.messages[:2] == first.messages
    assert [m["role"] for m in second.messages[2:]] == ["assistant", "user"]
    assert "cannot be used" in second.messages[3]["content"]


@pytest.mark.parametrize("name", BROKEN)
def test_after_two_corrections_the_error_says_what_was_wrong(server, model, name):
    content, told = BROKEN[name]
    server.script["refine"] = lambda asked: as_reply(content)
    with pytest.raises(ModelError, match=f"no usable reply as refine.*({told})"):
        said(model)
    assert len(server.requests) == 3


SLIPS = {
    "fenced": f"```json\n{GOOD}\n```",
    "fenced without a name": f"```\n{GOOD}\n```",
    "text around": f"Sure! Here is the answer:\n{GOOD}\nI hope that this helps.",
    "text around a fence": f"Sure:\n```json\n{GOOD}\n```\nAnything else?",
    "thinking": f"<think>A car. {{Red}}?</think>\n\n{GOOD}",
    "trailing comma": '{"answer": "a red car",}',
    "single quotes": "{'answer': 'a red car'}",
    "unknown field": '{"answer": "a red car", "mood": "calm"}',
    "comment": '{"answer": "a red car" // the car\n}',
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_of_the_pen_costs_no_second_call(server, model, name):
    server.script["refine"] = [SLIPS[name]]
    assert said(model) == "a red car"
    assert len(server.requests) == 1


TEXTS = st.text(st.sampled_from("ab {}[]\",:\\\n'né中"), max_size=12)
FORMS = st.one_of(
    st.builds(LinesForm, lines=st.lists(TEXTS, max_size=4)),
    st.builds(AnswerForm, answer=TEXTS),
    st.builds(GroupsForm, groups=st.just([])),
)


@given(FORMS, st.booleans())
@examples(80)
def test_whole_replies_are_read_as_they_are(form, fenced):
    text = form.model_dump_json()
    content = f"```json\n{text}\n```" if fenced else text
    assert parse_reply(RawReply(content=content), type(form)) == form


@given(FORMS, st.integers(1, 200))
@examples(200)
def test_a_reply_that_breaks_off_is_never_taken_for_whole(form, left_out):
    text = form.model_dump_json()
    assume(left_out < len(text))
    with pytest.raises(InvalidReply):
        parse_reply(RawReply(content=text[:-left_out]), type(form))


@given(
    st.one_of(
        st.text(max_size=60),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["claims", "claim", "status", "reason", "x"]), inner
                )
            ),
        ).map(json.dumps),
    )
)
@examples(120)
def test_whatever_comes_is_a_form_or_unfit(text):
    with suppress(InvalidReply):
        assert isinstance(parse_reply(RawReply(content=text), CheckForm), CheckForm)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_time_that_is_no_number_is_refused(number):
    """It would make a memory.json that cannot be read again."""
    content = f'{{"summary": "a", "findings": [{{"time_s": {number}, "text": "b"}}]}}'
    with pytest.raises(InvalidReply, match="finite"):
        parse_reply(RawReply(content=content), InspectionForm)


@pytest.mark.parametrize("form", [AnswerForm, CaptionForm, CheckForm, GroupsForm])
def test_schemas_are_as_strict_servers_take_them(form):
    def objects(part):
        if isinstance(part, dict):
            if part.get("type") == "object":
                yield part
            part = list(part.values())
        if isinstance(part, list):
            for each in part:
                yield from objects(each)

    found = list(objects(json_schema(form)))
    assert found
    for each in found:
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])


def test_half_a_character_is_told_and_not_stored(server, model):
    server.script["refine"] = ['{"answer": "a red car \\ud83d"}']
    assert said(model) == "a red car ?"
    assert arguments_of(ToolCall(name="", arguments='{"a": "\\udc00"}')) == {"a": "?"}


def test_half_a_character_of_the_server_does_not_stop_anything(server, model):
    """The body may hold what is no UTF-8 text; it is kept in the cache and sent back."""
    server.script["controller"] = [Say(content="a car \ud83d", calls=(("finish", "{}"),))]
    messages = [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]
    reply = run_sync(model.act("controller", messages, [_TOOL]))
    assert reply.value.thought.startswith("a car")
    assert reply.value.thought.encode()


_TOOL = type("Tool", (), {"name": "finish", "description": "End.", "parameters": {}})()
