"""Grounding verification Psi (paper 2.4, eq. 5): claims, cheap checks, then a look.

The cheap checks hold for every mind: cited evidence exists, and the quotes, numbers and names
of a claim occur in it. What passes them goes to the mind, with the frames that are cited.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from admir.backends.base import Check, Reasoner
from admir.memory.pixels import frames_at
from admir.perception.decode import Picture
from admir.text import STATED_TIME, contains, numbers, seconds_of, squash, tokenize
from admir.tools.finish import Finish
from admir.types import Claim, Evidence, Memory, Usage, Verdict

_TIME_SLACK_S = 0.6
_SAME_FRAME_S = 1.0
_SAME_LENGTH_S = 0.15
_ABBREVIATED = "".join(
    rf"(?<!\b{s}\.)" for s in ("Dr", "Mr", "Mrs", "Ms", "St", "No", "vs", r"[A-Z]")
)
_SENTENCE = re.compile(
    rf"(?<=[.!?;]){_ABBREVIATED}(?!(?<=\d\.)\s+\d)\s+(?=[\"“'A-Z0-9$€£])|(?<=[。！？；])|\s/\s"
)
_QUOTED = re.compile(r"\"([^\"]{2,})\"|“([^”]{2,})”|「([^」]{2,})」")
_NAME = re.compile(r"(?<=[\w,;:)\"”] )([A-Z][\w&-]{2,})")
_PROVING = ("frame", "screen_text", "speech", "measurement", "person")


def split_claims(answer: str) -> tuple[str, ...]:
    """The statements of an answer: its sentences, but no cut inside quotation marks."""
    quoted = [match.span() for match in _QUOTED.finditer(answer)]
    cuts = [
        (m.start(), m.end())
        for m in _SENTENCE.finditer(answer)
        if not any(start < m.start() < end for start, end in quoted)
    ]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(answer)]
    parts = (answer[a:b].strip() for a, b in zip(starts, ends, strict=True))
    return tuple(part for part in parts if squash(part))


def visual_anchors(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """W of eq. 5: names and numbers that the proving evidence holds."""
    found: dict[str, None] = {}
    for item in evidence:
        if item.kind in _PROVING:
            for name in re.findall(r"\b[A-Z][\w&-]{2,}|[$€£¥]?\d[\d.,]*%?", item.quote):
                found.setdefault(name)
    return tuple(found)


async def verify(
    draft: Finish,
    question: str,
    evidence: Sequence[Evidence],
    memory: Memory,
    reasoner: Reasoner,
    *,
    looks: bool = True,
) -> tuple[Verdict, Usage]:
    """The verdict on a draft, and what it cost.

    Without `looks` there are no visual anchors and no frames to look at (ablation, Fig. 3 c).
    """
    anchors = visual_anchors(evidence) if looks else ()
    claims = claims_of(draft, evidence)
    if not draft.absent:
        claims = tuple(cheap_check(claim, evidence) for claim in claims)
    checked = await reasoner.check(
        Check(
            question=question,
            duration_s=memory.video.duration_s,
            absent=draft.absent,
            claims=claims,
            evidence=tuple(evidence),
            anchors=anchors,
            look=lambda ids: cited_frames(ids, evidence, memory) if looks else {},
        )
    )
    kept = tuple(
        _kept(before, after, evidence)
        for before, after in zip_longest(claims, checked.claims[: len(claims)])
    )
    return _verdict(kept, anchors, absent=draft.absent), checked.usage


def _kept(before: Claim, after: Claim | None, evidence: Sequence[Evidence]) -> Claim:
    """The mind's word on a claim, as far as it goes.

    It cannot drop a claim, lift a cheap check, or verify without evidence that proves. What rests
    on the expert alone stands as the expert's (the golden source of B.3).
    """
    if before.reason or after is None:
        return replace(before, reason=before.reason or "the check left it out")
    kinds = {e.kind for e in evidence if e.id in before.evidence}
    if after.status == "verified" and not kinds & set(_PROVING):
        if "expert" in kinds:
            return replace(before, status="expert", reason=after.reason)
        return replace(before, reason="no frame, screen text, speech or measurement is cited")
    return replace(before, status=after.status, reason=after.reason)


def claims_of(draft: Finish, evidence: Sequence[Evidence]) -> tuple[Claim, ...]:
    """Each statement with the cited evidence that shares words with it (else with all)."""
    cited = [e for e in evidence if e.id in draft.evidence_ids]
    unknown = [i for i in draft.evidence_ids if i not in {e.id for e in evidence}]
    claims = []
    for text in split_claims(draft.answer):
        terms = set(tokenize(text))
        own = [e.id for e in cited if terms & set(tokenize(f"{e.quote} {e.speaker or ''}"))]
        reason = f"it cites {', '.join(unknown)}, which was never observed" if unknown else ""
        claims.append(Claim(text=text, evidence=tuple(own or (e.id for e in cited)), reason=reason))
    return tuple(claims)


def cheap_check(claim: Claim, evidence: Sequence[Evidence]) -> Claim:
    """The claim as it was, or with the reason for which it cannot stand."""
    if claim.reason:
        return claim
    cited = [e for e in evidence if e.id in claim.evidence]
    if not cited:
        return replace(claim, reason="it cites no evidence")
    if all(e.kind == "caption" for e in cited):
        return replace(claim, reason="only captions are cited, and a caption proves nothing")
    fault = _quotes(claim, cited) or _numbers(claim, cited) or _names(claim, evidence)
    return replace(claim, reason=fault) if fault else claim


def _quotes(claim: Claim, cited: Sequence[Evidence]) -> str:
    held = [e.quote for e in cited]
    for groups in _QUOTED.findall(claim.text):
        quote = next(part for part in groups if part)
        if not any(contains(text, quote) for text in held):
            return f'no cited evidence says "{quote}"'
    return ""


def _numbers(claim: Claim, cited: Sequence[Evidence]) -> str:
    """Numbers stand in a cited quote, or are times of it."""
    held = {n for e in cited if e.kind != "caption" for n in numbers(e.quote)}
    for match in STATED_TIME.finditer(claim.text):
        at_s = seconds_of(match)
        if any(_covers(e, at_s) or _lasts(e, at_s) for e in cited):
            held.update(numbers(match.group()))
    missing = [n for n in _written_numbers(claim.text) if n not in held]
    return f"no cited evidence has {missing[0]}" if missing else ""


def _written_numbers(text: str) -> tuple[str, ...]:
    """Numbers in digits; a spelt one may be a figure of speech (`one of them`)."""
    return numbers(re.sub(r"[^\W\d_]+", " ", text))


def _covers(evidence: Evidence, time_s: float) -> bool:
    span = evidence.span
    return span.start_s - _TIME_SLACK_S <= time_s <= span.end_s + _TIME_SLACK_S


def _lasts(evidence: Evidence, seconds: float) -> bool:
    return abs(evidence.span.duration_s - seconds) <= _SAME_LENGTH_S


def _names(claim: Claim, evidence: Sequence[Evidence]) -> str:
    """A name inside a sentence stands in some evidence of the ask."""
    held = [f"{e.speaker or ''} {e.quote}" for e in evidence if e.kind != "caption"]
    for name in _NAME.findall(claim.text):
        if not any(contains(text, name) for text in held):
            return f'no evidence names "{name}"'
    return ""


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


def _verdict(claims: tuple[Claim, ...], anchors: tuple[str, ...], *, absent: bool) -> Verdict:
    bad = [c for c in claims if c.status not in ("verified", "expert")]
    if absent:
        accepted = all(c.status != "contradicted" for c in claims)
    else:
        accepted = bool(claims) and not bad
    reasons = dict.fromkeys(c.reason or "it is not verified" for c in bad)
    reason = "; ".join(reasons)
    return Verdict(accepted=accepted, claims=claims, anchors=anchors, reason=reason, absence=absent)
