"""Does the verification of answers accept wrong ones, or refuse right ones?

    python benchmarks/verification.py [--data DIR] [--half fit|read] [--show] [--backend model]

Right answers are those of the written truth: of the bundled ad, and with DIR (`videos/`,
`qa.jsonl`, `text.jsonl`) of real ads. Wrong ones are made from them by rule, with what belongs to
other ads. Each is verified as a draft that cites the lines of its memory that answer the question:
the hardest place to lie. An answer is grounded when it is accepted and every claim is verified or
the expert's. The ads are in two halves, so that one can be left unread while rules are written.

`--backend model` asks a scripted server instead of the rules: does what a model is sent hold what
tells the error: the true words for an error of words, a frame of that time for one that is seen?

Exits with 1 where a figure is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from typing import Any

import admir
from admir.agent.grounding import verify
from admir.backends.base import Reasoner
from admir.backends.factory import open_backend
from admir.demo import AD
from admir.settings import Settings, load_settings
from admir.tools.base import measured_evidence, screen_evidence, speech_evidence
from admir.tools.finish import Finish
from admir.types import Answer, Evidence, Memory, Span, Verdict

TRUTH = Path(__file__).parent / "truth"
MOST_WRONG, MOST_REFUSED, MOST_PREMISES = 0.05, 0.05, 0.03
MEASURED = ("colour", "people", "count")
SEEN = (*MEASURED, "vu", "er", "ps", "te", "am", "action")
STATES = ("grounded", "inferred", "unverified", "contradicted")
BY_SIGHT = ("false_absence", "added_adjective")
TIME_SLACK_S, FAR_S, MOST_CITED = 1.0, 2.0, 6

NUMBER = re.compile(r"(?<![\w.$€£])(?:\d+|two|three|four|five|seven)(?![\w.:-])", re.IGNORECASE)
DECIMAL = re.compile(r"\d+(?:\.\d+)?")
PRICE = re.compile(r"[$€£]\d[\d.,]*\d|(?:\w+-)?\w+ dollars")
COLOUR = re.compile(
    r"\b(?:black and white|black|white|gr[ae]y|red|blue|green|yellow|orange|purple|violet|pink|"
    r"mint|brown|teal|gold(?:en)?|silver|dark)\b",
    re.IGNORECASE,
)
VERB = re.compile(
    r"\b(reads?|says|costs|ends|runs|sells|appears|comes|saves|shows|follows|hurts|means|stands|leaps|"
    r"sprints|jumps|took|holds|is|are|was|has|can|should)\b"
)
SUBJECT = re.compile(
    rf"^(?:He|She|It|They|Tom|Mia|One|(?:The|A|An|Its)(?: [\w-]+){{1,3}}?) (?={VERB.pattern})"
)
THING = re.compile(r"\b(?:for|is|does|of) the ((?:[a-z]+ )?[a-z]+)(?=\?| (?:do|over|promoted)\b)")
DRAFTED = re.compile(
    r"^Question:[^\n]*$|<\w+ kind=\"(?:claims|the whole answer|in no line[^\"]*)\">.*?</\w+>",
    re.MULTILINE | re.DOTALL,
)
NO_THING = re.compile(
    r"\b(video|ad|viewer|subtitles?|scene|slogan|offer|card|text|product|picture|jersey)\b"
)

REWORDED = {
    "text": ("It says {}.", 'The words on screen read "{}"'),
    "brand": ("The brand is {}.", "It is an ad for {}."),
    "colour": ("It is {}.",),
    "time": ("It comes at about {} seconds.",),
}
OF_A_THING = {
    "text": 'The {} says "{}".', "brand": "The {} is by {}.", "price": "The {} costs {}.",
    "colour": "The {} is {}.",
}  # fmt: skip
PREMISES = (
    ("price", "What is the price of the {}?"),
    ("brand", "Which brand is the {} from?"),
    ("text", "What is the slogan of the {}?"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A question, its right `answer` in the words of the truth, and other `values` that are right.

    `spans` are when the video shows it. Only a question that is `asked` goes through the agent.
    """

    kind: str
    question: str
    answer: str
    values: tuple[str, ...]
    spans: tuple[Span, ...]
    reworded: tuple[str, ...] = ()
    asked: bool = True

    @property
    def said(self) -> tuple[str, ...]:
        """All that is right, as drafts."""
        return (self.answer, *self.reworded)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ad:
    """A video and what is true of it; `premises` are questions that suppose what it has not."""

    video: Path
    truths: tuple[Truth, ...]
    lines: tuple[str, ...]
    half: str
    premises: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Everything that is known to be in it."""
        said = chain.from_iterable((t.question, *t.said, *t.values) for t in self.truths)
        return plain(" ".join([*said, *self.lines]))

    def truth_of(self, kind: str) -> Truth | None:
        """Its first true answer of a kind; of texts its slogan, else the longest."""
        own = [t for t in self.truths if t.kind == kind and kind != "text"]
        texts = [t for t in self.truths if t.kind in ("text", "text shown", "brand")]
        texts.sort(key=lambda t: ("slogan" not in t.question, t.kind == "brand", -len(t.answer)))
        return next(iter([*own, *texts]), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A draft to verify. `expert` is what an expert's evidence says that it cites, too."""

    kind: str
    ad: Ad
    truth: Truth
    draft: str
    absent: bool = False
    expert: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A case, its verdict, and the requests that were sent for it."""

    case: Case
    verdict: Verdict
    sent: tuple[Mapping[str, Any], ...] = ()

    @property
    def state(self) -> str:
        """The weakest status of its claims; grounded where all stand and it is accepted."""
        found = {c.status for c in self.verdict.claims} or {"unverified"}
        for status in STATES[:0:-1]:
            if status in found:
                return status
        return "grounded" if self.verdict.accepted else "unverified"


@dataclass(slots=True)
class Others:
    """What belongs to which ad, by kind, to be borrowed for another."""

    pools: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def borrow(self, kind: str, ad: Ad, count: int, key: str) -> list[str]:
        """Some values of other ads that are not in this one; the same ones in each run."""
        own = f" {ad.words} "
        free = {
            value
            for name, value in self.pools.get(kind, ())
            if name != ad.video.stem
            and f" {plain(value.split()[-1] if kind == 'thing' else value)} " not in own
        }
        picked = random.Random(f"{kind} {ad.video.stem} {key}")
        return picked.sample(sorted(free), min(count, len(free)))


def plain(text: str) -> str:
    """Its words in small letters; nothing of the checker's own."""
    return " ".join(re.findall(r"[\w$€£%]+", text.casefold()))


