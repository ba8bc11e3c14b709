"""What people have corrected: kept beside the builds of a video, and laid over each of them.

A build stays as it was made, so that a correction can be taken back, and outlives a new build.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from pydantic import TypeAdapter
from rapidfuzz.fuzz import ratio

from admir.errors import CorrectionError
from admir.memory.blocks import text_blocks
from admir.text import numbers, squash
from admir.types import (
    Clip,
    Correction,
    CorrectionKind,
    Inference,
    Memory,
    Narrative,
    ScreenText,
    Subject,
    text_clip,
)

MOST_CORRECTIONS = 1_000
MOST_CHARS = 500
NO_TEXT = "[no text]"
"""Stands in captions and summaries where they quote what is no text."""

Corrections = tuple[Correction, ...]
_FILE = TypeAdapter(Corrections)
_BRAND = "brand"
_LEAST_LETTERS = 4
_SAME_READING = 86.0
_TOLD = ("summary", "genre", "entities", "explicit_text", "mismatches", "inferences", "quote")
_KNOWN = ("name", "appearance", "identity")


def to_json(corrections: Corrections) -> str:
    """As they are kept."""
    return _FILE.dump_json(corrections, indent=1).decode()


def from_json(data: bytes) -> Corrections:
    """As they were kept; raises ValueError where that is something else."""
    return _FILE.validate_json(data)


def new_correction(kind: CorrectionKind, text: str, was: str = "") -> Correction:
    """A correction made now. Those of one reading have one id: the later takes the place.

    Raises CorrectionError where it says nothing, too much, or what stands there already.
    """
    text, was = _plain(text), _plain(was)
    if max(len(text), len(was)) > MOST_CHARS:
        raise CorrectionError(f"a correction has at most {MOST_CHARS} characters")
    if kind == "brand" and not text:
        raise CorrectionError("a brand needs a name")
    if kind == "screen_text" and not was:
        raise CorrectionError("say in `was` which line of on-screen text is wrong")
    if text == was:
        raise CorrectionError(f'"{text}" is what stands there already')
    name = _BRAND if kind == "brand" else hashlib.sha256(was.encode()).hexdigest()[:12]
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    return Correction(id=name, kind=kind, text=text, was=was, made_at=made_at)


def _plain(text: str) -> str:
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def added(memory: Memory, known: Sequence[Correction], new: Correction) -> Corrections:
    """The corrections of a memory, as it was built, with a new one.

    What corrects a corrected line replaces what corrected that; back to what was read takes it
    away. Raises CorrectionError where no line reads so, or there are too many.
    """
    if new.kind == "screen_text":
        before = next((c for c in known if c.kind == new.kind and c.text == new.was), None)
        if before is not None:
            new = replace(new, id=before.id, was=before.was)
        if all(line.text != new.was for line in memory.screen_text):
            raise CorrectionError(f'no line of {memory.video.id!r} reads "{new.was}"')
    others = tuple(c for c in known if c.id != new.id)
    if len(others) >= MOST_CORRECTIONS:
        raise CorrectionError(f"a video takes at most {MOST_CORRECTIONS:,} corrections")
    return others if new.text == new.was else (*others, new)


def corrected(memory: Memory, corrections: Sequence[Correction]) -> Memory:
    """The memory as people have corrected it.

    Lines, clips, captions, story and registry are told in the right words; `ScreenText.was` and
    `Clip.corrected` say where. A correction of what this build did not read changes nothing.
    """
    if not corrections:
        return memory
    say = partial(reworded, corrections=corrections)
    lines = tuple(_lines(memory.screen_text, corrections))
    blocks = text_blocks(lines)
    return replace(
        memory,
        screen_text=lines,
        clips=tuple(_clip(clip, blocks, memory, say) for clip in memory.clips),
        narrative=_named(_reworded(memory.narrative, say), corrections),
        subjects=tuple(_reworded(subject, say) for subject in memory.subjects),
        corrections=tuple(corrections),
    )


def brand_of(corrections: Iterable[Correction]) -> str:
    """The brand, where a person has told it; else empty."""
    return next((c.text for c in corrections if c.kind == "brand"), "")


def reread(text: str, corrections: Sequence[Correction]) -> str:
    """A line that was read again, in the right words: nobody corrects a line twice.

    Empty where a person says that there is no text.
    """
    for each in corrections:
        if each.kind == "screen_text" and _same_reading(text, each.was):
            return each.text
    return reworded(text, corrections)


def _same_reading(text: str, was: str) -> bool:
    """Whether two readings are of one line: letters may differ a little, figures not at all."""
    alike = ratio(squash(text), squash(was)) >= _SAME_READING
    return alike and numbers(text) == numbers(was)


def _lines(lines: Sequence[ScreenText], corrections: Sequence[Correction]) -> Iterator[ScreenText]:
    right = {c.was: c.text for c in corrections if c.kind == "screen_text"}
    for line in lines:
        text = right.get(line.text, line.text)
        if text:
            yield line if text == line.text else replace(line, text=text, was=line.text)


def _clip(
    clip: Clip, blocks: Sequence[ScreenText], memory: Memory, say: Callable[[str], str]
) -> Clip:
    shown = text_clip(clip.video_id, clip.index, clip.span, blocks, memory.utterances).screen_text
    told = replace(clip, caption=say(clip.caption), screen_text=shown)
    return replace(told, corrected=True) if told.index_text != clip.index_text else clip


def reworded(text: str, corrections: Sequence[Correction]) -> str:
    """The text, where it quotes what was read wrong, in the right words."""
    right = {c.was: c.text or NO_TEXT for c in corrections if c.was}
    if not right:
        return text
    longest_first = sorted(right, key=len, reverse=True)
    return _phrases(tuple(longest_first)).sub(lambda found: right[found[0]], text)


@lru_cache(maxsize=64)
def _phrases(wrong: tuple[str, ...]) -> re.Pattern[str]:
    """A few letters may stand anywhere: they count between quotation marks alone."""
    return re.compile("|".join(map(_phrase, wrong)))


def _phrase(was: str) -> str:
    few = len(squash(was)) < _LEAST_LETTERS
    before, after = ('(?<=["“])', '(?=["”])') if few else (r"(?<!\w)", r"(?!\w)")
    return f"{before}{re.escape(was)}{after}"


def _reworded(value: Any, say: Callable[[str], str]) -> Any:
    """Texts that tell what is in the ad, in the right words, wherever they stand in `value`."""
    if isinstance(value, str):
        return say(value)
    if isinstance(value, tuple):
        return tuple(_reworded(each, say) for each in value)
    names = _KNOWN if isinstance(value, Subject) else _TOLD
    held = [name for name in names if hasattr(value, name)]
    assert isinstance(value, Narrative | Inference | Subject)
    return replace(value, **{name: _reworded(getattr(value, name), say) for name in held})


def _named(narrative: Narrative, corrections: Sequence[Correction]) -> Narrative:
    """The brand that a person has told is the first of the names."""
    names = (brand_of(corrections), *narrative.entities)
    kept = dict.fromkeys(name for name in names if name and name != NO_TEXT)
    return replace(narrative, entities=tuple(kept))
