"""The command line over a server of models: settings, costs, limits, notices, endings."""

from __future__ import annotations

import json

import pytest

from admir.backends.llm import endpoints
from tests.cli.conftest import admir
from tests.model_replies import calls, evidence_ids, finish
from tests.model_server import Http, ModelServer, play

LOOK = calls(("frame_inspect", {"question": "q", "start_s": 0, "end_s": 0.9}))
QUESTION = "What is seen?"


@pytest.fixture
def endpoint(server: ModelServer, tmp_path, monkeypatch) -> ModelServer:
    """The server, known by the environment, and memories and cache of the test."""
    for name, value in {
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "sk-cli-7d1f",
        "ADMIR_CACHE_FOLDER": str(tmp_path / "cache"),
        "ADMIR_MEMORIES": str(tmp_path / "memories"),
        "ADMIR_SCREEN_TEXT": "none",
        "ADMIR_PRESET": "paper",
    }.items():
        monkeypatch.setenv(name, value)
    return server


def cite(asked):
    return finish("A wall.", *evidence_ids(asked, "frame")[:1])


def models_asked(server):
    return {asked.body["model"] for asked in server.requests}


# Settings


def test_any_setting_can_be_set(call, endpoint, plain_video):
    ran = call(
        *("ask", plain_video, QUESTION, "--json", "--set", "model=mine"),
        *("--set", "answer_words=7", "--set", "communication_expert=false"),
    )
    assert (ran.code, ran.err) == (0, "")
    assert models_asked(endpoint) == {"mine"}
    tools = {t["function"]["name"] for t in endpoint.asked("controller")[0].body["tools"]}
    assert "communication_expert" not in tools


def test_a_setting_may_be_json(call, endpoint, plain_video):
    roles = json.dumps({"verify": {"model": "judge", "temperature": 0.5}})
    assert call("ask", plain_video, QUESTION, "--set", f"roles={roles}").code == 0
    [checked] = endpoint.asked("verify")
    assert (checked.body["model"], checked.body["temperature"]) == ("judge", 0.5)


def test_an_option_of_its_own_wins_over_set(call, endpoint, plain_video):
    ran = call("ask", plain_video, QUESTION, "--preset", "paper", "--set", "preset=offline")
    assert ran.code == 0
    assert endpoint.requests


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("colour=blue", ("setting `colour`",)),
        ("beta=much", ("setting `beta`", "'much'")),
        ("beta=-1", ("setting `beta`",)),
        ("beta", ("--set 'beta'", "NAME=VALUE")),
        ("=3", ("NAME=VALUE",)),
        ('roles={"poet": {}}', ("setting `roles",)),
        ('roles={"refine": {"modle": "x"}}', ("modle",)),
        ('roles={"refine": ', ("setting `roles`",)),
        ("roles=[1]", ("setting `roles`",)),
        ("base_url=ftp://x", ("setting `base_url`", "http")),
    ],
)
@pytest.mark.parametrize("command", ["ask", "build-memory"])
def test_a_wrong_setting_is_one_line(call, endpoint, plain_video, command, text, says):
    question = [QUESTION] if command == "ask" else []
    call(command, plain_video, *question, "--set", text).failed(2, *says)
    assert endpoint.requests == []


def test_a_key_in_a_wrong_setting_is_not_shown(call, endpoint, plain_video):
    for text in ("apikey=sk-cli-secret", 'roles={"refine": {"key": "sk-cli-secret"}}'):
        ran = call("build-memory", plain_video, "--set", text)
        assert ran.code == 2
        assert "sk-cli-secret" not in ran.err


# Costs


def test_an_estimate_is_a_line_and_builds_nothing(call, endpoint, plain_video, tmp_path):
    ran = call("build-memory", plain_video, "--estimate")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("plain.mp4: about ")
    for said in ("1 caption", "1 merge", "1 narrate"):
        assert said in ran.words
    assert "read_text" not in ran.out
    assert endpoint.requests == []
    assert not (tmp_path / "memories").exists()


def test_estimates_for_programs(call, endpoint, plain_video, busy_video):
    rows = call("build-memory", plain_video, busy_video, "--estimate", "--json").rows
    assert [row["video"] for row in rows] == [str(plain_video), str(busy_video)]
    assert [row["parts"]["caption"]["calls"] for row in rows] == [1, 3]
    assert rows[0]["models"]["caption"] == "gpt-4o"
    assert 0 < rows[0]["total"]["cost_usd"] < rows[1]["total"]["cost_usd"]


def test_no_estimate_of_what_costs_nothing_or_is_no_video(call, endpoint, plain_video, tmp_path):
    call("build-memory", plain_video, "--estimate", "--preset", "offline").failed(
        2, "'offline' calls no model"
    )
    call("build-memory", tmp_path / "none.mp4", "--estimate").failed(3, "none.mp4")


def test_replies_are_kept_and_asked_for_anew_without_the_cache(call, endpoint, plain_video):
    assert call("ask", plain_video, QUESTION).code == 0
    first = len(endpoint.requests)
    again = call("ask", plain_video, QUESTION, "--json")
    assert len(endpoint.requests) == first
    assert again.json["usage"]["calls"] == 0
    anew = call("ask", plain_video, QUESTION, "--json", "--no-cache")
    assert len(endpoint.requests) == first + anew.json["usage"]["calls"]
    assert anew.json["usage"]["calls"] > 0


LIMITS = {
    "--max-cost": ("0.0000001", "the budget of $1e-07 is spent"),
    "--max-seconds": ("0.000001", "s is spent"),
    "--max-tokens": ("10", "the budget of 10 tokens is spent"),
}


