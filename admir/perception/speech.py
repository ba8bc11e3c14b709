"""Speech: what was said when, from subtitles or from a recogniser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from admir.types import Recognition, Utterance

Audio = NDArray[np.float32]
"""Mono samples [n] in -1 to 1 at 16 kHz; the first is that of the first picture."""

SAMPLE_RATE = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Utterances in time order and where they come from, in words for the provenance.

    `recognition` is None for subtitles. `warnings` say what could not be done.
    """

    utterances: tuple[Utterance, ...]
    source: str
    recognition: Recognition | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether anything has listened: else that nothing is said is not known."""
        return bool(self.utterances) or self.recognition is not None


class Transcriber(Protocol):
    """A recogniser of speech.

    `id` names engine, version and model: with another one a memory is built anew. `engine` and
    `model` are for the memory.
    """

    id: str
    engine: str
    model: str

    @property
    def warnings(self) -> Sequence[str]:
        """What the last work had to do without, one line each."""

    def transcribe(
        self,
        audio: Audio,
        *,
        tell: Callable[[float], None] = lambda _: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> tuple[Utterance, ...]:
        """What is said, in time order, silence and music left out.

        `tell` gets the second that it has come to; `stop` ends it early, with what it has. Raises
        BackendUnavailable where the model cannot be loaded, OptionError for a language that it does
        not know.
        """
