"""Which server and which model a preset means, and what is said where there is none."""

from __future__ import annotations

import socket

import pytest

from admir import ask
from admir.backends.llm import Model, endpoints
from admir.backends.llm.endpoints import hosts, role_models
from admir.errors import EndpointError
from tests.backends.llm.asking import said
from tests.model_server import ModelServer


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_without_a_key_the_ways_out_are_named(settings):
    with pytest.raises(EndpointError, match=r"needs a key.*OPENAI_API_KEY.*--preset offline"):
        Model(settings(base_url=None, api_key=None))


def test_an_empty_key_is_none(settings, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    with pytest.raises(EndpointError, match="needs a key"):
        Model(settings(base_url=None, api_key=" "))


def test_a_server_on_this_machine_needs_no_key(server, settings):
    assert said(Model(settings(api_key=None))) == "a red car"


def test_the_first_local_server_that_answers_is_taken(server, settings, monkeypatch):
    nobody = f"http://127.0.0.1:{free_port()}/v1"
    monkeypatch.setattr(endpoints, "LOCAL_URLS", (nobody, server.url))
    local = settings(preset="local", base_url=None, api_key=None)
    model = Model(local)
    assert {each.base_url for each in model.models.values()} == {server.url}
    assert {each.model for each in model.models.values()} == {"tiny-vl"}
    assert said(model) == "a red car"


def test_without_a_local_server_the_ways_out_are_named(settings, monkeypatch):
    monkeypatch.setattr(endpoints, "LOCAL_URLS", (f"http://127.0.0.1:{free_port()}/v1",))
    with pytest.raises(EndpointError, match=r"vLLM.*Ollama.*--preset offline"):
        Model(settings(preset="local", base_url=None))


def test_models_that_do_not_talk_are_passed_over(settings):
    with ModelServer(models=["bge-m3", "nomic-embed-text", "qwen2.5-vl"]) as several:
        model = Model(settings(preset="local", base_url=several.url))
        assert model.models["caption"].model == "qwen2.5-vl"
    with (
        ModelServer(models=["bge-m3"]) as silent,
        pytest.raises(EndpointError, match="no model to talk to"),
    ):
        Model(settings(preset="local", base_url=silent.url))


def test_a_server_that_is_started_later_is_found(settings, monkeypatch):
    """In a notebook: the error says to start a server; then it must be seen."""
    with ModelServer(models=[]) as late:
        local = settings(preset="local", base_url=late.url)
        with pytest.raises(EndpointError):
            Model(local)
        late.models.append("tiny-vl")
        assert Model(local).models["caption"].model == "tiny-vl"


def test_a_server_that_did_not_answer_is_asked_again(settings):
    port = free_port()
    local = settings(preset="local", base_url=f"http://127.0.0.1:{port}/v1")
    with pytest.raises(EndpointError, match="nobody answers"):
        Model(local)
    with ModelServer(port=port):
        assert Model(local).models["caption"].model == "tiny-vl"


@pytest.mark.parametrize("url", ["ftp://x/v1", "models", "http://", "http://x:99999/v1"])
def test_an_address_that_is_none_is_an_error(settings, monkeypatch, url):
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(EndpointError, match="OPENAI_BASE_URL"):
        Model(settings(base_url=None))


def test_hosts_beyond_this_machine_are_named(server, settings):
    assert hosts(role_models(settings()).values()) == ()
    roles = {"expert": {"model": "o1", "base_url": "https://models.invalid/v1", "api_key": "k"}}
    assert hosts(role_models(settings(roles=roles)).values()) == ("models.invalid",)


def test_the_environment_alone_is_enough(grey, server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
    answer = ask(grey, "What is seen?", preset="paper", cache_folder=tmp_path)
    assert answer.grounded
    assert {asked.key for asked in server.requests} == {"sk-env"}
