"""What a recogniser made of sound, and which of it nobody can have said.

Whisper invents: it repeats itself, it puts words into silence, it says more than fits in the time.
The rules below go by numbers and form alone; no phrase is listed, for any may be said.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from admir.text import is_cjk, to_printable
from admir.types import Span, Utterance, Word

_NO_SPEECH, _LOW_LOG_PROB = 0.6, -1.0
_MOST_COMPRESSION = 2.4
"""Thresholds of the Whisper paper (its section 4.5) for silence and for loops."""

_MOST_LETTERS_S, _MOST_CJK_S = 45.0, 18.0
"""Letters and CJK characters a second: sped-up legal notices reach about 35 and 12."""

_FEW_LETTERS = 12
"""Shorter texts are not judged by their speed: times are only good to some 0.1 s."""

_LOOP_TIMES, _LOOP_SHARE, _LOOP_LONGEST = 5, 0.5, 8
"""A phrase of at most 8 words said 5 times on end, over half of the text, is a loop."""

_SAME_TIMES = 3
"""The same line so often on end is one that was invented over and over, or a refrain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AsrSegment:
    """A stretch of recognised speech.

    `log_prob` is the mean of its tokens (natural logarithm), `no_speech` the model's own
    probability that nobody speaks.
    """

    span: Span
    text: str
    log_prob: float
    no_speech: float = 0.0
    words: tuple[Word, ...] = ()
    speaker: str | None = None


def believed(heard: Sequence[AsrSegment]) -> tuple[AsrSegment, ...]:
    """What somebody may have said, in time order; of a line that repeats on end, the first."""
    ordered = sorted(heard, key=lambda each: each.span.start_s)
    return tuple(_said_once([each for each in ordered if _may_be_said(each)]))


def left_out(heard: Sequence[AsrSegment], kept: Sequence[AsrSegment]) -> str:
    """A line that says how much was not believed; empty where all was."""
    count = len(heard) - len(kept)
    return f"recognised lines left out as invented (on end, too fast): {count}" if count else ""


def _may_be_said(heard: AsrSegment) -> bool:
    return (
        any(letter.isalnum() for letter in heard.text)
        and heard.span.duration_s > 0
        and not (heard.no_speech > _NO_SPEECH and heard.log_prob < _LOW_LOG_PROB)
        and compression(heard.text) <= _MOST_COMPRESSION
        and not loops(heard.text)
        and not too_fast(heard.text, heard.span.duration_s)
    )


def _said_once(heard: Sequence[AsrSegment]) -> list[AsrSegment]:
    """Of each run of `_SAME_TIMES` or more equal lines only the first."""
    kept: list[AsrSegment] = []
    start = 0
    while start < len(heard):
        key = _key(heard[start].text)
        end = start + 1
        while end < len(heard) and _key(heard[end].text) == key:
            end += 1
        kept += heard[start : start + 1] if end - start >= _SAME_TIMES else heard[start:end]
        start = end
    return kept


def compression(text: str) -> float:
    """How many times shorter zlib makes a text: above 2.4 it says little but itself."""
    data = text.encode("utf-8", "replace")
    return len(data) / len(zlib.compress(data)) if data else 0.0


def loops(text: str) -> bool:
    """Whether a phrase is said over and over without a break."""
    words = list(_key(text)) if is_cjk(text) else _words(text)
    longest = min(_LOOP_LONGEST, len(words) // _LOOP_TIMES)
    return any(_covered(words, size) >= _LOOP_SHARE * len(words) for size in range(1, longest + 1))


def _covered(words: Sequence[str], size: int) -> int:
    """The words in the longest run of one phrase of `size` words; 0 for one too short to be a loop.

    In a run, each word equals the one `size` places before it.
    """
    longest = run = 0
    for before, word in zip(words, words[size:], strict=False):
        run = run + 1 if word == before else 0
        longest = max(longest, run)
    covered = longest + size
    return covered if covered >= _LOOP_TIMES * size else 0


def too_fast(text: str, seconds: float) -> bool:
    """Whether nobody can say a text in the time."""
    letters = sum(letter.isalnum() for letter in text)
    most = _MOST_CJK_S if is_cjk(text) else _MOST_LETTERS_S
    return letters >= _FEW_LETTERS and letters > most * seconds


def _words(text: str) -> list[str]:
    kept = "".join(c if c.isalnum() or c in "'’" else " " for c in text.casefold())
    return kept.split()


def _key(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def utterance_of(heard: AsrSegment, language: str | None) -> Utterance:
    """As the memory keeps it; its confidence is the mean of its words, else of its tokens."""
    confidence = fmean(w.confidence for w in heard.words) if heard.words else exp_of(heard.log_prob)
    return Utterance(
        span=heard.span,
        text=plain(heard.text),
        speaker=heard.speaker,
        language=language,
        confidence=round(confidence, 3),
        words=heard.words,
    )


def exp_of(log_prob: float) -> float:
    """A probability from its logarithm, 0 where that is no number."""
    return 0.0 if math.isnan(log_prob) else math.exp(min(0.0, log_prob))


def word_of(text: str, start_s: float, end_s: float, confidence: float) -> Word:
    """A word with its times in order and its confidence from 0 to 1; engines break both rules."""
    start_s, end_s = max(0.0, float(start_s)), float(end_s)
    return Word(
        span=Span(start_s=round(start_s, 3), end_s=round(max(start_s, end_s), 3)),
        text=plain(text),
        confidence=round(min(1.0, max(0.0, float(confidence))), 3),
    )


def plain(text: str) -> str:
    """One line, without controls."""
    return " ".join(to_printable(text).split())
