"""Keys go to their server and nowhere else: no trace, memory, message or cache holds one."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from admir import ask, build_memory
from admir.backends.llm import Model
from admir.errors import AdmirError
from tests.backends.llm.asking import said
from tests.model_fixtures import KEY
from tests.model_server import Http, Raw

OWN = "sk-of-the-expert-77aa"


def echo(status, before=""):
    """A server that repeats the key in what it says, as careless ones do."""
    return lambda asked: Http(status, f"{before}bad key {asked.key!r} (Bearer {asked.key})")


def files_with(folder: Path, secret: str) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if secret.encode() in path.read_bytes()]


def test_nothing_on_disk_holds_a_key(ramp, server, options, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    options["roles"] = {"expert": {"model": "deep", "api_key": OWN}}
    memory = build_memory(ramp, **options)
    answer = ask(memory, "What is seen?", **options)
    assert answer.trace
    assert {asked.key for asked in server.requests} == {KEY}
    for secret in (KEY, OWN, "sk-of-the-environment"):
        assert files_with(tmp_path, secret) == []
        assert secret not in f"{memory!r}{answer!r}"


def test_a_memory_of_a_server_that_repeats_keys_holds_none(ramp, server, options, tmp_path):
    server.script["caption"] = [None, echo(400)]
    server.script["narrate"] = echo(400)
    server.script["merge"] = echo(400)
    memory = build_memory(ramp, **options)
    assert len(memory.provenance.failed) == 3
    server.script["inspect"] = echo(400)
    server.script["verify"] = echo(400)
    answer = ask(memory, "What is seen?", **options, max_steps=2)
    assert "bad key" in str(answer.steps)
    assert files_with(tmp_path, KEY) == []
    assert KEY not in f"{memory!r}{answer!r}"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500])
@pytest.mark.parametrize("before", ["", "x" * 280])
def test_no_message_of_an_error_holds_a_key(server, model, status, before):
    server.script["*"] = echo(status, before)
    with pytest.raises(AdmirError) as caught:
        said(model)
    assert "bad key" in str(caught.value)
    assert KEY[:12] not in str(caught.value)


def test_no_message_of_an_odd_body_holds_a_key(server, model):
    server.script["*"] = lambda asked: Raw(f'{{"error": "bad key {asked.key}"}}')
    with pytest.raises(AdmirError, match="bad key") as caught:
        said(model)
    assert KEY not in str(caught.value)


def test_a_key_that_cannot_be_sent_is_not_shown(settings):
    for key in ("sk-\u4e2d\u6587-secret", "sk-two\nlines-secret"):
        with pytest.raises(AdmirError) as caught:
            said(Model(settings(api_key=key)))
        assert "secret" not in str(caught.value)


def test_what_is_logged_and_shown_holds_no_key(server, settings, caplog):
    chosen = settings(roles={"expert": {"model": "deep", "api_key": OWN}})
    model = Model(chosen)
    with caplog.at_level(logging.INFO):
        said(model)
    shown = f"{chosen!r}{chosen}{model.models!r}{chosen.model_dump_json()}{caplog.text}"
    assert KEY not in shown
    assert OWN not in shown


def test_a_key_under_a_mistyped_name_is_not_shown(settings):
    for wrong in ({"apikey": "sk-secret"}, {"roles": {"expert": {"key": "sk-secret"}}}):
        with pytest.raises(AdmirError, match="key") as caught:
            settings(**wrong)
        assert "sk-secret" not in str(caught.value)


def test_an_address_with_a_password_is_refused(settings):
    with pytest.raises(AdmirError, match="no user, password") as caught:
        settings(base_url="https://me:sk-secret@models.invalid/v1")
    assert "sk-secret" not in str(caught.value)


def test_an_address_of_the_environment_with_a_password_is_refused(settings, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me:sk-secret@models.invalid/v1")
    with pytest.raises(AdmirError, match="no user, password") as caught:
        Model(settings(base_url=None))
    assert "sk-secret" not in str(caught.value)
