"""Which recogniser of speech is opened, and what is said where there is none."""

from __future__ import annotations

import pytest

from admir.backends import factory
from admir.backends.factory import asr_unavailable_reason, open_transcriber
from admir.errors import BackendUnavailable
from admir.settings import load_settings
from benchmarks.whisper_shape import write_whisper


@pytest.fixture
def installed(monkeypatch):
    """Let only these modules be installed."""

    def only(*modules):
        monkeypatch.setattr(factory, "find_spec", lambda name: name in modules or None)

    only()
    return only


def of(**settings):
    return load_settings(**settings)


def test_with_nothing_installed_auto_has_none_and_says_what_to_do(installed):
    assert open_transcriber(of()) is None
    why = asr_unavailable_reason(of())
    assert 'pip install "admir[speech]"' in why
    assert "fetch-models" in why


@pytest.mark.parametrize(
    ("engine", "extra"), [("faster-whisper", "speech"), ("whisperx", "whisperx")]
)
def test_one_that_is_asked_for_and_not_installed_is_an_error(installed, engine, extra):
    with pytest.raises(BackendUnavailable) as caught:
        open_transcriber(of(speech=engine))
    assert engine in str(caught.value)
    assert f'pip install "admir[{extra}]"' in str(caught.value)
    assert asr_unavailable_reason(of(speech=engine)) == ""


@pytest.mark.parametrize("speech", ["none", "ad.srt"])
def test_where_none_is_wanted_none_is_looked_for(monkeypatch, speech):
    monkeypatch.setattr(factory, "find_spec", pytest.fail)
    assert open_transcriber(of(speech=speech)) is None
    assert asr_unavailable_reason(of(speech=speech)) == ""


@pytest.mark.parametrize("engine", ["faster-whisper", "whisperx"])
@pytest.mark.parametrize(("name", "what"), [("large-v3-turbo", "fetch-models"), ("./gone", "gone")])
def test_missing_weights_are_named_with_what_to_do(installed, engine, name, what):
    installed("faster_whisper", "whisperx")
    settings = of(speech_model=name)
    assert open_transcriber(settings) is None
    assert what in asr_unavailable_reason(settings)
    assert "`--speech none`" in asr_unavailable_reason(settings)
    with pytest.raises(BackendUnavailable, match=name):
        open_transcriber(of(speech=engine, speech_model=name))


@pytest.mark.parametrize(
    ("modules", "speech", "opened"),
    [
        (("whisperx", "faster_whisper"), "auto", "whisperx"),
        (("faster_whisper",), "auto", "faster-whisper"),
        (("whisperx", "faster_whisper"), "faster-whisper", "faster-whisper"),
    ],
)
def test_auto_prefers_whisperx(installed, monkeypatch, tmp_path, modules, speech, opened):
    installed(*modules)
    monkeypatch.setattr(factory, "_opened", lambda engine, folder, _: (engine, folder))
    monkeypatch.setattr(factory, "find_weights", lambda *_: tmp_path)
    settings = of(speech=speech, speech_model=str(tmp_path))
    assert open_transcriber(settings) == (opened, tmp_path)
    assert asr_unavailable_reason(settings) == ""


@pytest.mark.extra("speech")
def test_what_is_opened_names_itself_and_loads_nothing(tmp_path):
    weights = write_whisper(tmp_path / "my-whisper")
    opened = open_transcriber(of(speech="faster-whisper", speech_model=str(weights)))
    assert opened.id.startswith("faster-whisper 1.")
    assert ", my-whisper@" in opened.id
