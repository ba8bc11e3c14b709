"""How sure it is that words which stand in an ad are what was asked for.

Two things are told apart: *quoted*, the words stand there; and *answers*, they are what was asked
for. Where a rule chose them among several, the claim is inferred, never verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from admir.backends.base import VerificationRequest
from admir.backends.rules.candidates import drafts
from admir.backends.rules.constraints import meets
from admir.backends.rules.evidence_pool import Draft
from admir.backends.rules.extract import EXTRACTORS
from admir.backends.rules.inference_answers import reading_in
from admir.backends.rules.question import Query
from admir.backends.rules.relevance import channel_of, has_term
from admir.backends.rules.word_lists import word_list
from admir.text import contains, normalize, tokenize
from admir.types import Claim, ClaimStatus, Evidence

RANKED = ("name", "slogan", "small_print")
"""Kinds whose answer is always a choice: no line says which name is the brand."""

_COMPARED = ("order",)
"""Kinds whose answer follows from times: the question names the line that it starts from."""

_NONE_OF_A_TYPE = 0.7
"""How sure it is that an ad has no price where none was read or heard: OCR misses some lines."""

_TIED = 0.98
_MOST_RIVALS = 3


def grade_reading(claim: Claim, cited: Sequence[Evidence]) -> Claim:
    """A claim that rests on stated rules alone: inferred, as sure as the rule."""
    readings = [reading for e in cited if (reading := reading_in(e.quote))]
    told = [r for r in readings if contains(claim.text, r.quote) or contains(claim.text, r.label)]
    sure = max((r.confidence for r in told or readings), default=0.5)
    why = "read by a stated rule from the words of the ad"
    return replace(claim, status="inferred", confidence=sure, reason=why)


def grade(
    query: Query, claim: Claim, check: VerificationRequest, cited: Sequence[Evidence]
) -> Claim:
    """A claim whose words stand: verified, inferred or, where several could answer, unverified."""
    verified = replace(claim, status="verified")
    if query.yes_no or any(e.kind == "person" or e.corrected for e in cited):
        return verified
    rivals = _rivals(query, check)
    own = next((d for d in rivals if _rests_on(d, cited)), None)
    others = [d for d in rivals if d is not own and not contains(claim.text, d.text)]
    share = _share_named(query, check, cited, alone=not others)
    first = not rivals or own is rivals[0]
    if query.understood and query.kind.value not in RANKED and share == 1.0 and first:
        return verified
    if not query.understood:
        why = "it stands there, and nothing says that it answers this"
        return replace(claim, status="unverified", reason=why)
    best = others[0] if others else None
    if own is not None and best is not None and best.score >= _TIED * own.score:
        listed = " / ".join(d.text for d in (own, *others)[:_MOST_RIVALS])
        claim = replace(claim, status="unverified", reason=f"several could answer: {listed}")
    else:
        claim = replace(claim, status="inferred")
    return replace(
        claim,
        confidence=round((1 + share) / 2 * _lead(own, others), 2),
        alternatives=tuple(d.text for d in others[: _MOST_RIVALS - 1]),
    )


def _rivals(query: Query, check: VerificationRequest) -> list[Draft]:
    """What could answer, each once, best first."""
    found = drafts(query, check.evidence, check.duration_s)
    once = {d.key: d for d in reversed(found) if meets(query, d, check.evidence)}
    return sorted(once.values(), key=lambda d: -d.score)


def _rests_on(draft: Draft, cited: Sequence[Evidence]) -> bool:
    keys = {normalize(e.quote) for e in cited}
    return any(normalize(e.quote) in keys for e in draft.evidence)


def _share_named(
    query: Query, check: VerificationRequest, cited: Sequence[Evidence], *, alone: bool
) -> float:
    """How much of what the question names stands in the cited lines, or in those beside them.

    Where nothing else could answer, anywhere in the ad: the one price is that of its lamp.
    """
    frame = word_list("frame") | word_list("frame_zh")
    cues = [cue for cue in query.kind.cues if not cue.search("")]  # the last kind takes everything
    framing = {term for word in frame for term in tokenize(word)}
    asked = [t for t in query.terms - framing if not any(cue.search(t) for cue in cues)]
    if not asked or query.kind.value in _COMPARED:
        return 1.0
    lines = [e for e in check.evidence if channel_of(e) is not None]
    beside = [e for e in lines if any(e.span.overlap_s(c.span) > 0 for c in cited)]
    texts = [f"{e.speaker or ''} {e.quote}" for e in (*cited, *beside)]
    texts += check.texts if alone else ()
    return sum(any(has_term(text, term) for text in texts) for term in asked) / len(asked)


def _lead(own: Draft | None, others: Sequence[Draft]) -> float:
    """The part of an answer's score in that of the first few."""
    if own is None:
        return 0.3
    total = own.score + sum(max(0.0, d.score) for d in others[: _MOST_RIVALS - 1])
    return max(0.0, own.score / total) if total > 0 else 0.3


def grade_absence(query: Query, claim: Claim, check: VerificationRequest) -> Claim:
    """An absence is refused when some line does answer; else it stands, unproven."""
    found = drafts(query, check.evidence, check.duration_s)
    fitting = [d for d in found if meets(query, d, check.evidence)]
    if fitting and query.understood:
        line = fitting[0].evidence[0]
        reason = f'{line.id} shows "{line.quote}"'
        status: ClaimStatus = "unverified" if query.kind.value in RANKED else "contradicted"
        return replace(claim, status=status, reason=reason)
    looked = [e for e in check.evidence if channel_of(e) is not None]
    shown = sum(channel_of(e) == "screen" for e in looked)
    spoken = len(looked) - shown if query.channel == "speech" else 0
    said = f" and {spoken} spoken lines" if spoken else ""
    reason = f"nothing in {shown} lines on screen{said} answers it"
    extract = EXTRACTORS.get(query.kind.value)
    if extract is None or not check.texts or any(extract(text) for text in check.texts):
        return replace(claim, status="unverified", reason=reason)
    why = f"no {query.kind.name.replace('_', ' ')} is read or heard in {len(check.texts)} lines"
    return replace(claim, status="inferred", confidence=_NONE_OF_A_TYPE, reason=why)
