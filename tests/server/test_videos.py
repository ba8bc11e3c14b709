"""Sending videos over a real socket: every way in, every wrong use, and taking them out again."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from admir.memory.store import MemoryStore
from admir.server import security, worker
from admir.server.uploads import safe_name
from tests.drawing import flat, write_video
from tests.server.running import serving
from tests.server.sending import (
    Endless,
    ended,
    send,
    settings_for,
    small_video,
    until,
    wait_for,
)
from tests.server.test_app import problem_of


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `root`, which the service may read, and `memories`."""
    folder = tmp_path_factory.mktemp("service")
    (folder / "root").mkdir()
    return folder


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[httpx.Client]:
    settings = settings_for(
        place / "memories",
        roots=(place / "root",),
        upload_mb=1,
        video_s=5,
        video_pixels=100_000,
    )
    with serving(settings) as session:
        yield session


@pytest.fixture(scope="module")
def video(place: Path) -> bytes:
    return small_video(place / "lamp.mp4").read_bytes()


def uploads(place: Path) -> list[Path]:
    folder = place / "memories" / ".service" / "uploads"
    return sorted(p for p in folder.rglob("*") if p.is_file())


# Ways in


def test_a_raw_body_becomes_a_memory_and_the_same_again_is_the_same(client, place, video):
    reply = send(client, video, "My lamp!.MP4")
    job = reply.json()
    assert (reply.status_code, job["state"], job["name"]) == (202, "queued", "My-lamp.mp4")
    assert reply.headers["location"] == f"/jobs/{job['id']}"
    done = ended(client, reply)
    assert (done["state"], done["video_id"], done["percent"]) == ("done", "My-lamp", 100)
    assert (done["reused"], done["error"], done["left_s"]) == (False, None, None)
    again = send(client, video, "other.mp4")
    assert again.status_code == 200
    assert (again.json()["video_id"], again.json()["reused"]) == ("My-lamp", True)
    assert len(uploads(place)) == 1
    listed = client.get("/jobs").json()["jobs"]
    assert [j["id"] for j in listed[:2]] == [again.json()["id"], job["id"]]
    assert client.get("/videos/My-lamp").json()["media"] is True


def test_a_form_brings_its_metadata(client, place):
    data = small_video(place / "form.mp4", 20).read_bytes()
    files = {"file": ("form.mp4", data, "video/mp4")}
    reply = client.post("/videos", files=files, data={"metadata": '{"product": "Lamp", "year": 3}'})
    video_id = ended(client, reply)["video_id"]
    memory = MemoryStore(place / "memories").read(video_id)
    assert memory.video.metadata == {"product": "Lamp", "year": "3"}
    assert client.get(f"/videos/{video_id}/media").content == data


def test_other_metadata_builds_anew(client, place):
    data = small_video(place / "meta.mp4", 21).read_bytes()
    for product in ("Lamp", "Lantern"):
        files = {"file": ("meta.mp4", data, "video/mp4")}
        reply = client.post(
            "/videos", files=files, data={"metadata": f'{{"product": "{product}"}}'}
        )
        assert ended(client, reply)["reused"] is False
    assert MemoryStore(place / "memories").read("meta").video.metadata == {"product": "Lantern"}


@pytest.mark.parametrize("named", ["path.mp4", "absolute"])
def test_a_path_in_a_root_stays_where_it_is(client, place, named):
    path = small_video(place / "root" / "path.mp4", 22)
    body = {"path": str(path) if named == "absolute" else named, "metadata": {"product": "x"}}
    done = ended(client, client.post("/videos", json=body))
    assert done["video_id"] == "path"
    assert client.delete("/videos/path").status_code == 204
    assert path.is_file()


def test_a_body_of_chunks_without_a_type_is_told_by_its_bytes(client, video):
    """As `curl -T` sends it."""
    reply = client.post("/videos?name=lamp.mp4", content=iter((video[:1000], video[1000:])))
    assert ended(client, reply)["state"] == "done"