@pytest.mark.parametrize("flag", LIMITS)
def test_a_limit_ends_the_answer_and_says_so(call, endpoint, plain_video, flag):
    call("build-memory", plain_video)
    limit, says = LIMITS[flag]
    ran = call("ask", "plain", QUESTION, "--json", flag, limit)
    assert ran.code == 0
    assert not ran.json["grounded"]
    assert says in ran.json["reason"]
    assert len(endpoint.asked("controller")) <= 1


@pytest.mark.parametrize("flag", LIMITS)
@pytest.mark.parametrize("value", ["0", "-1", "much"])
def test_a_limit_that_is_none_is_refused(call, endpoint, plain_video, flag, value):
    call("ask", plain_video, QUESTION, flag, value).failed(2)
    assert endpoint.requests == []


# Where frames go


def test_a_server_on_this_machine_is_no_notice(call, endpoint, plain_video):
    assert call("build-memory", plain_video).err == ""
    assert call("ask", "plain", QUESTION).err == ""


@pytest.mark.parametrize("command", ["build-memory", "ask"])
@pytest.mark.parametrize("as_json", [False, True])
def test_where_frames_go_is_said_once_on_stderr(
    call, endpoint, plain_video, busy_video, monkeypatch, command, as_json
):
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://0.0.0.0:{endpoint.port}/v1")
    more = [QUESTION] if command == "ask" else [busy_video]
    ran = call(command, plain_video, *more, *(["--json"] if as_json else []))
    assert ran.code == 0
    assert ran.err == "warning: frames and text of the video go to 0.0.0.0\n"
    assert "0.0.0.0" not in ran.out.replace(str(endpoint.url), "")


def test_the_offline_preset_sends_nothing_and_says_nothing(call, endpoint, plain_video):
    ran = call("build-memory", plain_video, "--preset", "offline")
    assert (ran.code, ran.err) == (0, "")
    assert endpoint.requests == []


# Endings


def test_without_a_key_the_preset_cannot_run(call, endpoint, plain_video, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    call("build-memory", plain_video).failed(7, "OPENAI_API_KEY", "--preset offline")
    call("ask", plain_video, QUESTION).failed(7, "OPENAI_API_KEY")
    call("build-memory", plain_video, "--estimate").failed(7, "OPENAI_API_KEY")


def test_without_a_local_server_the_preset_cannot_run(call, endpoint, plain_video, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setattr(endpoints, "LOCAL_URLS", ("http://127.0.0.1:9/v1",))
    call("build-memory", plain_video, "--preset", "local").failed(7, "'local'", "--preset offline")


@pytest.mark.parametrize("status", [401, 403])
def test_an_endpoint_that_refuses_is_code_7(call, endpoint, plain_video, busy_video, status):
    """Also of several videos: the next would be refused, too."""
    endpoint.script["*"] = lambda asked: Http(status, "who are you?")
    call("build-memory", plain_video, busy_video).failed(7, "who are you?")
    assert len(endpoint.asked("caption")) == 1


def test_a_model_without_a_usable_answer_is_code_9(call, endpoint, plain_video):
    endpoint.script["caption"] = lambda asked: Http(400, "no pictures here")
    call("build-memory", plain_video).failed(9, "no pictures here")
    endpoint.script["caption"] = None
    assert call("build-memory", plain_video).code == 0
    endpoint.script["controller"] = lambda asked: Http(400, "no tools here")
    call("ask", "plain", QUESTION).failed(9, "no tools here")


def test_of_a_table_rows_that_a_model_fails_are_told_and_asked_again(
    call, endpoint, plain_video, tmp_path
):
    call("build-memory", plain_video)
    table, out = tmp_path / "q.csv", tmp_path / "a.jsonl"
    table.write_text("video_id,question\nplain,What is seen?\nplain,What is broken?\n")
    endpoint.script["controller"] = lambda asked: (
        Http(400, "no tools here") if "broken" in asked.text else None
    )
    ran = call("ask", "--questions", table, "--out", out)
    assert ran.code == 8
    assert "no tools here" in ran.words
    endpoint.script["controller"] = play(LOOK, cite)
    again = call("ask", "--questions", table, "--out", out, "--json")
    assert (again.code, again.json["asked"], again.json["reused"]) == (0, 1, 1)


def test_a_clip_that_failed_is_a_warning_of_the_build(call, endpoint, busy_video):
    endpoint.script["caption"] = [Http(400, "one picture offends")]
    ran = call("build-memory", busy_video)
    assert ran.code == 0
    assert "one picture offends" in ran.words
    assert "unchanged" not in call("build-memory", busy_video).out, "it is tried again"
    assert "unchanged" in call("build-memory", busy_video).out


def test_it_works_as_a_process_of_its_own(endpoint, plain_video, tmp_path):
    environment = {
        "OPENAI_BASE_URL": endpoint.url,
        "OPENAI_API_KEY": "sk-cli-7d1f",
        "ADMIR_CACHE_FOLDER": str(tmp_path / "cache"),
    }
    ran = admir(
        *("ask", plain_video, QUESTION, "--json", "--preset", "paper"),
        *("--set", "screen_text=none", "--memories", tmp_path / "memories"),
        env=environment,
    )
    assert ran.code == 0
    [said] = ran.err.splitlines()
    assert "search compares words alone" in said, "nothing here and there embeds: said once"
    assert ran.json["grounded"]
    assert "sk-cli-7d1f" not in ran.out
