"""Settings: from the environment and from arguments, refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from admir.errors import OptionError
from admir.settings import Settings, load_settings
from admir.types import CLIP_S

SECRET = "sk-5e77ings-93b1"

PAPER = {
    "clip_s": 5.0,
    "frame_fps": 1.0,
    "search_top_k": 8,
    "browse_top_k": 40,
    "max_steps": 8,
    "answer_words": 29,
}


def test_the_defaults_are_those_of_the_paper():
    settings = load_settings()
    assert {name: getattr(settings, name) for name in PAPER} == PAPER
    assert (settings.preset, settings.memories) == ("offline", Path("memories"))
    assert settings.clip_s == CLIP_S


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("memories", "/tmp/m", Path("/tmp/m")),
        ("preset", "paper", "paper"),
        ("beta", "2.5", 2.5),
        ("search_top_k", "3", 3),
        ("workers", "64", 64),
    ],
)
def test_each_setting_can_come_from_the_environment(monkeypatch, name, text, value):
    monkeypatch.setenv(f"ADMIR_{name.upper()}", text)
    assert getattr(load_settings(), name) == value


def test_an_argument_wins_over_the_environment_and_none_does_not(monkeypatch):
    monkeypatch.setenv("ADMIR_BETA", "2.5")
    assert load_settings(beta=0.5).beta == 0.5
    assert load_settings(beta=None).beta == 2.5
    assert load_settings(beta=0).beta == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("clip_s", 0.5),
        ("clip_s", 61),
        ("clip_s", float("nan")),
        ("frame_fps", 0),
        ("beta", -0.1),
        ("beta", float("inf")),
        ("search_top_k", 0),
        ("search_top_k", 2.5),
        ("max_steps", "many"),
        ("answer_words", 4),
        ("workers", 0),
        ("preset", "dream"),
        ("colour", "blue"),
        ("memories", 5),
        ("preset", "two\nlines"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line_that_names_it(name, value):
    with pytest.raises(OptionError, match=f"setting `{name}`: ") as caught:
        load_settings(**{name: value})
    assert "\n" not in str(caught.value)
    assert repr(value)[:20] in str(caught.value)


def test_a_wrong_environment_is_refused_in_one_line_that_names_it(monkeypatch):
    monkeypatch.setenv("ADMIR_CLIP_S", "soon")
    with pytest.raises(OptionError, match=r"setting `clip_s`: .*'soon'"):
        load_settings()


def test_the_edges_of_the_ranges_are_allowed():
    settings = load_settings(clip_s=60, frame_fps=10, beta=100, search_top_k=50, workers=1)
    assert (settings.clip_s, settings.frame_fps, settings.workers) == (60, 10, 1)


def test_settings_cannot_be_changed_once_made():
    with pytest.raises(ValidationError, match="frozen"):
        load_settings().beta = 2.0


def test_every_setting_says_what_it_is():
    assert all(field.description for field in Settings.model_fields.values())


# One inside another


def test_a_role_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("ADMIR_ROLES__EXPERT__MODEL", "o1")
    monkeypatch.setenv("ADMIR_ROLES__EXPERT__TIMEOUT_S", "7.5")
    monkeypatch.setenv("ADMIR_ROLES__REFINE__API_KEY", SECRET)
    roles = load_settings().roles
    assert (roles["expert"].model, roles["expert"].timeout_s) == ("o1", 7.5)
    assert roles["refine"].api_key.get_secret_value() == SECRET


def test_prices_come_from_the_environment_as_json(monkeypatch):
    monkeypatch.setenv("ADMIR_PRICES", '{"my-own": {"input": 1, "output": 2}}')
    price = load_settings().prices["my-own"]
    assert (price.input, price.output, price.cached) == (1, 2, None)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ADMIR_ROLES__POET__MODEL", "x", "setting `roles.poet"),
        ("ADMIR_ROLES__EXPERT__MODLE", "x", "modle"),
        ("ADMIR_ROLES__EXPERT__TIMEOUT_S", "soon", "timeout_s"),
        ("ADMIR_ROLES", "{", "roles"),
        ("ADMIR_PRICES", '{"a": {"input": -1, "output": 0}}', "prices.a.input"),
    ],
)
def test_a_wrong_one_inside_is_refused_in_one_line(monkeypatch, name, value, says):
    monkeypatch.setenv(name, value)
    with pytest.raises(OptionError, match=says) as caught:
        load_settings()
    assert "\n" not in str(caught.value)


# The file


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Write the file that ADMIR_CONFIG names."""

    def write(text):
        path = tmp_path / "admir.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        monkeypatch.setenv("ADMIR_CONFIG", str(path))
        return path

    return write