def holds(text: str, values: Sequence[str]) -> bool:
    """Whether one of the values stands in a text."""
    return any(f" {plain(value)} " in f" {plain(text)} " for value in values)


def bundled_ad() -> tuple[Ad, Mapping[str, Sequence[str]]]:
    """The bundled ad, and what invented other ads have."""
    told = json.loads((TRUTH / "demo.json").read_text("utf-8"))
    more = json.loads((TRUTH / "verification" / "demo.json").read_text("utf-8"))
    truths = tuple(
        _truth(row["kind"], row["question"], row["answers"], [[row["start_s"], row["end_s"]]],
               more["reworded"].get(row["question"], ()))
        for row in (*told["questions"], *more["questions"])
        if row["answers"]
    )  # fmt: skip
    lines = told["screen_text"]
    return Ad(
        video=AD,
        truths=(*truths, *_shown_truths(lines)),
        lines=tuple(line["text"] for line in lines),
        half="fit",
        premises=tuple(more["premises"]),
    ), more["others"]


def real_ads(folder: Path | None) -> Iterator[Ad]:
    """Ads of a folder by name, every other one of the half that was fitted to."""
    if folder is None:
        return
    rows = [json.loads(line) for line in (folder / "qa.jsonl").read_text("utf-8").splitlines()]
    shown = [json.loads(line) for line in (folder / "text.jsonl").read_text("utf-8").splitlines()]
    texts = {row["video"]: [t for t in row["texts"] if t["legible"]] for row in shown}
    for index, name in enumerate(sorted(texts)):
        own = (row for row in rows if row["video"] == name)
        truths = (
            _truth(r["type"], r["question"], [r["answer"], *r["accept"]], r["evidence"])
            for r in own
        )
        yield Ad(
            video=folder / "videos" / f"{name}.mp4",
            truths=(*truths, *_shown_truths(texts[name])),
            lines=tuple(t["text"] for t in texts[name]),
            half=("fit", "read")[index % 2],
        )