def test_the_stream_of_a_job_tells_its_changes_and_ends(client, place):
    data = small_video(place / "stream.mp4", 23, frames=75).read_bytes()
    job_id = send(client, data, "stream.mp4").json()["id"]
    accept = {"accept": "text/event-stream"}
    with client.stream("GET", f"/jobs/{job_id}", headers=accept) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        lines = list(reply.iter_lines())
    told = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    assert "event: job" in lines
    assert told[-1]["state"] == "done"
    assert told[-1] == client.get(f"/jobs/{job_id}").json()
    percents = [job["percent"] for job in told]
    assert percents == sorted(percents)


# Wrong use


@pytest.mark.parametrize(
    ("content_type", "body", "status", "kind"),
    [
        ("video/mp4", b"", 400, "video-unreadable"),
        ("video/mp4", b"Only text, renamed.", 415, "unsupported-media-type"),
        ("video/mp4", b"#EXTM3U\nfile:///etc/passwd\n", 415, "unsupported-media-type"),
        ("video/mp4", b"\0\0\0\x18ftypmp42" + bytes(500), 400, "video-unreadable"),
        ("video/mp4", b"OggS" + bytes(1_200_000), 413, "too-large"),
        ("text/plain", b"\0\0\0\x18ftypmp42", 415, "unsupported-media-type"),
        ("application/x-www-form-urlencoded", b"a=b", 415, "unsupported-media-type"),
        ("multipart/form-data", b"x", 400, "bad-input"),
        ("multipart/form-data; boundary=x", b"no form", 400, "bad-input"),
        ("multipart/form-data; boundary=x", b"--x\r\nA: b\r\n\r\nc\r\n--x--\r\n", 400, "bad-input"),
        ("application/json", b"{", 422, "bad-request"),
        ("application/json", b'{"path": "a", "url": "b"}', 422, "bad-request"),
        ("application/json", b'{"path": "a", "metadata": {"a": [1]}}', 422, "bad-request"),
        ("application/json", b'{"url": "http://example.com/a.mp4"}', 403, "forbidden"),
    ],
)
def test_a_wrong_body_is_a_problem_and_leaves_nothing(
    client, place, content_type, body, status, kind
):
    before = uploads(place)
    reply = client.post("/videos", content=body, headers={"content-type": content_type})
    assert problem_of(reply)[:2] == (status, kind), reply.text
    assert str(place) not in reply.text
    assert ".part" not in reply.text
    assert uploads(place) == before


def test_a_video_that_breaks_off_is_told(client, place, video):
    """Its index is at the end, as in files that are half downloaded."""
    detail = problem_of(send(client, video[: len(video) // 2], "half.mp4"))[2]
    assert "'half.mp4' is not a video that can be opened" in detail


@pytest.fixture
def raw(client: httpx.Client, place: Path) -> Iterator[socket.socket]:
    """A connection on which an upload has begun and is being written."""
    url = client.base_url
    head = "POST /videos?name=slow.mp4 HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n"
    with socket.create_connection((url.host, url.port)) as upload:
        upload.sendall(head.encode() + b"OggS")
        wait_for(lambda: any(path.suffix == ".part" for path in uploads(place)))
        yield upload


def test_an_upload_that_is_broken_off_leaves_nothing(raw, place):
    raw.close()
    wait_for(lambda: not any(path.suffix == ".part" for path in uploads(place)))


def test_an_upload_that_falls_silent_is_ended(place, client, monkeypatch):
    monkeypatch.setattr(security, "_SILENCE_S", 0.2)
    url = client.base_url
    with socket.create_connection((url.host, url.port)) as upload:
        upload.sendall(b"POST /videos HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\nOggS")
        assert b" 408 " in upload.recv(1000)
    assert not any(path.suffix == ".part" for path in uploads(place))


def test_a_video_that_is_too_long_or_too_large_is_refused(client, place):
    long = small_video(place / "long.mp4", 24, frames=150).read_bytes()
    assert problem_of(send(client, long))[:2] == (413, "too-large")
    wide = write_video(
        place / "wide.mp4", lambda _: flat((1, 2, 3), (640, 360)), frames=2, size=(640, 360)
    )
    status, kind, detail = problem_of(send(client, wide.read_bytes()))
    assert (status, kind) == (413, "too-large")
    assert "640x360" in detail


@pytest.mark.parametrize(
    "path",
    ["../outside.mp4", "/etc/passwd", "link.mp4", "linked/outside.mp4", "a\0b", "../root2/a"],
)
def test_a_path_out_of_the_roots_is_forbidden(client, place, path):
    root = place / "root"
    small_video(place / "outside.mp4", 25)
    for link, target in (("link.mp4", place / "outside.mp4"), ("linked", place)):
        if not (root / link).is_symlink():
            (root / link).symlink_to(target)
    status, kind, detail = problem_of(client.post("/videos", json={"path": path}))
    assert (status, kind) == (403, "forbidden")
    assert str(place) not in detail


def test_what_is_no_file_in_a_root_is_not_opened(client, place):
    os.mkfifo(place / "root" / "pipe.mp4")
    for path in ("pipe.mp4", "nothing.mp4", "."):
        assert client.post("/videos", json={"path": path}).json()["title"] == "video-not-found"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_page_of_another_site_sends_nothing(client, video, origin):
    assert problem_of(send(client, video, origin=origin))[:2] == (403, "forbidden")


def test_our_own_page_sends(client, video):
    own = str(client.base_url).rstrip("/")
    assert send(client, video, origin=own).status_code in (200, 202)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "passwd.mp4"),
        ("..\\..\\boot.ini", "boot-ini.mp4"),
        ("", "video.mp4"),
        (".mp4", "video.mp4"),
        ("...", "video.mp4"),
        ("a b\0c\n.MOV", "a-b-c.mov"),
        ("广告.webm", "广告.webm"),
        ("x" * 5000 + ".mkv", "x" * 60 + ".mkv"),
        ("ad.mp4.exe", "ad-mp4-exe.mp4"),
    ],
)
def test_a_hostile_name_leads_nowhere(name, safe):
    assert safe_name(name) == safe


