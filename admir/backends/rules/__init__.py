"""The offline backend: rules, word lists and measurements. No key, no weights, no network.

It is a real, limited analyst: it reads text, speech, shots, colour and light. It does not
recognise objects or people, and its answers say so where that matters.
"""

from __future__ import annotations

from admir.backends.base import Backend
from admir.perception.ocr import TextReader


def offline_backend(reader: TextReader, answer_words: int) -> Backend:
    """The backend of preset `offline`; both halves share one text reader."""
    # Other backends use the story rules alone: they need not load the rest of the package.
    from admir.backends.rules.perceiver import OfflinePerceiver
    from admir.backends.rules.reasoner import OfflineReasoner

    return Backend(
        perceiver=OfflinePerceiver(reader),
        reasoner=OfflineReasoner(reader, answer_words=answer_words),
        models={"perceiver": OfflinePerceiver.id, "reasoner": OfflineReasoner.id},
    )