def _truth(
    kind: str, question: str, values: Sequence[str], times: Any, reworded: Sequence[str] = ()
) -> Truth:
    """A truth of a file. A time is put into words; where there is no rewording, templates do it."""
    answer, spans = values[0], tuple(Span(start_s=a, end_s=b) for a, b in times)
    if kind in ("time", "speech") and DECIMAL.fullmatch(answer):
        kind, answer = "time", f"At {answer} s"
    if not reworded and kind in REWORDED:
        bare = re.sub(r"\s*\([^)]*\)\.?", "", answer).strip(" .")
        bare = DECIMAL.findall(bare)[0] if kind == "time" else bare
        reworded = [template.format(bare) for template in REWORDED[kind]]
    return Truth(kind=kind, question=question, answer=answer, values=tuple(values), spans=spans,
                 reworded=tuple(reworded))  # fmt: skip


def _shown_truths(lines: Sequence[Mapping[str, Any]]) -> Iterator[Truth]:
    """Which text is shown when, for the longest that come once."""
    count = Counter(plain(line["text"]) for line in lines)
    once = [line for line in lines if count[plain(line["text"])] == 1 and len(line["text"]) > 5]
    for line in sorted(once, key=lambda line: -len(line["text"]))[:2]:
        text, start_s, end_s = " ".join(line["text"].split()), line["start_s"], line["end_s"]
        middle_s = (start_s + end_s) / 2
        beside = [o["text"] for o in lines if o["start_s"] <= middle_s <= o["end_s"]]
        spans = (Span(start_s=start_s, end_s=end_s),)
        question = f"Which words are on screen at {middle_s:.1f} seconds?"
        yield Truth(kind="text shown", question=question, answer=text, values=(text, *beside),
                    spans=spans, reworded=(f'It says "{text}"',), asked=False)  # fmt: skip
        yield Truth(kind="time", question=f'When does the text "{text}" appear?',
                    answer=f"At {start_s:.1f} s", values=(f"{start_s:.1f}",), spans=spans,
                    reworded=(f"It appears at {start_s:.1f} seconds.",), asked=False)  # fmt: skip


def gather_others(ads: Sequence[Ad], invented: Mapping[str, Sequence[str]]) -> Others:
    """All that can be borrowed: of these ads, and of ads that were made up."""
    others = Others(pools={kind: [("", v) for v in values] for kind, values in invented.items()})
    for ad in ads:
        found: dict[str, list[str]] = {
            "brand": [min(t.values, key=len).title() for t in ad.truths if t.kind == "brand"],
            "colour": [
                m[0].lower()
                for t in ad.truths
                if t.kind == "colour"
                for m in COLOUR.finditer(t.answer)
            ],
            "time": [DECIMAL.findall(t.answer)[0] for t in ad.truths if t.kind == "time"],
            "quote": [line for line in ad.lines if len(plain(line).split()) > 2],
            "number": re.findall(r"(?<![\w$.])\d{1,3}(?![\w.])", " ".join(ad.lines)),
            "price": PRICE.findall(" ".join(ad.lines)),
            "thing": [m for t in ad.truths for m in THING.findall(t.question)],
        }
        for kind, values in found.items():
            kept = [
                " ".join(v.split()) for v in values if kind != "thing" or not NO_THING.search(v)
            ]
            others.pools[kind] += [(ad.video.stem, value) for value in kept]
    return others


Borrow = Callable[[str, int], list[str]]


def change_number(truth: Truth, borrow: Borrow) -> list[str]:
    """Another ad's number for the first one."""
    texts = [t for t in truth.said if NUMBER.search(t) and truth.kind not in ("time", "price")]
    return [NUMBER.sub(new, text, count=1) for text in texts for new in borrow("number", 1)]


def change_price(truth: Truth, borrow: Borrow) -> list[str]:
    """Another ad's price; also where there is none."""
    if truth.kind == "absent" and "price" in truth.question:
        return [text for new in borrow("price", 2) for text in (new, f"The price is {new}.")]
    texts = [text for text in truth.said if PRICE.search(text)]
    return [PRICE.sub(new, t) for t in texts for new in borrow("price", 2)]


def change_brand(truth: Truth, borrow: Borrow) -> list[str]:
    """Another ad's brand; also where there is none."""
    if truth.kind != "brand" and not (truth.kind == "absent" and "brand" in truth.question):
        return []
    return [text for new in borrow("brand", 2) for text in (new, f"The brand is {new}.")]


