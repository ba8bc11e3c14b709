"""`admir build-memory` with folders: which files are taken, and what a broken one does."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path
from typing import Any

import pytest

from admir.backends.factory import open_reader
from admir.batch.folders import VIDEO_SUFFIXES, videos_in
from admir.errors import VideoNotFound
from admir.perception import ocr_models
from admir.types import Memory
from tests.cli.conftest import Call, encode, first_half, whole_ids
from tests.conftest import flat, write_video

GOOD = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve good videos of different lengths, three broken ones, and what is no video."""
    folder = tmp_path_factory.mktemp("many") / "ads"
    folder.mkdir()
    for n in range(GOOD):
        write_video(folder / f"ad-{n:02d}.MP4", lambda _: flat((1, 2, 3), (64, 64)), frames=n + 1)
    (folder / "broken-empty.mp4").write_bytes(b"")
    (folder / "broken-text.mov").write_text("An ad, they said.\n")
    first_half(encode(folder.parent / "source.mp4", seconds=2), folder / "broken-half.mp4")
    (folder / "notes.txt").write_text("no video")
    (folder / "._ad-00.MP4").write_bytes(b"\0\5\x16\7")
    (folder / "deeper.mp4").mkdir()
    shutil.copy(folder / "ad-00.MP4", folder / "deeper.mp4" / "inside.mp4")
    return folder


def test_a_folder_is_built_and_broken_videos_are_named(
    call: Call, folder: Path, tmp_path: Path
) -> None:
    ran = call("build-memory", folder, "--memories", tmp_path / "m")
    assert ran.code == 8
    assert whole_ids(call, tmp_path / "m") == [f"ad-{n:02d}" for n in range(GOOD)]
    assert "[1/15] ad-00: built in" in ran.out
    assert "[12/15] ad-11: built in" in ran.out
    summary = ran.words[ran.words.index("12 of 15 videos have a memory, 3 failed:") :]
    for name, reason in (
        ("broken-empty.mp4", "is an empty file"),
        ("broken-half.mp4", "is not a video"),
        ("broken-text.mov", "is not a video"),
    ):
        assert f"{name}: '{name}' {reason}" in summary
    assert [line[:6] for line in ran.err.splitlines()] == ["error:"] * 3

    again = call("build-memory", folder, "--json", "--memories", tmp_path / "m")
    assert again.code == 8
    assert [row.get("reused") for row in again.rows] == [True] * GOOD + [None] * 3


def test_models_are_loaded_once_and_memories_are_let_go(
    call: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, load, alive = [], ocr_models._load_engine, []
    monkeypatch.setattr(ocr_models, "_load_engine", lambda: loaded.append(1) or load())

    def count(line: str) -> None:
        if line.startswith(("[2/", "[12/")):
            alive.append(_living(Memory))

    monkeypatch.setattr("admir.cli.build.say", count)
    open_reader.cache_clear()
    before = _living(Memory)
    assert call("build-memory", folder, "--memories", tmp_path / "m").code == 8
    assert 1 <= len(loaded) <= 2
    assert len(alive) == 2
    assert max(alive) <= before + 2


def _living(kind: type[Any]) -> int:
    gc.collect()
    return sum(type(each) is kind for each in gc.get_objects())


def test_files_and_folders_together(
    call: Call, folder: Path, plain_video: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    few = tmp_path / "few"
    few.mkdir()
    shutil.copy(folder / "ad-03.MP4", few / "three.webm")
    ran = call("build-memory", plain_video, tmp_path / "empty", few, "--memories", tmp_path / "m")
    assert ran.code == 8
    assert whole_ids(call, tmp_path / "m") == ["plain", "three"]
    assert "2 of 3 videos have a memory, 1 failed: empty: the folder 'empty' holds no" in ran.words


def test_one_video_in_a_folder_is_told_as_one(call: Call, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    shutil.copy(folder / "ad-03.MP4", tmp_path / "one" / "ad.mp4")
    ran = call("build-memory", tmp_path / "one", "--memories", tmp_path / "m")
    assert ran.code == 0
    assert ran.out.startswith("ad: built in")
    assert "videos have a memory" not in ran.out


@pytest.mark.parametrize("holds", ["nothing", "no video"])
def test_a_folder_without_a_video(call: Call, tmp_path: Path, holds: str) -> None:
    (tmp_path / "ads").mkdir()
    if holds == "no video":
        (tmp_path / "ads" / "list.csv").write_text("a,b\n")
    ran = call("build-memory", tmp_path / "ads", "--memories", tmp_path / "m")
    ran.failed(3, "the folder 'ads' holds no video", ".mp4")
    assert not (tmp_path / "m").exists()


def test_escapes_in_a_name_do_not_reach_the_terminal(
    call: Call, folder: Path, tmp_path: Path
) -> None:
    ads = tmp_path / "a\x1b[31md"
    ads.mkdir()
    shutil.copy(folder / "ad-01.MP4", ads / "red \x1b]0;owned\x07.mp4")
    (ads / "broken \x1b[2J.mp4").write_text("no")
    ran = call("build-memory", ads, "--memories", tmp_path / "m")
    assert ran.code == 8
    assert not {"\x1b", "\x07"} & set(ran.out + ran.err)


def test_a_preset_that_cannot_run_is_told_once(call: Call, folder: Path, tmp_path: Path) -> None:
    ran = call("build-memory", folder, "--preset", "paper", "--memories", tmp_path / "m")
    ran.failed(7, "paper")


def test_the_order_is_that_of_the_names(tmp_path: Path) -> None:
    for name in ("b.MP4", "a.mkv", "c.ts", "d.jpg"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "e.mov").symlink_to("b.MP4")
    (tmp_path / "f.mov").symlink_to("gone")
    names = [path.name for path in videos_in(tmp_path)]
    assert names == ["a.mkv", "b.MP4", "c.ts", "e.mov"]
    assert videos_in(tmp_path / "d.jpg") == [tmp_path / "d.jpg"]
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in VIDEO_SUFFIXES)
    with pytest.raises(VideoNotFound, match="holds no video"):
        videos_in(_made(tmp_path / "empty"))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
