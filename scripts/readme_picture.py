"""Draw the README's picture: a real answer about the bundled ad, as the terminal shows it.

python scripts/readme_picture.py [--out docs/answer.svg]
"""

from __future__ import annotations

import argparse
import io
import tempfile
from pathlib import Path

from rich.console import Console

from admir import ask
from admir.demo import AD
from admir.views.terminal import show_answer, show_trace

QUESTION = "What does a lamp like this cost, according to the on-screen text?"


def main() -> None:
    """Ask, and export what is printed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/answer.svg"))
    out: Path = parser.parse_args().out
    console = Console(record=True, width=92, file=io.StringIO(), highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        answer = ask(AD, QUESTION, memories=folder)
        show_answer(console, answer)
        show_trace(console, answer)
    svg = console.export_svg(title=f'admir ask ad "{QUESTION}" --trace').replace(folder, "memories")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
