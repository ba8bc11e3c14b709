"""Weights from a hub over real HTTP, which the tests serve."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from admir.download import fetch
from admir.errors import WeightsError
from admir.weights import Weights, find_weights, weights

pytestmark = pytest.mark.extra("embed")
REPO, SHA = "acme/tiny-embedder", "5" * 40
FILES = {
    "config.json": b'{"model_type": "xlm-roberta"}',
    "modules.json": b"[]",
    "tokenizer.json": b"{}",
    "1_Pooling/config.json": b"{}",
    "model.safetensors": b"w" * 3_000_000,
    "pytorch_model.bin": b"p" * 900_000,
    "onnx/model.onnx": b"o" * 900_000,
    "README.md": b"words",
}


class Hub:
    """Serves one repository: its files as they are `stated`, and as they are `to_api_json`."""

    def __init__(self):
        self.stated, self.sent = dict(FILES), dict(FILES)
        self.got, self.resumed = [], []
        self.cut_after = sys.maxsize
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()

    def info(self):
        siblings = [
            {"rfilename": name, "size": len(data), "blobId": _sha(data)[:40], **_lfs(name, data)}
            for name, data in self.stated.items()
        ]
        return {"id": REPO, "modelId": REPO, "sha": SHA, "siblings": siblings}


def _lfs(name, data):
    if not name.endswith((".safetensors", ".bin", ".onnx")):
        return {}
    return {"lfs": {"size": len(data), "sha256": _sha(data), "pointerSize": 130}}


def _sha(data):
    return hashlib.sha256(data).hexdigest()


def _handler(hub):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self._send(*_answer(hub, self.path, self.headers.get("Range")), body=False)

        def do_GET(self):
            self._send(*_answer(hub, self.path, self.headers.get("Range")), body=True)

        def _send(self, status, data, headers, *, body):
            if body and "ETag" in headers:
                hub.got.append(self.path.rpartition("/")[2])
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if body:
                self.close_connection = len(data) > hub.cut_after
                with suppress(OSError):
                    self.wfile.write(data[: hub.cut_after])

        def log_message(self, *_):
            """Nothing on the terminal of the tests."""

    return Handler


def _answer(hub, path, asked_range):
    """(status, body, headers) of the routes of a hub."""
    path = path.partition("?")[0]
    if path.startswith(f"/api/models/{REPO}"):
        return 200, json.dumps(hub.info()).encode(), {}
    name = path.removeprefix(f"/{REPO}/resolve/{SHA}/")
    if name not in hub.sent:
        return 404, b"", {"X-Error-Code": "EntryNotFound"}
    data = hub.sent[name]
    headers = {"ETag": f'"{_sha(hub.stated[name])}"', "X-Repo-Commit": SHA}
    start = int((asked_range or "bytes=0-").removeprefix("bytes=").partition("-")[0])
    if start:
        headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        hub.resumed.append((name, start))
    return 206 if start else 200, data[start:], headers


@pytest.fixture
def hub(tmp_path, monkeypatch):
    running = Hub()
    cache = tmp_path / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    monkeypatch.setenv("HF_ENDPOINT", running.url)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    yield running
    running.close()


@pytest.fixture
def wanted(hub) -> Weights:
    return weights(REPO, "embedding")


def test_what_is_needed_is_fetched_and_then_found(hub, wanted):
    assert wanted.folder is None
    told = []
    folder = fetch(wanted, lambda done, total: told.append((done, total)))
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    unneeded = {"pytorch_model.bin", "onnx/model.onnx", "README.md"}
    assert names == FILES.keys() - unneeded, "of two forms of weights the safe one is fetched"
    total = sum(len(FILES[name]) for name in names)
    assert told[0] == (0, total)
    assert told[-1] == (total, total)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert find_weights(REPO, "embedding") == folder


def test_it_is_fetched_to_where_it_is_looked_for(hub, wanted, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "another"))
    assert fetch(wanted) == find_weights(REPO, "embedding")
    assert not (tmp_path / "another").exists()


def test_what_is_there_is_not_fetched_again(hub, wanted):
    fetch(wanted)
    hub.got.clear()
    fetch(wanted)
    assert hub.got == []


def test_a_download_that_was_cut_off_goes_on(hub, wanted, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 100_000)
    hub.cut_after = 1_000_000
    with pytest.raises(WeightsError, match="run the command again"):
        fetch(wanted)
    hub.cut_after = sys.maxsize
    hub.resumed.clear()
    fetch(wanted)
    assert find_weights(REPO, "embedding")
    assert hub.resumed == [("model.safetensors", 1_000_000)]


def test_a_file_that_arrives_otherwise_than_stated_is_removed(hub, wanted):
    hub.sent["model.safetensors"] = b"v" * 3_000_000
    with pytest.raises(WeightsError, match=r"model\.safetensors did not arrive"):
        fetch(wanted)
    assert weights(REPO, "embedding").folder is None
    hub.sent = dict(FILES)
    assert fetch(wanted).joinpath("model.safetensors").read_bytes() == FILES["model.safetensors"]


def test_a_repository_without_a_model_is_an_error(hub, wanted):
    hub.stated = hub.sent = {"config.json": b"{}"}
    with pytest.raises(WeightsError, match="is no embedding model"):
        fetch(wanted)


def test_nobody_there_is_one_line_with_the_ways_out(hub, wanted):
    hub.close()
    with pytest.raises(WeightsError, match=r"cannot be fetched.*HF_ENDPOINT"):
        fetch(wanted)


def test_a_folder_cannot_be_fetched(tmp_path):
    with pytest.raises(WeightsError, match="folder"):
        fetch(weights(str(tmp_path), "embedding"))
