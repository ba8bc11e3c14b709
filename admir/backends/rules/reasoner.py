"""The offline policy: a small table from kind of question to tools, then extraction.

It looks (search, browse or expert, as kinds.toml says), drafts from what it found, and
finishes with the best draft. After a rejection it looks closer at the next best place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from admir.backends.base import (
    AgentState,
    Decision,
    RefinedAnswer,
    RefineRequest,
    VerificationRequest,
    VerificationResult,
)
from admir.backends.rules.candidates import drafts
from admir.backends.rules.evidence_pool import Draft
from admir.backends.rules.extract import EXTRACTORS
from admir.backends.rules.inspect_plan import inspect_action, looks
from admir.backends.rules.measurement_answers import asks_a_thing
from admir.backends.rules.phrases import language_of, say
from admir.backends.rules.premise import Premise, find_premise
from admir.backends.rules.question import Query, understand
from admir.backends.rules.relevance import SCREEN_KINDS, channel_of, missing_names
from admir.backends.rules.verify_claims import check_claims
from admir.perception.ocr import TextReader
from admir.text import normalize, truncate_words
from admir.types import Action, Span

_INSPECT_S = 1.0
_SURE = 0.6


class OfflineReasoner:
    """See the module; `Reasoner` says what each method owes."""

    id = "offline-rules-v2"

    def __init__(self, reader: TextReader, *, answer_words: int) -> None:
        self._reader = reader
        self._answer_words = answer_words

    async def decide(self, situation: AgentState) -> Decision:
        """See `Reasoner`."""
        query = understand(situation.question)
        draft = _best_draft(query, situation)
        look = _next_look(query, situation, draft)
        if look is not None:
            return look
        if draft is None:
            return _give_up(query, situation)
        premise = find_premise(query, _known_texts(situation))
        return _finish(draft) if premise is None else _refuse(query, situation, draft, premise)

    async def check(self, check: VerificationRequest) -> VerificationResult:
        """See `Reasoner`."""
        found = await asyncio.to_thread(check_claims, check, self._reader)
        return replace(found, claims=tuple(replace(c, checked=True) for c in found.claims))

    async def refine(self, accepted: RefineRequest) -> RefinedAnswer:
        """Cut to the word limit at a clause. Extracted answers already name what is seen."""
        text = " ".join(accepted.answer.split())
        return RefinedAnswer(answer=truncate_words(text, self._answer_words))


def _best_draft(query: Query, situation: AgentState) -> Draft | None:
    """The best draft that was not already rejected."""
    if not query.understood:
        return None
    refused = {normalize(rejection.draft) for rejection in situation.rejections}
    found = drafts(query, situation.evidence, situation.video.duration_s)
    return next((draft for draft in found if normalize(draft.text) not in refused), None)


def _next_look(query: Query, situation: AgentState, draft: Draft | None) -> Decision | None:
    """The next place to look, or None when it is time to finish."""
    done = [action.tool for step in situation.steps for action in step.actions]
    if situation.steps_left <= 1 and done:
        return None
    for look in looks(query):
        tool = _LOOKS[look]
        if tool not in done and (not done or draft is None or draft.score < _SURE):
            action = _action(look, query, situation)
            if action is not None:
                return Decision(thought=_thought(look, query, done), actions=(action,))
    return _look_closer(situation, draft, done)


_LOOKS = {
    "search": "clip_search",
    "browse": "global_browse",
    "expert": "communication_expert",
    "inspect": "frame_inspect",
}


def _action(look: str, query: Query, situation: AgentState) -> Action | None:
    """The action of a look; None where there is nothing to look at."""
    if look == "inspect":
        return inspect_action(query, situation)
    if look == "search":
        terms = " ".join(
            dict.fromkeys([*sorted(query.terms), *query.quoted, *_seek_words(query, situation)])
        )
        return Action(tool="clip_search", arguments={"query": terms or situation.question})
    if look == "browse":
        return Action(tool="global_browse", arguments={"question": situation.question})
    arguments = {"focus": situation.question, "start_s": 0.0, "end_s": situation.video.duration_s}
    return Action(tool="communication_expert", arguments=arguments)


def _seek_words(query: Query, situation: AgentState) -> list[str]:
    """Words of the kind to search for; Chinese ones only where the ad or the question has any."""
    texts = (situation.question, *situation.narrative.explicit_text)
    chinese = not "".join(texts).isascii()
    return [word for word in query.kind.seek.split() if chinese or word.isascii() or word in "$€£"]


def _thought(look: str, query: Query, done: Sequence[str]) -> str:
    kind = query.kind.name.replace("_", " ")
    why = f"That does not settle the {kind}." if done else f"This asks for: {kind}."
    places = {
        "search": "I search the clips for lines that could hold it.",
        "browse": "I go through the whole ad in time order.",
        "expert": "I ask the communication expert for a reading of the whole ad.",
        "inspect": "I look at the frames of the moment that is asked about.",
    }
    return f"{why} {places[look]}"


def _look_closer(
    situation: AgentState, draft: Draft | None, done: Sequence[str]
) -> Decision | None:
    """After a rejection, look at the frames of the next best draft before trusting it."""
    looks_closer = sum(tool == "frame_inspect" for tool in done)
    if draft is None or looks_closer >= len(situation.rejections):
        return None
    line = draft.evidence[0]
    if line.kind not in SCREEN_KINDS or line.frame is None:
        return None
    centre = line.frame_s if line.frame_s is not None else line.span.start_s
    span = Span(start_s=centre - _INSPECT_S / 2, end_s=centre + _INSPECT_S / 2).clamp(line.span)
    arguments = {
        "question": situation.question,
        "start_s": round(span.start_s, 2),
        "end_s": round(max(span.end_s, span.start_s + 0.3), 2),
        "mode": "literal",
    }
    thought = f'The last draft was weak. "{line.quote}" could answer instead: I look at its frames.'
    return Decision(thought=thought, actions=(Action(tool="frame_inspect", arguments=arguments),))


def _finish(draft: Draft) -> Decision:
    ids = [line.id for line in draft.evidence]
    arguments = {"answer": draft.text, "evidence_ids": ids, "absent": False}
    thought = f"{', '.join(ids)} can carry an answer: {draft.text}"
    return Decision(thought=thought, actions=(Action(tool="finish", arguments=arguments),))


def _known_texts(situation: AgentState) -> list[str]:
    """All that is known to be read or said in the ad."""
    lines = [e.quote for e in situation.evidence if channel_of(e) is not None]
    return [*lines, *situation.narrative.explicit_text]


def _refuse(query: Query, situation: AgentState, draft: Draft, premise: Premise) -> Decision:
    """No value is given for a thing that nothing speaks of; a browse makes sure of that."""
    done = {action.tool for step in situation.steps for action in step.actions}
    if "global_browse" not in done and situation.steps_left > 1:
        thought = f"{draft.text} could be it, but no line speaks of {premise.missing} so far."
        browse = Action(tool="global_browse", arguments={"question": situation.question})
        return Decision(thought=thought, actions=(browse,))
    line = next((e for e in situation.evidence if e.quote == premise.line), None)
    told = {"value": draft.text, "line": premise.line, "missing": premise.missing}
    arguments = {
        "answer": say(query.language, "no_such_thing", **told),
        "evidence_ids": [e.id for e in (*draft.evidence, *([line] if line else []))],
    }
    thought = f"Nothing read or heard speaks of {premise.missing}: {draft.text} is no answer."
    finish = Action(tool="finish", arguments=arguments)
    return Decision(thought=thought, actions=(finish,), last=True)


def _give_up(query: Query, situation: AgentState) -> Decision:
    """Nothing supports an answer: say so, and what would be needed."""
    missing = missing_names(query, situation.evidence)
    why = f"no line has {', '.join(missing)}" if missing else "no line fits"
    thought = f"I looked through the ad and {why}."
    answer = say(query.language, _unknown(query, situation))
    arguments = {"answer": answer, "evidence_ids": [], "absent": True}
    finish = Action(tool="finish", arguments=arguments)
    return Decision(thought=thought, actions=(finish,), last=True)


def _unknown(query: Query, situation: AgentState) -> str:
    """Which of the phrases says why there is no answer."""
    if query.unclear_time:
        return "time_not_understood"
    if query.kind.value == "colour" and asks_a_thing(query):
        return "not_seen"
    looked = [o for step in situation.steps for o in step.observations]
    if query.kind.value in ("colour", "people") and not any(
        e.kind == "measurement" for e in situation.evidence
    ):
        return "no_picture"
    if query.kind.value == "people":
        return "no_face"
    if any(o.failed for o in looked):
        return "not_searched"
    if query.channel == "speech" and any("speech" in limit for limit in situation.limits):
        return "not_heard"
    if query.kind.value == "reading":
        return "no_rule"
    if query.language == "zh" and query.kind.value == "quote" and not _has_han(situation):
        return "not_translated"
    sees = query.wordless and query.kind.value in ("quote", "quantity") and query.channel is None
    if sees:
        return "not_seen"
    extract = EXTRACTORS.get(query.kind.value)
    none = extract is not None and not any(map(extract, _known_texts(situation)))
    return "not_shown" if none else "not_found"


def _has_han(situation: AgentState) -> bool:
    return any(language_of(e.quote) == "zh" for e in situation.evidence if e.kind != "expert")
