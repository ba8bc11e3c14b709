"""Understanding a question by rules: its kind, what it names, and what it demands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from admir.backends.offline.lexicon import Kind, kinds, word_list
from admir.text import fold, is_cjk, tokenize, words
from admir.types import Span

Channel = Literal["screen", "speech"]
Aspect = Literal["content", "time", "end_time"]

_SCREEN = re.compile(
    r"on[ -]?screen|\b(shown|show|shows|displayed|written|writing|caption|captions|reads?|"
    r"printed|visible|appears?)\b|画面|字幕|屏幕|显示"
)
_STRICT_SCREEN = re.compile(
    r"on[ -]?screen|\b(written|caption|captions|printed|displayed)\b|画面|字幕|屏幕"
)
_SPEECH = re.compile(
    r"\b(spoken|speaks?|speaking|speech|voice[ -]?over|narrator|announcer|hear|heard|aloud)\b|"
    r"口播|旁白"
)
_SAYING = re.compile(r"\b(said|says?|saying|tells?)\b|说")
_YES_NO = re.compile(r"^(is|are|was|were|does|do|did|has|have|can|will)\b|吗[？?]?$")
_VERTICAL = re.compile(r"\bvertical(ly)?\b|\bsideways\b|\brotated\b|竖")
_WHEN = re.compile(
    r"^(at )?(when|what (time|second|moment|point)|which (second|moment))\b|\bat what (time|second|"
    r"point|moment)\b|\bhow (late|early|many seconds in)\b|什么时候|第几秒|何时"
)
_WHEN_ENDS = re.compile(r"\b(disappear|vanish|go away|last (shown|seen|appear)|stop)|消失")
_END = re.compile(
    r"\b(at|near|towards?|by|in) the (very )?end\b|\bend (card|screen|frame)\b|"
    r"\b(closing|final|last) (scene|shot|frame|seconds|card|screen|moments|text|line|caption)\b|"
    r"结尾|最后"
)
_START = re.compile(
    r"\b(at|in|near) the (very )?(beginning|start|opening)\b|"
    r"\b(opening|first) (scene|shot|frame|seconds|card|screen|moments|text|line|caption)\b|"
    r"\b(text|line|caption) (appears?|is shown|comes) first\b|开头|开始"
)
_AT = re.compile(r"\b(?:at|around|about) (\d+(?:\.\d+)?) ?(?:s|sec|seconds?)\b|第 ?(\d+) ?秒")
_FROM_TO = re.compile(
    r"\b(?:between|from) (\d+(?:\.\d+)?)(?: ?s(?:ec(?:onds?)?)?)? ?(?:and|to|-|–) ?"
    r"(\d+(?:\.\d+)?) ?(?:s|sec|seconds?)\b"
)
_QUOTED = re.compile(r"[\"“”「『]([^\"“”」』]{2,})[\"“”」』]|(?<!\w)'([^']{3,})'(?!\w)")
_WRITTEN = re.compile(r"\b(text|captions?|subtitles?|sign|label|headline|on[ -]?screen|card)\b")
_END_DATE = re.compile(
    r"\b(offer|sale|deal|discount|promotion|campaign|price)s?\b.*\b(ends?|expires?|over|valid|runs?)\b"
)
_COUNTS = {"two": 2, "both": 2, "three": 3, "four": 4, "five": 5, "两": 2, "三": 3}
_COUNT = re.compile(
    r"\b(two|both|three|four|five|\d) (?:\w+ )?(brands?|companies|names|logos|lines)\b|(两|三)个"
)
_PLURAL = re.compile(r"\b(brands|companies|logos|names|prices|offers|lines|texts)\b")
_NAME = re.compile(r"(?<![.?!] )(?<!^)\b([A-Z][\w&'-]+)\b")
_EDGE_SHARE, _EDGE_S = 0.25, 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a question asks for. `terms` are its content stems, `named` its proper names."""

    text: str
    kind: Kind
    aspect: Aspect
    terms: frozenset[str]
    named: frozenset[str]
    quoted: tuple[str, ...]
    channel: Channel | None
    strict_channel: bool
    count: int | None
    edge: Literal["start", "end"] | None
    range: Span | None
    asks_old: bool
    yes_no: bool
    vertical: bool

    def window(self, duration_s: float) -> Span | None:
        """The stretch of the video that the question is about, if it says so."""
        if self.range is not None:
            return self.range
        reach = min(duration_s, max(_EDGE_S, _EDGE_SHARE * duration_s))
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
    if _WHEN.search(text):
        aspect = "end_time" if _WHEN_ENDS.search(text) else "time"
    kind = _kind(text, aspect)
    if kind.name == "end_date":
        aspect = "content"
    channel = _channel(text, kind)
    return Query(
        text=text,
        kind=kind,
        aspect=aspect,
        terms=_content_terms(text),
        named=frozenset(fold(name) for name in _NAME.findall(question.strip())),
        quoted=tuple(a or b for a, b in _QUOTED.findall(question)),
        channel=channel,
        strict_channel=bool(_STRICT_SCREEN.search(text)) or channel == "speech",
        count=_count(text),
        edge="end" if _END.search(text) else "start" if _START.search(text) else None,
        range=_range(text),
        asks_old=bool(set(words(text)) & word_list("ask_old_price")),
        yes_no=bool(_YES_NO.search(text)),
        vertical=bool(_VERTICAL.search(text)),
    )


def _kind(text: str, aspect: Aspect) -> Kind:
    """The first kind with a cue; a question for a time skips kinds that read its verb."""
    passed = {"speech", "text", "order", "end_date"} if aspect != "content" else set()
    if _WRITTEN.search(text):
        passed.add("speech")
    if aspect != "content" and _END_DATE.search(text):
        passed.remove("end_date")
    return next(
        kind
        for kind in kinds()
        if kind.name not in passed and any(cue.search(text) for cue in kind.cues)
    )


def _content_terms(text: str) -> frozenset[str]:
    stop = word_list("stop")
    kept = [w for w in words(_VERTICAL.sub(" ", text)) if w not in stop or is_cjk(w)]
    return frozenset(term for word in kept for term in tokenize(word) if term not in stop)


def _channel(text: str, kind: Kind) -> Channel | None:
    """Screen or speech, where the words say so. A text `says` too; only a person speaks."""
    if _STRICT_SCREEN.search(text):
        return "screen"
    if _SPEECH.search(text) or (kind.name == "speech" and _SAYING.search(text)):
        return "speech"
    return "screen" if _SCREEN.search(text) else None


def _count(text: str) -> int | None:
    if found := _COUNT.search(text):
        word = found.group(1) or found.group(3)
        return int(word) if word.isdigit() else _COUNTS[word]
    return 3 if _PLURAL.search(text) else None


def _range(text: str) -> Span | None:
    if found := _FROM_TO.search(text):
        return Span(start_s=float(found.group(1)), end_s=float(found.group(2)))
    if found := _AT.search(text):
        at_s = float(found.group(1) or found.group(2))
        return Span(start_s=max(0.0, at_s - 0.5), end_s=at_s + 0.5)
    return None
