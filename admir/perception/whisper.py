"""Speech recognised by faster-whisper (the extra `speech`): Whisper on CTranslate2, no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from admir.errors import OptionError
from admir.perception.asr_filter import AsrSegment, believed, left_out, utterance_of, word_of
from admir.perception.devices import DeviceLimit, DevicePlan, loading, place_for, with_cpu_behind
from admir.perception.speech import Audio
from admir.perception.vad import cut, pieces_of, speech_spans
from admir.types import Span, Utterance
from admir.weights import revision_of

_DETECTED_IN = 3
"""Windows of 30 s that are listened to for the language, until one is sure."""

Tell = Callable[[float], None]
Stop = Callable[[], bool]


class Whisper:
    """What recognisers of speech around Whisper have in common; see `Transcriber`.

    `folder` holds the weights, `name` is theirs; the language is detected where none is given.
    """

    package: str

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        language: str | None = None,
        share: DeviceLimit | None = None,
        speakers: bool = False,
    ) -> None:
        self.engine = f"{self.package} {version(self.package)}"
        self.model = f"{name}@{revision_of(folder)}"
        self.id = f"{self.engine}, {self.model}"
        self.warnings: list[str] = []
        self._folder, self._language, self._share = folder, language, share or DeviceLimit()
        self._speakers = speakers


class FasterWhisper(Whisper):
    """See `Transcriber`. The weights are loaded for a transcription, and freed behind it."""

    package = "faster-whisper"

    def transcribe(
        self, audio: Audio, *, tell: Tell = lambda _: None, stop: Stop = lambda: False
    ) -> tuple[Utterance, ...]:
        """See `Transcriber`. Raises OptionError for a language the model does not know."""
        self.warnings.clear()
        pieces = pieces_of(speech_spans(audio, stop))
        if not pieces or stop():
            return ()
        place = place_for(self._folder, self._share, sees_cuda, self.warnings.append)
        work = partial(self._recognise, audio, pieces, tell, stop)
        heard, language = with_cpu_behind(place, work, self.warnings.append, self.id)
        kept = believed(heard)
        if self._speakers and kept:
            self.warnings.append("speakers are not told apart: only whisperx does that")
        if doubt := left_out(heard, kept):
            self.warnings.append(doubt)
        return tuple(utterance_of(each, language) for each in kept)

    def _recognise(
        self, audio: Audio, pieces: Sequence[Span], tell: Tell, stop: Stop, place: DevicePlan
    ) -> tuple[list[AsrSegment], str]:
        model = load_whisper(self._folder, place)
        language = self._language or language_of(model, audio, pieces)
        check_language(model, language)
        hear = _together if place.batch > 1 else _one_by_one
        heard: list[AsrSegment] = []
        for each in hear(model, audio, pieces, language, place.batch, tell):
            if stop():
                break
            heard.append(each)
        return heard, language


def load_whisper(folder: Path, place: DevicePlan) -> Any:
    """The model of a folder; raises RuntimeError as CTranslate2 does."""
    from faster_whisper import WhisperModel

    with loading():
        return WhisperModel(
            str(folder), device=place.device, compute_type=place.compute_type, local_files_only=True
        )


def sees_cuda() -> bool:
    """Whether CTranslate2 sees a card."""
    from ctranslate2 import get_cuda_device_count

    return bool(get_cuda_device_count() > 0)


def language_of(model: Any, audio: Audio, pieces: Sequence[Span]) -> str:
    """The language spoken in the pieces (`en`): where nobody speaks, it would be guessed."""
    if not model.model.is_multilingual:
        return "en"
    wanted = _DETECTED_IN * model.feature_extractor.n_samples
    parts: list[Audio] = []
    for piece in pieces:
        if sum(map(len, parts)) >= wanted:
            break
        parts.append(cut(audio, piece))
    spoken = np.concatenate(parts)[:wanted]
    return str(model.detect_language(spoken, language_detection_segments=_DETECTED_IN)[0])


def check_language(model: Any, language: str) -> None:
    """Raise OptionError for a language that the model does not know."""
    known = model.supported_languages
    if language not in known:
        only = f"only {known[0]}" if len(known) == 1 else f"{len(known)} others, not this one"
        raise OptionError(f"setting `language`: {language!r}; the speech model knows {only}")


def _one_by_one(
    model: Any, audio: Audio, pieces: Sequence[Span], language: str, _: int, tell: Tell
) -> Iterator[AsrSegment]:
    """Piece by piece, hotter and hotter where the model doubts or loops."""
    for piece in pieces:
        segments, _info = model.transcribe(
            cut(audio, piece),
            language=language,
            word_timestamps=True,
            vad_filter=False,
            condition_on_previous_text=False,  # one invented line would breed the next
        )
        yield from _heard(segments, piece.start_s, piece)
        tell(piece.end_s)


def _together(
    model: Any, audio: Audio, pieces: Sequence[Span], language: str, batch: int, tell: Tell
) -> Iterator[AsrSegment]:
    """So many pieces at once: several times as fast on a card."""
    from faster_whisper import BatchedInferencePipeline

    pipeline = BatchedInferencePipeline(model)
    for start in range(0, len(pieces), batch):
        some = pieces[start : start + batch]
        # Cut out first: it would make features of all that it is given.
        origin_s = some[0].start_s
        whole = Span(start_s=origin_s, end_s=some[-1].end_s)
        segments, _info = pipeline.transcribe(
            cut(audio, whole),
            language=language,
            word_timestamps=True,
            without_timestamps=False,
            clip_timestamps=[
                {"start": p.start_s - origin_s, "end": p.end_s - origin_s} for p in some
            ],
            batch_size=batch,
        )
        yield from _heard(segments, origin_s, whole)
        tell(whole.end_s)


def _heard(segments: Iterable[Any], origin_s: float, within: Span) -> Iterator[AsrSegment]:
    """Segments as they are made. Whisper's times can leave what it listened to."""
    for segment in segments:
        span = Span(start_s=origin_s + segment.start, end_s=origin_s + segment.end).clamp(within)
        yield AsrSegment(
            span=Span(start_s=round(float(span.start_s), 3), end_s=round(float(span.end_s), 3)),
            text=segment.text,
            log_prob=float(segment.avg_logprob),
            no_speech=float(segment.no_speech_prob),
            words=tuple(
                word_of(w.word, origin_s + w.start, origin_s + w.end, w.probability)
                for w in segment.words or ()
            ),
        )
