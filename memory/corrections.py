"""What people have corrected: kept beside the builds of a video, and laid over each of them.

A build stays as it was made, so that a correction can be taken back, and outlives a new build.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from pydantic import TypeAdapter
from rapidfuzz.fuzz import ratio

from admir.errors import CorrectionError
from admir.memory.text_blocks import text_blocks
from admir.text import is_cjk, normalize, numbers
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
Phrases = Mapping[str, str]
"""What was read wrong, or named wrong, and what it is; empty where it is no text."""

_FILE = TypeAdapter(Corrections)
_BRAND = "brand"
_SAME_READING = 86.0
_LEAST_ALIKE = 6
_TOLD = ("summary", "genre", "entities", "explicit_text", "mismatches", "inferences", "quote")
_KNOWN = ("name", "appearance", "identity")
_TELLING = re.compile(r"[A-Z]|[^\x00-\x7f]|\d\d|[$€£¥%]|\s")
"""Words that no sentence has by chance: names, prices, several words, other scripts."""


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


def added(built: Memory, known: Sequence[Correction], new: Correction) -> Corrections:
    """The corrections of a memory, as it was `built`, with a new one.

    Raises CorrectionError where no line was read so, or there are too many.
    """
    if new.kind == "screen_text" and new.was not in _read(built):
        raise CorrectionError(f'no line of {built.video.id!r} was read as "{new.was}"')
    others = tuple(c for c in known if c.id != new.id)
    if len(others) >= MOST_CORRECTIONS:
        raise CorrectionError(f"a video takes at most {MOST_CORRECTIONS:,} corrections")
    return (*others, new)


def _read(built: Memory) -> set[str]:
    return {_plain(line.text) for line in built.screen_text}


def corrected(built: Memory, corrections: Sequence[Correction]) -> Memory:
    """The memory as people have corrected it.

    Lines, clips, captions, story and registry are told in the right words; `ScreenText.was` and
    `Clip.corrected` say where. A correction of a line that this build did not read changes nothing.
    """
    if not corrections:
        return built
    read = _read(built)
    standing = [c for c in corrections if c.kind == "brand" or c.was in read]
    lines = tuple(_lines(built.screen_text, standing))
    blocks = text_blocks(lines)
    say = partial(reword, phrases=_phrases(lines, blocks, standing))
    return replace(
        built,
        screen_text=lines,
        clips=tuple(_clip(clip, blocks, built, say) for clip in built.clips),
        narrative=_named(_reworded(built.narrative, say), standing),
        subjects=tuple(s for s in (_reworded(each, say) for each in built.subjects) if s.name),
        corrections=tuple(corrections),
    )


def brand_of(corrections: Iterable[Correction]) -> str:
    """The brand, where a person has told it; else empty."""
    return next((c.text for c in corrections if c.kind == "brand"), "")


def phrases_of(memory: Memory) -> Phrases:
    """What is to be put right wherever it is told of a memory that people have corrected."""
    if not memory.corrections:
        return {}
    return _phrases(memory.screen_text, text_blocks(memory.screen_text), memory.corrections)


def _phrases(
    lines: Sequence[ScreenText], blocks: Sequence[ScreenText], corrections: Sequence[Correction]
) -> Phrases:
    """Corrected lines, blocks that hold one, lines that are none, and the wrong brand."""
    told = {c.was: c.text for c in corrections if c.was and (c.kind == "brand" or not c.text)}
    return told | {each.was: each.text for each in (*lines, *blocks) if each.was}


def reword(text: str, phrases: Phrases) -> str:
    """The text in the right words: all of it, what it quotes, and names and prices anywhere.

    Other words may stand there for themselves.
    """
    if text in phrases:
        return phrases[text]
    if not phrases:
        return text
    longest_first = tuple(sorted(phrases, key=len, reverse=True))
    quoted, bare = _patterns(longest_first, tuple(bool(phrases[was]) for was in longest_first))
    text = quoted.sub(lambda found: phrases[found[0]] or NO_TEXT, text)
    return bare.sub(lambda found: phrases[found[0]], text) if bare else text


def reread(text: str, memory: Memory, phrases: Phrases) -> str:
    """A line that was read again, in the right words (`phrases_of` the memory).

    Empty where a person says that there is no text. Letters may differ a little from the first
    reading, unless the text is another line of the video; figures may not.
    """
    if text in phrases or any(text == line.text for line in memory.screen_text):
        return phrases.get(text, text)
    for line in memory.screen_text:
        if line.was and _same_reading(text, line.was):
            return line.text
    return reword(text, phrases)


def _same_reading(text: str, was: str) -> bool:
    if len(normalize(was)) < _LEAST_ALIKE or is_cjk(was):
        return False
    alike = ratio(normalize(text), normalize(was)) >= _SAME_READING
    return alike and numbers(text) == numbers(was)


def _lines(lines: Sequence[ScreenText], corrections: Sequence[Correction]) -> Iterator[ScreenText]:
    right = {c.was: c.text for c in corrections if c.kind == "screen_text"}
    for line in lines:
        text = right.get(_plain(line.text), line.text)
        if text:
            yield line if text == line.text else replace(line, text=text, was=line.text)


def _clip(
    clip: Clip, blocks: Sequence[ScreenText], built: Memory, say: Callable[[str], str]
) -> Clip:
    shown = text_clip(clip.video_id, clip.index, clip.span, blocks, built.utterances).screen_text
    told = replace(clip, caption=say(clip.caption), screen_text=shown)
    return replace(told, corrected=True) if told.index_text != clip.index_text else clip


@lru_cache(maxsize=64)
def _patterns(
    wrong: tuple[str, ...], has_text: tuple[bool, ...]
) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """Wrong phrases between quotation marks, and those that stand anywhere."""
    each = "|".join(map(re.escape, wrong))
    quoted = re.compile(f'(?<=["“「])(?:{each})(?=["”」])')
    telling = [
        was
        for was, kept in zip(wrong, has_text, strict=True)
        if kept and len(was) > 1 and _TELLING.search(was)
    ]
    return quoted, re.compile("|".join(map(_bounded, telling))) if telling else None


def _bounded(was: str) -> str:
    """Not inside a longer word or number; scripts without spaces have no bounds."""
    if is_cjk(was):
        return re.escape(was)
    return rf"(?<!\w)(?<!\d[.,]){re.escape(was)}(?!\w)(?![.,]\d)"


def _reworded(value: Any, say: Callable[[str], str]) -> Any:
    """Texts that tell what is in the ad, in the right words, wherever they stand in `value`."""
    if isinstance(value, str):
        return say(value)
    if isinstance(value, tuple):
        told = (_reworded(each, say) for each in value)
        return tuple(each for each in told if each != "")
    names = _KNOWN if isinstance(value, Subject) else _TOLD
    held = [name for name in names if hasattr(value, name)]
    assert isinstance(value, Narrative | Inference | Subject)
    return replace(value, **{name: _reworded(getattr(value, name), say) for name in held})


def _named(narrative: Narrative, corrections: Sequence[Correction]) -> Narrative:
    """The brand that a person has told is the first of the names."""
    names = (brand_of(corrections), *narrative.entities)
    return replace(narrative, entities=tuple(dict.fromkeys(name for name in names if name)))
