"""Builds that are interrupted, killed, or started twice: whole memories or none, nothing twice."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call, Ran, admir, build_folder, ended, start, wait_for, whole_ids

SEED = 20_261
MARKS = (
    "zebra", "quartz", "window", "ladder", "pepper", "violin",
    "throne", "magnet", "saddle", "cobweb", "jungle", "dinghy",
)  # fmt: skip


def _partial(memories: Path) -> Path | None:
    """The folder of the build under way."""
    return next(memories.glob("busy/builds/partial-*"), None)


def _journal(memories: Path) -> list[tuple[str, Any]]:
    """What the build under way has written down; a line being written is left out."""
    partial = _partial(memories)
    path = partial / "journal.jsonl" if partial else memories
    lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
    return [tuple(json.loads(line)) for line in lines if line.endswith(b"\n")]


def _essence(memories: Path) -> dict[str, Any]:
    """All that a build leaves, but when it was made and how long that took."""
    build = build_folder(memories, "busy")
    memory = json.loads((build / "memory.json").read_bytes())
    for changing in ("built_at", "seconds"):
        del memory["provenance"][changing]
    files = {
        str(path.relative_to(build)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in build.rglob("*")
        if path.is_file() and path.name != "memory.json"
    }
    return {"memory": memory, "files": files}


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A build that ran through, and what another builder said who came meanwhile."""

    memories: Path
    second: Ran


