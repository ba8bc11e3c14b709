"""Take the pictures of the page: a real answer about the bundled ad, in a real Chromium.

python scripts/page_pictures.py [--out docs]
"""

from __future__ import annotations

import argparse
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from admir import build_memory
from admir.demo import AD

QUESTION = "What does a lamp like this cost, according to the on-screen text?"
SIZES = {"1280": (1280, 860), "390": (390, 844)}


def main() -> None:
    """Build the memory, serve it, and take the page in both widths and both schemes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs"))
    out: Path = parser.parse_args().out
    with tempfile.TemporaryDirectory() as folder:
        memories = Path(folder)
        build_memory(AD, memories=memories)
        with serving(memories) as url, sync_playwright() as playwright:
            own = playwright.chromium.executable_path
            path = shutil.which("chromium") or own
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            for width in SIZES:
                for scheme in ("light", "dark"):
                    take(browser, url, width, scheme, out)
            browser.close()


@contextmanager
def serving(memories: Path) -> Iterator[str]:
    """The service on a free port: its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = (
        "-c",
        "from admir.cli import main; main()",
        "serve",
        "--port",
        str(port),
        "--memories",
        str(memories),
    )
    running = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
    try:
        yield waited(f"http://127.0.0.1:{port}")
    finally:
        running.terminate()
        running.wait()


def waited(url: str) -> str:
    """The address, once it answers."""
    for _ in range(300):
        try:
            httpx.get(f"{url}/healthz")
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return url
    raise SystemExit("the service does not start")


def take(browser: Browser, url: str, width: str, scheme: str, out: Path) -> None:
    """One picture, written as a small PNG."""
    wide, high = SIZES[width]
    context = browser.new_context(
        viewport={"width": wide, "height": high},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(f"{url}/#/v/ad")
    answer(page)
    path = out / f"page-{width}-{scheme}.png"
    page.screenshot(path=path, full_page=width == "390")
    context.close()
    Image.open(path).convert("RGB").save(path, optimize=True)


def answer(page: Page) -> None:
    """Ask, and show the evidence in the player."""
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".piece").first.click()
    page.mouse.move(0, 0)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(4_000)  # the player's own controls fade


if __name__ == "__main__":
    main()
