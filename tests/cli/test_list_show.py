"""`admir list` and `admir show`, and what they say of a memory that is damaged or newer."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from admir import Memory
from admir.types import FORMAT_VERSION
from tests.cli.conftest import Call, admir, build_folder, whole_ids

LISTED = {"video_id", "path", "duration_s", "preset", "built_at", "warnings"}


def test_list_without_memories_creates_nothing(call: Call, tmp_path: Path) -> None:
    memories = tmp_path / "none"
    assert call("list", "--memories", memories).words == f"No memories in {memories}."
    assert call("list", "--json", "--memories", memories).json == {"memories": []}
    assert not memories.exists()


def test_list(plain_memories: Path, plain_video: Path) -> None:
    ran = admir("list", "--memories", plain_memories)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1].split() == ["plain", "1.0", "s", "1", "0", "unknown", "offline"]
    ran = admir("list", "--json", "--memories", plain_memories)
    assert (ran.code, ran.err) == (0, "")
    (row,) = ran.json["memories"]
    assert row.keys() >= LISTED
    assert (row["video_id"], row["path"]) == ("plain", str(plain_video))


def test_show_reads_like_a_page(call: Call, demo: Memory, memories: Path) -> None:
    ran = call("show", demo.video.id, "--memories", memories)
    assert (ran.code, ran.err) == (0, "")
    for said in ("LUMIVO", "on screen", "spoken", "subjects", demo.video.path, "0.0-5.0 s"):
        assert said in ran.out


def test_show_with_json_is_the_whole_memory(call: Call, demo: Memory, memories: Path) -> None:
    ran = call("show", demo.video.id, "--json", "--memories", memories)
    assert (ran.code, ran.err) == (0, "")
    shown = ran.json
    assert shown.keys() == {field.name for field in fields(Memory)}
    assert shown["format_version"] == demo.format_version
    assert shown["narrative"]["summary"] == demo.narrative.summary
    assert [clip["caption"] for clip in shown["clips"]] == [clip.caption for clip in demo.clips]
    times = [(line["text"], line["start_s"]) for line in shown["screen_text"]]
    assert times == [(line.text, pytest.approx(line.span.start_s)) for line in demo.screen_text]


def _cut_json(build: Path) -> None:
    data = (build / "memory.json").read_bytes()
    (build / "memory.json").write_bytes(data[: len(data) // 2])


def _other_json(build: Path) -> None:
    (build / "memory.json").write_text('{"video": [], "clips": 5}')


def _no_json(build: Path) -> None:
    (build / "memory.json").unlink()


def _garbage_current(build: Path) -> None:
    (build.parent.parent / "current").write_text("garbage")


def _empty_current(build: Path) -> None:
    (build.parent.parent / "current").write_text("")


def _leading_out_current(build: Path) -> None:
    (build.parent.parent / "current").write_text("../../..")


def _no_builds(build: Path) -> None:
    shutil.rmtree(build.parent)


def _no_frame(build: Path) -> None:
    (build / "frames" / "000000.jpg").unlink()


def _no_vectors(build: Path) -> None:
    (build / "vectors.npy").unlink()


Damage = Callable[[Path], None]
DAMAGES: tuple[Damage, ...] = (
    _cut_json,
    _other_json,
    _no_json,
    _garbage_current,
    _empty_current,
    _leading_out_current,
    _no_builds,
    _no_frame,
    _no_vectors,
)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_memory_says_so(call: Call, plain_copy: Path, damage: Damage) -> None:
    damage(build_folder(plain_copy, "plain"))
    for ran in (
        call("show", "plain", "--memories", plain_copy),
        call("ask", "plain", "Why?", "--memories", plain_copy),
    ):
        ran.failed(5, "memory of 'plain' is damaged", "run `admir build-memory`")
    listed = call("list", "--memories", plain_copy)
    assert (listed.code, "is damaged" in listed.words) == (0, True)
    (row,) = call("list", "--json", "--memories", plain_copy).json["memories"]
    assert row.keys() == {"video_id", "error"}
    assert row["video_id"] == "plain"
    assert row["error"].startswith("the memory of 'plain' is damaged")


@pytest.mark.parametrize(
    "damage",
    [_cut_json, _garbage_current, _no_builds, _no_frame, _no_vectors],
    ids=lambda damage: damage.__name__,
)
def test_a_damaged_memory_is_repaired(
    call: Call, plain_video: Path, plain_copy: Path, damage: Damage
) -> None:
    damage(build_folder(plain_copy, "plain"))
    built = call("build-memory", plain_video, "--json", "--memories", plain_copy).json
    assert (built["video_id"], built["reused"]) == ("plain", False)
    assert whole_ids(call, plain_copy) == ["plain"]
    assert call("ask", "plain", "Why?", "--memories", plain_copy).code == 0


def test_a_question_about_the_file_repairs_its_memory(
    call: Call, plain_video: Path, plain_copy: Path
) -> None:
    _no_frame(build_folder(plain_copy, "plain"))
    assert call("ask", plain_video, "Why?", "--memories", plain_copy).code == 0
    assert whole_ids(call, plain_copy) == ["plain"]


@pytest.mark.parametrize("content", [b"\xff\xfe\x80", b"1" * 300], ids=["not text", "long number"])
def test_garbage_in_current_hides_no_other_memory(
    call: Call, plain_copy: Path, content: bytes
) -> None:
    shutil.copytree(plain_copy / "plain", plain_copy / "other")
    (plain_copy / "other" / "current").write_bytes(content)
    call("show", "other", "--memories", plain_copy).failed(5, "is damaged")
    rows = call("list", "--json", "--memories", plain_copy).json["memories"]
    assert [("error" in row, row["video_id"]) for row in rows] == [
        (True, "other"),
        (False, "plain"),
    ]


def _cut(data: bytes) -> bytes:
    return data[:200]


def _cut_header(data: bytes) -> bytes:
    return data[:20]


def _emptied(data: bytes) -> bytes:
    return b""


def _too_many_rows(data: bytes) -> bytes:
    return _saved(np.zeros((3, 1024), np.float32))


def _narrow(data: bytes) -> bytes:
    return _saved(np.zeros((1, 7), np.float32))


def _of_words(data: bytes) -> bytes:
    return _saved(np.array([["a", "b"]]))


def _saved(rows: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, rows)
    return stream.getvalue()


def _spoil_vectors(memories: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = build_folder(memories, "plain") / "vectors.npy"
    path.write_bytes(spoil(path.read_bytes()))


@pytest.mark.parametrize("spoil", [_cut, _cut_header, _emptied, _too_many_rows])
def test_damaged_vectors_say_so(
    call: Call, plain_copy: Path, spoil: Callable[[bytes], bytes]
) -> None:
    _spoil_vectors(plain_copy, spoil)
    ran = call("ask", "plain", "Why?", "--memories", plain_copy)
    ran.failed(5, "is damaged (vectors.npy", "run `admir build-memory`")


@pytest.mark.parametrize("spoil", [_narrow, _of_words])
def test_vectors_of_another_shape_say_so(
    call: Call, plain_copy: Path, spoil: Callable[[bytes], bytes]
) -> None:
    _spoil_vectors(plain_copy, spoil)
    call("ask", "plain", "Why?", "--memories", plain_copy).failed(5, "vectors")


@pytest.mark.parametrize("spoil", [_cut, _emptied])
def test_damaged_vectors_are_repaired(
    call: Call, plain_video: Path, plain_copy: Path, spoil: Callable[[bytes], bytes]
) -> None:
    _spoil_vectors(plain_copy, spoil)
    assert call("build-memory", plain_video, "--memories", plain_copy).code == 0
    assert call("ask", "plain", "Why?", "--memories", plain_copy).code == 0


def test_a_newer_memory_is_left_alone(call: Call, plain_video: Path, plain_copy: Path) -> None:
    stored = build_folder(plain_copy, "plain") / "memory.json"
    version = f'"format_version": {FORMAT_VERSION}'
    newer = stored.read_text("utf-8").replace(version, '"format_version": 99')
    stored.write_text(newer, "utf-8")
    for command in (
        ("show", "plain"),
        ("ask", "plain", "Why?"),
        ("ask", plain_video, "Why?"),
        ("build-memory", plain_video),
    ):
        call(*command, "--memories", plain_copy).failed(5, "has format 99", "upgrade admir")
    (row,) = call("list", "--json", "--memories", plain_copy).json["memories"]
    assert "format 99" in row["error"]
    assert stored.read_text("utf-8") == newer


def test_what_is_no_memory_is_not_listed(call: Call, plain_copy: Path) -> None:
    (plain_copy / "notes.txt").write_text("mine")
    (plain_copy / "empty").mkdir()
    (plain_copy / "half" / "builds" / "partial-0123").mkdir(parents=True)
    assert whole_ids(call, plain_copy) == ["plain"]


def test_show_tells_the_arc_as_a_table(call: Call, demo: Memory, memories: Path) -> None:
    ran = call("show", demo.video.id, "--memories", memories)
    table = ran.words[ran.words.index("story, by rule") :]
    assert "time role words" in table
    assert "0.0-4.2 s hook STILL WORKING IN THE DARK?" in table
    assert table.index("hook") < table.index("offer") < table.index("call to action")
