"""Speech recognised by whisperX (the extra `whisperx`): batches, aligned words, speakers.

It prints, logs and would download; here it gets folders that are on this machine, and is kept
quiet. Importing it takes seconds and may fail in many ways beside another torch.
"""

from __future__ import annotations

import gc
import logging
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from admir.errors import BackendUnavailable
from admir.perception.asr_filter import AsrSegment, believed, left_out, utterance_of, word_of
from admir.perception.devices import DevicePlan, loading, place_for, with_cpu_behind
from admir.perception.speech import Audio
from admir.perception.vad import LONGEST_PIECE_S, pieces_of, speech_spans
from admir.perception.whisper import Stop, Tell, Whisper, check_language, language_of
from admir.types import Span, Utterance
from admir.weights import DIARISATION, find_weights

T = TypeVar("T")

_WITHOUT_WORDS = {"longest_s": 10.0, "pause_s": 0.5}
"""Without aligned words a piece is one utterance: so it is shorter."""

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*(?=\S)")


class _Stopped(Exception):
    """The build was stopped."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What is heard, and who is told."""

    audio: Audio
    pieces: Sequence[Span]
    tell: Tell
    stop: Stop

    def check(self, *_: object) -> None:
        """Leave whisperX from inside one of its callbacks."""
        if self.stop():
            raise _Stopped


class WhisperX(Whisper):
    """See `Transcriber`. Each model is loaded for its work, and freed behind it."""

    package = "whisperx"

    def transcribe(
        self, audio: Audio, *, tell: Tell = lambda _: None, stop: Stop = lambda: False
    ) -> tuple[Utterance, ...]:
        """See `Transcriber`. Raises OptionError for a language the model does not know."""
        self.warnings.clear()
        pieces = pieces_of(speech_spans(audio, stop))
        if not pieces or stop():
            return ()
        import_whisperx()
        with _quiet():
            work = _Work(audio, pieces, tell, stop)
            try:
                raw, language = self._at_place(partial(self._recognise, work))
                heard = self._with_words(work, self._believed(raw), language)
                told = self._with_speakers(work, self._believed(heard))
            except _Stopped:
                return ()
        return tuple(utterance_of(each, language) for each in told)

    def _at_place(self, do: Callable[[DevicePlan], T]) -> T:
        warn = self._warn_once
        place = place_for(self._folder, self._share, sees_cuda, warn)
        return with_cpu_behind(place, do, warn, self.id)

    def _believed(self, heard: Sequence[AsrSegment]) -> tuple[AsrSegment, ...]:
        kept = believed(heard)
        if doubt := left_out(heard, kept):
            self._warn_once(doubt)
        return kept

    def _warn_once(self, line: str) -> None:
        if line not in self.warnings:
            self.warnings.append(line)

    def _recognise(self, work: _Work, place: DevicePlan) -> tuple[list[AsrSegment], str]:
        from whisperx.asr import load_model

        with loading():
            pipeline = load_model(
                str(self._folder),
                place.device,
                compute_type=place.compute_type,
                local_files_only=True,
            )
        language = self._language or language_of(pipeline.model, work.audio, work.pieces)
        check_language(pipeline.model, language)
        whole_s = work.pieces[-1].end_s

        def told(percent: float) -> None:
            work.check()
            work.tell(whole_s * percent / 100)

        limits = {} if self._aligner(language) else _WITHOUT_WORDS
        pipeline.vad_model.merge_chunks = partial(_pieces, limits=limits)
        made = pipeline.transcribe(
            work.audio, batch_size=place.batch, language=language, progress_callback=told
        )
        del pipeline
        _free()
        return [_heard(segment) for segment in made["segments"]], language

    def _aligner(self, language: str) -> Path | None:
        """The folder of the weights that align words; None, with a warning, without any."""
        try:
            return find_weights(language, "alignment")
        except BackendUnavailable as error:
            self._warn_once(f"spoken words have no times of their own: {error}")
            return None

    def _with_words(
        self, work: _Work, heard: tuple[AsrSegment, ...], language: str
    ) -> tuple[AsrSegment, ...]:
        folder = self._aligner(language) if heard else None
        if folder is None:
            return heard
        try:
            return self._at_place(partial(_align, work, heard, language, folder))
        except BackendUnavailable as error:
            self._warn_once(f"spoken words have no times of their own: {error}")
            return heard

    def _with_speakers(self, work: _Work, heard: tuple[AsrSegment, ...]) -> tuple[AsrSegment, ...]:
        if not self._speakers or not heard:
            return heard
        work.check()
        try:
            folder = find_weights(DIARISATION, "diarisation")
            return self._at_place(partial(_diarize, work, heard, folder))
        except BackendUnavailable as error:
            self._warn_once(f"speakers are not told apart: {error}")
            return heard


