"""Claims against evidence, by rules (the offline half of Psi, eq. 5).

A claim is verified when a cited line of the screen or of the speech holds what it says, that
line meets what the question demands, and the cited frame, read again, shows the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from admir.backends.base import VerificationRequest, VerificationResult
from admir.backends.rules.brand_answers import ranked_names
from admir.backends.rules.brand_names import RankedName, same_name
from admir.backends.rules.candidates import drafts
from admir.backends.rules.claim_values import QUOTED, holds_same_value, numbers_with_units
from admir.backends.rules.confidence import grade, grade_absence, grade_reading
from admir.backends.rules.constraints import meets, unmet_by
from admir.backends.rules.evidence_pool import material
from admir.backends.rules.extract import EXTRACTORS, Value, same_amount
from admir.backends.rules.phrases import own_words
from admir.backends.rules.premise import find_premise
from admir.backends.rules.question import Query, understand
from admir.backends.rules.relevance import channel_of, has_term
from admir.backends.rules.verify_frames import check_frame_text
from admir.backends.rules.verify_measurements import (
    check_inference,
    check_measurement,
    is_worked_out,
)
from admir.backends.rules.word_lists import word_list
from admir.perception.ocr import TextReader
from admir.text import STATED_TIME, contains, find_times, fold, normalize, tokenize, words
from admir.types import Claim, ClaimStatus, Evidence, Span

TIME_TOLERANCE_S = 1.0
_MOST_LOOKS = 2
_STRONG_NAME = 0.6
_GOOD_DRAFT = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One claim, the lines it cites, and everything observed so far."""

    query: Query
    claim: str
    cited: tuple[Evidence, ...]
    everything: tuple[Evidence, ...]
    duration_s: float

    @property
    def best(self) -> Evidence:
        """The cited line that shares most with the claim."""
        terms = set(tokenize(self.claim))
        return max(self.cited, key=lambda e: (len(terms & set(tokenize(e.quote))), e.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFailure:
    """Why a claim fails. A contradiction is one that the evidence itself speaks against."""

    reason: str
    contradicts: bool = False


def check_claims(check: VerificationRequest, reader: TextReader) -> VerificationResult:
    """Every undecided claim with its status and the reason for it."""
    query = understand(check.question)
    if check.absent:
        return VerificationResult(
            claims=tuple(grade_absence(query, claim, check) for claim in check.claims)
        )
    premise = find_premise(query, check.texts)
    if premise is not None:
        why = f"of {premise.missing} nothing is read or heard"
        refused = tuple(c if c.reason else replace(c, reason=why) for c in check.claims)
        return VerificationResult(claims=refused, premise=premise.missing)
    return VerificationResult(
        claims=tuple(_decide(query, claim, check, reader) for claim in check.claims)
    )


def _decide(query: Query, claim: Claim, check: VerificationRequest, reader: TextReader) -> Claim:
    if claim.reason:
        return claim
    cited = tuple(e for e in check.evidence if e.id in claim.evidence)
    if cited and all(e.kind == "expert" for e in cited):
        if wrong := check_inference(query, claim.text, cited):
            return replace(claim, reason=wrong)
        return grade_reading(claim, cited)
    if is_worked_out(query) and not _said_by_line(query, cited):
        return _decide_measured(query, claim, check)
    case = Case(
        query=query,
        claim=claim.text,
        cited=tuple(e for e in cited if channel_of(e) is not None or e.kind == "person"),
        everything=check.evidence,
        duration_s=check.duration_s,
    )
    fault = next(_faults(case), None)
    seen: list[str] = []
    if fault is None:
        fault, seen = _look(case, check, reader)
    if fault is not None:
        status: ClaimStatus = "contradicted" if fault.contradicts else "unverified"
        return replace(claim, status=status, reason=fault.reason)
    return grade(query, replace(claim, reason=_support(case, seen)), check, case.cited)


def _said_by_line(query: Query, cited: Sequence[Evidence]) -> bool:
    """Whether a line of the ad itself answers: somebody names a colour."""
    return query.kind.value == "colour" and all(channel_of(e) is not None for e in cited)


def _decide_measured(query: Query, claim: Claim, check: VerificationRequest) -> Claim:
    wrong, contradicts = check_measurement(query, claim, check)
    if wrong:
        status: ClaimStatus = "contradicted" if contradicts else "unverified"
        return replace(claim, status=status, reason=wrong)
    return replace(claim, status="verified", reason=f"{', '.join(claim.evidence)}, measured again")


def _support(case: Case, seen: Sequence[str]) -> str:
    """What holds the claim, and which cited frames were read again."""
    held_by = [e.id for e in case.cited]
    said = f"{', '.join(held_by)} {'says' if len(held_by) == 1 else 'say'} so"
    if seen:
        return f"{said}; read again in the frame of {', '.join(seen)}"
    if vouched := [e.id for e in case.cited if e.corrected or e.kind == "person"]:
        return f"{said}; {', '.join(vouched)} is a person's word"
    unseen = any(channel_of(e) == "screen" for e in case.cited)
    return f"{said}; no frame could be read again" if unseen else said


def _faults(case: Case) -> Iterator[ClaimFailure]:
    """Everything that is wrong with a claim, cheapest rule first."""
    if not case.cited:
        yield ClaimFailure(reason="it cites no line of the screen or of the speech")
        return
    for rule in (_demand, _wording, _speaker, _times, _negation, _value, _name, _topic):
        if fault := rule(case):
            yield fault


def _demand(case: Case) -> ClaimFailure | None:
    unmet = [unmet_by(case.query, line, case.everything) for line in case.cited]
    if all(unmet):
        return ClaimFailure(reason=unmet[0] or "")
    return None


def _wording(case: Case) -> ClaimFailure | None:
    """Every content word of the claim stands in a cited line, or in one beside it."""
    content = _content(case.claim)
    if not content and not QUOTED.search(case.claim) and not STATED_TIME.search(case.claim):
        said = any(contains(e.quote, case.claim) for e in case.cited)
        return None if said else ClaimFailure(reason="it says nothing that a cited line says")
    unsaid = min((_unsaid(content, scene) for scene in _scenes(case)), key=len)
    if unsaid:
        return ClaimFailure(reason=f"no cited line says {_listed(unsaid)}")
    return _units(case)


def _scenes(case: Case) -> list[list[Evidence]]:
    """The cited lines that stand together in time; names may come from anywhere."""
    if case.query.kind.value == "name":
        return [list(case.cited)]
    return [[e for e in case.cited if e.span.gap_s(line.span) <= 0] for line in case.cited]


def _unsaid(content: Sequence[str], scene: Sequence[Evidence]) -> list[str]:
    held = [e.quote for e in scene] + [e.speaker for e in scene if e.speaker]
    return [word for word in content if not any(_holds(text, word) for text in held)]


def _units(case: Case) -> ClaimFailure | None:
    """A number keeps the word it counts: `10 years` is not said by `10 days and years`."""
    given = {pair for e in case.cited for pair in numbers_with_units(e.quote)}
    for number, unit in numbers_with_units(QUOTED.sub(" ", case.claim)):
        said = any(has_term(e.quote, unit) for e in case.cited)
        if said and (number, unit) not in given:
            return ClaimFailure(reason=f"no cited line says {number} {unit}")
    return None


def _content(claim: str) -> list[str]:
    """The words of a claim that assert something; quotes and times are checked elsewhere."""
    neutral = word_list("stop") | word_list("frame") | word_list("negations") | own_words()
    parts = words(STATED_TIME.sub(" ", QUOTED.sub(" ", claim)))
    return [w for w in parts if w not in neutral and (len(w) > 1 or w.isdigit())]


def _holds(text: str, word: str) -> bool:
    if any(c.isdigit() for c in word):
        return contains(text, word) or holds_same_value(text, word)
    if word in words(text):
        return True
    return all(has_term(text, term) for term in tokenize(word))


def _listed(items: Sequence[str]) -> str:
    return ", ".join(f'"{item}"' for item in items[:4])


def _speaker(case: Case) -> ClaimFailure | None:
    """A speaker whom the claim names is the one who says the line it rests on."""
    known = {e.speaker for e in case.everything if e.speaker}
    named = {name for name in known if set(words(name)) <= set(words(case.claim))}
    for name in named:
        lines = [e for e in case.cited if contains(e.quote, name)]
        if not lines and case.best.speaker != name:
            says = f"is said by {case.best.speaker}" if case.best.speaker else "has no speaker"
            return ClaimFailure(reason=f"{case.best.id} {says}, not {name}", contradicts=True)
    return None


def _times(case: Case) -> ClaimFailure | None:
    """A time in the claim lies in a cited line's span; a first time is near its start."""
    stated = _stated_times(case)
    for position, time_s in enumerate(stated):
        inside = [e for e in case.cited if _within(e, time_s)]
        if not inside:
            spans = ", ".join(f"{e.id} is at {e.span}" for e in case.cited[:3])
            return ClaimFailure(reason=f"{time_s:g} s is not the time: {spans}", contradicts=True)
        if position == 0 and case.query.aspect != "content" and not _is_edge(case, time_s):
            return ClaimFailure(
                reason=f"{time_s:g} s is not when {case.best.id} comes", contradicts=True
            )
    if case.query.aspect != "content" and not stated:
        return ClaimFailure(reason="it gives no time")
    return None


def _stated_times(case: Case) -> list[float]:
    quotes = " ".join(e.quote for e in case.cited)
    own = QUOTED.sub(" ", case.claim)
    found = find_times(own)
    return [time_s for start, end, time_s in found if not contains(quotes, own[start:end])]


def _within(line: Evidence, time_s: float) -> bool:
    return line.span.start_s - 0.6 <= time_s <= line.span.end_s + 0.6


def _is_edge(case: Case, time_s: float) -> bool:
    """Whether the time is where the asked-for line starts (or ends, when that is asked)."""
    late = case.query.aspect == "end_time"
    spans = [_whole_span(line, case.everything) for line in case.cited]
    edges = [span.end_s if late else span.start_s for span in spans]
    return any(abs(edge - time_s) <= TIME_TOLERANCE_S for edge in edges)


def _whole_span(line: Evidence, everything: Sequence[Evidence]) -> Span:
    """From first to last sight of a line: an inspected range cuts it at its own edges."""
    same = [e.span for e in everything if _same_line(e, line) and e.span.gap_s(line.span) <= 0]
    spans = [line.span, *same]
    return Span(start_s=min(s.start_s for s in spans), end_s=max(s.end_s for s in spans))


def _negation(case: Case) -> ClaimFailure | None:
    """The claim denies what the line asserts, or asserts what it denies.

    A line that is quoted whole says itself what it denies. Of a time, the line shows that it is so.
    """
    if case.query.aspect != "content":
        denied = _denies(QUOTED.sub(" ", case.claim))
        return ClaimFailure(reason="it denies a time", contradicts=True) if denied else None
    whole = [line.quote for line in case.cited if fold(line.quote) in fold(case.claim)]
    own = fold(case.claim).replace(fold(max(whole, key=len)), " ") if whole else case.claim
    sentence = _closest_sentence(case)
    if _denies(own) != (not whole and _denies(sentence)):
        return ClaimFailure(reason=f'{case.best.id} says "{sentence}"', contradicts=True)
    return None


def _closest_sentence(case: Case) -> str:
    terms = set(tokenize(case.claim))
    parts = re.split(r"(?<=[.!?;])\s+", case.best.quote)
    return max(parts, key=lambda part: len(terms & set(tokenize(part))))


def _denies(text: str) -> bool:
    return bool(set(words(text)) & word_list("negations"))


def _value(case: Case) -> ClaimFailure | None:
    """A value in the claim is one that the evidence gives in the same role."""
    extract = EXTRACTORS.get(case.query.kind.value)
    if extract is None:
        return None
    stated = extract(case.claim)
    if not stated and case.query.aspect == "content" and case.query.kind.value != "offer":
        return ClaimFailure(reason=f"it states no {case.query.kind.name.replace('_', ' ')}")
    given = [(line, value) for line in case.cited for value in extract(line.quote)]
    for value in stated:
        if fault := _unfit(case, value, given):
            return fault
    return None


def _unfit(case: Case, value: Value, given: list[tuple[Evidence, Value]]) -> ClaimFailure | None:
    if case.query.kind.value == "call_to_action":
        fits = any(unmet_by(case.query, line, case.everything) is None for line, _ in given)
        return None if fits else ClaimFailure(reason="no cited line asks the viewer to act")
    same = [(line, other) for line, other in given if same_amount(value, other)]
    if not same:
        lines = ", ".join(f'{line.id} says "{other.text}"' for line, other in given[:2])
        return ClaimFailure(
            reason=f'no cited line gives "{value.text}"; {lines}', contradicts=bool(given)
        )
    if all(other.role == "saving" for _, other in same):
        return ClaimFailure(reason=f"{same[0][0].id} gives what is saved, not a price")
    if case.query.kind.value == "price":
        opposite = {"now": "old", "old": "now"}
        wanted = "old" if case.query.asks_old or value.role == "old" else "now"
        if all(other.role == opposite[wanted] for _, other in same):
            return ClaimFailure(reason=f"{same[0][0].id} gives the {opposite[wanted]} price")
    return None


def _name(case: Case) -> ClaimFailure | None:
    """A brand in the claim is one of the strongest names of the ad."""
    if case.query.kind.value != "name" or case.query.aspect != "content":
        return None
    given = material(case.query, case.everything, case.duration_s)
    ranked = ranked_names(given)
    if not ranked:
        return ClaimFailure(reason="no line has a name")
    count = case.query.count or 1
    least = (_STRONG_NAME if count == 1 else 0.25) * ranked[0].score
    strong = [entry for entry in ranked[: max(count, 3)] if entry.score >= least]
    stated = _stated_names(case.claim, ranked)
    weak = [name for name in stated if not any(same_name(name, entry.name) for entry in strong)]
    if weak or not stated:
        best = ", ".join(entry.name for entry in strong[:count])
        return ClaimFailure(reason=f"the name the ad puts forward by rule is {best}")
    return None


def _stated_names(claim: str, ranked: Sequence[RankedName]) -> list[str]:
    """The candidates that a claim names, longest first, each part of it counted once."""
    rest, found = normalize(claim), []
    for name in sorted({spelling for e in ranked for spelling in e.spellings}, key=len)[::-1]:
        if normalize(name) in rest:
            found.append(name)
            rest = rest.replace(normalize(name), " ")
    return found


def _topic(case: Case) -> ClaimFailure | None:
    """The claim rests on a line that is among the better answers to the question."""
    found = drafts(case.query, case.everything, case.duration_s)
    fitting = [d for d in found if meets(case.query, d, case.everything)]
    if not fitting:
        return ClaimFailure(reason="no line answers the question")
    good = [d for d in fitting if d.score >= _GOOD_DRAFT * fitting[0].score]
    lines = [line for draft in good for line in draft.evidence]
    if any(_same_line(line, cited) for line in lines for cited in case.cited):
        return None
    return ClaimFailure(
        reason=f'a better answer is "{fitting[0].text}" ({fitting[0].evidence[0].id})'
    )


def _same_line(a: Evidence, b: Evidence) -> bool:
    """One line, or two sightings of it."""
    return a.id == b.id or normalize(a.quote) == normalize(b.quote)


def _look(
    case: Case, check: VerificationRequest, reader: TextReader
) -> tuple[ClaimFailure | None, list[str]]:
    """Read the cited frames again: a fault, or the ids of the lines that are there.

    A frame that reads otherwise speaks against the line, not against the claim: it may be OCR that
    errs the second time.
    """
    terms = set(tokenize(case.claim))
    shown = [
        e
        for e in case.cited
        if channel_of(e) == "screen"
        and not e.corrected
        and (e.id == case.best.id or terms & set(tokenize(e.quote)))
    ]
    shown.sort(key=lambda e: e.id != case.best.id)
    pictures = check.look([e.id for e in shown[:_MOST_LOOKS]])
    for line_id, picture in pictures.items():
        line = next(e for e in shown if e.id == line_id)
        if wrong := check_frame_text(line, picture, reader):
            return ClaimFailure(reason=wrong), []
    return None, sorted(pictures)