def change_colour(truth: Truth, borrow: Borrow) -> list[str]:
    """Another colour for those that are named."""
    texts = [t for t in truth.said if COLOUR.search(t) and "text" not in truth.kind]
    return [COLOUR.sub(new, t) for t in texts for new in borrow("colour", 1)]


def change_time(truth: Truth, borrow: Borrow) -> list[str]:
    """Another ad's time, far from the true ones."""
    if truth.kind != "time":
        return []
    right = [float(n) for value in truth.values for n in DECIMAL.findall(value)]
    far = [t for t in borrow("time", 9) if all(abs(float(t) - r) > FAR_S for r in right)][:2]
    return [DECIMAL.sub(new, text, count=1) for text in truth.said for new in far]


def negate(truth: Truth, _: Borrow) -> list[str]:
    """What is said, denied; what is denied, said."""
    return [] if truth.kind == "absent" else [_negated(text) for text in truth.said]


def _negated(text: str) -> str:
    if re.search(r"\bnot\b", text, re.IGNORECASE):
        return re.sub(r"\bnot ", "", text, count=1, flags=re.IGNORECASE)
    verb = VERB.search(text)
    if verb is None:
        return f"It is not {re.sub('^At ', 'at ', text).rstrip('.')}."
    word = verb[0]
    base = {"took": "did not take", "read": "do not read"}.get(
        word, f"does not {word.removesuffix('s')}"
    )
    new = f"{word} not" if word in ("is", "are", "was", "has", "can", "should") else base
    return f"{text[: verb.start()]}{new}{text[verb.end() :]}"


def swap_subject(truth: Truth, borrow: Borrow) -> list[str]:
    """The same of another ad's thing."""
    if truth.kind == "absent":
        return []
    things = borrow("thing", 2)
    texts = [
        SUBJECT.sub(f"The {x} ", t) for t in truth.said if SUBJECT.match(t) for x in things[:1]
    ]
    form = OF_A_THING.get(truth.kind)
    return texts + [form.format(x, truth.answer.rstrip(".")) for x in things[1:] if form]


def invent_quote(truth: Truth, borrow: Borrow) -> list[str]:
    """Words of another ad."""
    if truth.kind not in ("text", "text shown", "speech"):
        return []
    quote, *more = [*borrow("quote", 2), ""]
    return [quote, *(f'It says "{other}".' for other in more if other)]


def add_adjective(truth: Truth, borrow: Borrow) -> list[str]:
    """One untrue word more, behind the first article or before the last word."""
    if truth.kind in ("absent", "time"):
        return []
    found = []
    for text, new in zip(dict.fromkeys((truth.answer, truth.said[-1])), borrow("adjective", 2),
                         strict=False):  # fmt: skip
        article = re.search(r"\b(?:the|an?) ", text, re.IGNORECASE)
        at = article.end() if article else text.rstrip().rfind(" ") + 1
        found.append(f"{text[:at]}{new} {text[at:]}")
    return found


MUTATIONS: Mapping[str, Callable[[Truth, Borrow], list[str]]] = {
    "number": change_number, "price": change_price, "brand": change_brand,
    "colour": change_colour, "time": change_time, "negation": negate, "subject": swap_subject,
    "invented_quote": invent_quote, "added_adjective": add_adjective,
}  # fmt: skip


def wrong_cases(ad: Ad, others: Others) -> Iterator[Case]:
    """Every wrong answer about an ad."""
    for kind, mutate in MUTATIONS.items():
        for truth in ad.truths:

            def borrow(what: str, count: int, key: str = truth.question) -> list[str]:
                return others.borrow(what, ad, count, key)

            drafts = dict.fromkeys(mutate(truth, borrow))
            yield from (
                Case(kind=kind, ad=ad, truth=truth, draft=d) for d in drafts if d not in truth.said
            )
    yield from false_absences(ad)
    yield from false_premises(ad, others)
    yield from expert_prices(ad, others)


def false_absences(ad: Ad) -> Iterator[Case]:
    """What is there is denied, or given under the mark of an absence."""
    for truth in ad.truths:
        if truth.kind not in (*SEEN, "absent"):
            for draft in ("Nothing of the kind is shown in the ad.", truth.answer):
                yield Case(kind="false_absence", ad=ad, truth=truth, draft=draft, absent=True)


