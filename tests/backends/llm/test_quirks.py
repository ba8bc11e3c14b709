"""Servers that do not take all that is sent: what they refuse is left out from then on."""

from __future__ import annotations

import pytest

from admir.backends.llm import Model
from admir.errors import ModelError
from tests.backends.llm.asking import said
from tests.model_server import Http

OTHER = "Accepted answer: a blue car"


@pytest.mark.parametrize(
    ("refused", "requests"),
    [
        ({"json_schema"}, 2),
        ({"json_schema", "json_object"}, 3),
        ({"temperature"}, 2),
        ({"max_tokens"}, 2),
        ({"json_schema", "json_object", "temperature", "max_tokens"}, 5),
    ],
)
def test_what_is_refused_is_left_out_from_then_on(server, model, refused, requests):
    server.refuses = refused
    assert said(model) == "a red car"
    assert len(server.requests) == requests
    assert said(model, text=OTHER) == "a blue car"
    assert len(server.requests) == requests + 1, "what was learnt is not forgotten"


@pytest.mark.parametrize("refused", [{"json_schema"}, {"json_schema", "json_object"}])
def test_without_schemas_the_form_is_told_in_words(server, model, refused):
    server.refuses = refused
    said(model)
    last = server.requests[-1]
    assert '"answer"' in last.system
    assert last.system.startswith("# The final wording")
    form = last.body.get("response_format")
    assert form == ({"type": "json_object"} if len(refused) == 1 else None)


def test_a_refusal_may_come_as_unprocessable(server, model):
    """Some servers check what they get by schemas of their own, and answer 422."""
    server.refuses, server.refusal_status = {"json_schema", "temperature"}, 422
    assert said(model) == "a red car"


def test_reasoning_models_on_old_servers(server, settings):
    server.refuses = {"max_completion_tokens"}
    assert said(Model(settings(reasoning=True))) == "a red car"
    assert "max_tokens" in server.requests[-1].body


def test_a_server_with_little_room_says_so(server, model):
    """vLLM names both parameters: trying one, then the other, would never end."""
    words = (
        "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context "
        "length is 4096 tokens and your request has 500 input tokens (4000 > 4096 - 500)."
    )
    server.script["*"] = lambda asked: Http(400, words) if len(server.requests) < 30 else None
    with pytest.raises(ModelError, match="maximum context length"):
        said(model)
    assert len(server.requests) <= 2


def test_a_server_that_refuses_everything_is_an_error(server, model):
    words = "response_format temperature max_tokens max_completion_tokens parallel_tool_calls"
    server.script["*"] = lambda asked: Http(400, words) if len(server.requests) < 30 else None
    with pytest.raises(ModelError, match="refuses"):
        said(model)
    assert len(server.requests) < 10


def test_two_models_of_one_server_are_learnt_apart(server, settings):
    model = Model(settings(roles={"verify": {"model": "other"}}))
    server.refuses = {"temperature"}
    assert said(model) == "a red car"
    server.refuses = set()
    server.script["verify"] = {"answer": "yes"}
    said(model, role="verify")
    assert "temperature" in server.asked("verify")[0].body
