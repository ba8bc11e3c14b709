"""The offline eyes: captions of what was measured, names as subjects, OCR as inspection."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from admir.backends.base import (
    Caption,
    CaptionRequest,
    ExpertRequest,
    InspectRequest,
    InspectResult,
    MergedSubjects,
    NarrationInput,
)
from admir.backends.rules.brand_names import names_in, same_name
from admir.backends.rules.inspect_frames import read_frames, see_frames
from admir.backends.rules.narrative import tell_story
from admir.backends.rules.persuasion import read_grids
from admir.backends.subjects import assign_ids, merge_subjects
from admir.perception.decode import Picture
from admir.perception.grids import CELL_SIDE
from admir.perception.ocr import TextReader
from admir.perception.visual_style import look_words
from admir.types import Clip, Narrative, Subject

_NOT_A_PERSON = ("narrator", "voice", "voiceover", "announcer", "speaker", "vo")


class OfflinePerceiver:
    """See the module; `Perceiver` says what each method owes."""

    id = "offline-measured-v2"
    looks = False
    caption_side = 0

    def __init__(self, reader: TextReader) -> None:
        self._reader = reader

    @staticmethod
    def cell_side(width: int, height: int) -> int:
        """See `Perceiver`."""
        return CELL_SIDE

    async def caption(self, view: CaptionRequest) -> Caption:
        """See `Perceiver`: colour, light, motion, shots, and who speaks."""
        return Caption(
            description=_describe(view.clip, view.shot_count, _speakers(view)),
            subjects=tuple(_subjects(view)),
        )

    async def read_text(self, picture: Picture) -> tuple[str, ...]:
        """See `Perceiver`: by the text reader."""
        lines = await asyncio.to_thread(self._reader.read, picture.pixels)
        return tuple(line.text for line in lines)

    async def merge_subjects(self, partial: Sequence[Sequence[Subject]]) -> MergedSubjects:
        """See `Perceiver`: subjects of one name are one."""
        merged: list[Subject] = []
        for subject in sorted(
            (s for group in partial for s in group), key=lambda s: s.first_seen_s
        ):
            known = next((i for i, m in enumerate(merged) if _is_one(m, subject)), None)
            if known is None:
                merged.append(subject)
            else:
                merged[known] = merge_subjects(merged[known], subject)
        return MergedSubjects(subjects=assign_ids(merged))

    async def narrate(self, story: NarrationInput) -> Narrative:
        """See `Perceiver`: told from the lines of the screen and of the speech."""
        return tell_story(story)

    async def inspect(self, inspection: InspectRequest) -> InspectResult:
        """See `Perceiver`: literal reads every changed frame, semantic sees colours and faces."""
        if inspection.mode == "literal":
            return await asyncio.to_thread(read_frames, inspection, self._reader)
        return await asyncio.to_thread(see_frames, inspection)

    async def read_grids(self, reading: ExpertRequest) -> InspectResult:
        """See `Perceiver`: light over time, and devices that the words of the ad show."""
        return read_grids(reading)


def _speakers(view: CaptionRequest) -> list[str]:
    return list(dict.fromkeys(u.speaker for u in view.utterances if u.speaker))


def _describe(clip: Clip, shot_count: int, speakers: Sequence[str]) -> str:
    parts = []
    if clip.look is not None:
        parts.append(look_words(clip.look))
    if shot_count:
        pace = "one shot" if shot_count == 1 else f"{shot_count} shots"
        parts.append(pace)
    if clip.screen_text:
        parts.append("text on screen")
    if speakers:
        parts.append(f"{' and '.join(speakers)} speaking")
    elif clip.speech:
        parts.append("speech")
    return f"{', '.join(parts)}." if parts else ""


def _subjects(view: CaptionRequest) -> Iterator[Subject]:
    """Speakers and names of one clip: a partial registry."""
    for utterance in view.utterances:
        if utterance.speaker and utterance.speaker.lower() not in _NOT_A_PERSON:
            yield Subject(
                id="",
                name=utterance.speaker,
                identity=("speaks in the ad",),
                first_seen_s=max(view.clip.span.start_s, utterance.span.start_s),
            )
    for text in view.clip.screen_text:
        for name, weight in names_in(text):
            if weight >= 0.7:
                yield Subject(
                    id="",
                    name=name,
                    appearance=(f'in "{text}"',),
                    identity=("a name on the screen",),
                    first_seen_s=view.clip.span.start_s,
                )


def _is_one(a: Subject, b: Subject) -> bool:
    """A person known by a face alone has a number for a name, which joins nobody."""
    return "person" not in (a.kind, b.kind) and same_name(a.name, b.name)
