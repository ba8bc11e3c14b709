"""Help, options, settings from outside, and what happens when nobody reads stdout."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import ADMIR, Call, admir, clean_environment, ended, start

COMMANDS = ("build-memory", "ask", "list", "show", "demo", "doctor")
HEAVY = ("langgraph", "cv2", "torch", "onnxruntime", "av", "openai")
LOADED = f"""
import sys
sys.argv = ["admir", "--help"]
from admir.cli import main
try:
    main()
except SystemExit as ending:
    assert not ending.code
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""


def _seconds_of_help() -> float:
    started = time.monotonic()
    assert admir("--help").code == 0
    return time.monotonic() - started


def test_help_answers_at_once() -> None:
    assert min(_seconds_of_help() for _ in range(3)) < 0.8


def test_help_loads_nothing_heavy() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LOADED],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment(),
    )
    assert "build-memory" in ran.stdout
    assert ran.stderr.strip() == "[]"


def test_help_names_every_command(call: Call) -> None:
    ran = call("--help")
    assert ran.code == 0
    assert all(command in ran.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_memories_preset_and_json(call: Call, command: str) -> None:
    ran = call(command, "--help")
    assert ran.code == 0
    assert all(option in ran.out for option in ("--memories", "--preset", "--json"))


WRONG_USE = {
    "no command": (),
    "no such command": ("nothing",),
    "no video": ("build-memory",),
    "no question": ("ask", "plain"),
    "no such option": ("list", "--nope"),
    "no such preset": ("list", "--preset", "bad"),
}


@pytest.mark.parametrize("arguments", WRONG_USE.values(), ids=WRONG_USE)
def test_wrong_use_has_its_code_and_shows_the_way(call: Call, arguments: tuple[str, ...]) -> None:
    ran = call(*arguments)
    assert ran.code == 2
    assert "Usage:" in ran.out + ran.err
    assert "Traceback" not in ran.err


def test_a_wrong_preset_names_the_right_ones(call: Call) -> None:
    ran = call("list", "--preset", "bad")
    assert all(name in ran.err for name in ("--preset", "'bad'", "offline", "paper", "local"))


def test_wrong_use_is_one_line_of_error(call: Call) -> None:
    call("list", "--preset", "bad").failed(2, "preset")


@pytest.mark.parametrize("preset", ["paper", "local"])
@pytest.mark.parametrize("command", ["build-memory", "ask"])
def test_a_preset_that_cannot_run_here(
    call: Call, plain_video: Path, tmp_path: Path, command: str, preset: str
) -> None:
    rest = ["Why?"] if command == "ask" else []
    ran = call(command, plain_video, *rest, "--preset", preset, "--memories", tmp_path / "m")
    ran.failed(7, preset, "--preset offline")
    assert not (tmp_path / "m").exists()


def test_a_preset_that_cannot_run_does_not_answer_from_a_memory(
    call: Call, plain_memories: Path
) -> None:
    call("ask", "plain", "Why?", "--preset", "paper", "--memories", plain_memories).failed(7)


def test_the_preset_comes_from_the_environment(
    call: Call, plain_video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADMIR_PRESET", "paper")
    call("build-memory", plain_video, "--memories", tmp_path).failed(7, "paper")


def test_memories_come_from_the_environment_and_the_option_wins(
    call: Call, plain_memories: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADMIR_MEMORIES", str(plain_memories))
    assert [m["video_id"] for m in call("list", "--json").json["memories"]] == ["plain"]
    assert call("list", "--json", "--memories", tmp_path).json == {"memories": []}


def test_memories_lie_in_the_working_folder_by_default(plain_memories: Path) -> None:
    folder = plain_memories.parent / "of-a-person"
    folder.mkdir(exist_ok=True)
    assert admir("list", cwd=folder).words == "No memories in memories."
    assert list(folder.iterdir()) == []


def test_an_empty_folder_name_is_not_the_working_folder(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("list", "--memories", "").failed(2, "`memories`", "must name a folder")
    monkeypatch.setenv("ADMIR_MEMORIES", "")
    call("list").failed(2, "`memories`", "must name a folder")


@pytest.mark.parametrize(("name", "value"), [("BETA", "abc"), ("CLIP_S", "0"), ("MAX_STEPS", "")])
def test_a_bad_setting(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"ADMIR_{name}", value)
    call("list", "--memories", tmp_path).failed(2, f"`{name.lower()}`", repr(value))


def _unread(*arguments: str | Path) -> tuple[int, str]:
    """Run with a stdout that nobody reads, as after `| head` has gone."""
    reading, writing = os.pipe()
    os.close(reading)
    process = start(*arguments, stdout=writing)
    os.close(writing)
    ran = ended(process)
    return ran.code, ran.err.strip()


@pytest.mark.parametrize("arguments", [("list",), ("show", "plain")])
def test_a_closed_pipe_ends_quietly(plain_memories: Path, arguments: tuple[str, ...]) -> None:
    assert _unread(*arguments, "--memories", plain_memories) == (1, "")


@pytest.mark.parametrize("arguments", [("list", "--json"), ("show", "plain", "--json")])
def test_a_closed_pipe_ends_quietly_with_json(
    plain_memories: Path, arguments: tuple[str, ...]
) -> None:
    assert _unread(*arguments, "--memories", plain_memories) == (1, "")


def test_a_missing_stdout_is_no_fault(plain_memories: Path) -> None:
    ran = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", ADMIR, "list", "--memories", plain_memories],
        capture_output=True,
        check=True,
        env=clean_environment(),
    )
    assert ran.stderr == b""
