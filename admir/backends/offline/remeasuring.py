"""Claims that rest on measurements or counts: what they state is worked out again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from admir.backends.base import Check
from admir.backends.offline.drafting import drafts
from admir.backends.offline.facts import colours_in, faces_in, ink_in
from admir.backends.offline.lexicon import word_list
from admir.backends.offline.material import Draft
from admir.backends.offline.question import Query
from admir.backends.offline.saying import own_words
from admir.perception.decode import Picture
from admir.perception.faces import CascadeFaces
from admir.perception.look import ink_of, look_at
from admir.text import contains, numbers, words
from admir.types import Claim, Evidence

WORKED_OUT = ("measure", "colour", "people", "times_shown", "screen_time")
"""Values of kinds whose answers are no words of the ad."""


def restated(query: Query, claim: Claim, check: Check) -> str:
    """What is wrong with a claim that was worked out, in a sentence; empty when it stands.

    It stands when the evidence that it cites gives what it states, worked out anew, and the frames
    that it cites, measured again, show the same.
    """
    cited = [e for e in check.evidence if e.id in claim.evidence]
    found = drafts(query, check.evidence, check.duration_s)
    own = next((d for d in found if set(d.evidence) & set(cited)), None)
    if own is None:
        better = f'; "{found[0].text}" rests on {found[0].evidence[0].id}' if found else ""
        return f"nothing that it cites was measured for this{better}"
    extra = _unsaid(query, claim.text, own, cited)
    if extra or not _states(claim.text, own.text):
        return f'the measurement gives "{own.text}"'
    return _other_in_frames(cited, check.look([e.id for e in cited]))


def _unsaid(query: Query, claim: str, own: Draft, cited: Sequence[Evidence]) -> list[str]:
    """Words and numbers of a claim that neither the measurement nor the question has."""
    given = " ".join((own.text, query.text, *(e.quote for e in cited)))
    known = own_words() | word_list("stop") | word_list("frame") | set(words(given))
    unknown = [word for word in words(claim) if word not in known and not contains(given, word)]
    figures = set(numbers(" ".join((own.text, *(e.quote for e in cited)))))
    return [*unknown, *(n for n in numbers(claim) if n not in figures)]


def _states(claim: str, drawn: str) -> bool:
    """Whether the claim gives the first figure of the measurement, or its first word."""
    figures = numbers(drawn)
    if figures:
        return figures[0] in numbers(claim)
    return any(word in words(claim) for word in words(drawn)) or contains(claim, drawn)


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
    return faces_in(line.quote) is None or bool(CascadeFaces().find(picture.pixels))


_AGREES: tuple[Callable[[Evidence, Picture], bool], ...] = (
    _same_colours,
    _same_ink,
    _same_faces,
)
