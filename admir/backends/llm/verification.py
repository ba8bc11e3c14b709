"""What a check of claims is asked with, and what is made of the reply (paper 2.4, eq. 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from admir.backends.base import VerificationRequest, VerificationResult
from admir.backends.llm.content import Part, clean, data_block, image
from admir.backends.llm.conversation import evidence_line
from admir.backends.llm.schemas import CheckForm, ClaimCheck
from admir.perception.decode import Picture, sample_times
from admir.perception.grids import CELL_SIDE, GRID_CELLS, drop_repeats, make_grids
from admir.prompts import load_prompt
from admir.text import contains, find_times
from admir.types import Claim, Evidence, Usage

MOST_SINGLE_FRAMES = 4
"""So many frames are sent one by one; more in 2x2 pictures, so that each cited one is shown."""

MOST_CITED_FRAMES, MOST_TIMES = 32, 4
LEAST_ABSENCE_FRAMES, MOST_ABSENCE_FRAMES = 8, 32
FRAME_SIDE = 1024
_AROUND_TIME_S = (-0.2, 0.0, 0.2)
"""Frames around a time that a claim states: does it begin there?"""

_STRICTNESS = ("verified", "unverified", "contradicted")

_Shown = tuple[Picture, str]
"""A frame, and what cites it."""


def open_claims(check: VerificationRequest) -> list[Claim]:
    """The claims that code has not refused."""
    return [claim for claim in check.claims if not claim.reason]


def check_parts(check: VerificationRequest) -> tuple[list[Part], int]:
    """All that speaks for and against the open claims, and how many frames. Decodes: blocking."""
    claims = open_claims(check)
    cited = [e for e in check.evidence if any(e.id in claim.evidence for claim in claims)]
    parts: list[Part] = [
        f"Question: {clean(check.question)}",
        data_block("the whole answer", [check.answer]),
        data_block("claims", _claim_lines(claims)),
    ]
    if check.absent:
        parts.append(load_prompt("verify_absence").render(span=str(check.span)))
    parts.append(data_block("evidence", map(evidence_line, cited)))
    parts.append(data_block("also on screen or said then", map(_line, check.nearby)))
    if not check.speech_known:
        parts.append("Speech is unknown: the sound was not transcribed.")
    if check.anchors and not check.absent:
        parts.append(data_block("seen there", check.anchors))
    if check.doubts:
        parts.append(data_block("in no line: the frames show it, or nothing does", check.doubts))
    frames, left_out = _cited_frames(check, cited)
    if check.absent:
        spread, left_out = _spread_frames(check)
        frames = sorted({p.time_s: (p, ids) for p, ids in (*spread, *frames)}.values(), key=_time)
    parts += _frame_parts(frames)
    if any(e.corrected or e.kind == "person" for e in cited):
        parts.append(load_prompt("vouched").render())
    if left_out:
        parts.append(f"{left_out} more frames are not shown: they say nothing for or against.")
    return parts, len(frames)


def _time(shown: _Shown) -> float:
    return shown[0].time_s


def _claim_lines(claims: Sequence[Claim]) -> list[str]:
    return [f"{n}. {c.text} [{', '.join(c.evidence)}]" for n, c in enumerate(claims, start=1)]


def _line(evidence: Evidence) -> str:
    return f"{evidence.span} {evidence.source}: {evidence.quote}"


def _cited_frames(
    check: VerificationRequest, cited: Sequence[Evidence]
) -> tuple[list[_Shown], int]:
    """The frames that are cited, and those around the times that claims state; and how many more.

    Each once, in order of time.
    """
    ids = [e.id for e in cited if e.frame_s is not None]
    found = check.look(ids[:MOST_CITED_FRAMES]) if ids else {}
    labels: dict[float, list[str]] = {}
    frames: dict[float, Picture] = {}
    for id_, picture in found.items():
        labels.setdefault(picture.time_s, []).append(id_)
        frames[picture.time_s] = picture
    stated = [t for claim in open_claims(check) for *_, t in find_times(claim.text)][:MOST_TIMES]
    around = {min(max(0.0, t + d), check.duration_s) for t in stated for d in _AROUND_TIME_S}
    frames |= {p.time_s: p for p in (check.look_at(sorted(around)) if around else ())}
    if not frames and not check.absent:  # nothing cited has a frame: show what is asked about
        return _spread_frames(check)
    more = max(0, len(ids) - MOST_CITED_FRAMES)
    return [(frames[t], ", ".join(labels.get(t, ()))) for t in sorted(frames)], more


def _spread_frames(check: VerificationRequest) -> tuple[list[_Shown], int]:
    """Frames all over the range that was asked about, about one a second; and how many more."""
    wanted = max(LEAST_ABSENCE_FRAMES, round(check.span.duration_s))
    count = min(MOST_ABSENCE_FRAMES, wanted)
    times = sample_times(check.span, count / max(check.span.duration_s, 1e-3), count)
    return [(picture, "") for picture in drop_repeats(check.look_at(times))], wanted - count


def _frame_parts(frames: Sequence[_Shown]) -> list[Part]:
    """Few frames one by one, each behind its time; more in 2x2 pictures behind theirs."""
    if len(frames) <= MOST_SINGLE_FRAMES:
        return [
            part
            for picture, ids in frames
            for part in (
                f"Frame {f'of {ids} ' if ids else ''}at {picture.time_s:.3f} s:",
                image(picture, FRAME_SIDE),
            )
        ]
    parts: list[Part] = []
    grids = make_grids([picture for picture, _ in frames], CELL_SIDE)
    for number, grid in enumerate(grids):
        cells = frames[number * GRID_CELLS : (number + 1) * GRID_CELLS]
        told = ", ".join(f"{p.time_s:.3f} s{f' ({ids})' if ids else ''}" for p, ids in cells)
        parts += [f"Grid {number + 1} of {len(grids)}, frames at {told}:", image(grid, FRAME_SIDE)]
    return parts


def decide(
    check: VerificationRequest, form: CheckForm, usage: Usage, frames: int
) -> VerificationResult:
    """The claims with the word on those that were open; of several on one the strictest."""
    strictest = sorted(form.claims, key=lambda v: _STRICTNESS.index(v.status))
    verdicts = {verdict.claim: verdict for verdict in strictest}
    claims = _decided(check.claims, verdicts, missing="the check left it out")
    if check.absent:
        claims = tuple(_say_what_was_looked_at(claim, check, frames) for claim in claims)
    stands = all(claim.status == "verified" for claim in claims)
    premise = "" if stands else " ".join(form.premise.split())
    return VerificationResult(claims=claims, usage=usage, premise=premise)


def fail(check: VerificationRequest, why: str, usage: Usage) -> VerificationResult:
    """What comes of a check that no model answered."""
    return VerificationResult(
        claims=_decided(check.claims, {}, missing=why), usage=usage, failed=True
    )


def _decided(
    claims: Sequence[Claim], verdicts: Mapping[int, ClaimCheck], *, missing: str
) -> tuple[Claim, ...]:
    """The claims with the word on those that were open, which are numbered from 1."""
    decided, number = [], 0
    for claim in claims:
        if claim.reason:
            decided.append(claim)
            continue
        number += 1
        verdict = verdicts.get(number)
        decided.append(_word_on(claim, verdict) if verdict else replace(claim, reason=missing))
    return tuple(decided)


def _word_on(claim: Claim, verdict: ClaimCheck) -> Claim:
    wrong = [w for w in verdict.unsupported if w.strip() and contains(claim.text, w)]
    return replace(
        claim,
        status=verdict.status,
        checked=True,
        reason=" ".join(verdict.reason.split()),
        evidence=tuple(i for i in verdict.evidence if i in claim.evidence) or claim.evidence,
        unsupported=() if verdict.status == "verified" else tuple(wrong),
    )


def _say_what_was_looked_at(claim: Claim, check: VerificationRequest, frames: int) -> Claim:
    """An absence says what was looked at; where no frame was, lines alone verify nothing."""
    if claim.status != "verified":
        return claim
    written = sum(e.kind == "screen_text" for e in check.nearby)
    looked = f"looked at {check.span}: {frames} frames, {written} lines on screen"
    if not frames:
        why = f"no frame could be looked at; nothing in {written} lines on screen"
        return replace(claim, status="unverified", reason=why)
    return replace(claim, reason=f"{looked}; {claim.reason}" if claim.reason else looked)
