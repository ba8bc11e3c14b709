"""What a question demands of its answer beyond its topic: channel, speaker, price of today.

Drafting ranks by topic and may be wrong here; checking refuses what does not meet these.
"""

from __future__ import annotations

from collections.abc import Sequence

from admir.backends.offline.extract import prices
from admir.backends.offline.material import Draft
from admir.backends.offline.question import Query
from admir.backends.offline.relevance import asked_speakers, channel_of
from admir.types import Evidence


def unmet_by(query: Query, line: Evidence, everything: Sequence[Evidence]) -> str | None:
    """Why this line cannot carry an answer to the question; None when it can."""
    channel = channel_of(line)
    if query.strict_channel and channel != query.channel:
        asked = "shown on the screen" if query.channel == "screen" else "said"
        is_ = "spoken" if channel == "speech" else "shown"
        return f"the question asks what is {asked}, and {line.id} is {is_}"
    speakers = asked_speakers(query, everything) if query.kind.name == "speech" else frozenset()
    if speakers and line.kind == "speech" and line.speaker not in speakers:
        return f"{line.id} is said by {line.speaker or 'somebody unnamed'}"
    if query.kind.value == "price" and (amounts := prices(line.quote)):
        wrong = "now" if query.asks_old else "old"
        if all(value.role == wrong for value in amounts):
            when = "today's price" if query.asks_old else "an earlier or usual price"
            return f"{line.id} gives {when}"
    return None


def meets(query: Query, draft: Draft, everything: Sequence[Evidence]) -> bool:
    """Whether every line that a draft rests on can carry an answer."""
    return all(unmet_by(query, line, everything) is None for line in draft.evidence)
