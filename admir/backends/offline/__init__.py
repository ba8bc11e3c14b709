"""The offline mind: rules, word lists and measurements. No key, no weights, no network.

It is a real, limited analyst: it reads text, speech, shots, colour and light. It does not
recognise objects or people, and its answers say so where that matters.
"""

from __future__ import annotations

from admir.backends.base import Mind
from admir.perception.ocr import TextReader


def offline_mind(reader: TextReader, answer_words: int) -> Mind:
    """The mind of preset `offline`; both halves share one text reader."""
    # Other minds use the story rules alone: they need not load the rest of the package.
    from admir.backends.offline.perceiver import OfflinePerceiver
    from admir.backends.offline.reasoner import OfflineReasoner

    return Mind(
        perceiver=OfflinePerceiver(reader),
        reasoner=OfflineReasoner(reader, answer_words=answer_words),
        models={"perceiver": OfflinePerceiver.id, "reasoner": OfflineReasoner.id},
    )
