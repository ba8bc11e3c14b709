"""The narrative of an ad (C_glob), told from its words and what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from admir.backends.base import NarrationInput
from admir.backends.rules.ad_inferences import infer
from admir.backends.rules.arc import lines_between, retold
from admir.backends.rules.brand_names import Line, rank_names
from admir.backends.rules.extract import calls_to_action, percents, prices, urls
from admir.backends.rules.sentences import sentences
from admir.perception.people import people_words
from admir.perception.visual_style import pace_words
from admir.types import Inference, Narrative

_MOST_ENTITIES = 5
_FEW_PARTS = 4


def tell_story(story: NarrationInput) -> Narrative:
    """The summary, genre, names, on-screen text, mismatches and inferences of an ad."""
    shown = list(dict.fromkeys(block.text for block in story.screen_text))
    lines = [
        Line(text=b.text, span=b.span, kind="screen_text", height=b.box[3] - b.box[1])
        for b in story.screen_text
    ]
    lines += [Line(text=u.text, span=u.span, kind="speech") for u in story.utterances]
    names = [entry.name for entry in rank_names(lines, story.video.duration_s)[:_MOST_ENTITIES]]
    inferences = infer(story, names[0] if names else "")
    return Narrative(
        summary=" ".join(_sentences(story, shown, names, inferences)),
        genre=_genre(shown),
        entities=tuple(names),
        explicit_text=tuple(shown),
        mismatches=tuple(_mismatches(shown, [u.text for u in story.utterances])),
        inferences=inferences,
    )


def _sentences(
    story: NarrationInput,
    shown: Sequence[str],
    names: Sequence[str],
    inferences: Sequence[Inference],
) -> Iterator[str]:
    shots = len(story.shots)
    yield f"An ad of {story.video.duration_s:.1f} s in {shots} shot{'s' * (shots != 1)}."
    if shots > 1:
        yield f"It has {pace_words(story.shots)}."
    if people := people_words(story.subjects):
        yield people
    if names:
        yield f"It puts forward {names[0]}."
    if arc := retold(inferences):
        yield arc
    if len({i.quote for i in inferences if i.kind == "arc"}) < _FEW_PARTS:
        lines = lines_between(sentences(story.screen_text, story.utterances))
        yield f"Its words in order: {lines}." if lines else "It has hardly any words."
    offers = [text for text in shown if prices(text) or percents(text)]
    if offers:
        yield f"It offers: {'; '.join(offers[:3])}."
    if story.utterances:
        speakers = dict.fromkeys(u.speaker for u in story.utterances if u.speaker)
        by = f", by {', '.join(speakers)}" if speakers else ""
        yield f"{len(story.utterances)} lines are spoken{by}."
    else:
        yield "No speech was transcribed."
    yield from _tone(inferences)


def _tone(inferences: Sequence[Inference]) -> Iterator[str]:
    """Who is meant, how it feels and what it speaks of, by rule; the surest first."""
    for kind, opening in (("audience", "Meant for"), ("emotion", "Tone"), ("theme", "Themes")):
        some = sorted((i for i in inferences if i.kind == kind), key=lambda i: -i.confidence)
        if some:
            yield f"{opening}, by rule: {', '.join(i.label for i in some)}."


def _genre(shown: Sequence[str]) -> str:
    sells = any(prices(t) or percents(t) or urls(t) or calls_to_action(t) for t in shown)
    if sells:
        return "direct promotion (a price, an offer, an address or a call to action is shown)"
    return "brand film (no price, offer, address or call to action is shown)"


def _mismatches(shown: Sequence[str], said: Sequence[str]) -> Iterator[str]:
    """Amounts that are said and not shown."""
    on_screen = {value.key for text in shown for value in prices(text)}
    if not on_screen:
        return
    for text in said:
        for value in prices(text):
            if value.key not in on_screen:
                yield f'"{value.text}" is said and not shown'
