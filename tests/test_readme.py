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

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(
    r"(?:<!-- (?P<note>[^>]*) -->\n)?```(?P<kind>sh|python)\n(?P<code>.*?)```", re.DOTALL
)
NOTES = {
    "run by .ci/run",
    "run with a server started by the test",
    "needs a package index that has admir",
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
def service(reader: dict[str, str]) -> Iterator[None]:
    """The service, started with the README's own command."""
    command = next(b["code"] for b in blocks() if "uvicorn" in b["code"])
    server = subprocess.Popen(command.strip().removesuffix("&").split(), cwd=ROOT, env=reader)
    port = int(re.search(r"--port (\d+)", command).group(1))
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


def test_every_other_block_runs(reader, service):
    ran = 0
    for block in blocks():
        if block["note"]:
            continue
        code = block["code"].replace("source .venv/bin/activate\n", "")
        command = [sys.executable, "-c", code] if block["kind"] == "python" else ["sh", "-ec", code]
        done = subprocess.run(
            command, cwd=ROOT, env=reader, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (code, done.stderr)
        assert done.stdout.strip(), code
        ran += 1
    assert ran >= 4


def test_the_picture_and_the_linked_files_are_there():
    text = (ROOT / "README.md").read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / target).is_file(), target