def false_premises(ad: Ad, others: Others) -> Iterator[Case]:
    """Questions about things of other ads, answered with what is true of this one."""
    asked = [(kind, form.format(thing)) for kind, form in PREMISES
             for thing in others.borrow("thing", ad, 3, kind)]  # fmt: skip
    asked += [(kind, question) for question in ad.premises for kind, _ in PREMISES]
    for kind, question in asked:
        if truth := ad.truth_of(kind):
            made = replace(truth, kind="text", question=question)
            yield Case(kind="false_premise", ad=ad, truth=made, draft=truth.answer)


def expert_prices(ad: Ad, others: Others) -> Iterator[Case]:
    """Prices and numbers that only the expert names, beside a true line."""
    truth = ad.truth_of("price")
    if truth is None:
        return
    asked = [("What is the price?", "{}"), ("What does it cost?", "It costs {}.")]
    prices = [(q, form, "The price of {} is an anchor: the offer looks small.", new)
              for new in others.borrow("price", ad, 2, "expert") for q, form in asked]  # fmt: skip
    counts = [("How many customers are named?", "{} customers", "Proof: {} customers like it.", new)
              for new in others.borrow("number", ad, 1, "expert")]  # fmt: skip
    for question, form, quote, new in (*prices, *counts):
        made = replace(truth, kind="text", question=question)
        yield Case(kind="expert_price", ad=ad, truth=made, draft=form.format(new),
                   expert=quote.format(new))  # fmt: skip


def right_cases(ad: Ad) -> Iterator[Case]:
    """Every right answer, as it was written and reworded."""
    for truth in ad.truths:
        absent = truth.kind == "absent"
        yield Case(kind=truth.kind, ad=ad, truth=truth, draft=truth.answer, absent=absent)
        for text in truth.reworded:
            yield Case(kind=f"{truth.kind}, reworded", ad=ad, truth=truth, draft=text)


