"""Typed values in a line of text: prices, percents, dates, addresses, calls to action."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from admir.backends.rules.word_lists import word_list
from admir.text import NUMBER_WORDS, fold, normalize, numbers, words

Role = Literal["now", "old", "saving", "plain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value as it stands in the text, and a key under which equal values meet."""

    text: str
    key: str
    role: Role = "plain"


def _either(words_: Iterable[str]) -> str:
    """A pattern for any of the words, longest first."""
    return "|".join(sorted(words_, key=len, reverse=True))


_SIGNED = re.compile(
    r"[$€£¥￥₹]\s?\d+(?:[.,]\d+)*|(?<![\d.,])\d+(?:[.,]\d+)*\s?(?:[€£¥￥₹]|\$(?!\d)|元|块钱?|円)",
    re.IGNORECASE,
)
_NUMBER = _either(NUMBER_WORDS)
_CURRENCY = _either(word for word in word_list("currency_words") if word.isascii())
_MONEY_WORDS = re.compile(
    rf"\b((?:{_NUMBER})(?:[ -](?:{_NUMBER}|and))*|\d+(?:[.,]\d+)*)[ -]?({_CURRENCY})\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"\d+(?:[.,]\d+)?\s?(?:%|percent\b|per cent\b)|\d(?:\.\d)?\s?折", re.IGNORECASE
)
_DEAL = re.compile(
    r"\bbuy (?:one|two|\d)\W+get (?:one|two|\d)\b(?: free)?|\b\d for \d\b|\bhalf[ -]price\b|"
    r"\bsave [$€£]\d+\S*|\bfree (?:shipping|delivery|trial|gift|returns)\b|"
    r"买\S赠\S|满\d+减\d+|包邮",
    re.IGNORECASE,
)
_MONTH = _either(word_list("months"))
_DATE = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? ?(?:{_MONTH})\b\.?(?:,? ?\d{{4}})?|"
    rf"\b(?:{_MONTH})\.? ?\d{{1,2}}(?:st|nd|rd|th)?\b(?:,? ?\d{{4}})?|"
    r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{4}-\d{2}-\d{2}\b|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]|"
    rf"\b(?:the )?(?:end|start) of (?:{_MONTH})\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d$€£¥])(?<!\d[.,])(?:18|19|20)\d{2}(?![\d%])")
_URL = re.compile(
    r"(?:https?://)?(?:www\s?\.\s?)?(?:[a-z0-9][a-z0-9-]*\.)+"
    r"(?:com|net|org|example|io|co|uk|de|fr|cn|eu|us|tv|shop|store|app|info|biz|ai|me|ca|au|jp|in)"
    r"\b(?:/[\w./%-]*)?",
    re.IGNORECASE,
)
_PHONE = re.compile(
    r"(?<![\d.$])\+?(?:\(?\d\)?[\s.-]{0,2}){6,13}\d(?![\d%])|"
    r"\b(?:call|dial|tel\.?|phone)\s+(\+?\d[\d\s-]{4,})",
    re.IGNORECASE,
)


_CURRENCIES = (
    ("$", ("$", "dollar", "usd")),
    ("€", ("€", "euro", "eur")),
    ("£", ("£", "pound", "pence", "gbp")),
    ("¥", ("¥", "元", "块", "yuan", "yen", "円")),
    ("₹", ("₹", "rupee")),
)


def prices(text: str) -> list[Value]:
    """Amounts of money, written with a sign or said in words, with their role in the line."""
    found = [*_SIGNED.finditer(text), *_MONEY_WORDS.finditer(text)]
    return [
        Value(text=match.group().strip(), key=amount_key(match.group()), role=_role(text, match))
        for match in sorted(found, key=lambda m: m.start())
    ]


def amount_key(text: str) -> str:
    """`$48`, `48 dollars` and `forty-eight dollars` have one key."""
    return next(iter(numbers(text)), normalize(text))


def same_amount(a: Value, b: Value) -> bool:
    """Whether two amounts are equal; where both give a currency, that too."""
    first, second = _currency(a.text), _currency(b.text)
    return a.key == b.key and (not first or not second or first == second)


def _currency(text: str) -> str:
    folded = fold(text)
    return next((sign for sign, names in _CURRENCIES if any(n in folded for n in names)), "")


def _role(text: str, match: re.Match[str]) -> Role:
    """What the words of the same sentence, up to the value, say about it."""
    before = re.split(r"[.!?;]\s", text[: match.start()])[-1]
    near = words(before)[-7:]
    if near[-1:] in (("save",), ("saving",)) or words(text[match.end() :])[:1] == ("off",):
        return "saving"
    for word in reversed(near):
        if word in word_list("old_price"):
            return "old"
        if word in word_list("now_price"):
            return "now"
    return "plain"


def percents(text: str) -> list[Value]:
    """Percentages and deals in words (`half price`, `free delivery`)."""
    found = [*_PERCENT.finditer(text), *_DEAL.finditer(text)]
    return [Value(text=m.group().strip(), key=normalize(m.group())) for m in found]


def dates(text: str) -> list[Value]:
    """Calendar dates, with or without a year."""
    return [Value(text=m.group().strip(), key=normalize(m.group())) for m in _DATE.finditer(text)]


def urls(text: str) -> list[Value]:
    """Web addresses."""
    return [
        Value(text=re.sub(r"\s", "", m.group()), key=normalize(m.group()))
        for m in _URL.finditer(text)
        if not re.fullmatch(r"[\d.]+", m.group())
    ]


def phones(text: str) -> list[Value]:
    """Telephone numbers: a long group of digits, or digits after `call`."""
    bare = _DATE.sub(" ", text)
    return [
        Value(text=(m.group(1) or m.group()).strip(), key=normalize(m.group(1) or m.group()))
        for m in _PHONE.finditer(bare)
    ]


def calls_to_action(text: str) -> list[Value]:
    """The line itself when one of its clauses opens by asking the viewer to act."""
    for clause in re.split(r"[.!?;,:]\s+|\n", fold(text)):
        parts = words(clause)
        opener = (
            parts[1]
            if len(parts) > 1 and parts[0] in ("please", "just", "so")
            else (parts or ("",))[0]
        )
        asks = word_list("call_to_action")
        if opener in asks or any(w in clause for w in asks if not w.isascii()):
            return [Value(text=text.strip(), key=normalize(text))]
    return []


def years(text: str) -> list[Value]:
    """Years of the last and this century."""
    return [Value(text=m.group(), key=m.group()) for m in _YEAR.finditer(text)]


EXTRACTORS = {
    "price": prices,
    "offer": percents,
    "date": dates,
    "year": years,
    "url": urls,
    "phone": phones,
    "call_to_action": calls_to_action,
}
"""Extractor by the `value` of a kind (kinds.toml)."""
