"""What the doctor says of this machine, of broken ones, and of endpoints good and bad."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from admir import doctor
from admir.doctor import diagnose
from admir.endpoint_probe import ask_endpoint
from admir.settings import load_settings
from tests.cli.conftest import Call, admir, call  # noqa: F401 - a fixture

KEY = "sk-secret-0123456789"
Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[Any]]]:
    """A server on loopback; its URL, and the requests that came."""
    seen: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers.get("Authorization")))
            with suppress(OSError):  # the other side may hang up in the middle
                answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def says(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


MODELS = json.dumps({"data": [{"id": "qwen"}, {"id": "red\x1b[31m"}]}).encode()


def test_it_is_quick_and_the_offline_preset_can_run(tmp_path: Path) -> None:
    started = time.monotonic()
    ran = admir("doctor", "--json", "--memories", tmp_path / "m")
    assert time.monotonic() - started < 6, "3 s on a machine that has nothing else to do"
    assert (ran.code, ran.err) == (0, "")
    rows = {"preset", "ready", "lacks", "parts", "weights", "endpoint", "presets"}
    assert ran.json.keys() == rows
    assert (ran.json["preset"], ran.json["ready"]) == ("offline", True)
    parts = {part["name"]: part for part in ran.json["parts"]}
    assert parts.keys() >= {"python", "admir", "memories", "on-screen text", "faiss", "whisperx"}
    assert all(p.keys() >= {"state", "version", "brings", "how"} for p in parts.values())
    assert parts["python"]["version"] == ".".join(map(str, sys.version_info[:3]))
    assert "GB free" in parts["memories"]["version"]
    assert ran.json["endpoint"]["state"] == "none"
    assert not (tmp_path / "m").exists()


def test_torch_is_never_imported() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from admir.doctor import diagnose; "
        "from admir.settings import load_settings; diagnose(load_settings()); "
        "print([n for n in ('langgraph', 'openai', 'whisperx') if n in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("preset", "lacks"),
    [("paper", "needs a key: set OPENAI_API_KEY"), ("local", "neither vLLM (port 8000), Ollama")],
)
def test_a_preset_that_cannot_run_says_what_it_lacks(
    call: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    preset: str,
    lacks: str,
) -> None:
    monkeypatch.setattr("admir.backends.llm.endpoints.LOCAL_URLS", ("http://127.0.0.1:9/v1",))
    ran = call("doctor", "--preset", preset)
    assert (ran.code, ran.err) == (7, "")
    assert f"preset {preset} cannot run" in ran.words
    assert "preset offline can run" in ran.words
    assert lacks in ran.words
    with serving(says(MODELS)) as (url, _):
        row = call("doctor", "--preset", preset, "--endpoint", url, "--json").json
    assert (row["ready"], len(row["lacks"])) == (False, 1)


def test_what_is_missing_says_how_to_get_it(
    call: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "_version", lambda _: "")
    row = call("doctor", "--json").json
    parts = {part["name"]: part for part in row["parts"]}
    assert parts["torch"] | {"brings": ""} == {
        "name": "torch",
        "state": "missing",
        "version": "",
        "brings": "",
        "how": 'pip install "admir[embed]"',
        "needed": False,
    }
    assert not row["ready"]
    assert "agent: missing" in row["lacks"]
    assert "faiss: missing" not in row["lacks"]


def test_weights_that_are_missing_are_listed_with_size_licence_and_way(
    call: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("ADMIR_EMBEDDER", "BAAI/bge-m3")
    [row] = call("doctor", "--json", "--set", "speech=none").json["weights"]
    assert (row["name"], row["folder"], row["licence"]) == ("BAAI/bge-m3", None, "MIT")
    assert row["file_bytes"] > 2e9
    told = call("doctor", "--set", "speech=none").out
    for words in ("missing, 2.29 GB", "MIT", "admir fetch-models", "not on the disk"):
        assert words in " ".join(told.split())


def test_a_recogniser_that_is_asked_for_by_name_must_be_there(
    call: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    ran = call("doctor", "--json", "--set", "speech=faster-whisper")
    assert (ran.code, ran.json["ready"]) == (7, False)
    assert "admir fetch-models" in " ".join(ran.json["lacks"])
    assert call("doctor", "--set", "speech=auto").code == 0


def test_what_is_broken_is_told_and_raises_nothing(
    call: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def torn() -> Any:
        raise OSError("models are \x1b[31m torn")

    monkeypatch.setattr("admir.perception.ocr_models._load_engine", torn)
    monkeypatch.setitem(sys.modules, "cv2", None)
    ran = call("doctor")
    assert ran.code == 7
    assert "OSError: models are [31m torn" in ran.words
    assert "ModuleNotFoundError" in ran.words
    assert "\x1b" not in ran.out


def test_memories_that_cannot_be_written(call: Call, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "file").write_text("mine")
    ran = call("doctor", "--memories", tmp_path / "file" / "deep")
    assert ran.code == 7
    assert "memories: cannot be written" in ran.words


def test_a_disk_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 1_000

    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: Usage)
    assert not diagnose(load_settings()).chosen.ready


def test_two_builds_of_faiss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda name: "1.0" if "faiss" in name else "")
    assert doctor._faiss().state == "broken"


@pytest.mark.parametrize(("content", "state"), [("", "ok"), ("import nothing_such", "broken")])
def test_whisperx_is_tried_and_not_only_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, state: str
) -> None:
    (tmp_path / "whisperx").mkdir()
    (tmp_path / "whisperx" / "__init__.py").write_text("")
    (tmp_path / "whisperx" / "asr.py").write_text(content)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(doctor, "_version", lambda _: "3.8")
    assert doctor._whisperx().state == state


def test_a_gpu_is_named_by_its_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA H200'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert (doctor._gpu().state, doctor._gpu().version) == ("ok", "NVIDIA H200")
    tool.write_text("#!/bin/sh\nexec sleep 30\n")
    monkeypatch.setattr(doctor, "_WAIT_S", 0.2)
    assert doctor._gpu().state == "missing"


def test_an_endpoint_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(says(MODELS)) as (url, seen):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/")
        found = ask_endpoint()
    assert (found.state, found.models) == ("ok", ("qwen", "red[31m"))
    assert seen == [("/v1/models", f"Bearer {KEY}")]


def test_a_key_alone_names_no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert ask_endpoint().state == "none"


def _slow(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(40):
        time.sleep(0.05)
        handler.wfile.write(b" ")
        handler.wfile.flush()


BAD = {
    "not json": (says(b"<html>"), "not with a list of models"),
    "a list": (says(b"[1]"), "not with a list of models"),
    "odd ids": (says(b'{"data": [{"id": 5}]}'), "not with a list of models"),
    "no key": (says(b"", 401), "refuses OPENAI_API_KEY"),
    "not found": (says(b"", 404), "HTTP 404"),
    "elsewhere": (says(b"", 302, Location="http://127.0.0.1:9/"), "HTTP 302"),
    "huge": (says(b" " * 3_000_000), "has no end"),
    "dripping": (_slow, "no answer within"),
}


@pytest.mark.parametrize(("answer", "reason"), BAD.values(), ids=BAD)
def test_an_endpoint_that_answers_otherwise(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, reason: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    if answer is _slow:
        monkeypatch.setattr("admir.endpoint_probe.TIMEOUT_S", 0.6)
    with serving(answer) as (url, _):
        found = ask_endpoint(url)
    assert found.state == "failed"
    assert reason in found.reason


URLS = ("no url", "ftp://here/", "http://", "http://[", "http://127.0.0.1:1/v1", "\x1b[31m")


@pytest.mark.parametrize("url", URLS)
def test_what_is_no_endpoint(call: Call, url: str) -> None:  # noqa: F811
    ran = call("doctor", "--endpoint", url)
    assert (ran.code, ran.err) == (0, "")
    assert "✗ endpoint" in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("key", [KEY, f"{KEY}\nX: y", f"{KEY}é", f"{KEY}\x00"[:-1] + "\x7f"])
def test_the_key_is_never_shown(
    call: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    key: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with serving(says(b"", 500)) as (url, _):
        at = url.replace("//", f"//user:{KEY}@") + f"?api-key={KEY}"
        ran = call("doctor", "--endpoint", at, "--json")
    assert ran.code == 0
    assert KEY not in ran.out + ran.err
    assert ran.json["endpoint"]["url"] == url
