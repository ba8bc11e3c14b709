"""Concepts that analysts ask for and ads only show: "the audience", "the pain point".

A query names the concept, the clip shows it by words of its own, or by what the story rules infer
from them. The lists are data (`words/concepts.toml`); the index adds them as one more lexical part
(see `lexical`).
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from admir.text import close_gaps, normalize, share_held, stem, words
from admir.types import Clip, ScreenText, Utterance

_REACH_CLIPS = 2.0
_PLACE_WEIGHT = 0.4
_SIGN_WEIGHT = 1.0
_AS_SAID = 0.7
_ANYWHERE = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """Words that ask for something, and words that show it."""

    asks: frozenset[str]
    cues: frozenset[str]
    signs: frozenset[str]
    place: str


class ConceptScorer:
    """How much each clip shows what a query is about."""

    def __init__(self, clips: Sequence[Clip]) -> None:
        texts = [close_gaps(clip.index_text) for clip in clips]
        self._clips = clips
        self._flat = [normalize(text) for text in texts]
        self._stems = [Counter(stem(word) for word in words(text)) for text in texts]
        self._known: dict[Concept, NDArray[np.float64]] = {}

    def prepare(self) -> None:
        """Work out now what the first scores would wait for."""
        _concepts()
        self._signs  # noqa: B018 - worked out when it is first read

    @cached_property
    def _signs(self) -> list[dict[str, float]]:
        """The signs of each clip: what the story rules infer, `number` and `unspoken`."""
        return [
            {**_inferred_of(clip), "number": _has_digit(clip), "unspoken": unspoken}
            for clip, unspoken in zip(self._clips, _unspoken(self._clips), strict=True)
        ]

    def scores(self, query: str) -> NDArray[np.float64]:
        """Float [clips] in [0, 1]; all zero for a query that names no concept."""
        total = np.zeros(len(self._flat))
        for concept in concepts_in(query):
            total += self._of(concept)
        best = float(total.max(initial=0.0))
        return total / best if best > 0 else total

    def _of(self, concept: Concept) -> NDArray[np.float64]:
        """How much each clip shows the concept, whatever the query; worked out once."""
        if concept not in self._known:
            placed = _PLACE_WEIGHT * _placed(concept, len(self._flat))
            inferred = _SIGN_WEIGHT * self._inferred(concept)
            self._known[concept] = self._shown(concept) + placed + inferred
        return self._known[concept]

    def _shown(self, concept: Concept) -> NDArray[np.float64]:
        """Rare cues count more, and a repeated one little more; scaled to the best clip."""
        total = np.zeros(len(self._flat))
        for cue in concept.cues:
            counts = np.array(list(self._counts(cue)))
            if found := int((counts > 0).sum()):
                rarity = np.log((len(counts) + 1) / found)
                total += rarity * 2 * counts / (counts + 1)
        return total / max(1e-9, float(total.max(initial=0.0)))

    def _inferred(self, concept: Concept) -> NDArray[np.float64]:
        """How strong its signs are, scaled to the best clip."""
        if not concept.signs:
            return np.zeros(len(self._clips))
        rows = [sum(signs.get(sign, 0.0) for sign in concept.signs) for signs in self._signs]
        return np.array(rows) / max([1e-9, *rows])

    def _counts(self, cue: str) -> Iterator[int]:
        if cue.isascii():
            return (stems[cue] for stems in self._stems)
        return (flat.count(cue) for flat in self._flat)


def _has_digit(clip: Clip) -> float:
    return float(re.search(r"\d", clip.index_text) is not None)


def _unspoken(clips: Sequence[Clip]) -> list[float]:
    """How much each clip shows that is not said around it, as labels do; rare lines count more."""
    lines = [{normalize(text) for text in clip.screen_text} - {""} for clip in clips]
    clips_with = Counter(line for shown in lines for line in shown)
    found = []
    for index, shown in enumerate(lines):
        said = normalize(" ".join(clip.speech for clip in clips[max(0, index - 1) : index + 2]))
        silent = [line for line in shown if share_held(line, said) < _AS_SAID]
        found.append(sum(float(np.log((len(clips) + 1) / clips_with[t])) for t in silent))
    return found


def _inferred_of(clip: Clip) -> dict[str, float]:
    """The confidence of each label that the story rules infer from a clip, and of its kind."""
    from admir.backends.rules.ad_inferences import infer_span  # builds do not need it

    shown = [
        ScreenText(
            span=clip.span, text=text, box=_ANYWHERE, confidence=1.0, frame_s=clip.span.start_s
        )
        for text in clip.screen_text
    ]
    said = [Utterance(span=clip.span, text=clip.speech)] if clip.speech else []
    signs: dict[str, float] = {}
    for one in infer_span(shown, said):
        for sign in (one.kind, f"{one.kind}/{one.label.replace(' ', '_')}"):
            signs[sign] = signs.get(sign, 0.0) + one.confidence
    return signs


def concepts_in(query: str) -> list[Concept]:
    """The concepts that a query names."""
    flat, stems = normalize(query), {stem(word) for word in words(query)}
    return [
        concept
        for concept in _concepts()
        if any(ask in stems if ask.isascii() else ask in flat for ask in concept.asks)
    ]


def _placed(concept: Concept, count: int) -> NDArray[np.float64]:
    """1 at the start or the end of the ad, falling off from there."""
    if not concept.place:
        return np.zeros(count)
    nearness = np.exp(-np.arange(count) / _REACH_CLIPS)
    return nearness if concept.place == "start" else nearness[::-1]


@cache
def _concepts() -> tuple[Concept, ...]:
    table = tomllib.loads((files("admir.memory.words") / "concepts.toml").read_text("utf-8"))
    return tuple(
        Concept(
            asks=_stems(row["asks"]),
            cues=_stems(row["cues"]),
            signs=frozenset(row["signs"].split()),
            place=row["place"],
        )
        for row in table.values()
    )


def _stems(entries: str) -> frozenset[str]:
    return frozenset(stem(entry) for entry in entries.split())
