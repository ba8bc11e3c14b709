"""Inferences as evidence tells them, and the answers that rest on them, which name their rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from admir.backends.rules.arc import clipped
from admir.backends.rules.evidence_pool import Draft, Material
from admir.backends.rules.phrase_matcher import name_of
from admir.backends.rules.phrases import Language, say
from admir.text import normalize
from admir.types import Evidence, Inference

_FINDING = re.compile(
    r'^(?P<label>[^("]+?)(?: \("(?P<quote>.*)"\))?, by the rule: (?P<rule>.+), '
    r"confidence (?P<confidence>\d(?:\.\d+)?)$",
    re.DOTALL,
)
_MOST_WORDS = 27
_QUOTE_LETTERS = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One inference read back from evidence."""

    label: str
    quote: str
    rule: str
    confidence: float


def finding_of(inference: Inference) -> str:
    """`scarcity ("only 3 left"), by the rule: a phrase limits the stock, confidence 0.80`."""
    quote = f' ("{clipped(inference.quote)}")' if inference.quote else ""
    rule = f"by the rule: {inference.rule}, confidence {inference.confidence:.2f}"
    return f"{inference.label}{quote}, {rule}"


def reading_in(quote: str) -> Reading | None:
    """The inference that a piece of evidence tells."""
    found = _FINDING.match(quote)
    if not found:
        return None
    return Reading(
        label=found["label"],
        quote=found["quote"] or "",
        rule=found["rule"],
        confidence=float(found["confidence"]),
    )


def reading_drafts(given: Material) -> list[Draft]:
    """What the communication expert read, as many readings with their rules as an answer takes."""
    told = [(e, r) for e in given.everything if e.kind == "expert" and (r := reading_in(e.quote))]
    if not told:
        return []
    language = given.query.language
    named = [(e, r) for e, r in told if _names(given.query.text, r.label)]
    cited, parts = _as_many_as_fit(named or told, language)
    text = say(language, "by_rules", readings=say(language, "and_also").join(parts))
    return [Draft(text=text, key=normalize(text), evidence=tuple(cited), score=1.0)]


def _names(question: str, label: str) -> bool:
    """Whether the question asks for this very label: the hook, scarcity."""
    return bool(re.search(rf"\b{re.escape(label)}\b", question)) or name_of(label, "zh") in question


def _as_many_as_fit(
    told: Sequence[tuple[Evidence, Reading]], language: Language
) -> tuple[list[Evidence], list[str]]:
    cited: list[Evidence] = []
    parts: list[str] = []
    length = 0
    for evidence, part in _worded(told, language):
        length += len(part.split())
        if parts and (length > _MOST_WORDS or len(parts) == _most_parts(language)):
            break
        cited.append(evidence)
        parts.append(part)
    return cited, parts


def _worded(
    told: Sequence[tuple[Evidence, Reading]], language: Language
) -> Iterator[tuple[Evidence, str]]:
    """Each label once with its words; the first with its rule, which the evidence has for all."""
    seen: set[str] = set()
    for evidence, reading in told:
        if reading.label in seen:
            continue
        label = name_of(reading.label, language)
        quote, rule = clipped(reading.quote, _QUOTE_LETTERS), reading.rule.split(";")[0]
        further = "reading_further" if reading.quote else "reading_measured"
        phrase = further if seen or not reading.quote else "reading"
        seen.add(reading.label)
        yield evidence, say(language, phrase, label=label, quote=quote, rule=rule)


def _most_parts(language: Language) -> int:
    """Chinese counts as few words: there the number of parts is what keeps an answer short."""
    return 3 if language == "zh" else 4
