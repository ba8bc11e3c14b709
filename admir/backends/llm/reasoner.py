"""A backend made of models: the controller, the check of claims, the final wording (2.3, 2.4)."""

from __future__ import annotations

import asyncio
import re

from admir.backends.base import (
    AgentState,
    Decision,
    RefinedAnswer,
    RefineRequest,
    VerificationRequest,
    VerificationResult,
    paid_for,
)
from admir.backends.llm.content import Part, clean, data_block
from admir.backends.llm.conversation import evidence_line, messages_of
from admir.backends.llm.schemas import AnswerForm, CheckForm
from admir.backends.llm.typed_client import Model, arguments_of
from admir.backends.llm.verification import check_parts, decide, fail, open_claims
from admir.errors import ModelError
from admir.prompts import load_prompt
from admir.text import (
    content_words,
    denials,
    fold,
    holds_word,
    numbers,
    stem,
    truncate_words,
    words,
)
from admir.types import Action, Usage

_MOST_ACTIONS = 8
_DENIED_WORDS = 6
_AIM = 25 / 29
"""Words aimed at, of those allowed (C.2: 25, under 30)."""

_ASKS_FOR_SIGHT = re.compile(
    r"\b(see|seen|shows?|shown|look(s|ing)?|wear(s|ing)?|hold(s|ing)?|appears?|visible|visual(ly)?|"
    r"scenes?|objects?|colou?rs?|images?|imagery|pictur\w+|symbols?)\b|看到|画面|出现|颜色|展示|穿|拿",
    re.IGNORECASE,
)
PROMPTS = (
    "controller",
    "verify",
    "verify_absence",
    "vouched",
    "refine",
    "correction",
    "weak_evidence",
)


class LlmReasoner:
    """See the module; `Reasoner` says what each method owes."""

    def __init__(self, model: Model, *, answer_words: int) -> None:
        self._model = model
        self._answer_words = answer_words
        self.id = f"llm:{model.models['controller'].model}"

    async def decide(self, situation: AgentState) -> Decision:
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

    async def check(self, check: VerificationRequest) -> VerificationResult:
        """See `Reasoner`: question and answer as one proposition, with all that bears on it."""
        if not open_claims(check):
            return VerificationResult(claims=check.claims)
        parts, frames = await asyncio.to_thread(check_parts, check)
        text = load_prompt("verify").render()
        try:
            reply = await self._model.complete("verify", text, parts, CheckForm)
        except ModelError as error:
            return fail(check, f"it could not be checked: {error}", paid_for(error))
        return decide(check, reply.value, reply.usage, frames)

    async def refine(self, accepted: RefineRequest) -> RefinedAnswer:
        """See `Reasoner`: one call names what is seen and shortens; a loss of facts undoes it.

        A draft that is short enough and names what it should stays as it is, without a call.
        """
        most = self._answer_words
        if len(accepted.answer.split()) <= most and not lacks_anchor(accepted):
            return RefinedAnswer(answer=accepted.answer)
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
        return RefinedAnswer(answer=truncate_words(worded, most), usage=reply.usage)


def lacks_anchor(accepted: RefineRequest) -> bool:
    """Whether something that is seen is asked for, and the answer names none of the anchors."""
    return (
        bool(accepted.anchors)
        and _ASKS_FOR_SIGHT.search(accepted.question) is not None
        and not any(_names_some_of(anchor, accepted.answer) for anchor in accepted.anchors)
    )


def _names_some_of(anchor: str, answer: str) -> bool:
    return any(holds_word(answer, word) for word in content_words(anchor))


def _as_drafted(accepted: RefineRequest, most: int, why: str, usage: Usage) -> RefinedAnswer:
    """The draft itself, cut where it must be, and why."""
    text = truncate_words(accepted.answer, most)
    what = "the accepted draft stands" if text == accepted.answer else "its start stands"
    return RefinedAnswer(answer=text, usage=usage, warning=f"{why}; {what}")


def is_faithful(worded: str, accepted: RefineRequest) -> bool:
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
    plain = fold(text)
    return [
        {stem(word) for word in words(plain[match.end() :])[:_DENIED_WORDS]}
        for match in denials(plain)
    ]
