"""What an ad does, by stated rules: its arc, persuasion devices, audience, emotion and themes.

Every inference rests on words of the ad, or on what was measured where the rule says so. Its
confidence is that of its surest rule, raised by `_MORE` for each further cue; it is stated, not
learnt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from rapidfuzz.fuzz import partial_ratio

from admir.backends.base import NarrationInput
from admir.backends.rules.arc import arc, asks
from admir.backends.rules.extract import prices, years
from admir.backends.rules.phrase_matcher import Hit, Label
from admir.backends.rules.sentences import Sentence, sentences
from admir.text import normalize
from admir.types import Inference, InferenceKind, ScreenText, Span, Utterance

_MORE, _MOST = 0.08, 0.95
_LEAST = 0.4
_ON_A_THING = 0.8
"""What words printed on a thing in the picture count, of those meant for the viewer."""

_PER_LABEL: dict[InferenceKind, int] = {"arc": 3, "device": 3}
_PER_KIND: dict[InferenceKind, int] = {
    "arc": 14,
    "device": 24,
    "audience": 4,
    "emotion": 4,
    "theme": 4,
}
_FOUNDING = frozenset(("since", "founded", "established", "est", "created", "invented", "began"))
_REPEATS = 3
_LONG = 60
_NEAR_S, _SAME = 3.0, 75
_MOST_NEAR = 20
_FAST_SHOT_S, _SLOW_SHOT_S = 1.6, 4.0
_LIVELY, _STILL = 0.05, 0.02


def infer(story: NarrationInput, brand: str = "") -> tuple[Inference, ...]:
    """All inferences of a story in time order; `brand` is the name that the ad puts forward."""
    rest = [
        Sentence(text=value, span=story.video.span, channel="metadata")
        for value in story.video.metadata.values()
    ]
    found = sentences(story.screen_text, story.utterances, rest)
    guesses = [
        *arc(found, story.video.duration_s, brand),
        *_by_words(found),
        *_repetition(story, brand),
        *_by_look(story),
    ]
    return _chosen(guesses)


def infer_span(shown: Sequence[ScreenText], said: Sequence[Utterance]) -> tuple[Inference, ...]:
    """What the words of a stretch show, in time order, without what needs the whole ad."""
    return _chosen(list(_by_words(sentences(shown, said))))


def _by_words(found: Sequence[Sentence]) -> Iterator[Inference]:
    """Every label that a sentence shows, once; and what its form shows."""
    for sentence in found:
        cues: defaultdict[Label, list[Hit]] = defaultdict(list)
        for hit in sentence.hits:
            cues[hit.rule.label].append(hit)
        for label, hits in cues.items():
            if label.kind != "arc":
                yield _by_cues(sentence, label, hits)
        yield from _by_form(sentence)


def _by_cues(sentence: Sentence, label: Label, hits: Sequence[Hit]) -> Inference:
    best = max(hits, key=lambda hit: hit.rule.confidence)
    apart = sum(hit.start >= best.end or hit.end <= best.start for hit in hits)
    sure = min(_MOST, best.rule.confidence + _MORE * min(2, apart))
    return _shown(label.kind, label.name, sentence.around(best), sure, best.rule.says)


def _shown(
    kind: InferenceKind, name: str, sentence: Sentence, confidence: float, says: str
) -> Inference:
    weight = _ON_A_THING if sentence.channel == "scene" else 1.0
    where = " (in the metadata given with the ad)" if sentence.channel == "metadata" else ""
    return Inference(
        kind=kind,
        label=name,
        span=sentence.span,
        quote=sentence.text,
        rule=says + where,
        confidence=round(confidence * weight, 2),
    )


def _by_form(sentence: Sentence) -> Iterator[Inference]:
    """A question, and a dearer price beside a lower one."""
    if sentence.channel == "metadata":
        return
    if asks(sentence) and sentence.readable:
        yield _shown("device", "question", sentence, 0.7, "the line asks the viewer a question")
    if not any(c.isdigit() for c in sentence.text):
        return
    if years(sentence.text) and _FOUNDING & set(sentence.tokens):
        says = "the line gives the year in which it began"
        yield _shown("device", "heritage", sentence, 0.8, says)
    if prices(sentence.text):
        roles = [value.role for value in prices(sentence.text)]
        if "old" in roles:
            yield _shown("device", "price anchor", sentence, 0.8, "the line gives an old price")


def _repetition(story: NarrationInput, brand: str) -> Iterator[Inference]:
    """A brand that comes back apart from itself in time."""
    key = normalize(brand)
    if not key:
        return
    lines = [(block.span, block.text) for block in story.screen_text]
    lines += [(utterance.span, utterance.text) for utterance in story.utterances]
    times = sorted(((s, t) for s, t in lines if key in normalize(t)), key=lambda x: x[0].start_s)
    apart, last_s = 0, float("-inf")
    for span, _ in times:
        apart += span.start_s > last_s + 1.0
        last_s = max(last_s, span.end_s)
    if apart >= _REPEATS:
        yield Inference(
            kind="device",
            label="brand repetition",
            span=Span(start_s=times[0][0].start_s, end_s=last_s),
            quote=brand,
            rule=f"the name is shown or said {apart} times apart",
            confidence=0.8,
        )


def _by_look(story: NarrationInput) -> Iterator[Inference]:
    """Pace, light and warmth hint at a mood; no words show it, so little is claimed."""
    looks = [clip.look for clip in story.clips if clip.look is not None]
    lengths = [shot.span.duration_s for shot in story.shots]
    if not looks or not lengths:
        return
    shot_s, motion = median(lengths), sum(look.motion for look in looks) / len(looks)
    warm = sum(look.warmth == "warm" and look.light == "bright" for look in looks) / len(looks)
    measured = f"shots last {shot_s:.1f} s, mean motion {motion:.3f}"
    if shot_s <= _FAST_SHOT_S and motion >= _LIVELY:
        yield _mood("excitement", story, f"fast cuts and lively pictures ({measured})", 0.4)
    if shot_s >= _SLOW_SHOT_S and motion <= _STILL:
        yield _mood("calm", story, f"long, still shots ({measured})", 0.4)
    if warm >= 0.6:
        says = f"{warm:.0%} of the clips are bright and warm in colour (measured, no words)"
        yield _mood("tenderness", story, says, 0.4)


def _mood(label: str, story: NarrationInput, says: str, confidence: float) -> Inference:
    return Inference(
        kind="emotion",
        label=label,
        span=story.video.span,
        quote="",
        rule=says,
        confidence=confidence,
    )


def _chosen(guesses: Sequence[Inference]) -> tuple[Inference, ...]:
    """The surest of each label and kind, in time order; a sentence shows a label once."""
    by_label: defaultdict[tuple[InferenceKind, str], dict[str, Inference]] = defaultdict(dict)
    for guess in guesses:
        same = by_label[guess.kind, guess.label]
        known = same.get(normalize(guess.quote))
        if known is None or guess.confidence > known.confidence:
            same[normalize(guess.quote)] = guess
    kept: defaultdict[InferenceKind, list[Inference]] = defaultdict(list)
    for (kind, _), same in by_label.items():
        kept[kind].extend(_best(kind, list(same.values())))
    chosen = [one for kind, some in kept.items() for one in _surest(some)[: _PER_KIND[kind]]]
    return tuple(sorted(chosen, key=lambda i: (i.span.start_s, i.span.end_s, i.kind, i.label)))


def _best(kind: InferenceKind, same: list[Inference]) -> list[Inference]:
    """The surest few of one label; audience, mood and theme are surer when more lines say so."""
    sure = list(_apart(one for one in _surest(same) if one.confidence >= _LEAST))
    if kind in _PER_LABEL:
        return sure[: _PER_LABEL[kind]]
    return [_backed(sure[0], len(sure) - 1)] if sure else []


def _apart(sure: Iterable[Inference]) -> Iterator[Inference]:
    """Without what is both shown and said at one time."""
    kept: defaultdict[int, list[str]] = defaultdict(list)  # by the time at which they begin
    for one in sure:
        key, bucket = normalize(one.quote), int(one.span.start_s // _NEAR_S)
        near = [other for at in (bucket - 1, bucket, bucket + 1) for other in kept[at][:_MOST_NEAR]]
        if not any(partial_ratio(key, other) >= _SAME for other in near):
            kept[bucket].append(key)
            yield one


def _backed(one: Inference, others: int) -> Inference:
    if not others:
        return one
    backing = f"; {others} other line{'s' * (others > 1)} say{'s' * (others == 1)} so too"
    return Inference(
        kind=one.kind,
        label=one.label,
        span=one.span,
        quote=one.quote,
        rule=one.rule + backing,
        confidence=round(min(_MOST, one.confidence + _MORE * min(3, others)), 2),
    )


def _surest(some: Iterable[Inference]) -> list[Inference]:
    """Best first; of those alike the one that is shorter to read, then the earlier."""
    return sorted(some, key=lambda i: (-i.confidence, len(i.quote) > _LONG, i.span.start_s))
