"""What is said in a video: by default from subtitles where there are any, else recognised."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from admir.errors import BackendUnavailable, OptionError
from admir.perception.audio import decode_audio
from admir.perception.sidecars import sidecar_of
from admir.perception.speech import SAMPLE_RATE, Transcriber, Transcript
from admir.perception.subtitles import (
    NO_SUBTITLES,
    has_subtitles,
    read_subtitle_file,
    read_subtitles,
)
from admir.settings import SPEECH_KINDS, Settings, own_path
from admir.types import Recognition, Utterance

if TYPE_CHECKING:
    from admir.memory.usage_journal import UsageJournal

_TRANSCRIPT = TypeAdapter(Transcript)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechStage:
    """The speech stage of one build. `tell` gets seconds done and all seconds.

    `deaf_because` says why there is no `transcriber`, where one is wanted.
    """

    path: Path
    settings: Settings
    transcriber: Transcriber | None
    deaf_because: str
    tell: Callable[[int, int], None]
    stop: Callable[[], bool]

    def run(self, journal: UsageJournal) -> Transcript:
        """What is said. Runs in a thread.

        Raises OptionError for a file of subtitles that is no use, BackendUnavailable where the
        recogniser that was asked for by name fails.
        """
        if self.settings.speech == "none":
            return Transcript(utterances=(), source="none: switched off")
        if (file := given_file(self.settings)) is not None:
            return _read_given(file)
        given = self._subtitles()
        if given.utterances:
            return given
        if self.transcriber is None:
            why = "; ".join(filter(None, (given.source, self.deaf_because)))
            return Transcript(utterances=(), source=why)
        try:
            heard = self._recognised(self.transcriber, journal)
        except BackendUnavailable as error:
            if self.settings.speech != "auto":
                raise
            heard = Transcript(utterances=(), source=f"none: {error}")
        return _with_note(heard, given)

    def _subtitles(self) -> Transcript:
        """Those of the video; none where a recogniser is asked for by name."""
        if self.settings.speech != "auto":
            return Transcript(utterances=(), source=NO_SUBTITLES)
        return read_subtitles(self.path, self.settings.language)

    def _recognised(self, transcriber: Transcriber, journal: UsageJournal) -> Transcript:
        """From the journal, or from the recogniser and into it."""
        key = f"speech:{transcriber.id}"
        if key in journal:
            return _TRANSCRIPT.validate_python(journal[key])
        audio = decode_audio(self.path, self.settings.language, self.stop)
        if not audio.size:
            return Transcript(utterances=(), source="none: the video has no sound")
        whole_s = -(-audio.size // SAMPLE_RATE)
        self.tell(0, whole_s)
        said = transcriber.transcribe(
            audio, tell=lambda done_s: self.tell(int(done_s), whole_s), stop=self.stop
        )
        found = _recognition(transcriber, said)
        if not self.stop():
            self.tell(whole_s, whole_s)
            journal.keep(key, to_jsonable_python(found))
        return found


def _with_note(heard: Transcript, given: Transcript) -> Transcript:
    """A broken file of subtitles is not passed over in silence."""
    if given.source == NO_SUBTITLES:
        return heard
    note = given.source.removeprefix("none: ")
    return Transcript(
        utterances=heard.utterances,
        source=heard.source,
        recognition=heard.recognition,
        warnings=(f"{note}: speech was not taken from it", *heard.warnings),
    )


def _recognition(transcriber: Transcriber, said: Sequence[Utterance]) -> Transcript:
    """The transcript with where it is from, in words: `engine, model: en (0.93)`."""
    languages = Counter(u.language for u in said if u.language)
    language = languages.most_common(1)[0][0] if languages else None
    confidence = _mean_confidence(said)
    sure = "" if confidence is None else f" ({confidence:.2f})"
    heard = f"{language or 'unknown language'}{sure}" if said else "no speech"
    return Transcript(
        utterances=tuple(said),
        source=f"{transcriber.engine}, {transcriber.model}: {heard}",
        recognition=Recognition(
            engine=transcriber.engine,
            model=transcriber.model,
            language=language,
            confidence=confidence,
        ),
        warnings=tuple(transcriber.warnings),
    )


def _mean_confidence(said: Sequence[Utterance]) -> float | None:
    """The mean over the words; an utterance without their times counts as many as it has."""
    sure: list[float] = []
    for each in said:
        if each.words:
            sure += [word.confidence for word in each.words]
        elif each.confidence is not None:
            sure += [each.confidence] * len(each.text.split())
    return round(fmean(sure), 3) if sure else None


def given_file(settings: Settings) -> Path | None:
    """The file of subtitles that the settings name."""
    return None if settings.speech in SPEECH_KINDS else own_path(settings.speech)


def _read_given(file: Path) -> Transcript:
    found = read_subtitle_file(file)
    if not found.utterances:
        raise OptionError(f"setting `speech`: {found.source.removeprefix('none: ')}")
    return found


def hearing_parts(
    video: Path, settings: Settings, transcriber: Transcriber | None
) -> dict[str, object]:
    """What the speech of a memory depends on.

    By default the recogniser counts only where there are no subtitles: one that is installed later
    makes a memory without speech stale, and leaves the others alone. Raises OptionError for a given
    file that cannot be read.
    """
    file = given_file(settings)
    auto = settings.speech == "auto"
    subtitles = sidecar_of(video, settings.language) if auto else file
    listens = transcriber is not None and settings.speech != "none" and file is None
    hears = listens and not (auto and has_subtitles(video, settings.language))
    return {
        "subtitles": _sha256(subtitles, must=file is not None),
        "speech": "a file" if file is not None else settings.speech,
        "language": settings.language,
        "recogniser": transcriber.id if transcriber and hears else None,
        "speakers": settings.speakers if hears else None,
    }


def _sha256(file: Path | None, *, must: bool) -> str | None:
    """None where there is none; the speech stage warns of those that cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() if file else None
    except OSError as error:
        if must and file:
            why = error.strerror or type(error).__name__
            raise OptionError(f"setting `speech`: {file.name!r} cannot be read: {why}") from None
        return "unreadable"