def test_an_unknown_job_and_an_unknown_video_are_told(client):
    assert problem_of(client.get("/jobs/nope"))[:2] == (404, "unknown-job")
    assert problem_of(client.delete("/jobs/nope"))[:2] == (404, "unknown-job")
    for video_id in ("nope", "..", ".service", "%2e%2e%2fx"):
        reply = client.delete(f"/videos/{video_id}")
        assert reply.status_code in (404, 405), reply.text


# Out again


def test_a_deleted_video_is_gone_with_its_file(client, place):
    data = small_video(place / "gone.mp4", 26).read_bytes()
    ended(client, send(client, data, "gone.mp4"))
    before = len(uploads(place))
    assert client.delete("/videos/gone").status_code == 204
    assert client.delete("/videos/gone").status_code == 404
    assert client.get("/videos/gone").status_code == 404
    assert len(uploads(place)) == before - 1
    again = ended(client, send(client, data, "gone.mp4"))
    assert (again["video_id"], again["reused"]) == ("gone", False)


def test_a_video_that_is_being_built_is_not_deleted(client, place):
    data = small_video(place / "busy.mp4", 27).read_bytes()
    ended(client, send(client, data, "busy.mp4"))
    with MemoryStore(place / "memories").building("busy"):
        assert problem_of(client.delete("/videos/busy"))[:2] == (409, "build-in-progress")
    assert client.delete("/videos/busy").status_code == 204


# Many at once


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Endless:
    builds = Endless()
    monkeypatch.setattr(worker, "build_events", builds)
    return builds


def test_a_full_queue_says_when_to_come_again_and_cancelling_makes_room(endless, tmp_path):
    videos = [small_video(tmp_path / f"v{n}.mp4", 30 + n).read_bytes() for n in range(4)]
    with serving(settings_for(tmp_path / "memories", queue=1)) as client:
        running = send(client, videos[0], "v0.mp4").json()["id"]
        job = until(client, running, ("running",))
        wait_for(lambda: client.get(f"/jobs/{running}").json()["stage"] == "read text")
        job = client.get(f"/jobs/{running}").json()
        assert 10 < job["percent"] < 90
        assert job["left_s"] >= 0
        waiting = send(client, videos[1], "v1.mp4").json()["id"]
        assert send(client, videos[1], "v1.mp4").status_code == 429
        refused = send(client, videos[2], "v2.mp4")
        assert problem_of(refused)[:2] == (429, "busy")
        assert int(refused.headers["retry-after"]) > 0
        figures = client.get("/metrics").text
        assert "admir_jobs_queued 1.0" in figures
        assert "admir_jobs_running 1.0" in figures
        for _ in range(2):  # twice is as once
            assert client.delete(f"/jobs/{waiting}").json()["state"] == "cancelled"
            assert client.delete(f"/jobs/{running}").json()["state"] == "cancelled"
        wait_for(lambda: endless.closed == ["v0.mp4"])
        send(client, videos[3], "v3.mp4")
        wait_for(lambda: endless.begun == ["v0.mp4", "v3.mp4"])
    assert endless.closed == ["v0.mp4", "v3.mp4"]


