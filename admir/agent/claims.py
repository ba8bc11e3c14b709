"""A draft as claims, and what code alone can say of them, for every backend (eq. 5).

Cited evidence exists, quotes and numbers stand in it, and what was rejected does not come again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from admir.backends.base import Rejection
from admir.text import (
    contains,
    content_words,
    denials,
    find_times,
    holds_word,
    normalize,
    numbers,
)
from admir.tools.finish import Finish
from admir.types import Claim, Evidence

PROVING = ("frame", "screen_text", "speech", "measurement", "person")
"""Kinds of evidence that verify a claim: a caption never does, and an expert names only."""

_TIME_SLACK_S = 0.6
_SAME_LENGTH_S = 0.15
_JOINED_LINES, _JOINED_GAP_S = 4, 3.0
"""A quote may run over so many lines, each so soon after the one before."""

_SAME_CLAIM = 0.6
"""Share of the content words of a rejected claim that makes another wording of it the same."""

_LEAST_STEM = 4
_ABBREVIATED = "".join(
    rf"(?<!\b{s}\.)" for s in ("Dr", "Mr", "Mrs", "Ms", "St", "No", "vs", r"[A-Z]")
)
_VERB = (
    r"(?:is|are|was|were|has|have|had|does|did|will|can|costs?|shows?|says?|offers?|reads?|appears?|"
    r"wears?|holds?|ends?|begins?|starts?|promises|features?|gives|uses|lasts|sells|drives|drinks|"
    r"smiles|walks|runs|stands|sits|plays|names)"
)
_CLAUSE = re.compile(
    rf",? (?=(?:and|but|while|whereas) (?:(?:it|he|she|they|there|this|that|we|you) |"
    rf"(?:(?:the|a|an|its|his|her|their) )?(?:\w+ ){{0,3}}?){_VERB}\b)"
)
"""Where a sentence goes on with a clause of its own: ` and it ends in June`."""

_HAS_VERB = re.compile(rf"\b{_VERB}\b")
_SENTENCE = re.compile(
    rf"(?<=[.!?;]){_ABBREVIATED}(?!(?<=\d\.)\s+\d)\s+(?=[\"“'A-Z0-9$€£])|(?<=[。！？；])|\s/\s"
)
_QUOTED = re.compile(
    r"\"([^\"]*)\"|“([^”]*)”|「([^」]*)」|『([^』]*)』|«([^»]*)»|(?<!\w)[‘']([^‘’']{2,})[’'](?!\w)"
)
_NAME = re.compile(r"(?<=[\w,;:)\"”] )([A-Z][\w&-]{2,})")
_COUNT = re.compile(
    r"(?<![\d.,:/$€£¥₹#-])(\d{1,2}) "
    r"(?!(?:percent|dollars?|euros?|pounds?|cents?|off|yuan|yen|rupees?|francs?|seconds?|minutes?|"
    r"hours?|days?|weeks?|months?|years?|times?|miles?|met(?:er|re)s?|grams?|kilos?|lit(?:er|re)s?|"
    r"calories|watts?|degrees?|points?|customers?|users?|people who)\b)(?=[^\W\d_]{3})"
)
"""A small number of things, `5 people`, and of no unit: frames show it; no line needs to."""


def split_claims(answer: str) -> tuple[str, ...]:
    """The statements of an answer: its sentences and clauses, uncut inside quotation marks."""
    quoted = [match.span() for match in _QUOTED.finditer(answer)]
    found = [
        m
        for m in (*_SENTENCE.finditer(answer), *_CLAUSE.finditer(answer))
        if not any(start < m.start() < end for start, end in quoted)
    ]
    cuts: list[tuple[int, int]] = []
    for m in sorted(found, key=lambda m: m.start()):
        before = answer[cuts[-1][1] if cuts else 0 : m.start()]
        if m.re is _SENTENCE or _HAS_VERB.search(before):  # a list of nouns is no clause
            cuts.append(m.span())
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(answer)]
    parts = (answer[a:b].strip() for a, b in zip(starts, ends, strict=True))
    return tuple(part for part in parts if normalize(part))


def claims_of(draft: Finish, evidence: Sequence[Evidence]) -> tuple[Claim, ...]:
    """Each statement with all the evidence that the draft cites.

    A draft that cites what was never observed has failed already; what else it cites stays good.
    """
    known = {e.id for e in evidence}
    cited = tuple(i for i in dict.fromkeys(draft.evidence_ids) if i in known)
    unknown = [i for i in draft.evidence_ids if i not in known]
    reason = f"it cites {', '.join(unknown)}, which was never observed" if unknown else ""
    return tuple(
        Claim(
            text=text,
            evidence=cited,
            reason=reason,
            unsupported=tuple(unknown),
            checked=bool(reason),
        )
        for text in split_claims(draft.answer)
    )


def cheap_check(
    claim: Claim, evidence: Sequence[Evidence], nearby: Sequence[Evidence] = ()
) -> Claim:
    """The claim as it was, or with the reason for which it cannot stand, and the words at fault."""
    if claim.reason:
        return claim
    cited = [e for e in evidence if e.id in claim.evidence]
    if not cited:
        return replace(claim, reason="it cites no evidence", checked=True)
    if all(e.kind == "caption" for e in cited):
        why = "only captions are cited, and a caption proves nothing"
        return replace(claim, reason=why, checked=True)
    fault = _unheld_quote(claim, cited, nearby) or _unheld_number(claim, cited, nearby)
    if not fault:
        return claim
    words, reason = fault
    return replace(claim, reason=reason, unsupported=(words,), checked=True)


def find_doubts(
    claims: Sequence[Claim], evidence: Sequence[Evidence], nearby: Sequence[Evidence]
) -> tuple[str, ...]:
    """Names and counts in open claims that no line holds: only a look can tell."""
    lines = [e for e in (*evidence, *nearby) if e.kind in PROVING]
    held = [f"{e.speaker or ''} {e.quote}" for e in lines]
    found: dict[str, None] = {}
    for claim in claims:
        if not claim.reason:
            counted = [m.group() for m in _COUNT.finditer(without_quotes(claim.text))]
            for word in (*_NAME.findall(without_quotes(claim.text)), *counted):
                if not any(contains(text, word) for text in held):
                    found.setdefault(word.strip())
    return tuple(found)


def without_quotes(text: str) -> str:
    """The text without what stands in quotation marks."""
    return _QUOTED.sub(" ", text)


def _unheld_quote(
    claim: Claim, cited: Sequence[Evidence], nearby: Sequence[Evidence]
) -> tuple[str, str] | None:
    """A quote that no line holds, alone or with the lines that follow it; and why it fails."""
    held = list(_texts([e for e in (*cited, *nearby) if e.kind in PROVING]))
    for groups in _QUOTED.findall(claim.text):
        quote = next((part for part in groups if len(part) > 1), "")
        if quote and not any(contains(text, quote) for text in held):
            return quote, _why_unheld(f'"{quote}"', quote, cited, "says")
    return None


def _why_unheld(what: str, words: str, cited: Sequence[Evidence], holds: str) -> str:
    """Why words do not stand; somebody who tells of the ad may have them, and proves nothing."""
    told = [e for e in cited if e.kind not in PROVING and contains(e.quote, words)]
    if not told:
        return f"no cited evidence {holds} {what}; drop it or cite what shows it"
    who = "the communication expert" if told[0].kind == "expert" else "a caption"
    return f"only {who} has {what} ({told[0].id}): cite a line, speech or a look that shows it"


def _texts(lines: Sequence[Evidence]) -> Iterator[str]:
    """What lines say: each alone, then with those that follow it in time or below it."""
    ordered = sorted(lines, key=lambda e: (e.span.start_s, e.box[1] if e.box else 0.0))
    for first, line in enumerate(ordered):
        text, last = line.quote, line
        yield text
        for other in ordered[first + 1 : first + _JOINED_LINES]:
            if other.span.gap_s(last.span) > _JOINED_GAP_S:
                break
            text, last = f"{text} {other.quote}", other
            yield text


def _unheld_number(
    claim: Claim, cited: Sequence[Evidence], nearby: Sequence[Evidence]
) -> tuple[str, str] | None:
    """A number that stands in no proving quote and is no time of one; and why it fails.

    A count of things may be seen in a cited frame: that is for the check to say, but where somebody
    who proves nothing brought it up.
    """
    held = {n for e in (*cited, *nearby) if e.kind in PROVING for n in numbers(e.quote)}
    text = claim.text
    for start, end, time_s in reversed(find_times(text)):
        if any(_covers(e, time_s) or _lasts(e, time_s) for e in cited):
            text = f"{text[:start]} {text[end:]}"
    if any(e.frame_s is not None for e in cited):
        told = {n for e in cited if e.kind not in PROVING for n in numbers(e.quote)}
        text = _COUNT.sub(lambda m: m.group() if m[1] in told else " ", text)
    missing = [n for n in _written_numbers(text) if n not in held]
    if not missing:
        return None
    return missing[0], _why_unheld(missing[0], missing[0], cited, "has")


def _written_numbers(text: str) -> tuple[str, ...]:
    """Numbers in digits; a spelt one may be a figure of speech (`one of them`)."""
    return numbers(re.sub(r"[^\W\d_]+", " ", text))


def _covers(evidence: Evidence, time_s: float) -> bool:
    span = evidence.span
    return span.start_s - _TIME_SLACK_S <= time_s <= span.end_s + _TIME_SLACK_S


def _lasts(evidence: Evidence, seconds: float) -> bool:
    return abs(evidence.span.duration_s - seconds) <= _SAME_LENGTH_S


def find_repeat(claims: Sequence[Claim], rejections: Sequence[Rejection]) -> tuple[int, str]:
    """Which claim was rejected before on the same evidence, in another order or form, and why.

    (-1, "") where none was.
    """
    for number, claim in enumerate(claims):
        for rejection in rejections:
            if set(claim.evidence) <= set(rejection.evidence):
                for failed in rejection.claims:
                    if failed.checked and _is_bad(failed) and _says_the_same(claim, failed):
                        return number, failed.reason
    return -1, ""


def _is_bad(claim: Claim) -> bool:
    return claim.status in ("unverified", "contradicted")


def _says_the_same(claim: Claim, failed: Claim) -> bool:
    """Whether a claim says what failed, and nothing that the other did not say.

    It has the words for which that failed, most of the others, and no new number or word.
    """
    wanted, given = content_words(failed.text), content_words(claim.text)
    if not wanted or bool(denials(claim.text)) != bool(denials(failed.text)):
        return False
    if not all(_has(claim.text, words) for words in failed.unsupported):
        return False
    held = [word for word in wanted if holds_word(claim.text, word)]
    new = [word for word in given if not _is_form_of_any(word, wanted)]
    return len(held) >= _SAME_CLAIM * len(wanted) and not new


def _is_form_of_any(word: str, others: Sequence[str]) -> bool:
    """Whether it is one of the words in another form: `golden` of `gold`."""
    alike = word[:_LEAST_STEM]
    return any(
        holds_word(other, word) or (len(alike) == _LEAST_STEM and other.startswith(alike))
        for other in others
    )


def _has(text: str, phrase: str) -> bool:
    words = content_words(phrase)
    return contains(text, phrase) or (bool(words) and all(holds_word(text, w) for w in words))
