"""What statuses are called, wherever an answer is shown."""

from __future__ import annotations

BASES = {
    "evidence": "grounded in the video",
    "expert": "rests on the expert's reading alone",
    "absence": "nothing in the video supports an answer",
    "none": "not grounded",
}
