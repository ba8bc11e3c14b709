"""The arc of an ad: hook, problem, product, proof, offer, call to action, sign-off.

Words say what part a sentence plays; its place in the ad says how far to trust them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from admir.backends.rules.extract import calls_to_action, phones, prices, urls
from admir.backends.rules.phrase_matcher import Hit, label_of
from admir.backends.rules.sentences import Sentence
from admir.backends.rules.word_lists import common_words
from admir.text import is_cjk, normalize
from admir.types import Inference

_OPENING_S, _OPENING_SHARE = 5.0, 0.25
_CLOSING_S, _CLOSING_SHARE = 4.0, 0.2
_PHONE_DIGITS = 10
_EARLY, _LATE = 0.6, 0.5
_GRABS = (
    "problem",
    "curiosity",
    "direct address",
    "fear",
    "humour",
    "novelty",
    "celebrity",
    "offer",
)
_ASKS = re.compile(
    r"[?？]\s*$|吗\s*$|(?:什么|怎么|哪|谁|几|多少).{0,20}呢\s*$|^谁|难道|为什么|怎么办|是不是|有没有"
)
_WEAK = 0.65
"""A word that shows this little counts only in a line that says something."""

_PRESENTS = ("meet", "introducing", "presenting")
_NOT_TOLD = ("scene", "metadata")
_MOST_LINES = 6
_TOLD = (
    ("hook", "opens with"),
    ("problem", "names the trouble"),
    ("product", "presents"),
    ("proof", "backs it with"),
    ("offer", "offers"),
    ("call to action", "asks to act"),
    ("sign-off", "signs off with"),
)


def asks(sentence: Sentence) -> bool:
    """Whether the sentence is a question to the viewer."""
    return bool(_ASKS.search(sentence.text))


def arc(found: Sequence[Sentence], duration_s: float, brand: str = "") -> Iterator[Inference]:
    """Every part of the arc that a sentence plays, in the order of `found`."""
    told = [s for s in found if s.channel != "metadata"]
    yield from _hook(told, duration_s)
    for sentence in told:
        yield from _by_words(sentence, duration_s)
        yield from _by_values(sentence, duration_s)
        yield from _by_name(sentence, normalize(brand))
    yield from _sign_off(told, duration_s, brand)


def _hook(told: Sequence[Sentence], duration_s: float) -> Iterator[Inference]:
    """The sentence of the opening that grabs most; else the first that says something."""
    until_s = min(_OPENING_S, max(1.0, _OPENING_SHARE * duration_s))
    opening = [s for s in told if s.span.start_s < until_s and s.channel != "scene" and _says(s)]
    best = max(opening, key=_grip, default=None)
    if best is None:
        return
    says, confidence = _hook_rule(best)
    yield _inference("hook", best, says, confidence)


def _says(sentence: Sentence) -> bool:
    """Readable, and no heap of misread scraps: most of its Latin words are known ones."""
    latin = [t for t in sentence.tokens if t.isascii() and t.isalpha()]
    known = sum(t in common_words() for t in latin)
    plain = sentence.readable and not sentence.small_print
    return plain and (is_cjk(sentence.text) or 2 * known >= len(latin))


def _grip(sentence: Sentence) -> tuple[float, float, float]:
    """How strongly it grabs; of those alike the earlier one, then the larger type."""
    return _hook_rule(sentence)[1], -round(sentence.span.start_s), sentence.height


def _hook_rule(sentence: Sentence) -> tuple[str, float]:
    cues = {h.rule.label.name for h in sentence.hits} | {h.rule.label.arc for h in sentence.hits}
    grabs = next((name for name in _GRABS if name in cues), None)
    if asks(sentence):
        return "the opening asks the viewer a question", 0.8
    if grabs:
        return f"the opening has words of {grabs}", 0.7
    return "it is the first sentence of the opening", 0.5


def _by_words(sentence: Sentence, duration_s: float) -> Iterator[Inference]:
    """Parts that the cues of the sentence name, each once, by its surest rule."""
    best: dict[str, tuple[float, Hit]] = {}
    for hit in sentence.hits:
        label = hit.rule.label
        role = label.name if label.kind == "arc" else label.arc
        sure = hit.rule.confidence if label.kind == "arc" else hit.rule.confidence - 0.05
        weak = sure < _WEAK and not sentence.readable
        if role and not weak and sure > best.get(role, (0.0, hit))[0]:
            best[role] = sure, hit
    for role, (sure, hit) in best.items():
        cut = sentence.around(hit)
        yield _inference(role, cut, hit.rule.says, sure * _place(role, cut, duration_s))


def _by_values(sentence: Sentence, duration_s: float) -> Iterator[Inference]:
    """A price is an offer; an address, a number to call or an order to act sends the viewer."""
    text = sentence.text
    digits = sum(c.isdigit() for c in text)
    if digits and sentence.channel != "scene" and prices(text):
        yield _inference("offer", sentence, "a price stands in the line", 0.6)
    late = _place("call to action", sentence, duration_s)
    if "." in text and urls(text):
        yield _inference("call to action", sentence, "a web address is given", 0.7 * late)
    elif digits >= _PHONE_DIGITS and "-" in text and phones(text):
        yield _inference("call to action", sentence, "a telephone number is given", 0.6 * late)
    elif sentence.span.start_s > _LATE * duration_s and _orders(sentence):
        says = "a clause near the end opens with an order to act"
        yield _inference("call to action", sentence, says, 0.6)


def _by_name(sentence: Sentence, key: str) -> Iterator[Inference]:
    """A sentence presents the product that introduces it, or that holds the name put forward."""
    if sentence.tokens[:1] and sentence.tokens[0] in _PRESENTS and len(sentence.tokens) > 2:
        yield _inference("product", sentence, "the line opens by presenting a name", 0.8)
    elif key and key in sentence.key and sentence.channel != "scene" and _says(sentence):
        says = "the name that the ad puts forward stands in a sentence"
        yield _inference("product", sentence, says, 0.6)


def _orders(sentence: Sentence) -> bool:
    return sentence.readable and not is_cjk(sentence.text) and bool(calls_to_action(sentence.text))


def _place(role: str, sentence: Sentence, duration_s: float) -> float:
    """Ads name the trouble early and ask late; out of its place a word says less."""
    at = sentence.span.start_s / max(duration_s, 1e-6)
    if role == "call to action":
        return 1.0 if at >= _LATE else 0.8
    if role == "problem":
        return 1.0 if at <= _EARLY else 0.85
    return 1.0


def _sign_off(told: Sequence[Sentence], duration_s: float, brand: str) -> Iterator[Inference]:
    """The brand alone on the screen in the last seconds."""
    from_s = duration_s - max(_CLOSING_S, _CLOSING_SHARE * duration_s)
    key = normalize(brand)
    last = [
        s
        for s in told
        if key and key in s.key and s.span.end_s > from_s and s.channel != "speech"
        and len(s.key) <= 3 * len(key)
    ]  # fmt: skip
    if last:
        best = max(last, key=lambda s: (s.height, s.span.end_s))
        yield _inference("sign-off", best, "the ad closes on the name that it puts forward", 0.75)


def _inference(role: str, sentence: Sentence, says: str, confidence: float) -> Inference:
    return Inference(
        kind="arc",
        label=label_of("arc", role).name,
        span=sentence.span,
        quote=sentence.text,
        rule=says,
        confidence=round(confidence, 2),
    )


def retold(inferences: Sequence[Inference]) -> str:
    """The arc in one sentence, each part once by its surest words; empty without any part."""
    used: set[str] = set()
    told: list[tuple[float, str]] = []
    for label, verb in _TOLD:
        same = [
            i for i in inferences if (i.kind, i.label) == ("arc", label) and i.quote not in used
        ]
        if same:
            best = max(same, key=lambda i: i.confidence)
            used.add(best.quote)
            told.append((-1.0 if label == "hook" else best.span.start_s, _part(verb, best)))
    if not told:
        return ""
    return f"It {'; '.join(text for _, text in sorted(told))}."


def _part(verb: str, told: Inference) -> str:
    return f'{verb} "{clipped(told.quote)}" ({told.span.start_s:.0f} s)'


def lines_between(found: Sequence[Sentence]) -> str:
    """What the ad says in order, for one whose words show little of an arc: a few of its lines."""
    readable = list({s.key: s for s in found if _says(s) and s.channel not in _NOT_TOLD}.values())
    step = max(1.0, len(readable) / _MOST_LINES)
    picked = [readable[int(i * step)] for i in range(min(_MOST_LINES, len(readable)))]
    return " / ".join(f'"{clipped(s.text)}"' for s in picked)


def clipped(text: str, most: int = 70) -> str:
    """A text short enough to be quoted inside a sentence, cut at a space where there is one."""
    if len(text) <= most:
        return text
    cut = text[:most]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[most // 2 :] else cut} ..."
