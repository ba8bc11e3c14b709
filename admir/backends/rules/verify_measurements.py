"""Claims that rest on measurements, counts or readings: what they state is worked out again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from admir.backends.base import VerificationRequest
from admir.backends.rules.candidates import drafts
from admir.backends.rules.claim_values import (
    bare,
    colours_follow,
    colours_of,
    denies,
    figures,
    figures_follow,
    ordinals,
    unknown_words,
)
from admir.backends.rules.evidence_pool import Draft
from admir.backends.rules.facts import colours_in, faces_in, ink_in
from admir.backends.rules.inference_answers import reading_in
from admir.backends.rules.measurement_answers import asks_a_thing, asks_ink
from admir.backends.rules.order_answers import compared
from admir.backends.rules.phrase_matcher import label_names, name_of
from admir.backends.rules.phrases import own_words
from admir.backends.rules.question import Query
from admir.backends.rules.word_lists import word_list
from admir.perception.decode import Picture
from admir.perception.faces import CascadeFaces, count_sure
from admir.perception.visual_style import ink_of, look_at
from admir.text import contains, normalize, stem, words
from admir.types import Claim, Evidence, InferenceKind

_WORKED_OUT = ("measure", "colour", "people", "times_shown", "screen_time")
"""Values of kinds whose answers are no words of the ad."""

_KINDS: tuple[InferenceKind, ...] = ("arc", "device", "audience", "emotion", "theme")
_ON_GROUND = re.compile(r"\b(on (?:an? )?[a-z ]{3,12}?) (?:back ?)?ground\b")
_YES_OR_NO = re.compile(r"^\s*(yes|no)\b,?")


def is_worked_out(query: Query) -> bool:
    """Whether the answer is counted, measured or compared, and no words of the ad."""
    return query.kind.value in _WORKED_OUT or bool(_compared(query))


def _compared(query: Query) -> tuple[str, ...]:
    return compared(query.text) if query.kind.value == "order" else ()


def check_measurement(query: Query, claim: Claim, check: VerificationRequest) -> tuple[str, bool]:
    """What is wrong with a claim that was worked out, and whether that contradicts it.

    Empty when it stands. What was not measured, or of something else, contradicts nothing.

    It stands when the evidence that it cites gives what it states, worked out anew, and the frames
    that it cites, measured again, show the same.
    """
    cited = [e for e in check.evidence if e.id in claim.evidence]
    found = drafts(query, check.evidence, check.duration_s)
    own = next((d for d in found if set(d.evidence) & set(cited)), None)
    if own is None:
        better = f'; "{found[0].text}" rests on {found[0].evidence[0].id}' if found else ""
        return f"nothing that it cites was measured for this{better}", False
    same = normalize(claim.text) == normalize(own.text)
    if not same and not _states(query, claim.text, own, _echoes(query, cited)):
        return f'the measurement gives "{own.text}"', _is_of_it(query, own)
    if not _is_of_it(query, own):
        return "the whole picture was measured, and not what is asked about", False
    wrong = _other_in_frames(cited, check.look([e.id for e in cited]))
    return wrong, bool(wrong)


def _is_of_it(query: Query, own: Draft) -> bool:
    """Whether what was measured is what the question is about, and not the picture around it."""
    if query.kind.value != "colour" or any(ink_in(e.quote) for e in own.evidence):
        return True
    return not (query.quoted or asks_ink(query.text) or asks_a_thing(query))


def _echoes(query: Query, cited: Sequence[Evidence]) -> tuple[str, ...]:
    """What a claim repeats to say of which line it speaks; no figure in it is a count."""
    inks = [ink.text for e in cited if (ink := ink_in(e.quote))]
    lines = [e.quote for e in cited if e.kind != "measurement"]
    return (*query.quoted, *inks, *lines)


def _states(query: Query, claim: str, own: Draft, echoes: Sequence[str]) -> bool:
    """Whether the claim gives what was worked out, and nothing beside it."""
    told = _ON_GROUND.sub(r"\1", bare(claim, echoes))
    drawn = bare(own.text)
    if query.yes_no and _is_right_word(query, told, drawn):
        told = _YES_OR_NO.sub(" ", told)
    neutral = (word_list("stop") | word_list("measured_frame")) - word_list("measured")
    if denies(told) != denies(drawn) or unknown_words(told, f"{drawn} {query.text}", neutral):
        return False
    if query.kind.value == "colour":
        asked = {*figures(query.text), *(f"{e.span.start_s:g}" for e in own.evidence)}
        return colours_follow(colours_of(told), colours_of(drawn)) and set(figures(told)) <= asked
    if not ordinals(told) <= ordinals(f"{drawn} {query.text}"):
        return False
    if names := _compared(query):
        same = not figures(told) or figures_follow(figures(told), figures(drawn))
        return same and _names_first(told, drawn, names)
    given = figures(drawn)
    return figures_follow(figures(told), given) if given else denies(drawn)


def _is_right_word(query: Query, told: str, drawn: str) -> bool:
    """Whether a claim may begin with its yes, or its no: that is true of another colour only."""
    opening = _YES_OR_NO.match(told)
    other = query.kind.value == "colour" and not colours_follow(
        colours_of(query.text), colours_of(drawn)
    )
    right = "no" if other or denies(drawn) else "yes"
    return opening is not None and opening[1] == right


def _names_first(told: str, drawn: str, names: Sequence[str]) -> bool:
    """Whether the claim names first what was found to come first, or last where that is asked."""
    parts = [set(map(stem, words(name))) - word_list("stop") for name in names]
    if len(parts) < 2:
        return _edge_of(told) == _edge_of(drawn)
    own = {stem(word) for word in words(drawn)}
    all_stems = set().union(*parts)
    first = next((stem(w) for w in words(told) if stem(w) in all_stems), None)
    return first in own


def _edge_of(text: str) -> set[str]:
    return set(words(text)) & word_list("edges")


def _other_in_frames(cited: Sequence[Evidence], pictures: Mapping[str, Picture]) -> str:
    """Measure the cited frames again."""
    for line in cited:
        picture = pictures.get(line.id)
        if picture is not None and not all(agree(line, picture) for agree in _AGREES):
            return f"the frame at {picture.time_s:.1f} s, measured again, differs from {line.id}"
    return ""


def _same_colours(line: Evidence, picture: Picture) -> bool:
    told = colours_in(line.quote)
    return not told or look_at(picture.pixels).colours[:1] == told[:1]


def _same_ink(line: Evidence, picture: Picture) -> bool:
    told = ink_in(line.quote)
    return not told or line.box is None or ink_of(picture.pixels, line.box)[0] == told.ink


def _same_faces(line: Evidence, picture: Picture) -> bool:
    told = faces_in(line.quote)
    return told is None or told <= count_sure(CascadeFaces().find(picture.pixels))


_AGREES: tuple[Callable[[Evidence, Picture], bool], ...] = (
    _same_colours,
    _same_ink,
    _same_faces,
)


def check_inference(query: Query, claim: str, cited: Sequence[Evidence]) -> str:
    """What is wrong with a claim that rests on readings alone; empty when the expert gave it.

    The expert's word is not checked again; but what it did not say is not an expert's reading.
    """
    readings = [reading for e in cited if (reading := reading_in(e.quote))]
    quotes = " ".join(e.quote for e in cited)
    names = [name_of(r.label, language) for r in readings for language in ("en", "zh")]
    told, labels = bare(claim), " ".join([*names, *(r.label for r in readings)])
    if denies(bare(told, names)) and not denies(labels if readings else bare(quotes)):
        return "it denies what the expert read"
    neutral = (
        word_list("stop") | word_list("frame") | word_list("frame_zh") | own_words()
    ) - _labels()
    given = f"{quotes} {labels} {query.text}"
    if unread := unknown_words(told, given, neutral | word_list("reading_frame")):
        return f'the expert did not read "{unread[0]}"'
    said = any(contains(claim, name) for name in (*names, *(r.quote for r in readings if r.quote)))
    return "" if said or not readings else "it gives none of the readings that it cites"


@cache
def _labels() -> frozenset[str]:
    """Words of the names of all labels: no claim may use one freely."""
    names = (name for kind in _KINDS for name in label_names(kind))
    return frozenset(word for name in names for word in words(name)) - word_list("stop")