def gather_evidence(memory: Memory, inspected: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """All that the tools would bring: lines in time order, measurements, what was looked at."""
    lines = [
        *(screen_evidence(memory, line) for line in memory.screen_text),
        *(speech_evidence(memory, spoken) for spoken in memory.utterances),
    ]
    lines.sort(key=lambda e: (e.span.start_s, e.kind))
    found = [*lines, *measured_evidence(memory)]
    found += [e for e in inspected if not _is_among(e, found)]
    return tuple(replace(e, id=f"e{number}") for number, e in enumerate(found, start=1))


def _is_among(evidence: Evidence, others: Sequence[Evidence]) -> bool:
    """Whether it is one of them, but for its id and score."""
    return any(
        (evidence.kind, evidence.span, evidence.quote) == (e.kind, e.span, e.quote) for e in others
    )


def cite(
    case: Case, evidence: Sequence[Evidence], inspected: Sequence[Evidence]
) -> tuple[str, ...]:
    """The ids that a draft rests on: what was looked at for it, else the lines of that time."""
    if inspected:
        return tuple(e.id for e in evidence if _is_among(e, inspected))[:MOST_CITED]
    wanted = set(plain(" ".join(case.truth.values)).split())
    lines = [e for e in evidence if e.kind in ("screen_text", "speech")]
    near = [e for e in lines if any(e.span.overlap_s(span) > 0 for span in case.truth.spans)]
    near.sort(key=lambda e: -len(wanted & set(plain(e.quote).split())))
    measured = [e for e in evidence if e.kind == "measurement"]
    return tuple(e.id for e in (near or measured or lines)[:MOST_CITED])


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Memories of the ads by name, and what the agent answered, by name and question."""

    memories: Mapping[str, Memory]
    answers: Mapping[tuple[str, str], Answer]

    async def verify(self, case: Case, reasoner: Reasoner) -> Verdict:
        """The verdict on a case's draft."""
        name = case.ad.video.stem
        answer = self.answers.get((name, case.truth.question))
        inspected = answer.evidence if answer and case.truth.kind in MEASURED else ()
        evidence = gather_evidence(self.memories[name], inspected)
        ids = cite(case, evidence, inspected)
        if case.expert:
            read = replace(evidence[0], id="e0", kind="expert", quote=case.expert, frame=None,
                           frame_s=None, box=None, speaker=None)  # fmt: skip
            evidence, ids = (read, *evidence), ("e0", *ids[:1])
        draft = Finish(answer=case.draft, evidence_ids=ids, absent=case.absent)
        memory = self.memories[name]
        verdict, _ = await verify(draft, case.truth.question, evidence, memory, reasoner)
        return verdict


def ask_everything(
    ads: Sequence[Ad], memories: Mapping[str, Memory], others: Others, options: argparse.Namespace
) -> dict[tuple[str, str], Answer]:
    """Every true question and every false premise, through the whole agent.

    A model's prompts need only what was looked at for colours and counts.
    """
    found = {}
    for ad in ads:
        name, prompts = ad.video.stem, options.backend == "model"
        asked = [t.question for t in ad.truths if t.kind in MEASURED or (t.asked and not prompts)]
        if not prompts:
            asked += [case.truth.question for case in false_premises(ad, others)]
        for question in dict.fromkeys(asked):
            found[name, question] = admir.ask(
                memories[name], question, memories=options.memories, preset="offline"
            )
    return found


def main() -> None:
    """Verify everything, print the tables; exit with 1 where a figure is missed."""
    options = _options()
    ad, invented = bundled_ad()
    ads = [ad, *real_ads(options.data)]
    others = gather_others(ads, invented)
    ads = [ad for ad in ads if options.half in (ad.half, "all")]
    memories = {
        ad.video.stem: admir.build_memory(ad.video, memories=options.memories, preset="offline")
        for ad in ads
    }
    answers = ask_everything(ads, memories, others, options)
    bench = Bench(memories=memories, answers=answers)
    wrong = [case for ad in ads for case in wrong_cases(ad, others)]
    if options.backend == "model":
        return report_prompts(verify_by_model(bench, wrong, options.memories), show=options.show)
    right = [case for ad in ads for case in right_cases(ad)]
    settings = load_settings(memories=options.memories, preset="offline")
    results = asyncio.run(verify_all(bench, [*wrong, *right], open_backend(settings).reasoner))
    halves = [h for h in ("fit", "read") if any(ad.half == h for ad in ads)]
    met = [
        report_half(half, results[: len(wrong)], results[len(wrong) :], bench, show=options.show)
        for half in halves
    ]
    sys.exit(0 if all(met) else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of real ads; else the bundled one alone")
    parser.add_argument("--memories", type=Path, default=Path("bench-memories"))
    parser.add_argument("--half", choices=("fit", "read", "all"), default="all")
    parser.add_argument("--backend", choices=("offline", "model"), default="offline")
    parser.add_argument("--show", action="store_true", help="print each odd case")
    return parser.parse_args()


async def verify_all(bench: Bench, cases: Sequence[Case], reasoner: Reasoner) -> list[Result]:
    """The verdict on every case, one after another."""
    return [Result(case=c, verdict=await bench.verify(c, reasoner)) for c in cases]


def report_half(
    half: str, wrong: Sequence[Result], right: Sequence[Result], bench: Bench, *, show: bool
) -> bool:
    """The tables and figures of one half; whether all figures are met."""
    wrong = [r for r in wrong if r.case.ad.half == half]
    right = [r for r in right if r.case.ad.half == half]
    print(f"\n{half} half, {len({r.case.ad.video for r in right})} ads")
    _table("wrong answers", wrong, STATES)
    refused = [r for r in right if r.state == "contradicted" or _supposes(r.case, bench)]
    _table("right answers", right, ("verified", "inferred", "unverified", "refused"), refused)
    met = _figures(wrong, right, refused)
    met = _report_agent(wrong, right, bench) and met
    if show:
        _show("wrong, but grounded", [r for r in wrong if r.state == "grounded"])
        _show("absent, but accepted", [r for r in wrong if _is_believed(r)])
        _show("right, but refused", refused)
    return met


def _supposes(case: Case, bench: Bench) -> bool:
    """Whether the agent took its question for one that supposes what is not there."""
    answer = bench.answers.get((case.ad.video.stem, case.truth.question))
    return answer is not None and str(answer.basis) == "premise" and case.truth.kind != "absent"


def _is_believed(result: Result) -> bool:
    return result.case.kind == "false_absence" and result.verdict.accepted


def _table(
    title: str, rows: Sequence[Result], heads: Sequence[str], refused: Sequence[Result] = ()
) -> None:
    """A row a kind: how many are in which state, and the share of the first."""
    print(f"\n{title:24} asked " + " ".join(f"{head:>12}" for head in heads) + "  share")
    for kind in [*sorted({r.case.kind for r in rows}), "all"]:
        own = [r for r in rows if kind in (r.case.kind, "all")]
        last = sum(any(r is other for other in refused) for r in own)
        counts = [sum(r.state == state for r in own) for state in STATES]
        counts[3] = last if "refused" in heads else counts[3]
        told = " ".join(f"{count:12d}" for count in counts)
        print(f"{kind:24} {len(own):5d} {told} {counts[0] / max(1, len(own)):6.3f}")


def _figures(wrong: Sequence[Result], right: Sequence[Result], refused: Sequence[Result]) -> bool:
    """The figures of the verification; whether they are met."""
    print()
    grounded = sum(r.state == "grounded" for r in wrong)
    met = _figure("wrong accepted as grounded", grounded, len(wrong), MOST_WRONG)
    met = _figure("right contradicted or refused", len(refused), len(right), MOST_REFUSED) and met
    there = [r for r in right if r.case.kind != "absent"]
    _figure("right verified", sum(r.state == "grounded" for r in there), len(there))
    of_words = [r for r in there if r.case.truth.kind not in SEEN]
    verified = sum(r.state == "grounded" for r in of_words)
    _figure("right verified, of what is written or said", verified, len(of_words))
    told = [r for r in right if "reworded" in r.case.kind or r.case.truth.kind in MEASURED]
    _figure("right answers that are paraphrases, colours or counts", len(told), len(right))
    absent = [r for r in wrong if r.case.absent]
    _figure("false absences accepted", sum(map(_is_believed, absent)), len(absent))
    return met


def _figure(what: str, count: int, total: int, most: float | None = None) -> bool:
    share = count / max(1, total)
    limit = "" if most is None else f" (at most {most:g})"
    met = most is None or share <= most
    print(f"{what}: {count} of {total} = {share:.3f}{limit}{'' if met else ' MISSED'}")
    return met


def _report_agent(wrong: Sequence[Result], right: Sequence[Result], bench: Bench) -> bool:
    """What came of the questions that went through the whole agent."""
    true = {(r.case.ad.video.stem, r.case.truth.question) for r in right
            if r.case.truth.asked and r.case.kind != "absent"}  # fmt: skip
    false = {(r.case.ad.video.stem, r.case.truth.question) for r in wrong
             if r.case.kind == "false_premise"}  # fmt: skip
    taken = sum(str(bench.answers[key].basis) == "premise" for key in true)
    met = _figure("true questions taken for false premises", taken, len(true), MOST_PREMISES)
    asked = [bench.answers[key] for key in sorted(false)]
    bases = Counter("grounded" if a.grounded else str(a.basis) for a in asked)
    inferred = sum(any(c.status == "inferred" for c in a.claims) for a in asked)
    told = ", ".join(f"{basis} {count}" for basis, count in sorted(bases.items()))
    print(f"false premises asked: {len(asked)}: {told}; with inferred claims: {inferred}")
    for answer in asked:
        if answer.grounded:
            print(f"    grounded on {answer.video_id}: {answer.question} -> {answer.answer}")
    return _figure("false premises grounded", bases["grounded"], len(asked), 0.0) and met


def _show(title: str, rows: Sequence[Result]) -> None:
    """Each case with the statuses and reasons of its claims."""
    for result in rows:
        case = result.case
        print(f"{title}: {case.ad.video.stem} {case.kind}: {case.truth.question} -> {case.draft}")
        for claim in result.verdict.claims:
            print(f"    {claim.status}: {claim.reason}")


class Recorder(ThreadingHTTPServer):
    """A server of a model that finds every claim verified, and keeps what it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Replies)
        self.requests: list[Mapping[str, Any]] = []

    @property
    def url(self) -> str:
        """Its endpoint."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Replies(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Recorder

    def do_GET(self) -> None:
        """The list of models."""
        self._reply({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        """A chat reply."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        claims = [{"claim": n, "status": "verified", "reason": "scripted"} for n in range(1, 10)]
        message = {"role": "assistant", "content": json.dumps({"claims": claims})}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self._reply({"id": "1", "object": "chat.completion", "created": 0, "usage": usage,
                     "model": body.get("model", "scripted"), "choices": [choice]})  # fmt: skip

    def _reply(self, body: Mapping[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@contextmanager
def recording() -> Iterator[Recorder]:
    """A server that runs."""
    with Recorder() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


def verify_by_model(bench: Bench, cases: Sequence[Case], folder: Path) -> list[Result]:
    """The verdict of a model on every case, with what it was sent."""
    with recording() as server:
        settings = load_settings(
            preset="paper", memories=folder, base_url=server.url, api_key="none", cache=False
        )
        return asyncio.run(_verify_recorded(bench, cases, settings, server))


async def _verify_recorded(
    bench: Bench, cases: Sequence[Case], settings: Settings, server: Recorder
) -> list[Result]:
    reasoner, found = open_backend(settings).reasoner, []
    for case in cases:
        server.requests.clear()
        verdict = await bench.verify(case, reasoner)
        found.append(Result(case=case, verdict=verdict, sent=tuple(server.requests)))
    return found


def report_prompts(results: Sequence[Result], *, show: bool) -> None:
    """A row a kind: refused by code; visible to the model; in a frame alone; not visible."""
    heads = ("refused by code", "visible in the prompt", "in a frame alone", "not visible")
    print(f"{'wrong answers':16} asked  {'  '.join(heads)}  share")
    found = [(r, _visibility(r)) for r in results]
    for kind in [*sorted({r.case.kind for r in results}), "all"]:
        own = Counter(how for r, how in found if kind in (r.case.kind, "all"))
        told = "  ".join(f"{own[head]:{len(head)}d}" for head in heads)
        share = (own[heads[0]] + own[heads[1]]) / own.total()
        print(f"{kind:16} {own.total():5d}  {told}  {share:5.3f}")
    if show:
        for head in heads[2:]:
            _show(head, [r for r, how in found if how == head])


def _visibility(result: Result) -> str:
    """Which head of the table a case counts to."""
    if _is_refused(result):
        return "refused by code"
    if is_visible(result):
        return "visible in the prompt"
    by_words = result.case.kind not in BY_SIGHT and result.case.truth.kind not in SEEN
    shown = by_words and _shows_its_time(result.case, read_request(result.sent)[1])
    return "in a frame alone" if shown else "not visible"


def _is_refused(result: Result) -> bool:
    """Whether no model had to be asked."""
    return not result.sent and not result.verdict.accepted


def is_visible(result: Result) -> bool:
    """Whether what was sent holds what tells the error."""
    case, (whole, times) = result.case, read_request(result.sent)
    asked = (case.truth.question, *(claim.text for claim in result.verdict.claims))
    if not all(part in whole for part in asked):
        return False
    text = DRAFTED.sub(" ", whole)  # what is left is evidence
    if case.kind in BY_SIGHT or case.truth.kind in (*SEEN, "absent"):
        counted = case.truth.kind == "count" and holds(text, case.truth.values)
        return counted or _shows_its_time(case, times)
    if case.kind == "expert_price":
        return any("expert" in line for line in text.splitlines() if holds(line, [case.expert]))
    if case.truth.kind == "time":
        told = [float(number) for number in DECIMAL.findall(text)]
        right = [float(n) for v in case.truth.values[:1] for n in DECIMAL.findall(v)]
        return any(abs(a - b) <= TIME_SLACK_S for a in told for b in right)
    said = set(plain(text).split())
    return any(set(plain(value).split()) <= said for value in case.truth.values)


def _shows_its_time(case: Case, times: Sequence[float]) -> bool:
    """Whether a picture is of the time when the video shows the answer."""
    return any(
        span.start_s - TIME_SLACK_S <= time_s <= span.end_s + TIME_SLACK_S
        for time_s in times
        for span in case.truth.spans
    )


def read_request(sent: Sequence[Mapping[str, Any]]) -> tuple[str, list[float]]:
    """The words of the requests, without the instructions, and the times of their pictures."""
    text, times, before = [], [], ""
    for message in (m for body in sent for m in body["messages"] if m["role"] != "system"):
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            if part["type"] == "text":
                before = part["text"]
                text.append(before)
            else:
                times += [float(number) for number in re.findall(r"\d+\.\d+", before)]
    return "\n".join(text), times


if __name__ == "__main__":
    main()
