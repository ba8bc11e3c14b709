"""Words of English and Chinese: folding, tokens, and matching that forgives OCR.

OCR drops spaces and confuses width forms, so texts are compared squashed: folded, without
spaces and punctuation.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import Stemmer
from rapidfuzz.fuzz import partial_ratio

_TOKEN = re.compile(
    r"""
    (?P<url>(?<![a-z0-9.-])(?:https?://)?(?:[a-z0-9-]++\.)++[a-z]{2,}(?:/[^\s"'”)]*)?)
  | (?P<tag>[#@][\w]+)
  | (?P<price>[$€£¥₹]\s?\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*[ ]?(?:[$€£¥₹](?!\d)|元|块|円))
  | (?P<percent>(?<!\d)\d+(?:[.,]\d+)?\s?%)
  | (?P<number>\d+(?:[.,:/]\d+)*)
  | (?P<cjk>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)
  | (?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)
    """,
    re.VERBOSE,
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_GAP = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff]) +(?=[\u3040-\u30ff\u3400-\u9fff])")
_UNIT = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
"""What a text may be cut between: words, and Chinese characters."""

_DROP = re.compile(r"[^\w%$€£¥₹#@+]|_", re.UNICODE)
_POINT, _APART = "ˑ", "ˌ"
"""Letters to the squasher, and used by no language of ads: a decimal point, and a gap."""

_DIGITS = re.compile(r"\d+(?:[.,:/]\d+)*")
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {word: n for n, word in enumerate(_UNITS.split())} | {
    word: 10 * n for n, word in enumerate(_TENS.split(), start=2)
}
NUMBER_WORDS = (*_NUMBER_WORDS, "hundred", "thousand")
"""English words that numbers are spelt with."""

_MOST_SPELT = 10**12
"""`hundred` said a thousand times is no number."""

_SPELT_WORD = "|".join(NUMBER_WORDS)
_SPELT = re.compile(rf"\b(?:{_SPELT_WORD})(?: (?:and )?(?:{_SPELT_WORD}))*\b")
STATED_TIME = re.compile(
    r"(?<![\d.])(\d{1,6}(?:\.\d{1,6})?) ?(?:(?:s|secs?|seconds?)\b|秒)|\b(\d{1,2}):(\d{2})\b"
)
"""A time in the video as an answer states it: `12.5 s`, `3 seconds`, `3 秒`, `0:27`."""

_RANGE_START = re.compile(
    r"(?<![\d.$€£¥₹])(\d{1,6}(?:\.\d{1,6})?) ?(?:s|secs?|seconds?|秒)? ?"
    r"(?:-|–|—|~|to|and|until|till|到|至) ?"
    r"(?=\d{1,6}(?:\.\d{1,6})? ?(?:(?:s|secs?|seconds?)\b|秒))"
)
"""The first number of a range of times: `between 47.1 and 47.4 s`."""

_DENIAL = re.compile(
    r"\b(?:no(?!\.? ?\d)|not|never|none|nobody|nothing|nowhere|without|neither|nor|cannot|lacks?|"
    r"missing|absent|kein\w*|nicht|ohne|pas|aucune?|sans|sin|ning[uú]n[ao]?|nenhum\w*)\b|n't\b|"
    r"[不没無无未非](?![仅但过來来常印])|ない|ません|なし|없|않"
)
"""Words that deny, in the languages of questions; of Chinese not `非常` and the like."""

_own = threading.local()
"""Of each thread its own stemmer: one writes down the word that it is at."""


def fold(text: str) -> str:
    """Width forms and case made equal; spaces kept."""
    return unicodedata.normalize("NFKC", text).replace("’", "'").casefold()


@lru_cache(maxsize=4096)
def normalize(text: str) -> str:
    """Folded, without spaces and punctuation: what two readings of one line share."""
    return _DROP.sub("", fold(text))


def share_held(phrase: str, flat: str) -> float:
    """How much of a phrase, not empty, stands in a text, both squashed: 0 to 1.

    Errors of OCR cost a part; a text shorter than the phrase holds no more than its length.
    """
    if len(flat) < 2:
        return 0.0
    return partial_ratio(phrase, flat) / 100 * min(1.0, len(flat) / len(phrase))


def close_gaps(text: str) -> str:
    """The text without spaces between CJK characters: speech comes in pieces, words do not."""
    return _CJK_GAP.sub("", text)


def is_cjk(text: str) -> bool:
    """Whether the text is mainly Chinese, Japanese or Korean."""
    return 2 * len(_CJK.findall(text)) > len(_DROP.sub("", text))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The English stem of a folded word; other scripts pass unchanged."""
    if not word.isascii():
        return word
    bare = word.removesuffix("'s")
    if len(bare) <= 3:
        return bare
    if not hasattr(_own, "stemmer"):
        _own.stemmer = Stemmer.Stemmer("english")
    return str(_own.stemmer.stemWord(bare))


@lru_cache(maxsize=2048)
def tokenize(text: str, cjk_sizes: tuple[int, ...] = (2,)) -> tuple[str, ...]:
    """Index terms: stems, CJK n-grams, tags, and prices, percents, URLs whole and in parts.

    `cjk_sizes` are the lengths of the n-grams; a shorter run of characters stands whole.
    """
    found = _TOKEN.finditer(fold(text))
    return tuple(term for match in found for term in _terms(match, cjk_sizes))


def _terms(match: re.Match[str], cjk_sizes: Sequence[int]) -> Iterable[str]:
    kind, value = match.lastgroup, re.sub(r"\s", "", match.group())
    if kind == "cjk":
        return [
            value[i : i + size] for size in cjk_sizes for i in range(len(value) - size + 1)
        ] or [value]
    if kind == "word":
        return [stem(value)]
    if kind in ("price", "percent"):
        return [value, *_DIGITS.findall(value)]
    if kind == "url":
        return [value, *re.findall(r"\w+", value)]
    return [value]


def words(text: str) -> tuple[str, ...]:
    """The plain words and numbers of a text in order, folded, not stemmed."""
    return tuple(re.sub(r"\s", "", match.group()) for match in _TOKEN.finditer(fold(text)))


def numbers(text: str) -> tuple[str, ...]:
    """Every number of a text: in digits without thousands' commas, or spelt in English."""
    folded = fold(text).replace("-", " ")
    digits = [plain_number(found) for found in _DIGITS.findall(folded)]
    spelt = [str(spelt_number(found.group())) for found in _SPELT.finditer(folded)]
    return (*digits, *spelt)


def seconds_of(stated: re.Match[str]) -> float:
    """The seconds that a match of `STATED_TIME` means."""
    return float(stated[1]) if stated[1] else 60 * int(stated[2]) + int(stated[3])


def find_times(text: str) -> tuple[tuple[int, int, float], ...]:
    """Times in the video that a text states, both ends of a range: start and end in it, seconds."""
    found = {m.start(): (*m.span(), seconds_of(m)) for m in STATED_TIME.finditer(text)}
    found |= {m.start(): (*m.span(), float(m[1])) for m in _RANGE_START.finditer(text)}
    return tuple(found[start] for start in sorted(found))


def denials(text: str) -> tuple[re.Match[str], ...]:
    """Where a text says that something is not so."""
    return tuple(_DENIAL.finditer(fold(text)))


def plain_number(digits: str) -> str:
    """One form for one number: `1,299.00` -> `1299`, `1.299,00` -> `1299`, `49,90` -> `49.9`."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d{1,2}|\d+,\d{1,2}", digits):
        digits = digits.replace(".", "").replace(",", ".")
    return digits.rstrip("0").rstrip(".") if digits.count(".") == 1 else digits


def spelt_number(text: str) -> int:
    """`forty eight` -> 48; words that are no number count nothing."""
    total = group = 0
    for part in re.findall(r"[a-z]+", fold(text)):
        if part == "hundred":
            group = min(max(1, group) * 100, _MOST_SPELT)
        elif part == "thousand":
            total, group = min(total + max(1, group) * 1000, _MOST_SPELT), 0
        else:
            group += _NUMBER_WORDS.get(part, 0)
    return total + group


def contains(haystack: str, needle: str) -> bool:
    """Whether `needle` stands in `haystack`, spaces, case and width forms aside.

    A number must stand as a whole number: `5` is not in `15`, nor `99` in `4.99`.
    """
    want, text = _normalize_numbers(needle), _normalize_numbers(haystack)
    if not want:
        return False
    before = rf"(?<![\d{_POINT}])" if want[0].isdigit() else ""
    after = rf"(?![\d{_POINT}])" if want[-1].isdigit() else ""
    return re.search(before + re.escape(want) + after, text) is not None


def runs_over(lines: Sequence[str], phrase: str, most: int = 4) -> bool:
    """Whether a phrase stands in a line, or runs on over at most so many that follow each other."""
    return any(
        contains(" ".join(lines[first : first + count]), phrase)
        for first in range(len(lines))
        for count in range(1, most + 1)
    )


def _normalize_numbers(text: str) -> str:
    """Squashed, with marks that keep the numbers of a text whole and apart."""
    folded = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", fold(text))
    whole = re.sub(r"(?<=\d)[.,:/](?=\d)", _POINT, folded)
    return normalize(re.sub(r"(?<=\d)[^\w]+(?=\d)", _APART, whole))


def to_printable(text: str) -> str:
    """The text on one line, without what steers a terminal: controls, bidi, lone surrogates."""
    if text.isprintable():
        return text
    line = re.sub(r"[\n\r\t\x0b\x0c\x85\u2028\u2029]+", " ", text)
    if line.isprintable():
        return line
    return "".join(c for c in line if unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def truncate_words(text: str, most_words: int) -> str:
    """At most so many words: the text itself, or its start up to the end of a clause."""
    parts = text.split()
    if len(parts) <= most_words:
        return text
    kept = " ".join(parts[:most_words])
    clause = re.match(r"(.+[.!?;,/])\s", kept)
    long_enough = clause and len(clause.group(1).split()) >= most_words // 2
    return clause.group(1).rstrip(" ,;/") if clause and long_enough else kept


def shortened(text: str, most_chars: int) -> str:
    """At most so many characters; a cut shows."""
    return text if len(text) <= most_chars else f"{text[: most_chars - 3]}..."


FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "can",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "that",
        "the",
        "their",
        "there",
        "they",
        "this",
        "to",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whose",
        "why",
        "will",
        "with",
    ]
)
"""English words that a search query may hold and that say nothing of what is sought."""


def content_words(text: str) -> tuple[str, ...]:
    """The words and numbers of a text that say what it is about, each once, folded."""
    return tuple(word for word in dict.fromkeys(words(text)) if word not in FUNCTION_WORDS)


def holds_word(text: str, word: str) -> bool:
    """Whether a folded word stands in a text in any of its forms; Chinese words need no spaces."""
    if is_cjk(word):
        return normalize(word) in normalize(text)
    return bool(set(tokenize(word)) & set(tokenize(text)))


def excerpt(text: str, most_chars: int, about: str = "") -> str:
    """At most so many characters of a text, where it holds most words of `about`; cuts show.

    It is cut between words, or between Chinese characters.
    """
    if len(text) <= most_chars:
        return text
    units = list(_UNIT.finditer(text))
    wanted = content_words(about)
    held = [frozenset(w for w in wanted if _stands_in(w, unit.group())) for unit in units]
    best, first, count = (-1, 0, 0), 0, Counter[str]()
    for last, unit in enumerate(units):
        count.update(held[last])
        while first < last and unit.end() - units[first].start() > most_chars - 4:
            count -= Counter(held[first])
            first += 1
        if len(count) > best[0]:
            best = (len(count), first, last)
    start, end = _centre(units, *best[1:], held, most_chars)
    end = min(end, start + most_chars - 4)
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return f"{before}{text[start:end]}{after}"


def _stands_in(word: str, unit: str) -> bool:
    return unit in word if is_cjk(unit) else holds_word(unit, word)


def _centre(
    units: Sequence[re.Match[str]],
    first: int,
    last: int,
    held: Sequence[frozenset[str]],
    most_chars: int,
) -> tuple[int, int]:
    """From where to where to cut: what is held between `first` and `last` comes to the middle."""
    inside = [n for n in range(first, last + 1) if held[n]]
    low, high = (inside[0], inside[-1]) if inside else (0, 0)
    while True:
        grown = False
        for step in (high + 1, low - 1):
            if not 0 <= step < len(units):
                continue
            start, end = units[min(low, step)].start(), units[max(high, step)].end()
            if end - start <= most_chars - 4:
                low, high, grown = min(low, step), max(high, step), True
        if not grown:
            return units[low].start(), units[high].end()
