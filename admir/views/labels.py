"""What statuses are called and costs are told as, wherever an answer is shown."""

from __future__ import annotations

from typing import Literal

from admir.types import Answer, Claim, Usage, Verdict

BASES = {
    "evidence": "grounded in the video",
    "expert": "rests on the expert's reading",
    "inference": "quoted; that it answers is inferred",
    "absence": "not found, nor proved absent",
    "premise": "no answer: its premise is not in the ad",
    "none": "not grounded",
}
_PROVED_ABSENT = "looked for, and not there"
_SENTENCES = {
    "inference": "Quoted, not proved: these words stand in the video; that they answer the "
    "question is inferred",
    "absence": "Not found; that it is absent is not proved",
    "premise": "No answer: the question supposes something that nothing in the ad speaks of",
}


def basis_words(answer: Answer) -> str:
    """What an answer rests on, in a few words."""
    proved_absent = answer.grounded and answer.basis == "absence"
    return _PROVED_ABSENT if proved_absent else BASES[answer.basis]


def standing_words(answer: Answer) -> str:
    """What it rests on, in a sentence where a few words say too little."""
    sentence = "" if answer.grounded else _SENTENCES.get(answer.basis, "")
    return sentence or basis_words(answer)


def sign_of(answer: Answer) -> Literal["verified", "inferred", "unverified"]:
    """The status of a claim in whose colour the answer is shown."""
    if answer.grounded:
        return "verified"
    return "inferred" if answer.basis == "inference" else "unverified"


def verdict_sign(verdict: Verdict) -> Literal["verified", "inferred", "contradicted"]:
    """The status of a claim in whose colour a verdict is shown."""
    if not verdict.accepted:
        return "contradicted"
    inferred = any(claim.status == "inferred" for claim in verdict.claims)
    return "inferred" if inferred else "verified"


def doubt_words(claim: Claim) -> str:
    """How sure it is that a quoted claim answers, what came next, and what of it nothing shows."""
    parts = []
    if claim.status == "inferred":
        sure = "" if claim.confidence is None else f" ({claim.confidence:.0%})"
        others = f", or: {' / '.join(claim.alternatives)}" if claim.alternatives else ""
        parts.append(f"quoted; that it answers is inferred{sure}{others}")
    if claim.unsupported:
        parts.append(f"nothing shows: {', '.join(claim.unsupported)}")
    return "; ".join(parts)


def cost_words(usage: Usage) -> str:
    """Calls, tokens, pictures and money on one line; empty where no model was asked."""
    if not usage.calls and not usage.cached:
        return ""
    cached = f", {usage.cached} replies from the cache" if usage.cached else ""
    retries = f", {usage.retries} retries" if usage.retries else ""
    return (
        f"{usage.calls} calls{retries}{cached}, {usage.input_tokens:,} tokens in, "
        f"{usage.output_tokens:,} out, {usage.images} pictures, {money_words(usage)}"
    )


def money_words(usage: Usage) -> str:
    """Dollars, and how many calls have no price that is known."""
    if usage.unpriced and not usage.cost_usd:
        return "price unknown"
    unpriced = f" and {usage.unpriced} calls of unknown price" if usage.unpriced else ""
    return f"${usage.cost_usd:.4f}{unpriced}"
