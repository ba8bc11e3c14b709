"""Grounding verification Psi (paper 2.4, eq. 5): question and answer as one proposition.

Code checks what it can (`claims.py`); what passes goes to the backend with all that is cited, all
that is on screen or said meanwhile, and the frames: what speaks for it, and what speaks against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from admir.agent.claims import (
    PROVING,
    cheap_check,
    claims_of,
    find_doubts,
    find_repeat,
    without_quotes,
)
from admir.backends.base import Reasoner, Rejection, VerificationRequest, VerificationResult
from admir.memory.frame_access import frames_at
from admir.perception.decode import Picture
from admir.text import denials, find_times, fold, normalize, truncate_words
from admir.tools.base import screen_evidence, speech_evidence
from admir.tools.finish import Finish
from admir.types import Claim, Evidence, Memory, Span, Usage, Verdict

MOST_NEARBY, MOST_READ = 60, 1_000
"""Lines beside the cited ones, those that stay longest; for an absence all that any ad has."""

_NAMED_TIME = re.compile(
    r"(?:\b(?:at|around|near)(?: about| around| second)?|\bbetween|\bfrom|"
    r"\b(?:between|from) [\d.:]+ ?(?:s|secs?|seconds?)? ?(?:and|to|-)|第|从)\s*$"
)

_SAME_FRAME_S = 1.0
_AROUND_S = 0.5
"""A frame is a moment: lines within so much of it are beside it."""

_ASKED_AROUND_S = 1.0
_ANCHOR_WORDS = 12
STANDING = ("verified", "expert")
"""Statuses of claims that ground an answer."""


async def verify(
    draft: Finish,
    question: str,
    evidence: Sequence[Evidence],
    memory: Memory,
    reasoner: Reasoner,
    *,
    looks: bool = True,
    searched: bool = True,
    rejections: Sequence[Rejection] = (),
) -> tuple[Verdict, Usage]:
    """The verdict on a draft, and what it cost.

    Without `looks` there are no visual anchors and no frames to look at (ablation, Fig. 3 c).
    `searched` says whether anything was searched or looked at, since an absence was rejected where
    one was; `rejections` are those of earlier drafts: the same claims on the same evidence are
    refused without a call (2.3.1).
    """
    claims = claims_of(draft, evidence)
    if not claims:
        return Verdict(accepted=False, claims=(), reason="it says nothing"), Usage()
    refused = _refuse(draft, claims, searched, rejections)
    if refused is not None:
        return refused, Usage()
    check = _gather(draft, question, claims, evidence, memory, looks=looks)
    checked = await reasoner.check(check)
    kept = tuple(
        _kept(before, after, evidence, denied=draft.absent and bool(denials(before.text)))
        for before, after in zip_longest(check.claims, checked.claims[: len(check.claims)])
        if before is not None
    )
    return _verdict(kept, check.anchors, checked, absent=draft.absent), checked.usage


def _gather(
    draft: Finish,
    question: str,
    claims: tuple[Claim, ...],
    evidence: Sequence[Evidence],
    memory: Memory,
    *,
    looks: bool,
) -> VerificationRequest:
    """All that speaks for the draft and against it; claims that code refuses have their reason."""
    cited = [e for e in evidence if e.id in draft.evidence_ids]
    span = asked_span(question, memory)
    nearby = _lines_in(memory, [span], MOST_READ) if draft.absent else _lines_beside(cited, memory)
    claims = tuple(
        claim if draft.absent and denials(claim.text) else cheap_check(claim, evidence, nearby)
        for claim in claims
    )
    written, said = memory.screen_text, memory.utterances
    return VerificationRequest(
        question=question,
        answer=draft.answer,
        span=span,
        duration_s=memory.video.duration_s,
        absent=draft.absent,
        claims=claims,
        evidence=tuple(evidence),
        nearby=nearby,
        anchors=visual_anchors(cited or evidence, memory) if looks else (),
        texts=(*(line.text for line in written), *(utterance.text for utterance in said)),
        speech_known=memory.speech_is_known,
        doubts=find_doubts(claims, evidence, nearby),
        look=lambda ids: cited_frames(ids, evidence, memory) if looks else {},
        look_at=lambda times_s: frames_at(memory, times_s) if looks else [],
    )


def _refuse(
    draft: Finish, claims: Sequence[Claim], searched: bool, rejections: Sequence[Rejection]
) -> Verdict | None:
    """What code refuses without a check: an absence unsearched or undenied, and a repeat."""
    reason, number = "", -1
    if draft.absent and not searched:
        reason = "nothing was searched or looked at for it: search or look first"
    elif draft.absent and not denials(draft.answer):
        reason = "it is handed in as absent, and does not say that something is not there"
    elif not draft.absent:
        number, before = find_repeat(claims, rejections)
        if number >= 0:
            reason = f"it was rejected on this evidence: {before}"
    if not reason:
        return None
    failed = tuple(
        claim if number not in (-1, n) else replace(claim, reason=reason)
        for n, claim in enumerate(claims)
    )
    return Verdict(
        accepted=False, claims=failed, reason=reason, absence=draft.absent, checked=False
    )


def asked_span(question: str, memory: Memory) -> Span:
    """The range that a question names, `at 5 s` or `between 3 and 5 s`; else the whole video.

    `The last 5 seconds` or `after 10 s` are none of these, nor what is quoted, nor what lies behind
    the end: a clock in the picture, the 1950s.
    """
    text = fold(without_quotes(question))
    asked = [time_s for start, _, time_s in find_times(text) if _NAMED_TIME.search(text[:start])]
    times = [time_s for time_s in asked if time_s <= memory.video.duration_s]
    if not times or len(times) < len(asked):
        return memory.video.span
    start_s, end_s = min(times) - _ASKED_AROUND_S, max(times) + _ASKED_AROUND_S
    return Span(start_s=max(0.0, start_s), end_s=end_s).clamp(memory.video.span)


def _lines_beside(cited: Sequence[Evidence], memory: Memory) -> tuple[Evidence, ...]:
    """What is on screen or said while the cited evidence lasts, and is not cited itself."""
    spans = [_around(e.span) for e in cited]
    known = {normalize(e.quote) for e in cited}
    return tuple(e for e in _lines_in(memory, spans) if normalize(e.quote) not in known)


def _around(span: Span) -> Span:
    return Span(start_s=max(0.0, span.start_s - _AROUND_S), end_s=span.end_s + _AROUND_S)


def _lines_in(
    memory: Memory, spans: Sequence[Span], most: int = MOST_NEARBY
) -> tuple[Evidence, ...]:
    """Every line on screen and everything said in these spans, in time order."""
    found = [screen_evidence(memory, line) for line in memory.screen_text]
    found += [speech_evidence(memory, said) for said in memory.utterances]
    inside = [e for e in found if any(e.span.overlap_s(span) > 0 for span in spans)]
    longest = sorted(inside, key=lambda e: -e.span.duration_s)[:most]
    return tuple(sorted(longest, key=lambda e: (e.span.start_s, e.kind)))


def visual_anchors(evidence: Sequence[Evidence], memory: Memory) -> tuple[str, ...]:
    """W of eq. 5: what is seen in the evidence, with its attributes (B.3.3).

    People and things of the registry that are seen there, and what looks at frames have found.
    """
    found: dict[str, None] = {}
    spans = [_around(e.span) for e in evidence]
    for subject in memory.subjects:
        seen = subject.seen or (Span(start_s=subject.first_seen_s, end_s=subject.first_seen_s),)
        if subject.kind != "name" and any(
            a.overlap_s(b) > 0 or _holds(b, a) for a in seen for b in spans
        ):
            looks = [
                part
                for part in subject.appearance
                if normalize(part) not in normalize(subject.name)
            ]
            found.setdefault(truncate_words(", ".join((subject.name, *looks)), _ANCHOR_WORDS))
    for item in evidence:
        if item.kind == "frame" or (item.kind == "measurement" and item.frame_s is not None):
            found.setdefault(truncate_words(item.quote, _ANCHOR_WORDS))
    return tuple(found)


def _holds(span: Span, moment: Span) -> bool:
    return span.start_s <= moment.start_s <= span.end_s


def cited_frames(
    ids: Sequence[str], evidence: Sequence[Evidence], memory: Memory
) -> dict[str, Picture]:
    """The frames that these pieces of evidence cite, decoded again, by evidence id."""
    wanted = {e.id: e.frame_s for e in evidence if e.id in ids and e.frame_s is not None}
    times = sorted(set(wanted.values()))
    found = frames_at(memory, times) if times else []
    nearest = {t: min(found, key=lambda p: abs(p.time_s - t)) for t in times if found}
    near = {t: p for t, p in nearest.items() if abs(p.time_s - t) <= _SAME_FRAME_S}
    return {i: near[t] for i, t in wanted.items() if t in near}


def _kept(
    before: Claim, after: Claim | None, evidence: Sequence[Evidence], *, denied: bool
) -> Claim:
    """The backend's word on a claim, as far as it goes.

    It cannot drop a claim, lift a cheap check, or verify without evidence that proves. What rests
    on the expert alone stands as the expert's (the golden source of B.3).
    """
    if before.reason or after is None:
        return replace(before, reason=before.reason or "the check left it out")
    deciding = tuple(i for i in after.evidence if i in before.evidence) or before.evidence
    after = replace(after, text=before.text, evidence=deciding)
    kinds = {e.kind for e in evidence if e.id in deciding}
    if denied or after.status != "verified" or kinds & set(PROVING):
        return after
    if "expert" in kinds:
        return replace(after, status="expert")
    why = "no frame, screen text, speech or measurement is cited"
    return replace(after, status="unverified", reason=why)


def _verdict(
    claims: tuple[Claim, ...],
    anchors: tuple[str, ...],
    checked: VerificationResult,
    *,
    absent: bool,
) -> Verdict:
    bad = [c for c in claims if c.status in ("unverified", "contradicted")]
    weak = bad or [c for c in claims if c.status not in STANDING]
    reasons = dict.fromkeys(c.reason or "it is not verified" for c in weak)
    if checked.premise and not any(checked.premise in reason for reason in reasons):
        reasons[f"the question supposes, and nothing bears out: {checked.premise}"] = None
    return Verdict(
        accepted=bool(claims) and not bad,
        claims=claims,
        anchors=anchors,
        reason="; ".join(reasons),
        absence=absent,
        checked=not checked.failed,
        premise=checked.premise,
    )
