"""The example notebook runs on a real kernel, and shows what it says it shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from admir import Memory

EXAMPLE = Path(__file__).parent.parent / "examples" / "trace.ipynb"


@pytest.fixture(scope="module")
def executed(demo: Memory, memories: Path, tmp_path_factory: pytest.TempPathFactory):
    """The notebook, run from top to bottom in a folder of its own."""
    home = tmp_path_factory.mktemp("example")
    shutil.copytree(memories, home / "memories")
    notebook = nbformat.read(EXAMPLE, as_version=4)
    where = {"metadata": {"path": str(home)}}
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ADMIR_MEMORIES", str(home / "memories"))
        environment.setenv("IPYTHONDIR", str(home / "ipython"))
        environment.delenv("ADMIR_PRESET", raising=False)
        client = NotebookClient(notebook, timeout=60, kernel_name="python3", resources=where)
        return client.execute()


def shown_by(cell: NotebookNode, kind: str) -> str:
    return "".join(o["data"].get(kind, "") for o in cell.outputs if "data" in o)


def test_it_is_committed_without_outputs():
    code = [c for c in nbformat.read(EXAMPLE, as_version=4).cells if c.cell_type == "code"]
    assert len(code) >= 10
    assert not any(cell.outputs or cell.execution_count for cell in code)


def test_every_cell_runs_and_shows_html_with_frames(executed):
    code = [cell for cell in executed.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert not [o for cell in code for o in cell.outputs if o.output_type != "execute_result"]
    html = {cell.source.splitlines()[-1]: shown_by(cell, "text/html") for cell in code}
    for source in ("memory", "price", 'trace.steps_of("frame_inspect")[0]'):
        assert "data:image/jpeg;base64," in html[source], source
    assert "draft rejected" in html["trace"]
    assert "communication_expert(" in html["strategy"]
    assert "Quoted, not proved" in html["strategy"]
    assert "not grounded" in html["admir.ask(memory, QUESTIONS[-1])"]
    assert "<script" not in "".join(html.values())
    memory = next(cell for cell in code if cell.source.endswith("\nmemory"))
    assert shown_by(memory, "text/plain").startswith("Memory(video=")


def test_the_words_between_the_cells_are_true(executed):
    shown = {cell.source: cell for cell in executed.cells if cell.cell_type == "code"}
    first = shown['trace.steps_of("finish")[0]']
    last = shown['trace.steps_of("finish")[-1]']
    assert "draft rejected" in shown_by(first, "text/html")
    assert "unverified" in shown_by(first, "text/html")
    assert "ninety dollars" in shown_by(first, "text/html")
    assert "draft accepted" in shown_by(last, "text/html")
    assert "read again in the frame" in shown_by(last, "text/html")
    assert "look elsewhere" in shown_by(shown["trace.backtracks[0]"], "text/html")
    assert re.search(
        r"\d+ frames of 0\.0-32\.2 s in \d+ grids", shown_by(executed.cells[-3], "text/html")
    )
