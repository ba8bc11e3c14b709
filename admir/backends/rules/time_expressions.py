"""The time that a question names: a moment, a stretch, or so many seconds at an edge."""

from __future__ import annotations

import re
from dataclasses import dataclass

from admir.text import NUMBER_WORDS, spelt_number
from admir.types import Span

_SPELT = "|".join(NUMBER_WORDS)
_NUMBER = r"(\d{1,5}(?:\.\d{1,3})?)"
_HAN = "零一二三四五六七八九"
_HAN_NUMBER = re.compile(
    r"(?<=[第前后到至约 ])([两二三四五六七八九一]?十?[两一二三四五六七八九十])(?= ?秒)|"
    r"^([两二三四五六七八九一]?十?[两一二三四五六七八九十])(?= ?秒)"
)
_SPELT_NUMBER = re.compile(rf"\b(?:{_SPELT})(?:[- ](?:{_SPELT}))*\b")
_TIMED = re.compile(r"\b(seconds?|secs?|minutes?)\b|秒|分钟")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})\b")
_MINUTES = re.compile(
    rf"\b{_NUMBER} ?minutes?(?: and)?(?: {_NUMBER} ?(?:seconds?|secs?|s)\b)?|"
    rf"{_NUMBER} ?分钟?(?:{_NUMBER} ?秒)?"
)
_S = r" ?(?:s|secs?|seconds?)\b"
_AT = re.compile(
    rf"\b(?:at|around|about|by) (?:about |around |second )?{_NUMBER}(?:{_S}|(?=\?*$))|"
    rf"第 ?{_NUMBER} ?秒|\b{_NUMBER} ?(?:s|secs?|seconds?) (?:in|into)\b"
)
_FROM_TO = re.compile(
    rf"\b(?:between|from) {_NUMBER}(?:{_S})? ?(?:and|to|-|–) ?{_NUMBER}{_S}|"
    rf"(?<!\d){_NUMBER} ?秒?(?:到|至|-)第? ?{_NUMBER} ?秒"
)
_AFTER = re.compile(rf"\bafter (?:the first )?{_NUMBER}{_S}|{_NUMBER} ?秒(?:之后|以后|后)")
_BEFORE = re.compile(rf"\bbefore {_NUMBER}{_S}|{_NUMBER} ?秒(?:之前|以前|前)")
_EDGE = re.compile(
    rf"\b(?:first|opening|last|final|closing) {_NUMBER} ?(?:seconds?|secs?|s)\b|"
    rf"(?:前|最后|后|开头|结尾) ?{_NUMBER} ?秒"
)
_ASKS_TIME = re.compile(r"\b(how many|which|what) (seconds?|minutes?)\b|[几多]少?秒|几秒|哪一?秒")
_NAMES_TIME = re.compile(
    r"\b(at|after|before|around|between|until)\b[^,;]{0,40}\b(seconds?|minutes?)\b|第[^，]{0,6}秒"
)
_END_S = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The stretch that is named, or how near an edge; `rest` is the question without it.

    `unclear` says that a time is named and was not understood.
    """

    range: Span | None
    edge_s: float | None
    rest: str
    unclear: bool


def when_of(text: str) -> When:
    """The time in a folded question."""
    plain = _in_digits(text)
    span, edge_s = _range(plain), _first(_EDGE, plain)
    rest = plain
    for pattern in (_FROM_TO, _AFTER, _BEFORE, _EDGE, _AT):
        rest = pattern.sub(" ", rest)
    unclear = (
        bool(_NAMES_TIME.search(_ASKS_TIME.sub(" ", rest))) and span is None and edge_s is None
    )
    return When(range=span, edge_s=edge_s, rest=rest, unclear=unclear)


def _in_digits(text: str) -> str:
    """A time in digits and seconds: `five and ten seconds`, `1 minute 5`, `0:17`, `十五秒`."""
    if _TIMED.search(text):
        text = _SPELT_NUMBER.sub(lambda m: str(spelt_number(m.group())), text)
    text = _HAN_NUMBER.sub(lambda m: str(_han(m.group())), text)
    text = _CLOCK.sub(lambda m: f"{60 * int(m[1]) + int(m[2])} seconds", text)
    return _MINUTES.sub(_seconds, text)


def _han(number: str) -> int:
    """`十五` is 15, `二十` 20, `五` 5."""
    tens, ten, ones = number.replace("两", "二").rpartition("十")
    unit = _HAN.index(ones) if ones else 0
    return (10 * (_HAN.index(tens) if tens else 1) if ten else 0) + unit


def _seconds(found: re.Match[str]) -> str:
    minutes, seconds = found[1] or found[3], found[2] or found[4]
    return f"{60 * float(minutes) + float(seconds or 0):g} seconds"


def _range(text: str) -> Span | None:
    if found := _FROM_TO.search(text):
        ends = [float(value) for value in found.groups() if value]
        return Span(start_s=min(ends), end_s=max(ends))
    if (after_s := _first(_AFTER, text)) is not None:
        return Span(start_s=after_s, end_s=_END_S)
    if (before_s := _first(_BEFORE, text)) is not None:
        return Span(start_s=0.0, end_s=before_s)
    if (at_s := _first(_AT, text)) is not None:
        return Span(start_s=max(0.0, at_s - 0.5), end_s=at_s + 0.5)
    return None


def _first(pattern: re.Pattern[str], text: str) -> float | None:
    found = pattern.search(text)
    return float(next(value for value in found.groups() if value)) if found else None