@pytest.fixture(scope="module")
def whole(busy_video: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Build the busy video; a second builder knocks once."""
    memories = tmp_path_factory.mktemp("whole")
    command = ("build-memory", busy_video, "--memories", memories, "--json")
    first = start(*command)
    wait_for(lambda: _journal(memories), first)
    second = admir("build-memory", busy_video, "--memories", memories)
    ran = ended(first)
    assert ran.code == 0, ran
    return Whole(memories=memories, second=second)


def test_of_two_builders_one_builds(call: Call, whole: Whole) -> None:
    if whole.second.code == 0:
        assert whole.second.out.startswith("busy: unchanged")
    else:
        whole.second.failed(6, "another process is building 'busy' now", "wait for it")
    assert whole_ids(call, whole.memories) == ["busy"]
    assert [p.name for p in (whole.memories / "busy" / "builds").iterdir()] == ["1"]


def test_a_killed_build_goes_on_to_the_same_memory(
    call: Call, busy_video: Path, tmp_path: Path, whole: Whole
) -> None:
    """kill -9 at three random moments of one build, each some pieces of work further on."""
    dice = random.Random(SEED)
    moments = [(dice.randrange(least, 3), dice.random() / 10) for least in (0, 1, 1)]
    told = f"seed {SEED}, killed at (pieces further on, seconds after): {moments}"
    for further, after_s in moments:
        aim = len(_journal(tmp_path)) + further
        process = start("build-memory", busy_video, "--memories", tmp_path)
        wait_for(lambda aim=aim: _partial(tmp_path) and len(_journal(tmp_path)) >= aim, process)
        time.sleep(after_s)
        process.kill()
        assert ended(process).code == -signal.SIGKILL, told
        assert not (tmp_path / "busy" / "current").exists(), told
        assert whole_ids(call, tmp_path) == [], told
        assert len(_journal(tmp_path)) >= aim, told
    ran = admir("build-memory", busy_video, "--json", "--memories", tmp_path)
    assert (ran.code, ran.json["reused"]) == (0, False), told
    assert whole_ids(call, tmp_path) == ["busy"], told
    assert _essence(tmp_path) == _essence(whole.memories), told


@dataclass(frozen=True, kw_only=True)
class Interrupted:
    """A build stopped with Ctrl-C after a few frames were read."""

    memories: Path
    ran: Ran
    seconds: float


@pytest.fixture(scope="module")
def interrupted(busy_video: Path, tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    """Start to build the busy video and send SIGINT."""
    memories = tmp_path_factory.mktemp("interrupted")
    process = start("build-memory", busy_video, "--memories", memories)
    wait_for(lambda: len(_journal(memories)) >= 4, process)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    ran = ended(process)
    return Interrupted(memories=memories, ran=ran, seconds=time.monotonic() - sent)


def test_an_interrupted_build_ends_soon_and_keeps_what_is_done(
    call: Call, interrupted: Interrupted
) -> None:
    assert (interrupted.ran.code, interrupted.ran.out) == (130, "")
    assert "Traceback" not in interrupted.ran.err
    assert interrupted.seconds < 5
    assert len(_journal(interrupted.memories)) >= 4
    assert whole_ids(call, interrupted.memories) == []


def test_an_interrupted_build_says_how_to_go_on(interrupted: Interrupted) -> None:
    assert interrupted.ran.err.strip().startswith("stopped; what is done is kept")


def test_frames_read_before_an_interrupt_are_not_read_again(
    call: Call, busy_video: Path, tmp_path: Path, interrupted: Interrupted
) -> None:
    """Mark the readings in the journal: a memory that shows the marks did not read again."""
    memories = Path(shutil.copytree(interrupted.memories, tmp_path / "m"))
    entries = [(key, value) for key, value in _journal(memories) if key.startswith("frames/")]
    marks = dict(zip((key for key, _ in entries), MARKS, strict=False))
    partial = _partial(memories)
    assert partial is not None
    journal = partial / "journal.jsonl"
    journal.write_text("".join(_marked(entry, marks) for entry in _journal(memories)), "utf-8")
    with journal.open("a") as stream:
        stream.write('["frames/000011.jpg", [{"text": "torn')

    ran = admir("build-memory", busy_video, "--json", "--memories", memories)
    assert (ran.code, ran.json["reused"]) == (0, False)
    memory = call("show", "busy", "--json", "--memories", memories).json
    read = {line["text"] for line in memory["screen_text"]}
    assert len(marks) >= 3
    assert set(marks.values()) <= read
    assert "torn" not in read
    assert len(read) > len(marks)
    left = {path.name for path in build_folder(memories, "busy").iterdir()}
    assert left == {"memory.json", "frames", "vectors.npy"}


def _marked(entry: tuple[str, Any], marks: dict[str, str]) -> str:
    key, value = entry
    if key in marks:
        box = [0.1, 0.1, 0.9, 0.3]
        value = [{"text": marks[key], "box": box, "confidence": 0.99, "vertical": False}]
    return json.dumps([key, value]) + "\n"


def test_a_build_that_was_not_yet_made_current_is_made_again(
    call: Call, plain_video: Path, plain_copy: Path
) -> None:
    """Killed between the two renames of a publication."""
    folder = plain_copy / "plain"
    (folder / "current").rename(folder / "current.new")
    assert whole_ids(call, plain_copy) == []
    assert call("build-memory", plain_video, "--memories", plain_copy).code == 0
    assert whole_ids(call, plain_copy) == ["plain"]
    assert not (folder / "current.new").exists()


def test_a_build_killed_before_its_publication_is_made_again(
    call: Call, plain_video: Path, plain_copy: Path
) -> None:
    """The journal is gone then, while the frames and the memory are there."""
    folder = plain_copy / "plain"
    stored = json.loads((folder / "builds" / "1" / "memory.json").read_bytes())
    partial = f"partial-{stored['provenance']['fingerprint'][:16]}"
    (folder / "builds" / "1").rename(folder / "builds" / partial)
    (folder / "current").unlink()
    (folder / "builds" / "partial-of-other-settings").mkdir()
    assert call("build-memory", plain_video, "--memories", plain_copy).code == 0
    assert whole_ids(call, plain_copy) == ["plain"]
    assert [path.name for path in (folder / "builds").iterdir()] == ["1"]


def test_what_a_power_cut_left_is_no_hindrance(
    call: Call, busy_video: Path, tmp_path: Path, interrupted: Interrupted
) -> None:
    """The journal reached the disk, a file that it speaks of did not."""
    memories = Path(shutil.copytree(interrupted.memories, tmp_path / "m"))
    partial = _partial(memories)
    assert partial is not None
    (partial / "thumbs.npz").unlink()
    (partial / "frames" / "000011.jpg").write_bytes(b"")
    assert call("build-memory", busy_video, "--memories", memories).code == 0


@pytest.mark.parametrize(
    "torn", [b'["survey", {"fac', b"", b"\x00" * 50], ids=["half", "empty", "nought"]
)
def test_a_torn_journal_is_no_hindrance(
    call: Call, plain_video: Path, plain_copy: Path, torn: bytes
) -> None:
    folder = plain_copy / "plain"
    stored = json.loads((folder / "builds" / "1" / "memory.json").read_bytes())
    partial = folder / "builds" / f"partial-{stored['provenance']['fingerprint'][:16]}"
    shutil.rmtree(folder / "builds" / "1")
    (partial / "frames").mkdir(parents=True)
    (partial / "journal.jsonl").write_bytes(torn)
    assert call("build-memory", plain_video, "--memories", plain_copy).code == 0
    assert whole_ids(call, plain_copy) == ["plain"]
