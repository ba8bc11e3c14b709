"""From a preset to a backend, and to the senses that it needs."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from admir.backends.base import Backend
from admir.errors import BackendUnavailable, EmbedderMismatch
from admir.perception.decode import Pixels
from admir.perception.embed import Embedder, HashingEmbedder, without_revision
from admir.perception.ocr import TextLine, TextReader
from admir.perception.sentence_transformer import SentenceEmbedder
from admir.perception.sidecars import language_code
from admir.perception.speech import Transcriber
from admir.settings import ENDPOINT, Device, Settings
from admir.weights import BGE_M3, find_weights, is_folder, revision_of

WORDS_ALONE = (
    'search compares words alone, not meaning: the extra "embed" is not installed, and the '
    "endpoint lists no embedding model"
)

_RECOGNISERS = {
    "whisperx": ("whisperx", "whisperx"),
    "faster-whisper": ("faster_whisper", "speech"),
}
"""By name: the module that is looked for, and the extra that brings it. The first comes first."""


def open_backend(settings: Settings, *, again: bool = False) -> Backend:
    """The backend of the preset, for a build or, `again`, for questions about what was built.

    Raises BackendUnavailable, EndpointError or OptionError.
    """
    if settings.preset == "offline":
        from admir.backends.rules import offline_backend

        reader = open_rereader(settings.workers) if again else open_reader(settings.workers)
        return offline_backend(reader, settings.answer_words)
    from admir.backends.llm import llm_backend

    return llm_backend(settings)


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
    from admir.perception.ocr_cache import CachedTextReader

    return CachedTextReader(open_reader(engines))


def open_embedder(settings: Settings, made_by: str = "") -> Embedder:
    """Phi of eq. 2: what the settings name, else what made the vectors that are asked, if any.

    By default, for the presets of models, BGE-M3, where its package is installed, else an embedding
    model that the endpoint lists, else hashing, which is also that of the offline preset. Weights
    are found, not loaded. Raises BackendUnavailable, or EmbedderMismatch where the offline preset
    would have to send a question to an endpoint.
    """
    if settings.embedder != "auto":
        return _embedder(settings.embedder, settings)
    if made_by.startswith(ENDPOINT) and settings.preset == "offline":
        raise EmbedderMismatch(
            f"the memory was embedded by {made_by!r}, and preset 'offline' sends nothing out: say "
            f"`--embedder {made_by}` to ask there, or run `admir reindex` with `--embedder hashing`"
        )
    if made_by:
        return _embedder(without_revision(made_by), settings)
    if settings.preset == "offline":
        return HashingEmbedder()
    if find_spec("sentence_transformers") is not None:
        return _embedder(BGE_M3, settings)
    from admir.backends.llm.endpoints import find_embedding_model

    served = find_embedding_model(settings)
    return _embedder(f"{ENDPOINT}{served}", settings) if served else HashingEmbedder(WORDS_ALONE)


def _embedder(name: str, settings: Settings) -> Embedder:
    if name in ("hashing", HashingEmbedder.id):
        return HashingEmbedder()
    if name.startswith(ENDPOINT):
        from admir.backends.llm.embeddings import EndpointEmbedder

        return EndpointEmbedder(name.removeprefix(ENDPOINT), settings)
    return _sentence_embedder(name, settings.device, settings.gpu_mb)


@cache
def _sentence_embedder(name: str, device: Device, gpu_mb: int | None) -> Embedder:
    """One a process: a model takes seconds to load."""
    folder = find_weights(name, "embedding")
    shown = str(folder) if is_folder(name) else name
    told = f"{shown}@{revision_of(folder)}"
    return SentenceEmbedder(told, folder, device=device, gpu_mb=gpu_mb)


def open_transcriber(settings: Settings) -> Transcriber | None:
    """The recogniser of speech; None where none is wanted, or `auto` finds none that works.

    Nothing is loaded yet. Raises BackendUnavailable where one that is asked for by name is not
    installed, or has no weights.
    """
    if settings.speech not in ("auto", *_RECOGNISERS):
        return None
    try:
        return _recogniser(settings)
    except BackendUnavailable:
        if settings.speech != "auto":
            raise
        return None


def asr_unavailable_reason(settings: Settings) -> str:
    """Why `auto` finds no recogniser that works, and what to do; empty where it finds one."""
    try:
        if settings.speech == "auto":
            _recogniser(settings)
    except BackendUnavailable as error:
        return str(error)
    return ""


def _recogniser(settings: Settings) -> Transcriber:
    wanted = list(_RECOGNISERS) if settings.speech == "auto" else [settings.speech]
    engine = next((name for name in wanted if find_spec(_RECOGNISERS[name][0])), None)
    if engine is None:
        extra = _RECOGNISERS[wanted[-1]][1]
        anything = settings.speech == "auto"
        what = "nothing that recognises speech is" if anything else f"{settings.speech} is not"
        raise BackendUnavailable(
            f'{what} installed: pip install "admir[{extra}]", then `admir fetch-models`'
        )
    return _opened(engine, find_weights(settings.speech_model, "speech"), settings)


def _opened(engine: str, folder: Path, settings: Settings) -> Transcriber:
    from admir.perception.devices import DeviceLimit

    share = DeviceLimit(device=settings.device, gpu_mb=settings.gpu_mb)
    name, language = Path(settings.speech_model).name, language_code(settings.language)
    if engine == "whisperx":
        from admir.perception.whisperx import WhisperX

        return WhisperX(folder, name, language=language, share=share, speakers=settings.speakers)
    from admir.perception.whisper import FasterWhisper

    return FasterWhisper(folder, name, language=language, share=share, speakers=settings.speakers)
