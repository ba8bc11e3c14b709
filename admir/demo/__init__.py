"""The bundled ad of an invented product, its subtitles and its true facts.

`scripts/render_demo_ad.py` draws and renders it.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
AD = FOLDER / "ad.mp4"
FACTS = FOLDER / "facts.json"

QUESTIONS = (
    "Which brand is advertised?",
    "What does a lamp like this cost, according to the on-screen text?",
    "Until when does the offer run?",
    "When is the website first shown?",
    "What does Tom say about the colour he took?",
    "What is the slogan?",
    "What should viewers do?",
    "Which phone number can viewers call?",
)
"""What `admir demo` asks: the second one backtracks, the last one is not in the ad."""