def test_the_same_upload_while_it_is_built_is_the_same_job(endless, tmp_path):
    data = small_video(tmp_path / "v.mp4", 40).read_bytes()
    with serving(settings_for(tmp_path / "memories")) as client:
        ids = {send(client, data, f"{n}.mp4").json()["id"] for n in range(3)}
        assert len(ids) == 1
        assert len(client.get("/jobs").json()["jobs"]) == 1


def test_many_who_send_the_same_at_once_get_one_job(endless, tmp_path):
    data = small_video(tmp_path / "v.mp4", 45).read_bytes()
    with serving(settings_for(tmp_path / "memories")) as client, ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda n: send(client, data, f"{n}.mp4"), range(16)))
        assert {reply.status_code for reply in replies} == {202}
        assert len({reply.json()["id"] for reply in replies}) == 1
        assert len(uploads(tmp_path)) == 1


def test_other_settings_ask_the_builder_what_is_still_good(tmp_path):
    data = small_video(tmp_path / "v.mp4", 46).read_bytes()
    settings = settings_for(tmp_path / "memories")
    with serving(settings) as client:
        assert ended(client, send(client, data))["reused"] is False
    for change, reused in (({"beta": 1.0}, True), ({"clip_s": 2.0}, False)):
        with serving(settings.model_copy(update=change)) as client:
            reply = send(client, data)
            assert reply.status_code == 202
            assert ended(client, reply)["reused"] is reused


def test_a_build_that_takes_too_long_fails(endless, tmp_path):
    data = small_video(tmp_path / "v.mp4", 41).read_bytes()
    with serving(settings_for(tmp_path / "memories", build_s=0.3)) as client:
        job = ended(client, send(client, data))
        assert (job["state"], job["error"]["kind"]) == ("failed", "too-slow")


def test_two_services_on_one_folder_build_a_video_once(endless, tmp_path):
    data = small_video(tmp_path / "v.mp4", 42).read_bytes()
    settings = settings_for(tmp_path / "memories")
    with serving(settings) as first, serving(settings) as second:
        job_id = send(first, data).json()["id"]
        wait_for(lambda: endless.begun == ["ad.mp4"])
        assert second.get(f"/jobs/{job_id}").json()["state"] == "running"
        assert second.delete(f"/jobs/{job_id}").json()["state"] == "cancelled"
        wait_for(lambda: endless.closed == ["ad.mp4"])
    assert endless.begun == ["ad.mp4"]


def test_a_service_that_ends_lets_its_job_wait_for_the_next(endless, tmp_path, monkeypatch):
    data = small_video(tmp_path / "v.mp4", 43).read_bytes()
    settings = settings_for(tmp_path / "memories")
    with serving(settings) as client:
        job_id = send(client, data).json()["id"]
        until(client, job_id, ("running",))
    monkeypatch.undo()
    monkeypatch.setenv("ADMIR_EMBEDDER", "hashing")
    with serving(settings) as client:
        assert until(client, job_id, ("done", "failed"))["state"] == "done"


def test_a_build_that_fails_says_why(tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("secret")

    monkeypatch.setattr(worker, "build_events", broken)
    data = small_video(tmp_path / "v.mp4", 44).read_bytes()
    with serving(settings_for(tmp_path / "memories")) as client:
        job = ended(client, send(client, data))
        assert job["error"] == {
            "kind": "unexpected",
            "detail": "unexpected RuntimeError; see the server's log",
        }