CONFIG = f"""
preset = "local"
model = "qwen"
beta = 0.25

[roles.expert]
model = "o1"
api_key = "{SECRET}"

[prices."org/model:7b"]
input = 0.1
output = 0.2
"""


def test_the_file_gives_what_nobody_else_does(config):
    config(CONFIG)
    settings = load_settings()
    assert (settings.preset, settings.model, settings.beta) == ("local", "qwen", 0.25)
    assert settings.roles["expert"].api_key.get_secret_value() == SECRET
    assert settings.prices["org/model:7b"].output == 0.2
    assert settings.max_steps == 8


def test_arguments_win_over_the_environment_and_that_over_the_file(config, monkeypatch):
    config(CONFIG)
    monkeypatch.setenv("ADMIR_BETA", "0.5")
    monkeypatch.setenv("ADMIR_ROLES__EXPERT__MODEL", "o3")
    settings = load_settings(model="mine")
    assert (settings.model, settings.beta, settings.preset) == ("mine", 0.5, "local")
    expert = settings.roles["expert"]
    assert (expert.model, expert.api_key.get_secret_value()) == ("o3", SECRET), "field by field"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("beta = ", "is no TOML"),
        (b"\xff\xfe", "is no TOML"),
        ("colour = 1", "setting `colour`"),
        ("[roles.poet]", "setting `roles.poet"),
        ("beta = 'much'", "setting `beta`"),
        ("roles = 3", "setting `roles`"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(config, text, says):
    config(text)
    with pytest.raises(OptionError, match=says) as caught:
        load_settings()
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path, monkeypatch):
    for path in (tmp_path / "none.toml", tmp_path):
        monkeypatch.setenv("ADMIR_CONFIG", str(path))
        with pytest.raises(OptionError, match="ADMIR_CONFIG names") as caught:
            load_settings()
        assert str(path) in str(caught.value)


def test_no_file_is_named_by_nothing(monkeypatch):
    monkeypatch.setenv("ADMIR_CONFIG", "")
    assert load_settings().preset == "offline"


# Endpoints and keys


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        (" https://models.invalid/v1/ ", "https://models.invalid/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_an_endpoint_is_kept_without_what_is_too_much(url, kept):
    assert load_settings(base_url=url).base_url == kept


@pytest.mark.parametrize(
    "url",
    [
        f"https://me:{SECRET}@models.invalid/v1",
        f"https://{SECRET}@models.invalid/v1",
        f"https://models.invalid/v1?key={SECRET}",
        f"ftp://models.invalid/{SECRET}",
        f"http://models.invalid:{SECRET}/v1",
        f"http://[{SECRET}/v1",
        SECRET,
        "http:///v1",
        "",
    ],
)
def test_an_endpoint_that_is_none_or_holds_a_secret_is_refused_without_it(url):
    for given in ({"base_url": url}, {"roles": {"expert": {"base_url": url}}}):
        with pytest.raises(OptionError, match="base_url") as caught:
            load_settings(**given)
        assert SECRET not in str(caught.value)


def test_a_key_is_in_no_dump(config):
    config(CONFIG)
    settings = load_settings(api_key=SECRET + "2")
    shown = f"{settings!r}{settings}{settings.model_dump()}{settings.model_dump_json()}"
    assert SECRET not in shown
    assert SECRET not in f"{settings.model_dump(mode='json')}"


@pytest.mark.parametrize(
    "given",
    [
        {"api_key": [SECRET]},
        {"api_key": 5, "apikey": SECRET},
        {"roles": {"expert": {"api_key": {"a": SECRET}}}},
        {"roles": {"expert": {"apikey": SECRET}}},
        {"roles": {"expert": SECRET}},
        {"roles": {"poet": {"api_key": SECRET}}},
        {"roles": [SECRET]},
        {"openai_token": SECRET},
    ],
)
def test_a_key_is_in_no_error(given):
    with pytest.raises(OptionError) as caught:
        load_settings(**given)
    assert SECRET not in str(caught.value)


def test_a_key_is_in_no_error_of_the_environment_and_the_file(config, monkeypatch):
    config(f'[roles.expert]\nmodel = 3\napi_key = "{SECRET}"\n')
    with pytest.raises(OptionError) as caught:
        load_settings()
    assert SECRET not in str(caught.value)
    config(f'api_key = "{SECRET}')
    with pytest.raises(OptionError) as caught:
        load_settings()
    assert SECRET not in str(caught.value)
    config("")
    monkeypatch.setenv("ADMIR_ROLES", f'{{"expert": {{"api_key": "{SECRET}"')
    with pytest.raises(OptionError) as caught:
        load_settings()
    assert SECRET not in str(caught.value)
