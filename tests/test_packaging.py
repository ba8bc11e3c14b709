"""What an installed package needs is listed, and every link is in place."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LINKED = ("memory", "prompts", "server", "tools")


def packages_on_disk() -> set[str]:
    found = set()
    for home, name in (("admir", "admir"), *((room, f"admir.{room}") for room in LINKED)):
        for folder, folders, files in os.walk(ROOT / home, followlinks=False):
            folders[:] = [f for f in folders if not (Path(folder) / f).is_symlink()]
            if "__init__.py" in files:
                rest = Path(folder).relative_to(ROOT / home).parts
                found.add(".".join((name, *rest)))
    return found


def test_every_package_is_listed():
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages_on_disk()


def test_every_data_file_is_covered_by_package_data():
    data = PROJECT["tool"]["setuptools"]["package-data"]
    for package, folder in (
        ("admir.prompts", "prompts"),
        ("admir.demo", "admir/demo"),
        ("admir.backends.rules.words", "admir/backends/rules/words"),
        ("admir.views.notebook", "admir/views/notebook"),
    ):
        files = {
            p for p in (ROOT / folder).iterdir() if p.suffix not in (".py", "") and p.is_file()
        }
        covered = {p for pattern in data[package] for p in (ROOT / folder).glob(pattern)}
        assert files == covered, package  # fmt: skip


def test_the_files_of_the_page_are_package_data():
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["admir.server"]
    covered = {p for pattern in patterns for p in (ROOT / "server").glob(pattern)}
    assert covered == {p for p in (ROOT / "server/static").rglob("*") if p.is_file()}


@pytest.mark.parametrize("room", LINKED)
def test_the_links_lead_to_the_rooms(room):
    link = ROOT / "admir" / room
    assert link.is_symlink()
    assert link.resolve() == ROOT / room


def test_the_bundled_ad_is_small():
    assert (ROOT / "admir/demo/ad.mp4").stat().st_size <= 2_000_000


def test_importing_admir_loads_nothing_heavy():
    heavy = ("langgraph", "cv2", "torch", "onnxruntime", "numpy", "av", "fastapi")
    code = f"import sys, admir, admir.cli; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_build_by_models_prepares_nothing_of_the_rules():
    code = (
        "import sys, admir.memory.builder, admir.backends.llm; "
        "from admir.perception import visual_style; "
        "offline = [m for m in sys.modules if m.startswith('admir.backends.rules')]; "
        "print(offline, visual_style._known.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] 0"


def test_public_names_are_complete():
    import admir

    for name in admir.__all__:
        assert getattr(admir, name) is not None
    assert set(admir._HOMES) == set(admir.__all__)
    with pytest.raises(AttributeError, match="nothing_like_this"):
        admir.nothing_like_this  # noqa: B018


def test_modules_and_functions_are_small():
    for path in [
        *ROOT.glob("admir/**/*.py"),
        *(p for r in LINKED for p in ROOT.glob(f"{r}/**/*.py")),
    ]:
        source = path.read_text("utf-8")
        assert len(source.splitlines()) <= 400, path
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno - node.lineno < 50, (path, node.name)
