"""`admir build-memory`: names, ids, what is built anew and what is not, and what it prints."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Call, admir, whole_ids
from tests.conftest import flat, write_video

FIELDS = {"video_id", "reused", "seconds", "stages", "warnings"}
NAMES = {
    "spaces": ("a  long name .mp4", "a-long-name"),
    "quotes": ("""it's "new" `here`.mp4""", "it-s-new-here"),
    "chinese": ("新品广告 片.mp4", "新品广告-片"),
    "emoji": ("🎬🔥.mp4", "video"),
    "markup": ("[bold]loud[red].mp4", "bold-loud-red"),
    "newline": ("two\nlines.mp4", "two-lines"),
    "long": ("n" * 200, "n" * 60),
}


@pytest.mark.parametrize(("name", "video_id"), NAMES.values(), ids=NAMES)
def test_any_name_is_built(
    call: Call, plain_video: Path, tmp_path: Path, name: str, video_id: str
) -> None:
    video = Path(shutil.copy(plain_video, tmp_path / name))
    ran = call("build-memory", video, "--memories", tmp_path / "m")
    assert (ran.code, ran.err.strip()) == (0, "")
    assert ran.out.startswith(f"{video_id}: built in ")
    assert whole_ids(call, tmp_path / "m") == [video_id]
    (listed,) = call("list", "--json", "--memories", tmp_path / "m").json["memories"]
    assert listed["path"] == str(video)
    assert call("show", video_id, "--memories", tmp_path / "m").code == 0


