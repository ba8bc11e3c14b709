"""Understanding a question by rules: its kind, what it names, and what it demands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from admir.backends.rules import question_patterns
from admir.backends.rules.phrases import Language, language_of
from admir.backends.rules.time_expressions import when_of
from admir.backends.rules.word_lists import Kind, kinds, word_list
from admir.text import fold, is_cjk, tokenize, words
from admir.types import Span

Channel = Literal["screen", "speech"]
Aspect = Literal["content", "time", "end_time"]
Edge = Literal["start", "end"]

_NAME = re.compile(r"(?<![.?!] )(?<!^)\b([A-Z][\w&'-]+)\b")
_OF_TIME = ("length", "screen_time", "first_cut")
_EDGE_SHARE, _EDGE_S = 0.25, 4.0
_NOT_WHEN = {
    *("speech", "text", "order", "end_date", "shots", "length", "screen_time", "times_shown"),
    *("colour", "quantity", "theme"),
}
"""Kinds that read the verb or the noun of a question for a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a question asks for. `terms` are its content stems, `named` its proper names.

    `only` is set where a single line is meant, the first or the last; `edge_s` where the question
    says how near the start or the end; `unclear_time` where it names a time that is not understood;
    `wordless` where it asks what a picture shows.
    """

    text: str
    language: Language
    kind: Kind
    aspect: Aspect
    terms: frozenset[str]
    named: frozenset[str]
    quoted: tuple[str, ...]
    channel: Channel | None
    strict_channel: bool
    count: int | None
    edge: Edge | None
    edge_s: float | None
    only: Edge | None
    range: Span | None
    unclear_time: bool
    asks_old: bool
    yes_no: bool
    vertical: bool
    wordless: bool

    @property
    def understood(self) -> bool:
        """Whether a word, a time or a kind says what would answer; the last kind takes all."""
        named = self.terms or self.quoted or self.range or self.edge
        return self.kind.name != kinds()[-1].name or bool(named)

    def window(self, duration_s: float) -> Span | None:
        """The stretch of the video that the question is about, if it says so."""
        if self.range is not None:
            return self.range
        reach = min(duration_s, self.edge_s or max(_EDGE_S, _EDGE_SHARE * duration_s))
        if self.edge == "start":
            return Span(start_s=0.0, end_s=reach)
        if self.edge == "end":
            return Span(start_s=duration_s - reach, end_s=duration_s)
        return None


@lru_cache(maxsize=256)
def understand(question: str) -> Query:
    """The question as a `Query`. Every question has one: the last kind takes all."""
    text = fold(question).strip()
    aspect: Aspect = "content"
    if question_patterns.WHEN.search(text):
        aspect = "end_time" if question_patterns.WHEN_ENDS.search(text) else "time"
    when = when_of(text)
    kind = _kind(when.rest, aspect)
    if kind.name in ("end_date", "first_cut"):
        aspect = "content"
    channel = _channel(text, kind)
    return Query(
        text=text,
        language=language_of(question),
        kind=kind,
        aspect=aspect,
        terms=_content_terms(text),
        named=frozenset(fold(name) for name in _NAME.findall(question.strip())),
        quoted=tuple(a or b for a, b in question_patterns.QUOTED.findall(question)),
        channel=channel,
        strict_channel=bool(
            question_patterns.STRICT_SCREEN.search(text) or question_patterns.SPEECH.search(text)
        ),
        count=question_patterns.asked_count(text),
        edge=_edge(text),
        edge_s=when.edge_s,
        only=_only(text),
        range=when.range,
        unclear_time=when.unclear and aspect == "content" and kind.name not in _OF_TIME,
        asks_old=bool(set(words(text)) & word_list("ask_old_price")),
        yes_no=bool(question_patterns.YES_NO.search(text)),
        vertical=bool(question_patterns.VERTICAL.search(text)),
        wordless=bool(question_patterns.WORDLESS.search(text)),
    )


def _kind(text: str, aspect: Aspect) -> Kind:
    """The first kind with a cue; a question for a time skips kinds that read its verb."""
    passed = set(_NOT_WHEN) if aspect != "content" else set()
    if question_patterns.WRITTEN.search(text):
        passed.add("speech")
    if aspect != "content" and question_patterns.END_DATE.search(text):
        passed.remove("end_date")
    return next(
        kind
        for kind in kinds()
        if kind.name not in passed and any(cue.search(text) for cue in kind.cues)
    )


def _content_terms(text: str) -> frozenset[str]:
    """Stems that tell what to look for: no frame words, and not the noun behind `which`."""
    plain = when_of(question_patterns.SOURCE.sub(" ", text)).rest
    return _terms_of(question_patterns.TYPE_NOUN.sub("which ", plain)) or _terms_of(plain)


def _terms_of(text: str) -> frozenset[str]:
    stop = word_list("stop")
    plain = _han_frame().sub(" ", question_patterns.VERTICAL.sub(" ", text))
    kept = [word for word in words(plain) if word not in stop and len(word) > is_cjk(word)]
    return frozenset(term for word in kept for term in tokenize(word) if term not in stop)


@cache
def _han_frame() -> re.Pattern[str]:
    """Chinese has no spaces: what frames a question is cut out before it is told in bigrams."""
    return re.compile("|".join(sorted(word_list("frame_zh"), key=len, reverse=True)))


def _channel(text: str, kind: Kind) -> Channel | None:
    """Screen or speech, where the words say so. A text `says` too; only a person speaks."""
    if question_patterns.STRICT_SCREEN.search(text):
        return "screen"
    if question_patterns.SPEECH.search(text) or (
        kind.name == "speech" and question_patterns.SAYING.search(text)
    ):
        return "speech"
    return "screen" if question_patterns.SCREEN.search(text) else None


def _edge(text: str) -> Edge | None:
    if question_patterns.END.search(text):
        return "end"
    return "start" if question_patterns.START.search(text) else None


def _only(text: str) -> Edge | None:
    if question_patterns.LAST_ONE.search(text):
        return "end"
    return "start" if question_patterns.FIRST_ONE.search(text) else None
