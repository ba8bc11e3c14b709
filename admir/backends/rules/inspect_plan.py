"""Where the offline backend looks: the plan of looks, and which frames a question is about."""

from __future__ import annotations

import re

from admir.backends.base import AgentState
from admir.backends.rules.candidates import lines_of
from admir.backends.rules.facts import shots_in
from admir.backends.rules.measurement_answers import asks_ink
from admir.backends.rules.question import Query
from admir.backends.rules.relevance import SCREEN_KINDS
from admir.types import Action, Evidence, Span

_CARD_S = 1.0
_AT_S = 0.2
_MOST_INK_S = 0.5
_INSIDE_S = 0.1
"""A cut is told to a tenth of a second: a shot is looked at this far inside of it."""

_CARD = re.compile(r"\b(cards?|logo|frame|screen|image|picture)\b|画面|商标")
_SHOT = re.compile(r"\b(shot|scene)\b|镜头|场景")
_WHILE = re.compile(
    r"\b(?:while|when|behind|during|under) (?:the )?(.+?)\?*$|当?(.+?)(?:时|的时候)"
)
_NEEDS_LINES = re.compile(rf"{_SHOT.pattern}|{_WHILE.pattern}")
_COLOUR_WORDS = re.compile(
    r"\b(what|which) (is the )?(dominant |main |background )?colou?rs?( of| are| is)?\b|"
    r"colou?rs?\b|"
    r"是?什么颜色|颜色"
)


def looks(query: Query) -> list[str]:
    """The looks at an ad in the order in which they are tried."""
    if query.kind.value == "colour":
        of_words = asks_ink(query.text) or query.named or _NEEDS_LINES.search(query.text)
        return ["browse", "inspect"] if of_words else ["inspect", "search", "browse"]
    if query.kind.value == "people":
        timed = query.range is not None or query.edge is not None
        return ["inspect", "browse"] if timed else ["browse"]
    if query.kind.value == "measure":
        return ["browse"]
    # A search finds words; what stands first, last or at a time is found by going through the ad.
    first = "browse" if query.edge or query.only or query.range else query.kind.first
    return list(dict.fromkeys((first, "search", "browse")))


def inspect_action(query: Query, situation: AgentState) -> Action | None:
    """Look at the frames that a question for a colour or for people is about."""
    mode = "semantic"
    if query.kind.value == "colour" and asks_ink(query.text):
        line = _asked_line(query, situation)
        if line is None:
            return None
        centre = line.frame_s if line.frame_s is not None else line.span.start_s
        span, mode = _around(centre, _MOST_INK_S), "literal"
    else:
        anchored = _shown_while(query, situation) or _shot(query, situation)
        span = anchored or _window(query, situation.video.duration_s)
    span = span.clamp(situation.video.span)
    arguments = {
        "question": situation.question,
        "start_s": round(span.start_s, 2),
        "end_s": round(max(span.end_s, span.start_s + 0.1), 2),
        "mode": mode,
    }
    return Action(tool="frame_inspect", arguments=arguments)


def _asked_line(query: Query, situation: AgentState) -> Evidence | None:
    """The line whose letters are asked about; the largest where the question names none."""
    rest = _COLOUR_WORDS.sub(" ", query.text)
    shown = [e for e in situation.evidence if e.kind in SCREEN_KINDS and e.box]
    fitting = [
        e for e in lines_of(rest, situation.evidence, situation.video.duration_s) if e in shown
    ]
    if fitting and (query.terms or query.quoted or query.edge):
        return fitting[0]
    return max(shown, key=lambda e: e.span.duration_s, default=None)


def _shown_while(query: Query, situation: AgentState) -> Span | None:
    """A moment of what a question names by `while the price is shown`."""
    found = _WHILE.search(query.text)
    if not found:
        return None
    phrase = next(part for part in found.groups() if part)
    lines = lines_of(phrase, situation.evidence, situation.video.duration_s)
    shown = [e for e in lines if e.kind in SCREEN_KINDS]
    if not shown:
        return None
    centre_s = shown[0].frame_s if shown[0].frame_s is not None else shown[0].span.start_s
    return _around(centre_s, _AT_S)


def _shot(query: Query, situation: AgentState) -> Span | None:
    """The first or the last shot of the ad."""
    facts = [fact for e in situation.evidence if (fact := shots_in(e.quote))]
    if not _SHOT.search(query.text) or not facts or query.edge is None:
        return None
    whole = situation.video.span
    if query.edge == "start":
        cut_s = facts[0].first_cut_s
        return whole if cut_s is None else Span(start_s=0.0, end_s=max(0.0, cut_s - _INSIDE_S))
    cut_s = facts[0].last_cut_s
    return whole if cut_s is None else Span(start_s=cut_s + _INSIDE_S, end_s=whole.end_s)


def _window(query: Query, duration_s: float) -> Span:
    """The moment asked about; a card at the edge of the ad is its very first or last second."""
    if query.range is not None:
        centre_s = (query.range.start_s + query.range.end_s) / 2
        return _around(centre_s, _AT_S) if query.range.duration_s <= _CARD_S else query.range
    if query.edge_s is None and query.edge == "end" and _CARD.search(query.text):
        return Span(start_s=max(0.0, duration_s - _CARD_S), end_s=duration_s)
    if query.edge_s is None and query.edge == "start" and _CARD.search(query.text):
        return Span(start_s=0.0, end_s=_CARD_S)
    return query.window(duration_s) or Span(start_s=0.0, end_s=duration_s)


def _around(centre_s: float, length_s: float) -> Span:
    return Span(start_s=max(0.0, centre_s - length_s / 2), end_s=centre_s + length_s / 2)
