"""From a preset to a mind."""

from __future__ import annotations

from functools import cache

from admir.backends.base import Mind
from admir.perception.embed import Embedder, HashingEmbedder
from admir.perception.ocr import TextReader
from admir.settings import Settings


def open_mind(settings: Settings, reader: TextReader) -> Mind:
    """The mind of the preset; raises EndpointError or OptionError."""
    if settings.preset == "offline":
        from admir.backends.offline import offline_mind

        return offline_mind(reader, settings.answer_words)
    from admir.backends.llm import llm_mind

    return llm_mind(settings)


@cache
def open_reader(at_once: int = 2) -> TextReader:
    """The text reader, one a process: its models take half a second to load."""
    from admir.perception.ocr import RapidOcrReader

    return RapidOcrReader(at_once)


@cache
def open_rereader(engines: int = 2) -> TextReader:
    """The text reader for questions: they look again and again at the same lines."""
    from admir.perception.recall import RecallingReader

    return RecallingReader(open_reader(engines))


def open_embedder() -> Embedder:
    """Phi of eq. 2."""
    return HashingEmbedder()
