"""Which subjects a question is about (paper 2.2.2, eq. 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from admir.perception.embed import Embedder
from admir.types import Narrative, Subject


def active_subjects(
    subjects: Sequence[Subject],
    question: str,
    narrative: Narrative,
    embedder: Embedder,
    top_k: int,
) -> tuple[tuple[Subject, float], ...]:
    """The `top_k` subjects by rho = cos(profile, question + narrative), and rho, best first."""
    if not subjects:
        return ()
    anchor = embedder.encode([f"{question}\n{narrative.text}"])[0]
    scores = embedder.encode([subject.profile for subject in subjects]) @ anchor
    best = np.argsort(-scores, kind="stable")[:top_k]
    return tuple((subjects[i], round(float(scores[i]), 4)) for i in best)
