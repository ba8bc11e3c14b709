"""`admir build-memory --speech`: files, engines, languages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.whisper_shape import write_whisper
from tests.cli.conftest import Call
from tests.perception.voices import voice, write_sounding

CUE = "1\n00:00:00,100 --> 00:00:00,900\nGood morning\n"


def test_a_file_of_subtitles_is_taken(call: Call, plain_video: Path, tmp_path: Path) -> None:
    (tmp_path / "said.srt").write_text(CUE)
    options = ("--memories", tmp_path / "m", "--speech", tmp_path / "said.srt")
    ran = call("build-memory", plain_video, *options)
    assert "1 spoken" in ran.out
    assert "unchanged" in call("build-memory", plain_video, *options).out
    (tmp_path / "said.srt").write_text(CUE.replace("morning", "night"))
    assert "built in" in call("build-memory", plain_video, *options).out


@pytest.mark.parametrize("name", ["gone.srt", "~nobody-at-all/gone.srt", "o" * 5000 + ".srt"])
def test_a_file_that_is_not_there_is_refused(call: Call, plain_video: Path, name: str) -> None:
    call("build-memory", plain_video, "--speech", name).failed(2, name[:20], "no such file")


def test_a_file_belongs_to_one_video(call: Call, plain_video: Path, tmp_path: Path) -> None:
    (tmp_path / "said.srt").write_text(CUE)
    other = shutil.copy(plain_video, tmp_path / "other.mp4")
    ran = call("build-memory", plain_video, other, "--speech", tmp_path / "said.srt")
    ran.failed(2, "said.srt", "one video")


@pytest.mark.parametrize(("option", "value"), [("--speech", "ears"), ("--language", "English")])
def test_what_is_no_kind_and_no_language_is_refused(
    call: Call, plain_video: Path, option: str, value: str
) -> None:
    call("build-memory", plain_video, option, value).failed(2, option.strip("-"), value)


@pytest.mark.extra("speech")
def test_speech_is_recognised_and_shown(call: Call, tmp_path: Path) -> None:
    video = write_sounding(tmp_path / "talk.mkv", voice())
    weights = write_whisper(tmp_path / "tiny")
    options = ("--memories", tmp_path / "m", "--set", f"speech_model={weights}")
    ran = call("build-memory", video, *options, "--speech", "faster-whisper", "--language", "en")
    assert (ran.code, ran.err.strip()) == (0, "")
    assert "2 spoken" in ran.out
    shown = call("show", "talk", "--memories", tmp_path / "m").words
    assert "faster-whisper 1." in shown
    assert "tiny@" in shown
    assert ": en (" in shown


@pytest.mark.extra("speech")
def test_weights_that_are_missing_are_one_line(call: Call, plain_video: Path) -> None:
    ran = call("build-memory", plain_video, "--speech", "faster-whisper")
    ran.failed(7, "large-v3-turbo", "admir fetch-models", "--speech none")
