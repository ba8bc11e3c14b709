"""Every block of the README runs, in order, or says why it does not."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from admir import Memory
from tests.model_server import ModelServer

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(
    r"(?:<!-- (?P<note>[^>]*) -->\n)?```(?P<kind>sh|python)\n(?P<code>.*?)```", re.DOTALL
)
MODEL_NOTE = "run with a model server started by the test"
JUDGE_NOTE = "run with a judge started by the test"
MODEL_URL = "http://localhost:11434/v1"
NOTES = {
    MODEL_NOTE,
    "needs a local server with a model",
    "run by .ci/run",
    JUDGE_NOTE,
    "needs AdsQA and a key",
    "run with a server started by the test",
    "needs a package index that has admir",
    "needs the extras and the network",
}


def blocks() -> list[re.Match[str]]:
    return list(BLOCK.finditer((ROOT / "README.md").read_text("utf-8")))


@pytest.fixture
def reader(demo: Memory, memories: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of somebody who follows the README in the repository's root."""
    shutil.copytree(memories, tmp_path / "memories")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "ADMIR_MEMORIES": str(tmp_path / "memories")}


@pytest.fixture
def modelled(tmp_path: Path) -> Iterator[tuple[dict[str, str], ModelServer]]:
    """The environment of somebody with an endpoint, and memories of their own; and that endpoint.

    The ad's text is not read: the offline blocks read it, and each model builds it anew.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with ModelServer() as server:
        yield (
            {
                **os.environ,
                "PATH": path,
                "ADMIR_MEMORIES": str(tmp_path / "memories"),
                "ADMIR_CACHE_FOLDER": str(tmp_path / "cache"),
                "ADMIR_SCREEN_TEXT": "none",
                "OPENAI_BASE_URL": server.url,
                "OPENAI_API_KEY": "sk-of-the-reader",
            },
            server,
        )
        assert server.protocol == []


@pytest.fixture
def service(reader: dict[str, str]) -> Iterator[None]:
    """The service, started with the README's own command."""
    code = next(b["code"] for b in blocks() if b["code"].startswith("admir serve &"))
    server = subprocess.Popen(code.partition("&")[0].split(), cwd=ROOT, env=reader)
    port = int(re.search(r"127\.0\.0\.1:(\d+)", code).group(1))
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield
    server.terminate()
    server.wait()


def test_every_block_that_is_not_run_says_why():
    assert {block["note"] for block in blocks()} - {None} == NOTES


def run(kind: str, code: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The block, run to its good end with something to show for it."""
    command = [sys.executable, "-c", code] if kind == "python" else ["sh", "-ec", code]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (code, done.stderr)
    assert done.stdout.strip(), code
    return done


def test_every_other_block_runs(reader, service):
    plain = [block for block in blocks() if not block["note"]]
    for block in plain:
        run(block["kind"], block["code"].replace("source .venv/bin/activate\n", ""), reader)
    assert len(plain) >= 4


def test_the_blocks_with_a_model_run(modelled):
    environment, server = modelled
    said = [
        run(block["kind"], block["code"].replace(MODEL_URL, server.url), environment)
        for block in blocks()
        if block["note"] == MODEL_NOTE
    ]
    assert len(said) == 2
    for done in said:
        told = done.stderr.splitlines()
        assert all("search compares words alone" in line for line in told), "no model embeds"
    estimate, *_ = said[0].stdout.splitlines()
    assert estimate.startswith("ad.mp4: about ")
    assert [done.stdout.count("grounded in the video") for done in said] == [1, 2]
    assert {asked.key for asked in server.requests} == {"sk-...", "sk-of-the-reader"}
    assert {asked.body["model"] for asked in server.requests} >= {
        "gpt-4o",
        *("tiny-vl", "qwen2.5vl:7b"),
    }


def test_the_block_with_a_judge_runs(modelled):
    environment, server = modelled
    [block] = [block for block in blocks() if block["note"] == JUDGE_NOTE]
    done = run(block["kind"], block["code"], environment)
    assert {asked.role for asked in server.requests} == {"judge"}
    for told in ("overall", "AD-MIR (o1)", "answers changed", "beta=0", "sweep.html"):
        assert told in done.stdout
    assert not (ROOT / "runs").exists()


def test_the_picture_and_the_linked_files_are_there():
    text = (ROOT / "README.md").read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / target).is_file(), target
