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
from admir.backends.llm.parts import Part, clean, data_block, image
from admir.errors import ModelError
from admir.perception.decode import Picture
from admir.prompts import load_prompt
from admir.text import contains, cut, numbers, stem, words
from admir.types import Action, Claim, Evidence, Usage

MOST_FRAMES = 4
FRAME_SIDE = 1024
_MOST_ACTIONS = 8
_DENIED_WORDS = 6
_STRICTNESS = ("verified", "unverified", "contradicted")
_AIM = 25 / 29
"""Words aimed at, of those allowed (C.2: 25, under 30)."""

_ASKS_FOR_SIGHT = re.compile(
    r"\b(see|seen|shows?|shown|look(s|ing)?|wear(s|ing)?|hold(s|ing)?|appears?|visible|visual(ly)?|"
    r"scenes?|objects?|colou?rs?|images?|imagery|pictur\w+|symbols?)\b|看到|画面|出现|颜色|展示|穿|拿",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(no|not|never|none|nobody|nothing|without|neither|nor|cannot)\b|n't\b|[不没無无未非]",
    re.IGNORECASE,
)
PROMPTS = ("controller", "verify", "vouched", "refine", "correction", "weak_evidence")


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
        thought, calls = reply.value.thought, len(reply.value.calls)
        if calls > len(actions):
            thought += f" (of {calls} calls the first {len(actions)} are carried out)"
        return Decision(thought=thought, actions=actions, usage=reply.usage)

    async def check(self, check: Check) -> Checked:
        """See `Reasoner`: claims that passed the cheap checks, with a look at cited frames."""
        open_claims = [claim for claim in check.claims if not claim.reason]
        if check.absent:
            return Checked(claims=tuple(_absent(claim) for claim in check.claims))
        if not open_claims:
            return Checked(claims=check.claims)
        cited = [e for e in check.evidence if any(e.id in c.evidence for c in open_claims)]
        frames, left_out = await asyncio.to_thread(_frames, check, cited)
        parts: list[Part] = [
            f"Question: {clean(check.question)}",
            data_block("claims", _claim_lines(open_claims)),
            data_block("evidence", map(evidence_line, cited)),
            *await asyncio.to_thread(_shown, frames),
        ]
        if any(e.corrected or e.kind == "person" for e in cited):
            parts.append(load_prompt("vouched").render())
        if left_out:
            parts.append(f"{left_out} more cited frames are not shown: count on none of them.")
        text = load_prompt("verify").render()
        try:
            reply = await self._model.complete("verify", text, parts, CheckForm)
        except ModelError as error:
            failed = f"it could not be checked: {error}"
            claims = _decided(check.claims, {}, missing=failed)
            return Checked(claims=claims, usage=paid_for(error))
        strictest = sorted(reply.value.claims, key=lambda v: _STRICTNESS.index(v.status))
        verdicts = {verdict.claim: verdict for verdict in strictest}
        claims = _decided(check.claims, verdicts, missing="the check left it out")
        return Checked(claims=claims, usage=reply.usage)

    async def refine(self, accepted: Accepted) -> Refined:
        """See `Reasoner`: one call names what is seen and shortens; a loss of facts undoes it.

        A draft that is short enough and names what it should stays as it is, without a call.
        """
        most = self._answer_words
        if len(accepted.answer.split()) <= most and not lacks_anchor(accepted):
            return Refined(answer=accepted.answer)
        aim = str(max(1, round(_AIM * most)))
        text = load_prompt("refine").render(words=aim, most_words=str(most))
        parts: list[Part] = [
            f"Question: {clean(accepted.question)}",
            f"Accepted answer: {clean(accepted.answer)}",
            data_block("evidence", map(evidence_line, accepted.evidence)),
            data_block("anchors", accepted.anchors),
        ]
        try:
            reply = await self._model.complete("refine", text, parts, AnswerForm)
        except ModelError as error:
            return _as_drafted(accepted, most, f"no final wording: {error}", paid_for(error))
        worded = " ".join(reply.value.answer.split())
        if not is_faithful(worded, accepted):
            why = "the final wording lost or changed a fact"
            return _as_drafted(accepted, most, why, reply.usage)
        return Refined(answer=cut(worded, most), usage=reply.usage)


def lacks_anchor(accepted: Accepted) -> bool:
    """Whether something that is seen is asked for, and the answer names none of the anchors."""
    return (
        bool(accepted.anchors)
        and _ASKS_FOR_SIGHT.search(accepted.question) is not None
        and not any(contains(accepted.answer, anchor) for anchor in accepted.anchors)
    )


def _as_drafted(accepted: Accepted, most: int, why: str, usage: Usage) -> Refined:
    """The draft itself, cut where it must be, and why."""
    text = cut(accepted.answer, most)
    what = "the accepted draft stands" if text == accepted.answer else "its start stands"
    return Refined(answer=text, usage=usage, warning=f"{why}; {what}")


def is_faithful(worded: str, accepted: Accepted) -> bool:
    """Whether no number is lost, none comes from nowhere, and what is denied stays denied."""
    if not worded:
        return False
    before, after = _figures(accepted.answer), _figures(worded)
    held = before.union(*(_figures(e.quote) for e in accepted.evidence))
    return before <= after <= held and _same_denials(accepted.answer, worded)


def _figures(text: str) -> set[str]:
    """Numbers in digits: a spelt one may be a figure of speech (`one of them`)."""
    return set(numbers(re.sub(r"[^\W\d_]+", " ", text)))


def _same_denials(before: str, after: str) -> bool:
    """Whether there are denials in both or in neither, and each of the new ones denies the same."""
    old, new = _denied(before), _denied(after)
    return bool(old) == bool(new) and all(any(n & o for o in old) or not n for n in new)


def _denied(text: str) -> list[set[str]]:
    """What is denied: the words behind each negation."""
    return [
        {stem(word) for word in words(text[match.end() :])[:_DENIED_WORDS]}
        for match in _NOT.finditer(text)
    ]


def _absent(claim: Claim) -> Claim:
    """That something is not in the video is believed after a search, never proven."""
    return replace(claim, status="unverified", reason="the absence of something is not proven")


def _frames(check: Check, cited: Sequence[Evidence]) -> tuple[list[tuple[str, Picture]], int]:
    """The frames that cited evidence points at, each once, at most four; and how many more."""
    ids = [e.id for e in cited if e.frame_s is not None]
    found: Mapping[str, Picture] = check.look(ids[: 2 * MOST_FRAMES]) if ids else {}
    once = {picture.time_s: (id_, picture) for id_, picture in reversed(list(found.items()))}
    frames = [once[time_s] for time_s in sorted(once)]
    more = len({e.frame_s for e in cited if e.frame_s is not None}) - len(frames[:MOST_FRAMES])
    return frames[:MOST_FRAMES], max(0, more)


def _shown(frames: Sequence[tuple[str, Picture]]) -> list[Part]:
    return [
        part
        for id_, picture in frames
        for part in (
            f"Frame of {id_} at {picture.time_s:.3f} s:",
            image(picture, FRAME_SIDE),
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
