"""A mind made of models: the controller, the check of claims, the final wording (2.3, 2.4)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from admir.backends.base import Accepted, Check, Checked, Decision, Refined, Situation, paid_for
from admir.backends.llm.conversation import evidence_line, messages_of
from admir.backends.llm.forms import AnswerForm, CheckForm, ClaimCheck
from admir.backends.llm.model import Model, arguments_of
from admir.backends.llm.parts import Part, data_block, image
from admir.errors import ModelError
from admir.perception.decode import Picture
from admir.prompts import load_prompt
from admir.text import cut, numbers
from admir.types import Action, Claim, Evidence

MOST_FRAMES = 4
FRAME_SIDE = 1024
_MOST_ACTIONS = 4
_AIM = 25 / 29
"""Words aimed at, of those allowed (C.2: 25, under 30)."""

_NOT = re.compile(
    r"\b(no|not|never|none|nobody|nothing|without|neither|nor|cannot)\b|n't\b|[不没無无未非]",
    re.IGNORECASE,
)
PROMPTS = ("controller", "verify", "refine", "correction", "weak_evidence")


class LlmReasoner:
    """See the module; `Reasoner` says what each method owes."""

    def __init__(self, model: Model, *, answer_words: int) -> None:
        self._model = model
        self._answer_words = answer_words
        self.id = f"llm:{model.models['controller'].model}"

    async def decide(self, situation: Situation) -> Decision:
        """See `Reasoner`: native function calling. What is no call is an observation later."""
        instructions = load_prompt("controller").render(most_words=str(self._answer_words))
        messages = messages_of(situation, instructions)
        reply = await self._model.act("controller", messages, situation.tools)
        actions = tuple(
            Action(tool=call.name, arguments=arguments_of(call))
            for call in reply.value.calls[:_MOST_ACTIONS]
        )
        return Decision(thought=reply.value.thought, actions=actions, usage=reply.usage)

    async def check(self, check: Check) -> Checked:
        """See `Reasoner`: claims that passed the cheap checks, with a look at cited frames."""
        open_claims = [claim for claim in check.claims if not claim.reason]
        if check.absent:
            return Checked(claims=tuple(_absent(claim) for claim in check.claims))
        if not open_claims:
            return Checked(claims=check.claims)
        cited = [e for e in check.evidence if any(e.id in c.evidence for c in open_claims)]
        frames = await asyncio.to_thread(_frames, check, cited)
        parts: list[Part] = [
            f"Question: {check.question}",
            data_block("claims", _claim_lines(open_claims)),
            data_block("evidence", map(evidence_line, cited)),
            *await asyncio.to_thread(_shown, frames),
        ]
        text = load_prompt("verify").render()
        try:
            reply = await self._model.complete("verify", text, parts, CheckForm)
        except ModelError as error:
            failed = f"it could not be checked: {error}"
            claims = _decided(check.claims, {}, missing=failed)
            return Checked(claims=claims, usage=paid_for(error))
        verdicts = {verdict.claim: verdict for verdict in reversed(reply.value.claims)}
        claims = _decided(check.claims, verdicts, missing="the check left it out")
        return Checked(claims=claims, usage=reply.usage)

    async def refine(self, accepted: Accepted) -> Refined:
        """See `Reasoner`: one call names what is seen and shortens; a loss of facts undoes it."""
        most = self._answer_words
        aim = str(max(1, round(_AIM * most)))
        text = load_prompt("refine").render(words=aim, most_words=str(most))
        parts: list[Part] = [
            f"Question: {accepted.question}",
            f"Accepted answer: {accepted.answer}",
            data_block("evidence", map(evidence_line, accepted.evidence)),
            data_block("anchors", accepted.anchors),
        ]
        try:
            reply = await self._model.complete("refine", text, parts, AnswerForm)
        except ModelError as error:
            return Refined(answer=cut(accepted.answer, most), usage=paid_for(error))
        worded = " ".join(reply.value.answer.split())
        if not is_faithful(worded, accepted):
            worded = accepted.answer
        return Refined(answer=cut(worded, most), usage=reply.usage)


def is_faithful(worded: str, accepted: Accepted) -> bool:
    """Whether no number is lost, none comes from nowhere, and what is denied stays denied."""
    if not worded:
        return False
    before, after = set(numbers(accepted.answer)), set(numbers(worded))
    held = before.union(*(numbers(e.quote) for e in accepted.evidence))
    denied = bool(_NOT.search(accepted.answer)) == bool(_NOT.search(worded))
    return before <= after <= held and denied


def _absent(claim: Claim) -> Claim:
    """That something is not in the video is believed after a search, never proven."""
    return replace(claim, status="unverified", reason="the absence of something is not proven")


def _frames(check: Check, cited: Sequence[Evidence]) -> list[tuple[str, Picture]]:
    """The frames that cited evidence points at, each once, at most four."""
    ids = [e.id for e in cited if e.frame_s is not None]
    found: Mapping[str, Picture] = check.look(ids[: 2 * MOST_FRAMES]) if ids else {}
    once = {picture.time_s: (id_, picture) for id_, picture in reversed(list(found.items()))}
    return [once[time_s] for time_s in sorted(once)][:MOST_FRAMES]


def _shown(frames: Sequence[tuple[str, Picture]]) -> list[Part]:
    return [
        part
        for id_, picture in frames
        for part in (
            f"Frame of {id_} at {picture.time_s:.2f} s:",
            image(picture.pixels, FRAME_SIDE),
        )
    ]


def _claim_lines(claims: Sequence[Claim]) -> list[str]:
    return [f"{n}. {c.text} [{', '.join(c.evidence)}]" for n, c in enumerate(claims, start=1)]


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
        if verdict is None:
            decided.append(replace(claim, reason=missing))
        else:
            reason = " ".join(verdict.reason.split())
            decided.append(replace(claim, status=verdict.status, reason=reason))
    return tuple(decided)
