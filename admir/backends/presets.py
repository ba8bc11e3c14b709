"""From a preset to a mind, and to the senses that it needs."""

from __future__ import annotations

from functools import cache

from admir.backends.base import Mind
from admir.perception.decode import Pixels
from admir.perception.embed import Embedder, HashingEmbedder
from admir.perception.ocr import TextLine, TextReader
from admir.settings import Settings


def open_mind(settings: Settings, *, again: bool = False) -> Mind:
    """The mind of the preset, for a build or, `again`, for questions about what was built.

    Raises BackendUnavailable, EndpointError or OptionError.
    """
    if settings.preset == "offline":
        from admir.backends.offline import offline_mind

        reader = open_rereader(settings.workers) if again else open_reader(settings.workers)
        return offline_mind(reader, settings.answer_words)
    from admir.backends.llm import llm_mind

    return llm_mind(settings)


def reader_of(settings: Settings) -> TextReader:
    """The reader that a build uses; its models are not loaded where nothing is to be read."""
    return open_reader(settings.workers) if settings.screen_text == "auto" else NoReader()


class NoReader:
    """Reads nothing."""

    id = "none"

    def read(self, pixels: Pixels) -> tuple[TextLine, ...]:
        """See `TextReader`: no line."""
        return ()


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
