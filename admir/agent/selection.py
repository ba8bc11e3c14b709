"""From what a run brought to the Answer: the best draft, its basis, and why it is not grounded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from admir.agent.grounding import STANDING
from admir.backends.base import Decision, Rejection
from admir.perception.decode import DECODER
from admir.perception.embed import HashingEmbedder
from admir.settings import Settings
from admir.text import denials
from admir.tools.finish import Finish
from admir.types import Basis, Evidence, Memory, Step, Verdict

_ASKS_FOR_SOUND = re.compile(
    r"\b(sa(y|ys|id|ying)|sp(eak|eaks|eaking|eech|oke|oken)|voices?|voiceover|hears?|heard|sounds?|"
    r"music|songs?|s[iau]ng|audio|narrat\w*|dialog\w*|mention\w*|announc\w*|t(ell|ells|old)|talk\w*)"
    r"\b|[说講讲声聲音歌听聽]|旁白|台词|对话",
    re.IGNORECASE,
)
_BROKEN_OFF_S = 1.0
"""Containers round the length that they state."""

BY_WORDS = "search compares words alone: the memory was embedded by hashing"
NO_ANSWER = "No answer could be grounded."

Judged = tuple[Finish, Verdict]


def better_draft(best: Judged | None, new: Judged) -> Judged:
    """The draft with the larger share of claims that stand; of equals the newer."""
    return new if best is None or _standing(new[1]) >= _standing(best[1]) else best


def _standing(verdict: Verdict) -> float:
    if verdict.absence:
        return -1.0
    good = sum(claim.status in STANDING for claim in verdict.claims)
    return good / max(1, len(verdict.claims))


def unverified_draft(draft: Finish, why: str) -> Judged:
    """A draft that nobody came to check."""
    reason = f"the draft was not checked: {why}"
    return draft, Verdict(accepted=False, claims=(), reason=reason, checked=False)


def has_searched(steps: Sequence[Step], rejections: Sequence[Rejection]) -> bool:
    """Whether a search or a look succeeded, after the last absence that was rejected."""
    checked = [r for r in rejections if r.absent and r.claims]
    since = max((rejection.step for rejection in checked), default=0)
    return any(
        not observation.failed
        for step in steps
        if step.index > since
        for observation in step.observations
    )


def reject(
    draft: Finish, verdict: Verdict, ledger: tuple[Evidence, ...], *, step: int
) -> Rejection:
    """What is remembered of a rejected draft. One that nobody could check may come again."""
    cited = [e for e in ledger if e.id in draft.evidence_ids]
    return Rejection(
        draft=draft.answer,
        reason=verdict.reason,
        evidence=tuple(e.id for e in cited),
        ranges=tuple(dict.fromkeys(e.span for e in cited)),
        claims=verdict.claims if verdict.checked else (),
        absent=draft.absent,
        step=step,
    )


def rejection_words(rejection: Rejection) -> dict[str, str]:
    """What the prompt of the negative constraint says: see `prompts/weak_evidence.md`."""
    stood = [claim.text for claim in rejection.claims if claim.status in STANDING]
    words = [word for claim in rejection.claims for word in claim.unsupported]
    return {
        "draft": rejection.draft,
        "reasons": rejection.reason.rstrip(". "),
        "ranges": ", ".join(map(str, rejection.ranges)) or "nothing",
        "stood": " / ".join(stood) or "none of it",
        "words": ", ".join(f"'{word}'" for word in words) or "none",
    }


def weak_evidence(verdict: Verdict) -> frozenset[str]:
    """Ids of what was cited for claims that nothing settles, and for none that stands.

    Where only words of a claim fail, or the evidence speaks against it, the evidence is good.
    """
    weak = {
        i
        for claim in verdict.claims
        if verdict.checked and claim.checked
        if claim.status == "unverified" and not claim.unsupported
        for i in claim.evidence
    }
    good = {i for claim in verdict.claims if claim.status in STANDING for i in claim.evidence}
    return frozenset(weak - good)


def select_draft(
    draft: Finish | None, verdict: Verdict | None, best: Judged | None, *, last: bool = False
) -> tuple[Finish, Verdict | None]:
    """The accepted draft, or the `last` that there can be; else the best rejected, else none."""
    if draft is not None and verdict is not None and (verdict.accepted or last):
        return draft, verdict
    return best or (Finish(answer=NO_ANSWER, evidence_ids=(), absent=False), None)


def cited_by(verdict: Verdict | None, ledger: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """The evidence that the claims rest on."""
    ids = {i for claim in verdict.claims for i in claim.evidence} if verdict else set()
    return tuple(e for e in ledger if e.id in ids)


def basis_of(verdict: Verdict | None) -> Basis:
    """What the answer rests on."""
    if verdict is not None and verdict.premise and any(denials(c.text) for c in verdict.claims):
        return "premise"
    if verdict is None or not verdict.accepted:
        return "none"
    if verdict.absence:
        return "absence"
    statuses = {claim.status for claim in verdict.claims}
    if "inferred" in statuses:
        return "inference"
    return "evidence" if "verified" in statuses else "expert"


def limits_of(memory: Memory, question: str) -> tuple[str, ...]:
    """What this memory cannot know, as far as it bears on the question, in words for a prompt."""
    made, video = memory.provenance, memory.video
    found = []
    if not memory.speech_is_known and _ASKS_FOR_SOUND.search(question):
        found.append("speech was not transcribed: what is said is unknown")
    if made.text_source == "none":
        found.append("on-screen text was not read")
    stated_s = video.stated_duration_s or 0.0
    if stated_s - video.duration_s > _BROKEN_OFF_S:
        found.append(f"the file breaks off at {video.duration_s:.1f} s of {stated_s:.1f} s")
    return tuple(found)


def memory_warnings(memory: Memory, settings: Settings) -> list[str]:
    """What of a memory stands in the way of a good answer, a line each."""
    made, found = memory.provenance, []
    if memory.frames and made.decoder != DECODER:
        found.append("the memory may hold broken frames; run `admir build-memory` again")
    if made.preset not in (settings.preset, "timeline"):
        found.append(f"the memory was built by preset {made.preset!r} and holds its captions")
    if compares_words_alone(memory, settings):
        found.append(BY_WORDS)
    return found


def compares_words_alone(memory: Memory, settings: Settings) -> bool:
    """Whether search misses meaning, though a preset with models is asked and nobody chose so."""
    hashed = memory.provenance.embedder == HashingEmbedder.id
    return hashed and settings.embedder == "auto" and settings.preset != "offline"


def is_last(decision: Decision | None, verdict: Verdict | None) -> bool:
    """Whether a draft is the end, also where it does not stand.

    The backend says so, or it fails only since others could answer as well.
    """
    if decision is not None and decision.last:
        return True
    claims = verdict.claims if verdict is not None else ()
    bad = [claim for claim in claims if claim.status in ("unverified", "contradicted")]
    return bool(bad) and all(claim.alternatives for claim in bad)


def is_grounded(verdict: Verdict | None) -> bool:
    """Whether every claim is verified, or names what the expert may name."""
    return (
        verdict is not None
        and verdict.accepted
        and not verdict.premise
        and all(claim.status in STANDING for claim in verdict.claims)
    )
