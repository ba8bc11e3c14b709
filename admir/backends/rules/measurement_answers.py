"""Drafts from measurements: shots, length, colours, people. Their rule stands in the evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz.fuzz import partial_ratio

from admir.backends.rules.evidence_pool import Draft, Material
from admir.backends.rules.facts import (
    Shots,
    colours_in,
    faces_in,
    ink_in,
    length_in,
    person_in,
    shots_in,
)
from admir.backends.rules.phrases import colour_name, count_word, say
from admir.backends.rules.question import Query
from admir.backends.rules.relevance import asked_speakers
from admir.backends.rules.time_expressions import when_of
from admir.backends.rules.word_lists import word_list
from admir.text import normalize, words
from admir.types import Evidence

_ASKS_INK = re.compile(
    r"\b(letters?|lettering|typeface|wordmark|text|captions?|subtitles?|words?|name|logo|font|slogan|title|writing|price)\b|"
    r"字|标语|字幕|文字|标题"
)
_ASKS_GROUND = re.compile(r"\bback ?ground\b|\bbehind\b|背景|底色")
_ASKS_CUTS = re.compile(
    r"\b(how many|number of|count of|the) cuts?\b|^cuts?\b|\b(does|do) the \w+ cut\b|切换|剪辑"
)
_PICTURE = re.compile(r"\b([a-z]+ )?(scene|shot|card|frame|screen|picture|image)s?\b")
_LAST = re.compile(r"\b(last|final)\b|最后")
_CLAUSE = re.compile(r"\b(while|when|behind|during|under)\b.+|当?.+(时|的时候)")
_ALL = re.compile(r"\bdominant colou?rs\b|\bcolou?rs\b|\bpalette\b|哪些颜色|色调|色彩")
_SAME_LINE = 80


def asks_ink(text: str) -> bool:
    """Whether a question for a colour means that of text, and not that of what is behind it."""
    return bool(_ASKS_INK.search(text)) and not _ASKS_GROUND.search(text)


def asks_a_thing(query: Query) -> bool:
    """Whether the colour of a thing is asked for: that of a car, not that of the picture."""
    if asks_ink(query.text) or query.quoted:
        return False
    rest = _PICTURE.sub(" ", _CLAUSE.sub(" ", when_of(query.text).rest))
    known = word_list("stop") | word_list("picture_words")
    plain = re.sub("|".join(sorted(word_list("picture_zh"), key=len, reverse=True)), " ", rest)
    return any(word not in known and not word.isdigit() for word in words(plain))


def measure_drafts(given: Material) -> list[Draft]:
    """How many shots, how long, when the first cut is."""
    language, kind = given.query.language, given.query.kind.name
    for fact in _measurements(given):
        if kind == "length" and (seconds := length_in(fact.quote)) is not None:
            return [_draft(say(language, "length", seconds=f"{seconds:.1f}"), fact)]
        shots = shots_in(fact.quote)
        if shots and kind == "shots":
            if given.query.window(given.duration_s) is not None:
                return []  # the times of the cuts between the first and the last are not told
            count, phrase = _shot_count(given.query.text, shots.count)
            return [_draft(say(language, phrase, count=count), fact)]
        if shots and kind == "first_cut":
            return [_cut_draft(given, shots, fact)]
    return []


def _cut_draft(given: Material, shots: Shots, fact: Evidence) -> Draft:
    """When the first or the last cut is."""
    at_s = shots.last_cut_s if _LAST.search(given.query.text) else shots.first_cut_s
    language = given.query.language
    return _draft(
        say(language, "no_cut") if at_s is None else say(language, "cut", at=f"{at_s:.1f}"), fact
    )


def _shot_count(text: str, shots: int) -> tuple[int, str]:
    """Shots, or the cuts between them, and the phrase that tells so many."""
    if not _ASKS_CUTS.search(text):
        return shots, "one_shot" if shots == 1 else "shots"
    cuts = shots - 1
    return cuts, "no_cut" if cuts == 0 else "one_cut" if cuts == 1 else "cuts"


def colour_drafts(given: Material) -> list[Draft]:
    """The colour that a line names, of its letters, or of the picture."""
    query = given.query
    if asked_speakers(query, given.everything):
        return _said_colours(given)
    if asks_ink(query.text):
        return _inks(given)
    if asks_a_thing(query):
        return []
    window = query.window(given.duration_s)
    centre_s = (window.start_s + window.end_s) / 2 if window else 0.0
    looks = [e for e in _measurements(given) if colours_in(e.quote)]
    looks.sort(key=lambda e: abs(e.span.start_s - centre_s))
    if query.range is None and query.edge is None and len(looks) > 1:
        return [_whole_palette(given, looks)]
    most = 3 if _ALL.search(query.text) else 1
    return [_picture_draft(given, e, most) for e in looks]


def _whole_palette(given: Material, looks: Sequence[Evidence]) -> Draft:
    """The colours that most of the pictures show."""
    votes = Counter(colour for e in looks for colour in colours_in(e.quote)[:2])
    language = given.query.language
    (first, _), *rest = votes.most_common(2)
    text = colour_name(language, first)
    if rest:
        second = colour_name(language, rest[0][0])
        text = say(language, "mostly", first=text, second=second)
    return Draft(text=text, key=normalize(text), evidence=tuple(looks[:8]), score=1.0)


def _picture_draft(given: Material, look: Evidence, most: int) -> Draft:
    language = given.query.language
    named = [colour_name(language, c) for c in colours_in(look.quote)[: max(2, most)]]
    if most > 1 or len(named) == 1:
        return _draft(", ".join(named), look)
    return _draft(say(language, "mostly", first=named[0], second=named[1]), look)


def _inks(given: Material) -> list[Draft]:
    """The colour of the letters: that of most of the lines that are meant, longer ones first."""
    language = given.query.language
    votes: Counter[str] = Counter()
    found: dict[str, Draft] = {}
    for fact in _measurements(given):
        if (ink := ink_in(fact.quote)) and _is_asked(given, ink.text):
            colours = colour_name(language, ink.ink), colour_name(language, ink.ground)
            text = say(language, "ink", ink=colours[0], ground=colours[1])
            votes[ink.ink] += len(ink.text)
            found.setdefault(ink.ink, _draft(text, fact))
    total = max(1, votes.total())
    return [replace(draft, score=votes[name] / total) for name, draft in found.items()]


def _is_asked(given: Material, text: str) -> bool:
    """Whether it is the line that the question quotes or describes; any where it does neither."""
    asked = [normalize(phrase) for phrase in given.query.quoted]
    if not asked:
        return True
    return any(partial_ratio(phrase, normalize(text)) >= _SAME_LINE for phrase in asked)


def _said_colours(given: Material) -> list[Draft]:
    """Lines of the speaker that name a colour."""
    speakers = asked_speakers(given.query, given.everything)
    lines = [
        e
        for e in given.lines
        if e.speaker in speakers and word_list("colour_words") & set(words(e.quote))
    ]
    return [_draft(line.quote, line, given.fits(line)) for line in lines]


def people_drafts(given: Material) -> list[Draft]:
    """How many faces at a time, how many people in all, and when one is first seen."""
    query, language = given.query, given.query.language
    faces = [(e, n) for e in _measurements(given) if (n := faces_in(e.quote))]
    if query.aspect != "content" or (query.window(given.duration_s) is None and not faces):
        return _persons(given)
    if not faces:
        return []
    fact, count = max(faces, key=lambda pair: pair[1])
    at = f"{fact.span.start_s:.1f}"
    if query.yes_no:
        return [_draft(say(language, "face_yes", count=count, at=at), fact)]
    phrase = "one_face" if count == 1 else "faces"
    return [_draft(say(language, phrase, count=count, at=at), fact)]


def _persons(given: Material) -> list[Draft]:
    """The people of the whole ad, told apart by their faces and clothes."""
    language = given.query.language
    seen = [e for e in given.everything if e.kind == "measurement" and person_in(e.quote)]
    if not seen:
        return []
    first = min(seen, key=lambda e: e.span.start_s)
    if given.query.aspect != "content":
        start, end = f"{first.span.start_s:.1f}", f"{first.span.end_s:.1f}"
        name = person_in(first.quote) or ("", 0.0)
        return [_draft(say(language, "from_time", at=start, end=end, quote=name[0]), first)]
    phrase = "people_yes" if given.query.yes_no else "people"
    text = say(language, phrase, count=count_word(language, len(seen)))
    return [Draft(text=text, key=normalize(text), evidence=tuple(seen[:8]), score=1.0)]


def _measurements(given: Material) -> Sequence[Evidence]:
    """Those of the time that the question names; without one the look chose its frames."""
    timed = given.query.range is not None or given.query.edge_s is not None
    window = given.query.window(given.duration_s) if timed else None
    return [
        e
        for e in given.everything
        if e.kind == "measurement"
        and (window is None or window.contains(e.span.start_s) or e.span.overlap_s(window) > 0)
    ]


def _draft(text: str, fact: Evidence, score: float = 1.0) -> Draft:
    return Draft(text=text, key=normalize(text), evidence=(fact,), score=score)
