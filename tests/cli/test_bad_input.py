"""Files that are no videos, or odd ones, and questions, ids and options that nobody should ask."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import (
    Call,
    admir,
    encode,
    encode_sound,
    first_half,
    whole_ids,
)
from tests.conftest import flat, write_video


def _no_video(folder: Path, kind: str) -> Path:
    """A file of that kind which holds no video."""
    path = folder / f"{kind}.mp4"
    match kind:
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_text("An ad, they said.\n" * 50)
        case "random":
            path.write_bytes(random.Random(5).randbytes(50_000))
        case "sound":
            encode_sound(path)
        case "m4a":
            path = encode_sound(path.with_suffix(".m4a"))
        case "playlist":
            path.write_text("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n")
        case "headless":
            first_half(encode(folder / "source.mp4", seconds=2), path)
        case "folder":
            path.mkdir()
    return path


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "loop"])
def test_what_is_no_file_is_refused_at_once(call: Call, tmp_path: Path, kind: str) -> None:
    path = Path(kind) if kind == "/dev/zero" else tmp_path / f"{kind}.mp4"
    if kind == "pipe":
        os.mkfifo(path)
    if kind == "loop":
        path.symlink_to(path)
    ran = call("build-memory", path, "--memories", tmp_path / "m")
    ran.failed(3, f"{path.name}' is not a file")
    call("ask", path, "Why?", "--memories", tmp_path / "m").failed(4, "no memory of")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("name", ["-x.mp4", "--help.mp4", "a\nb.mp4", "é" * 125 + ".mp4"])
def test_strange_names_are_names(
    call: Call, plain_video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(plain_video, name)
    ran = call("build-memory", "--memories", "m", "--", name)
    assert (ran.code, ran.err) == (0, "")
    (video_id,) = whole_ids(call, Path("m"))
    assert call("ask", "--memories", "m", "--", name, "Why?").code == 0
    assert call("show", "--memories", "m", "--", video_id).code == 0
    assert call("build-memory", "--memories", "m", ".").words.startswith(f"{video_id}: unchanged")


def test_a_name_that_is_no_text_is_told_in_one_line(plain_video: Path, tmp_path: Path) -> None:
    shutil.copy(plain_video, os.fsencode(tmp_path) + b"/a\xff.mp4")
    ran = admir("build-memory", b"a\xff.mp4", "--memories", "m", cwd=tmp_path)
    ran.failed(3, "is not UTF-8; rename it")
    ran = admir("ask", b"a\xff.mp4", "Why?", "--memories", "m", cwd=tmp_path)
    ran.failed(3, "is not UTF-8; rename it")
    ran = admir("show", b"a\xff", "--memories", b"m\xff", cwd=tmp_path)
    ran.failed(4, "no memory of")


def test_metadata_without_an_end_is_not_read_for_ever(
    call: Call, plain_video: Path, tmp_path: Path
) -> None:
    ran = call("build-memory", plain_video, "--meta", "/dev/zero", "--memories", tmp_path / "m")
    ran.failed(2, "--meta 'zero'", "larger than")


WHY = {
    "missing": "does not exist",
    "folder": "holds no video",
    "empty": "is an empty file",
    "text": "is not a video",
    "random": "is not a video",
    "playlist": "is not a video",
    "headless": "is not a video",
    "sound": "has no picture",
    "m4a": "has no picture",
}


@pytest.mark.parametrize("kind", WHY)
def test_what_is_no_video_is_refused(call: Call, tmp_path: Path, kind: str) -> None:
    path, memories = _no_video(tmp_path, kind), tmp_path / "memories"
    ran = call("build-memory", path, "--memories", memories)
    ran.failed(3, f"{path.name}'", WHY[kind])
    assert not memories.exists()


def test_the_installed_script_refuses_it_too(tmp_path: Path) -> None:
    ran = admir("build-memory", "missing.mp4", "--memories", "m", cwd=tmp_path)
    ran.failed(3, "'missing.mp4' does not exist")
    assert list(tmp_path.iterdir()) == []


def test_with_json_the_refusal_is_the_one_object(call: Call, tmp_path: Path) -> None:
    ran = call("build-memory", tmp_path / "no.mp4", "--json", "--memories", tmp_path)
    assert (ran.code, ran.err) == (3, "")
    assert ran.json.keys() == {"video", "error", "kind"}
    assert ran.json["video"] == str(tmp_path / "no.mp4")
    assert ran.json["kind"] == "video-not-found"


def test_an_error_of_a_build_is_its_only_line(call: Call, tmp_path: Path) -> None:
    assert call("build-memory", tmp_path / "no.mp4", "--memories", tmp_path).err.count("\n") == 1


def test_ask_refuses_a_file_that_is_no_video(call: Call, tmp_path: Path) -> None:
    path = _no_video(tmp_path, "text")
    call("ask", path, "Why?", "--memories", tmp_path / "m").failed(3, "'text.mp4' is not a video")
    assert not (tmp_path / "m").exists()


def test_a_name_too_long_for_the_disk_is_missing(call: Call, tmp_path: Path) -> None:
    call("build-memory", tmp_path / ("x" * 300), "--memories", tmp_path).failed(3, "does not exist")


ODD = {
    "one frame": {"frames": 1, "size": (320, 240)},
    "0.2 s": {"frames": 5, "size": (320, 240)},
    "vertical": {"frames": 10, "size": (180, 320)},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_videos_are_built(call: Call, tmp_path: Path, odd: dict) -> None:
    video = write_video(tmp_path / "odd.mp4", lambda _: flat((40, 90, 200), odd["size"]), **odd)
    assert call("build-memory", video, "--memories", tmp_path).code == 0
    memory = call("show", "odd", "--json", "--memories", tmp_path).json
    assert (memory["video"]["width"], memory["video"]["height"]) == odd["size"]
    assert memory["video"]["duration_s"] == pytest.approx(odd["frames"] / 25, abs=0.05)
    assert len(memory["clips"]) == 1
    assert memory["frames"]
    assert whole_ids(call, tmp_path) == ["odd"]
    assert call("ask", "odd", "What does it cost?", "--memories", tmp_path).code == 0


@pytest.mark.parametrize("size", [(321, 241), (1, 1)])
def test_odd_sizes_are_built(call: Call, tmp_path: Path, size: tuple[int, int]) -> None:
    video = encode(tmp_path / "odd.mkv", size=size, codec="ffv1", pixels="bgr0")
    assert call("build-memory", video, "--memories", tmp_path).code == 0
    memory = call("show", "odd", "--json", "--memories", tmp_path).json
    assert (memory["video"]["width"], memory["video"]["height"]) == size


def test_of_a_file_that_breaks_off_the_readable_part_is_built(call: Call, tmp_path: Path) -> None:
    source = encode(tmp_path / "source.mp4", seconds=8, header_first=True)
    video = first_half(source, tmp_path / "half.mp4")
    ran = call("build-memory", video, "--memories", tmp_path)
    memory = call("show", "half", "--json", "--memories", tmp_path).json
    seconds = memory["video"]["duration_s"]
    assert 2 < seconds < 6
    says = f"the file breaks off: only {seconds:.1f} s of 8.0 s stated can be read"
    assert (ran.code, says in ran.words) == (0, True)
    assert says in memory["provenance"]["warnings"]
    assert says in call("show", "half", "--memories", tmp_path).words
    (listed,) = call("list", "--json", "--memories", tmp_path).json["memories"]
    assert says in listed["warnings"]


def test_a_matroska_file_that_breaks_off_says_so(call: Call, tmp_path: Path) -> None:
    source = encode(tmp_path / "source.mkv", seconds=8)
    ran = call("build-memory", first_half(source, tmp_path / "a.mkv"), "--memories", tmp_path)
    assert (ran.code, "breaks off" in ran.words) == (0, True)


@pytest.mark.parametrize(
    ("question", "says"),
    [("", "is empty"), (" \n\t ", "is empty"), ("q" * 100_000, "100,000 characters")],
    ids=["empty", "spaces", "100,000 characters"],
)
def test_bad_questions(call: Call, plain_memories: Path, question: str, says: str) -> None:
    call("ask", "plain", question, "--memories", plain_memories).failed(2, "the question", says)


def test_a_bad_question_builds_nothing(call: Call, plain_video: Path, tmp_path: Path) -> None:
    call("ask", plain_video, " ", "--memories", tmp_path / "m").failed(2, "the question is empty")
    assert not (tmp_path / "m").exists()


HOSTILE = {
    "unknown": "nope",
    "path": "../../etc/passwd",
    "absolute": "/nowhere/at/all",
    "parent": "..",
    "self": ".",
    "empty": "",
    "long": "x" * 500,
    "markup": "[bold]",
    "newline": "a\nb",
    "star": "*",
}


@pytest.mark.parametrize("video_id", HOSTILE.values(), ids=HOSTILE)
def test_ids_without_a_memory(
    call: Call, plain_copy: Path, monkeypatch: pytest.MonkeyPatch, video_id: str
) -> None:
    monkeypatch.chdir(plain_copy)
    before = sorted(plain_copy.parent.rglob("*"))
    for ran in (
        call("show", "--memories", plain_copy, "--", video_id),
        call("ask", "--memories", plain_copy, "--", video_id, "Why?"),
    ):
        ran.failed(4, "no memory of", "known: plain", "admir build-memory")
        assert len(ran.err) < 400
    assert sorted(plain_copy.parent.rglob("*")) == before


def test_an_id_cannot_lead_out_of_the_folder(call: Call, plain_copy: Path) -> None:
    shutil.copytree(plain_copy / "plain", plain_copy.parent / "outside")
    call("show", "../outside", "--memories", plain_copy).failed(4)


MARKUP = {
    "markup": "Why [bold]loud[/bold] [red]?",
    "closing": "What is [/] and [/bold]?",
    "link": "Is [link=http://x.example]this[/link] it?",
}


@pytest.mark.parametrize("question", MARKUP.values(), ids=MARKUP)
def test_markup_in_a_question_is_shown_as_it_is(
    call: Call, plain_memories: Path, question: str
) -> None:
    ran = call("ask", "plain", question, "--trace", "--memories", plain_memories)
    assert (ran.code, ran.err) == (0, "")
    assert question in ran.out


ESCAPES = "red \x1b[31m title \x1b]0;owned\x07 bell \x07 back \x08 csi \x9b31m end"


def test_escapes_in_a_question_stay_json(call: Call, plain_memories: Path) -> None:
    ran = call("ask", "plain", ESCAPES, "--json", "--memories", plain_memories)
    assert (ran.code, "\x1b" in ran.out) == (0, False)


def test_escapes_in_a_question_do_not_reach_the_terminal(call: Call, plain_memories: Path) -> None:
    ran = call("ask", "plain", ESCAPES, "--trace", "--memories", plain_memories)
    assert ran.code == 0
    assert not set("\x1b\x07\x08\x9b") & set(ran.out)


@pytest.mark.parametrize("source", ["subtitles", "metadata", "file name"])
def test_escapes_in_a_video_do_not_reach_the_terminal(
    call: Call, plain_video: Path, tmp_path: Path, source: str
) -> None:
    name = f"{ESCAPES}.mp4" if source == "file name" else "ad.mp4"
    video, more = Path(shutil.copy(plain_video, tmp_path / name)), []
    if source == "subtitles":
        cue = f"1\n00:00:00,000 --> 00:00:01,000\n{ESCAPES}\n"
        video.with_suffix(".srt").write_text(cue, "utf-8")
    if source == "metadata":
        (tmp_path / "meta.json").write_text(json.dumps({"product": ESCAPES}))
        more = ["--meta", tmp_path / "meta.json"]
    built = call("build-memory", video, "--memories", tmp_path / "m", *more)
    assert built.code == 0
    (video_id,) = whole_ids(call, tmp_path / "m")
    shown = call("show", video_id, "--memories", tmp_path / "m")
    assert "\x1b" not in built.out + shown.out


def test_escapes_in_a_missing_name_do_not_reach_the_terminal(call: Call, tmp_path: Path) -> None:
    ran = call("build-memory", f"{ESCAPES}.mp4", "--memories", tmp_path)
    assert ran.code == 3
    assert "\x1b" not in ran.err


@pytest.mark.parametrize("inside", ["", "deeper/still"])
def test_a_memories_folder_that_cannot_be_written(
    call: Call, plain_video: Path, tmp_path: Path, inside: str
) -> None:
    (tmp_path / "a-file").write_text("mine")
    memories = tmp_path / "a-file" / inside
    call("build-memory", plain_video, "--memories", memories).failed(5, "cannot write to")
    call("ask", plain_video, "Why?", "--memories", memories).failed(5, "cannot write to")
    call("show", "plain", "--memories", memories).failed(4, "no memory of 'plain'")
    assert (tmp_path / "a-file").read_text() == "mine"


@contextmanager
def _without_the_right_to_write(folder: Path) -> Iterator[None]:
    """Skips where the right cannot be taken away: root writes everywhere."""
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("root writes everywhere")
        yield
    finally:
        folder.chmod(0o700)


def test_a_folder_without_the_right_to_write(call: Call, plain_video: Path, tmp_path: Path) -> None:
    with _without_the_right_to_write(tmp_path):
        call("build-memory", plain_video, "--memories", tmp_path / "m").failed(5, "cannot write to")


def test_a_trace_that_cannot_be_written_does_not_cost_the_answer(
    call: Call, plain_copy: Path
) -> None:
    """A memory on a read-only disk can be asked; `traces` as a file stops root as well."""
    _block_traces(plain_copy)
    told = call("ask", "plain", "What does it cost?", "--trace", "--memories", plain_copy)
    assert told.code == 0
    assert "What does it cost?" in told.out
    assert told.err.startswith("warning: no trace is kept: cannot write to ")
    assert told.err.count("\n") == 1
    ran = call("ask", "plain", "What does it cost?", "--json", "--memories", plain_copy)
    assert (ran.code, ran.err, ran.json["trace"]) == (0, "", None)
    assert ran.json["warnings"][0].startswith("no trace is kept: cannot write to ")


def test_a_memory_that_cannot_be_written_is_asked_by_its_video(
    call: Call, plain_video: Path, plain_copy: Path
) -> None:
    """A good memory needs no lock: nothing is written."""
    _block_lock(plain_copy)
    _block_traces(plain_copy)
    assert call("build-memory", plain_video, "--memories", plain_copy).words.startswith(
        "plain: unchanged"
    )
    assert call("ask", plain_video, "What does it cost?", "--memories", plain_copy).code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_of_memories_is_listed_shown_and_asked(
    call: Call, plain_copy: Path
) -> None:
    folders = [plain_copy, *(path for path in plain_copy.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        assert whole_ids(call, plain_copy) == ["plain"]
        assert call("show", "plain", "--memories", plain_copy).code == 0
        assert call("ask", "plain", "Why?", "--memories", plain_copy).code == 0
    finally:
        for folder in folders:
            folder.chmod(0o700)


def test_a_lock_that_cannot_be_opened(
    call: Call, plain_video: Path, plain_copy: Path, tmp_path: Path
) -> None:
    _block_lock(plain_copy)
    (tmp_path / "meta.json").write_text('{"product": "lamp"}')
    ran = call(
        *("build-memory", plain_video, "--memories", plain_copy),
        *("--meta", tmp_path / "meta.json"),
    )
    ran.failed(5, "cannot write to")


def _block_traces(memories: Path) -> None:
    shutil.rmtree(memories / "plain" / "traces", ignore_errors=True)
    (memories / "plain" / "traces").write_text("in the way")


def _block_lock(memories: Path) -> None:
    (memories / "plain" / ".lock").unlink(missing_ok=True)
    (memories / "plain" / ".lock").mkdir()


BAD_META = {
    "missing": (None, "No such file"),
    "not json": ("{product: lamp", "cannot be read as JSON"),
    "not text": (b"\xff\xfe\x00", "cannot be read as JSON"),
    "a list": ("[1, 2]", "must hold one JSON object"),
    "a word": ('"lamp"', "must hold one JSON object"),
    "nothing in a field": ('{"product": null}', "'product' must be a text or a number"),
    "a list in a field": ('{"product": ["lamp"]}', "'product' must be a text or a number"),
}


def _write(path: Path, content: str | bytes | None) -> Path:
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(("content", "says"), BAD_META.values(), ids=BAD_META)
def test_bad_metadata(
    call: Call, plain_video: Path, tmp_path: Path, content: str | bytes | None, says: str
) -> None:
    meta = _write(tmp_path / "meta.json", content)
    ran = call("build-memory", plain_video, "--meta", meta, "--memories", tmp_path / "m")
    ran.failed(2, "--meta 'meta.json'", says)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("content", ["[" * 100_000, '{"product": "\\ud800"}'], ids=["deep", "half"])
def test_metadata_that_only_looks_like_json(
    call: Call, plain_video: Path, tmp_path: Path, content: str
) -> None:
    meta = _write(tmp_path / "meta.json", content)
    call("build-memory", plain_video, "--meta", meta, "--memories", tmp_path / "m").failed(2)


def test_of_several_videos_a_broken_one_is_named_and_the_rest_built(
    call: Call, plain_video: Path, tmp_path: Path
) -> None:
    shutil.copy(plain_video, tmp_path / "good.mp4")
    shutil.copy(plain_video, tmp_path / "fine.mp4")
    _no_video(tmp_path, "text")
    names = ("good.mp4", "text.mp4", "none.mp4", "fine.mp4")
    ran = admir("build-memory", *names, "--memories", "m", cwd=tmp_path)
    assert ran.code == 8
    errors = [line for line in ran.err.splitlines() if line.strip()]
    assert [line.split("'")[1] for line in errors] == ["text.mp4", "none.mp4"]
    assert all(line.startswith("error: ") for line in errors)
    assert "good: built in" in ran.out
    assert "fine: built in" in ran.out
    assert whole_ids(call, tmp_path / "m") == ["fine", "good"]
