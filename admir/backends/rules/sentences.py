"""What an ad shows and says, cut into sentences in which rules look for cues."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby
from typing import Literal

from admir.backends.rules.phrase_matcher import BREAK, Hit, hits, is_small_print, tokens_of
from admir.text import is_cjk, normalize
from admir.types import ScreenText, Span, Utterance

Channel = Literal["screen", "scene", "speech", "metadata"]

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|[；;\n]+")
_ENDS = (".", "!", "?", "。", "！", "？")
_LONGEST = 160
_LONGEST_JOINED = 40
_MOST_GAP_S = 0.35
_SHORT_PART = 8
_MOST_HEIGHT = 0.9
_LEGAL = ("trademark", "allrightsreserved")
_MOST_PIECES = 200
"""Sentences taken of one line: no line of a real ad comes near it."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of the ad, when it is there, and how it reaches the viewer.

    `height` is that of its type as a share of the picture; 0 where unknown. `parts` are the
    utterances that a spoken one was joined of.
    """

    text: str
    span: Span
    channel: Channel
    height: float = 0.0
    parts: tuple[Utterance, ...] = ()

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """See `cues.tokens_of`."""
        if not self.parts:
            return tokens_of(self.text)
        return (*(token for tokens in self._part_tokens for token in tokens), BREAK)

    @cached_property
    def _part_tokens(self) -> tuple[tuple[str, ...], ...]:
        """Tokens by part; a part that breaks off in the middle of a clause ends without `BREAK`."""
        return tuple(tokens_of(part.text)[:-1] for part in self.parts)

    def around(self, hit: Hit) -> Sentence:
        """The sentence cut to the parts that hold a hit; to neighbours too where they are short."""
        ends = list(accumulate(map(len, self._part_tokens)))
        if len(ends) < 2:
            return self
        first, last = bisect_right(ends, hit.start), bisect_right(ends, hit.end - 1)
        if sum(map(len, self._part_tokens[first : last + 1])) < _SHORT_PART:
            first, last = max(0, first - 1), last + 1
        parts = self.parts[first : last + 1]
        return replace(self, text=_joined(parts), span=_whole(parts), parts=())

    @cached_property
    def key(self) -> str:
        """What two showings of the sentence share."""
        return normalize(self.text)

    @cached_property
    def hits(self) -> tuple[Hit, ...]:
        """Cues in it; small print has none."""
        return () if self.small_print else hits(self.tokens)

    @cached_property
    def small_print(self) -> bool:
        """Whether it is legal or technical matter; of a line whose spaces were lost, too."""
        return is_small_print(self.tokens) or any(word in self.key for word in _LEGAL)

    @property
    def readable(self) -> bool:
        """Whether it has words enough to say something, and is no scrap of a picture."""
        words = [t for t in self.tokens if any(c.isalpha() for c in t)]
        return len(words) >= (4 if is_cjk(self.text) else 3)


def sentences(
    shown: Sequence[ScreenText], said: Sequence[Utterance], rest: Iterable[Sentence] = ()
) -> list[Sentence]:
    """All sentences in the order in which they appear; a repeated one counts once a channel."""
    cut = [piece for line in (*_shown(shown), *_said(said), *rest) for piece in _cut(line)]
    ordered = sorted(cut, key=lambda s: s.span.start_s)
    return list({(s.key, s.channel): s for s in reversed(ordered) if s.key}.values())[::-1]


def _shown(blocks: Sequence[ScreenText]) -> Iterator[Sentence]:
    for block in blocks:
        high = block.box[3] - block.box[1]
        yield Sentence(
            text=block.text,
            span=block.span,
            channel="scene" if block.scene else "screen",
            height=high if high < _MOST_HEIGHT else 0.0,
        )


def _said(utterances: Sequence[Utterance]) -> Iterator[Sentence]:
    """Pieces of one sentence that a transcript broke up are joined."""
    for _, run in groupby(_numbered_runs(utterances), key=lambda pair: pair[0]):
        parts = tuple(utterance for _, utterance in run)
        yield Sentence(text=_joined(parts), span=_whole(parts), channel="speech", parts=parts)


def _joined(parts: Sequence[Utterance]) -> str:
    gap = "" if any(is_cjk(u.text) for u in parts) else " "
    return gap.join(u.text.strip() for u in parts)


def _whole(parts: Sequence[Utterance]) -> Span:
    return Span(start_s=parts[0].span.start_s, end_s=parts[-1].span.end_s)


def _numbered_runs(utterances: Sequence[Utterance]) -> Iterator[tuple[int, Utterance]]:
    number, length = 0, 0
    before: Utterance | None = None
    for utterance in utterances:
        if before and not (_goes_on(before, utterance) and length < _LONGEST_JOINED):
            number, length = number + 1, 0
        length += len(utterance.text)
        before = utterance
        yield number, utterance


def _goes_on(before: Utterance, after: Utterance) -> bool:
    close = after.span.start_s - before.span.end_s <= _MOST_GAP_S
    return close and before.speaker == after.speaker and not before.text.endswith(_ENDS)


def _cut(line: Sentence) -> Iterator[Sentence]:
    """The sentences of a line; where a line is spoken through, each with its share of the time."""
    parts = [part for text in _SENTENCE.split(line.text) for part in _short(text)][:_MOST_PIECES]
    if len(parts) < 2:
        yield from [line] if parts else []
        return
    if line.channel != "speech":
        yield from (replace(line, text=part) for part in parts)
        return
    total, done = sum(map(len, parts)), 0
    for part in parts:
        start, done = done / total, done + len(part)
        yield replace(line, text=part, span=_share(line.span, start, done / total), parts=())


def _share(span: Span, start: float, end: float) -> Span:
    whole = span.duration_s
    return Span(start_s=span.start_s + start * whole, end_s=span.start_s + end * whole)


def _short(text: str) -> Iterator[str]:
    """A text without sentence marks in pieces of a bounded length, cut at spaces if it can be."""
    text = text.strip()
    at = 0
    while len(text) - at > _LONGEST:
        space = text.rfind(" ", at + _LONGEST // 2, at + _LONGEST)
        end = space if space > at else at + _LONGEST
        yield text[at:end].strip()
        at = end
    if text[at:].strip():
        yield text[at:].strip()
