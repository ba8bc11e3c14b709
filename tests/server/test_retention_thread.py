"""The service clears away by itself, and takes no more than the disk holds."""

from __future__ import annotations

import logging
import os
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from admir.errors import MemoryStoreError
from admir.server import disk_quota, retention_thread, uploads
from tests.server.running import serving
from tests.server.sending import ended, send, settings_for, small_video, wait_for
from tests.server.test_app import problem_of


@pytest.fixture
def memories(tmp_path: Path) -> Path:
    """A folder with a memory, an upload that no memory needs, and an old trace."""
    folder = tmp_path / "memories"
    with serving(settings_for(folder)) as client:
        data = small_video(tmp_path / "v.mp4").read_bytes()
        assert ended(client, send(client, data, "v.mp4"))["state"] == "done"
    orphan = folder / ".service" / "uploads" / "0123456789abcdef" / "gone.mp4"
    orphan.parent.mkdir()
    orphan.write_bytes(bytes(1000))
    trace = folder / "v" / "traces" / "old.jsonl"
    trace.parent.mkdir(exist_ok=True)
    trace.write_text("{}\n")
    os.utime(trace, (0, 0))
    return folder


@pytest.mark.parametrize("keep_days", [None, 1.0])
def test_what_nobody_needs_goes_at_the_start(memories, keep_days, caplog):
    caplog.set_level(logging.INFO, "admir.server")
    with serving(settings_for(memories, keep_days=keep_days)) as client:
        wait_for(lambda: [r for r in caplog.records if r.message == "cleared away"])
        assert client.get("/videos/v").json()["media"] is True
    (line,) = [r for r in caplog.records if r.message == "cleared away"]
    old = int(keep_days is not None)
    assert (line.uploads, line.traces, line.freed_bytes) == (1, old, 1000 + 3 * old)
    assert (memories / "v" / "traces" / "old.jsonl").exists() is (keep_days is None)
    assert [p.name for p in (memories / ".service").glob("uploads/*/*")] == ["v.mp4"]


def test_clearing_away_comes_again_keeps_nobody_waiting_and_ends(tmp_path, monkeypatch):
    begun, go_on, threads = [], threading.Event(), set()

    def failing(*_: object) -> None:
        begun.append(threading.current_thread().name)
        threads.add(threading.current_thread())
        go_on.wait(10)
        raise MemoryStoreError("the disk is away")

    monkeypatch.setattr(retention_thread, "clear_away", failing)
    monkeypatch.setattr(retention_thread, "_EVERY_S", 0.01)
    with serving(settings_for(tmp_path)) as client:
        wait_for(lambda: begun)
        assert client.get("/healthz").status_code == 200
        go_on.set()
        wait_for(lambda: len(begun) > 2)
    assert len(threads) == 1
    assert not any(thread.is_alive() for thread in threads)


def test_a_full_folder_takes_no_video_until_one_is_deleted(memories, tmp_path):
    other = small_video(tmp_path / "w.mp4", 90).read_bytes()
    with (memories / "v" / "large").open("wb") as large:
        large.truncate(30_000_000)
    with serving(settings_for(memories, disk_gb=0.02)) as client:
        status, kind, detail = problem_of(send(client, other, "w.mp4"))
        assert (status, kind) == (507, "disk-full")
        assert "admir gc" in detail
        assert "server.disk_gb" in detail
        assert client.get("/videos/v").status_code == 200
        assert client.delete("/videos/v").status_code == 204
        assert send(client, other, "w.mp4").status_code == 202


def test_room_that_runs_out_on_the_way_ends_an_upload(tmp_path, monkeypatch):
    """Several may come at once, and one need not say how long it is."""
    monkeypatch.setattr(disk_quota, "_KNOWN_S", 0.0)
    monkeypatch.setattr(uploads, "_LOOK_BYTES", 2_000_000)
    data = small_video(tmp_path / "v.mp4").read_bytes()
    with serving(settings_for(tmp_path / "memories", disk_gb=0.008)) as client:
        endless = iter([data, *[bytes(1_000_000)] * 40])
        reply = send(client, endless)
        assert problem_of(reply)[:2] == (507, "disk-full")
        assert not list((tmp_path / "memories").rglob("*.part*"))
        assert send(client, data, "v.mp4").status_code == 202


def test_a_disk_that_would_be_full_takes_no_video(tmp_path, monkeypatch):
    data = small_video(tmp_path / "v.mp4").read_bytes()
    with serving(settings_for(tmp_path / "memories")) as client:
        for free, status in ((10**9 + len(data) - 1, 507), (10**9 + len(data), 202)):
            monkeypatch.setattr(
                shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free)
            )
            assert send(client, data).status_code == status
