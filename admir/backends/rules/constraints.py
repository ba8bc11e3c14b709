"""What a question demands of its answer beyond its topic: channel, speaker, price of today.

Drafting ranks by topic and may be wrong here; checking refuses what does not meet these.
"""

from __future__ import annotations

from collections.abc import Sequence

from admir.backends.rules.evidence_pool import Draft
from admir.backends.rules.extract import prices
from admir.backends.rules.question import Query
from admir.backends.rules.relevance import asked_speakers, channel_of
from admir.backends.rules.word_lists import word_list
from admir.text import tokenize, words
from admir.types import Evidence


def unmet_by(query: Query, line: Evidence, everything: Sequence[Evidence]) -> str | None:
    """Why this line cannot carry an answer to the question; None when it can."""
    channel = channel_of(line)
    if line.kind == "person":
        return f"{line.id} is told by a person" if query.strict_channel else None
    if query.strict_channel and channel != query.channel:
        asked = "shown on the screen" if query.channel == "screen" else "said"
        is_ = "spoken" if channel == "speech" else "shown"
        return f"the question asks what is {asked}, and {line.id} is {is_}"
    speakers = asked_speakers(query, everything) if query.kind.name == "speech" else frozenset()
    if speakers and line.kind == "speech" and line.speaker not in speakers:
        return f"{line.id} is said by {line.speaker or 'somebody unnamed'}"
    if missing := _missing_subject(query, line, everything):
        return f"{line.id} says nothing of {missing}"
    if query.kind.value == "price" and (amounts := prices(line.quote)):
        wrong = "now" if query.asks_old else "old"
        if all(value.role == wrong for value in amounts):
            when = "today's price" if query.asks_old else "an earlier or usual price"
            return f"{line.id} gives {when}"
    return None


def meets(query: Query, draft: Draft, everything: Sequence[Evidence]) -> bool:
    """Whether every line that a draft rests on can carry an answer."""
    return all(unmet_by(query, line, everything) is None for line in draft.evidence)


def _missing_subject(query: Query, line: Evidence, everything: Sequence[Evidence]) -> str | None:
    """What a price or an offer is asked for (delivery, a code) that no line beside it names."""
    if query.kind.value not in ("price", "offer"):
        return None
    beside = [line, *(e for e in everything if e.span.overlap_s(line.span) > 0)]
    said = {term for e in beside if channel_of(e) for term in tokenize(e.quote)}
    subjects = {
        word
        for word in word_list("price_subjects")
        if (word in words(query.text) if word.isascii() else word in query.text)
    }
    return next((word for word in sorted(subjects) if not set(tokenize(word)) & said), None)
