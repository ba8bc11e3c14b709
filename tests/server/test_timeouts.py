"""Clients that dawdle are cut off; those that get on are served beside them."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from admir.server import security, timeouts
from admir.settings import load_settings
from tests.server.running import serving
from tests.server.sending import ended, send, settings_for, small_video

_EACH = 10
_LARGE = 6_000_000


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "_HEAD_S", 0.5)
    monkeypatch.setattr(timeouts, "_STALL_S", 0.5)
    monkeypatch.setattr(security, "_BODY_S", 0.5)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("memories")
    with serving(load_settings(memories=folder, server={"api_key": "k"})) as session:
        session.headers["x-api-key"] = "k"
        yield session


def _connected(client: httpx.Client, **options: int) -> socket.socket:
    connection = socket.socket()
    for name, value in options.items():
        connection.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    connection.connect((client.base_url.host, client.base_url.port))
    connection.settimeout(10)
    return connection


def _trickle(connections: list[socket.socket], client: httpx.Client) -> list[bytes]:
    """What each is told that gets a byte a tenth of a second, until it is cut off."""
    told = [b""] * len(connections)
    open_ones = dict(enumerate(connections))
    until = time.monotonic() + 4
    while open_ones:
        assert time.monotonic() < until, f"{len(open_ones)} are still open"
        for number, each in list(open_ones.items()):
            try:
                each.sendall(b"x")
                while select.select([each], [], [], 0)[0]:
                    if not (data := each.recv(4096)):
                        raise ConnectionResetError
                    told[number] += data
            except OSError:
                del open_ones[number]
        assert client.get("/videos").status_code == 200
        time.sleep(0.1)
    return told


_POST = b"POST /ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
_SLOW = {
    b"": b"",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ": b"",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /": b" 200 ",
    _POST + b"X-API-Key: k\r\nContent-Length: 5000\r\n\r\n{": b" 408 ",
    _POST + b"Content-Length: 5000\r\n\r\n{": b" 401 ",
}
"""What is sent at once, and the status of the answer to it, if any."""


def test_fifty_who_dawdle_are_cut_off_while_others_are_served(client):
    with ExitStack() as stack:
        begun = [head for head in _SLOW for _ in range(_EACH)]
        slow = [stack.enter_context(_connected(client)) for _ in begun]
        for each, head in zip(slow, begun, strict=True):
            each.sendall(head)
        told = _trickle(slow, client)
    for head, answer in zip(begun, told, strict=True):
        assert bool(answer) is bool(_SLOW[head])
        assert _SLOW[head] in answer


def test_a_connection_that_says_nothing_is_closed(client):
    with _connected(client) as silent:
        assert silent.recv(10) == b""


def test_who_goes_on_is_not_hurried(client):
    """A body of 0.7 s, where 0.5 s and the bytes' own time are allowed."""
    body = b'{"video_id": "nope", "question": "' + b"x" * 2_000

    def pieces() -> Iterator[bytes]:
        yield body
        for _ in range(6):
            time.sleep(0.12)
            yield b"x"
        yield b'"}'

    headers = {"content-type": "application/json"}
    assert client.post("/ask", content=pieces(), headers=headers).status_code in (400, 404)
    assert client.get("/videos").status_code == 200


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of memories with a video of many bytes."""
    folder = tmp_path_factory.mktemp("large")
    video = small_video(folder / "v.mp4").read_bytes()
    room = _LARGE.to_bytes(4, "big") + b"free" + bytes(_LARGE - 8)
    with serving(settings_for(folder / "memories")) as client:
        assert ended(client, send(client, video + room, "v.mp4"))["state"] == "done"
    return folder / "memories"


@pytest.mark.parametrize("pause_s", [None, 0.01], ids=["never", "slowly"])
def test_an_answer_that_nobody_reads_is_given_up(large, pause_s):
    """Who reads slowly, but reads, gets all of it."""
    with serving(settings_for(large)) as client, _connected(client, SO_RCVBUF=65_536) as reader:
        reader.sendall(b"GET /videos/v/media HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = 0
        time.sleep(1.2 if pause_s is None else 0)
        try:
            while data := reader.recv(200_000):
                got += len(data)
                time.sleep(pause_s or 0)
        except ConnectionResetError:
            assert pause_s is None
        assert (got > _LARGE) is (pause_s is not None)