def import_whisperx() -> None:
    """Import what is used of whisperX; raises BackendUnavailable where that fails.

    `import whisperx` alone proves nothing: it imports its parts when they are called.
    """
    os.environ.setdefault("PYANNOTE_METRICS_ENABLED", "false")  # it reports to its makers
    logging.getLogger("whisperx").addHandler(logging.NullHandler())  # else to standard output
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import whisperx.alignment
            import whisperx.asr  # noqa: F401
    except (ImportError, OSError, AttributeError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise BackendUnavailable(
            f"whisperX cannot be loaded ({why}): install it in an environment of its own, "
            'pip install "admir[whisperx]", or take `--speech faster-whisper`'
        ) from None


def sees_cuda() -> bool:
    """Whether torch sees a card."""
    import torch

    return bool(torch.cuda.is_available())


def _pieces(
    scores: Any, _chunk_s: float, *, onset: float, offset: float, limits: Mapping[str, float]
) -> list[dict[str, Any]]:
    """What is heard at once, by the scores of its detector; it would join over long pauses."""
    from whisperx.vads.pyannote import Binarize

    binarize = Binarize(max_duration=LONGEST_PIECE_S, onset=onset, offset=offset)
    turns = [Span(start_s=t.start, end_s=t.end) for t in binarize(scores).get_timeline()]
    return [
        {"start": piece.start_s, "end": piece.end_s, "segments": [(piece.start_s, piece.end_s)]}
        for piece in pieces_of(turns, **limits)
    ]


def _heard(segment: dict[str, Any]) -> AsrSegment:
    return AsrSegment(
        span=_span(float(segment["start"]), float(segment["end"])),
        text=segment["text"],
        log_prob=float(segment.get("avg_logprob", 0.0)),
    )


def _span(start_s: float, end_s: float) -> Span:
    start_s = max(0.0, start_s)
    return Span(start_s=round(start_s, 3), end_s=round(max(start_s, end_s), 3))


def _align(
    work: _Work, heard: Sequence[AsrSegment], language: str, folder: Path, place: DevicePlan
) -> tuple[AsrSegment, ...]:
    """Sentences with the times of their words, by the sound of each letter."""
    from whisperx import alignment

    with loading():
        model, facts = _letters(folder, language, place)
    found: list[AsrSegment] = []
    with _own_sentences(alignment):
        for each in heard:  # one by one, so that each keeps its probability
            work.check()
            segment = {"start": each.span.start_s, "end": each.span.end_s, "text": each.text}
            made = alignment.align([segment], model, facts, work.audio, place.device)
            found += [_aligned(each, part) for part in made["segments"]]
    del model
    _free()
    return tuple(found)


def _letters(folder: Path, language: str, place: DevicePlan) -> tuple[Any, dict[str, Any]]:
    """The model that hears letters, and what whisperX asks of it; its own loader prints."""
    from transformers import Wav2Vec2ForCTC, Wav2Vec2Processor

    known = Wav2Vec2Processor.from_pretrained(folder, local_files_only=True).tokenizer.get_vocab()
    model = Wav2Vec2ForCTC.from_pretrained(folder, local_files_only=True).to(place.device)
    letters = {letter.lower(): number for letter, number in known.items()}
    return model, {"language": language, "dictionary": letters, "type": "huggingface"}


def _aligned(whole: AsrSegment, part: dict[str, Any]) -> AsrSegment:
    """A sentence of an utterance; words whose letters the model does not know have no times."""
    words = tuple(
        word_of(word["word"], word["start"], word["end"], word.get("score", 0.0))
        for word in part["words"]
        if "start" in word and "end" in word
    )
    start_s, end_s = float(part["start"]), float(part["end"])
    known = math.isfinite(start_s) and math.isfinite(end_s)
    span = _span(start_s, end_s) if known else whole.span
    return replace(whole, span=span, text=part["text"], words=words)


@contextmanager
def _own_sentences(alignment: Any) -> Iterator[None]:
    """NLTK would download its rules of where sentences end."""
    theirs = alignment.nltk_load
    alignment.nltk_load = lambda _: _Sentences()
    try:
        yield
    finally:
        alignment.nltk_load = theirs


class _Sentences:
    """Stands in for NLTK's Punkt."""

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        """Where each sentence begins and ends."""
        ends = [match.span() for match in _SENTENCE_END.finditer(text)]
        starts = [0, *(after for _, after in ends)]
        return list(zip(starts, [*(before for before, _ in ends), len(text)], strict=True))


def _diarize(
    work: _Work, heard: Sequence[AsrSegment], folder: Path, place: DevicePlan
) -> tuple[AsrSegment, ...]:
    """Each utterance with who says most of it: `Speaker 1`, by when they are first heard."""
    from whisperx.diarize import DiarizationPipeline, assign_word_speakers

    with loading():
        pipeline = DiarizationPipeline(model_name=str(folder), device=place.device)
    turns = pipeline(work.audio, progress_callback=work.check)
    segments = [{"start": each.span.start_s, "end": each.span.end_s} for each in heard]
    told = assign_word_speakers(turns, {"segments": segments})["segments"]
    del pipeline
    _free()
    labels = [segment.get("speaker") for segment in told]
    order = list(dict.fromkeys(label for label in labels if label))
    return tuple(
        replace(each, speaker=f"Speaker {order.index(label) + 1}") if label else each
        for each, label in zip(heard, labels, strict=True)
    )


def _free() -> None:
    """Give the card's memory back: torch keeps what it had."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


@contextmanager
def _quiet() -> Iterator[None]:
    """Its libraries warn of their own affairs, and tell them to the terminal."""
    loud = [logging.getLogger(name) for name in ("whisperx", "lightning.pytorch", "transformers")]
    levels = [logger.level for logger in loud]
    for logger in loud:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loud, levels, strict=True):
            logger.setLevel(level)