def test_a_leading_dash_and_parent_folders(
    call: Call, plain_video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    shutil.copy(plain_video, tmp_path / "here" / "-ad.mp4")
    shutil.copy(plain_video, tmp_path / "above.mp4")
    names = ("-ad.mp4", "../here/../above.mp4")
    ran = call("build-memory", "--memories", "../m", "--", *names)
    assert ran.code == 0
    assert whole_ids(call, tmp_path / "m") == ["above", "ad"]


def test_a_colon_in_a_relative_name(
    call: Call, plain_video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(plain_video, "Lamp: the ad.mp4")
    assert call("build-memory", "Lamp: the ad.mp4").code == 0


def test_a_name_that_is_not_utf_8(call: Call, plain_video: Path, tmp_path: Path) -> None:
    video = shutil.copy(plain_video, tmp_path / os.fsdecode(b"caf\xe9.mp4"))
    assert call("build-memory", video, "--memories", tmp_path / "m").code in (0, 3)


def test_with_json_one_object_a_video_and_nothing_else(plain_video: Path, tmp_path: Path) -> None:
    shutil.copy(plain_video, tmp_path / "one.mp4")
    names = ("one.mp4", "none.mp4")
    ran = admir("build-memory", *names, "--json", "--memories", "m", cwd=tmp_path)
    assert (ran.code, ran.err) == (8, "")
    built, failed = ran.rows
    assert built.keys() >= FIELDS
    assert (built["video_id"], built["reused"]) == ("one", False)
    assert built["seconds"] == pytest.approx(sum(built["stages"].values()), abs=0.01)
    assert built["stages"].keys() >= {"hash", "decode", "read text", "caption", "store"}
    assert any("no sound" in warning for warning in built["warnings"])
    assert failed.keys() == {"video", "error", "kind"}
    assert (failed["video"], failed["kind"]) == ("none.mp4", "video-not-found")


def test_an_unchanged_video_is_reused_at_once(
    call: Call, plain_video: Path, plain_copy: Path
) -> None:
    row = call("build-memory", plain_video, "--json", "--memories", plain_copy).json
    assert row.keys() >= FIELDS
    assert (row["video_id"], row["reused"]) == ("plain", True)
    assert row["seconds"] < 1
    ran = call("build-memory", plain_video, "--memories", plain_copy)
    assert ran.out.startswith("plain: unchanged;")
    assert [p.name for p in (plain_copy / "plain" / "builds").iterdir()] == ["1"]


def test_a_copy_elsewhere_has_the_same_memory(
    call: Call, plain_video: Path, plain_copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    copied = shutil.copy(plain_video, tmp_path / "other" / "plain.mp4")
    row = call("build-memory", copied, "--json", "--memories", plain_copy).json
    assert (row["video_id"], row["reused"]) == ("plain", True)


def test_two_files_of_one_name_and_new_content(call: Call, tmp_path: Path) -> None:
    """Two files of one stem have two ids; a path that gets other content keeps its own."""
    memories, folders = tmp_path / "m", (tmp_path / "a", tmp_path / "b")
    for folder, frames in zip(folders, (5, 10), strict=True):
        folder.mkdir()
        write_video(folder / "ad.mp4", lambda _: flat((1, 2, 3)), frames=frames)
    videos = [folder / "ad.mp4" for folder in folders]
    first, second = call("build-memory", *videos, "--json", "--memories", memories).rows
    assert first["video_id"] == "ad"
    assert second["video_id"].startswith("ad-")
    again = call("build-memory", *videos, "--json", "--memories", memories).rows
    assert [(r["video_id"], r["reused"]) for r in again] == [
        ("ad", True),
        (second["video_id"], True),
    ]

    write_video(videos[0], lambda _: flat((3, 2, 1)), frames=15)
    anew = call("build-memory", videos[0], "--json", "--memories", memories).json
    assert (anew["video_id"], anew["reused"], anew["duration_s"]) == ("ad", False, 0.6)
    assert whole_ids(call, memories) == ["ad", second["video_id"]]


def test_new_content_under_a_shared_name_keeps_its_id(call: Call, tmp_path: Path) -> None:
    """Else the old memory stays and says that it is of this path."""
    for folder, frames in (("a", 5), ("b", 10)):
        (tmp_path / folder).mkdir()
        write_video(tmp_path / folder / "ad.mp4", lambda _: flat((1, 2, 3)), frames=frames)
    videos = (tmp_path / "a" / "ad.mp4", tmp_path / "b" / "ad.mp4")
    rows = call("build-memory", *videos, "--json", "--memories", tmp_path / "m").rows
    write_video(videos[1], lambda _: flat((3, 2, 1)), frames=15)
    assert call("build-memory", videos[1], "--memories", tmp_path / "m").code == 0
    assert whole_ids(call, tmp_path / "m") == sorted(row["video_id"] for row in rows)


def test_metadata_is_stored_and_shown(
    call: Call, plain_video: Path, plain_copy: Path, tmp_path: Path
) -> None:
    meta = tmp_path / "meta.json"
    meta.write_text(json.dumps({"product": "Lampe [bold]灯", "year": 2026}), "utf-8")
    command = ("build-memory", plain_video, "--json", "--memories", plain_copy)
    assert call(*command, "--meta", meta).json["reused"] is False
    assert call(*command, "--meta", meta).json["reused"] is True
    memory = call("show", "plain", "--json", "--memories", plain_copy).json
    assert memory["video"]["metadata"] == {"product": "Lampe [bold]灯", "year": "2026"}
    assert "product: Lampe [bold]灯" in call("show", "plain", "--memories", plain_copy).out
    assert call(*command).json["reused"] is True, "without --meta a memory keeps what it has"
    meta.write_text("{}", "utf-8")
    assert call(*command, "--meta", meta).json["reused"] is False


def test_a_question_about_the_file_keeps_its_metadata(
    call: Call, plain_video: Path, plain_copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "meta.json").write_text('{"product": "Lamp"}')
    more = ("--meta", tmp_path / "meta.json", "--memories", plain_copy)
    assert call("build-memory", plain_video, *more).code == 0
    assert call("ask", plain_video, "Why?", "--memories", plain_copy).code == 0
    assert "product: Lamp" in call("show", "plain", "--memories", plain_copy).out


def test_subtitles_that_come_later_are_taken_up(
    call: Call, plain_video: Path, tmp_path: Path
) -> None:
    video = Path(shutil.copy(plain_video, tmp_path / "ad.mp4"))
    assert call("build-memory", video, "--memories", tmp_path / "m").code == 0
    video.with_suffix(".srt").write_text("1\n00:00:00,100 --> 00:00:00,900\nTom: Hello there.\n")
    assert "1 spoken" in call("build-memory", video, "--memories", tmp_path / "m").out
    assert "Hello there." in call("show", "ad", "--memories", tmp_path / "m").out
