"""Claims, cheap checks and the ledger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.agent.claims import cheap_check, claims_of, split_claims
from admir.agent.grounding import visual_anchors
from admir.agent.ledger import add_evidence, format_evidence
from admir.text import normalize
from admir.tools.finish import Finish
from admir.types import Claim, Evidence, Span


def line(quote: str, *, kind="screen_text", start=10.0, end=12.0, **more) -> Evidence:
    span = Span(start_s=start, end_s=end)
    return Evidence(video_id="v", kind=kind, span=span, quote=quote, **more)


PRICE = line("NOW $48", id="e1")
CAPTION = line("A red lamp stands on a table.", kind="caption", id="e2")
SPOKEN = line("Yours for forty-eight dollars.", kind="speech", id="e3", speaker="Mia")


def test_a_date_is_not_cut_into_sentences():
    assert split_claims("The stamp shows the date 1. 1. 1990.") == (
        "The stamp shows the date 1. 1. 1990.",
    )
    assert split_claims("It costs $48. 25% off is promised.")[0].startswith("It costs $48")


def faulty(text: str, *ids: str) -> str:
    claim = Claim(text=text, evidence=ids)
    return cheap_check(claim, [PRICE, CAPTION, SPOKEN]).reason


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("It costs $48. It ends in June.", ("It costs $48.", "It ends in June.")),
        ('At 3.5 s ("One. Two.", until 4.0 s)', ('At 3.5 s ("One. Two.", until 4.0 s)',)),
        ("价格是48元。今天截止。", ("价格是48元。", "今天截止。")),
        ("$48", ("$48",)),
        ("...", ()),
    ],
)
def test_an_answer_is_split_at_its_sentences(answer, claims):
    assert split_claims(answer) == claims


@given(st.text(max_size=200))
def test_splitting_loses_no_word(answer):
    assert normalize("".join(split_claims(answer))) == normalize(answer)


def test_a_number_must_stand_in_a_cited_quote_or_be_its_time():
    assert faulty("It costs $48.", "e1") == ""
    assert faulty("It costs 48 dollars.", "e3") == ""
    assert faulty("It is shown at 11 s.", "e1") == ""
    assert "49" in faulty("It costs $49.", "e1")
    assert "30" in faulty("It is shown at 30 s.", "e1")


def test_a_quote_must_stand_in_a_cited_line():
    assert faulty('It reads "now $48".', "e1") == ""
    assert "no cited evidence says" in faulty('It reads "NOW $48 ONLY".', "e1")


def test_a_caption_proves_nothing():
    assert "caption" in faulty("A red lamp stands on a table.", "e2")


def test_evidence_that_was_never_observed_is_a_fault():
    draft = Finish(answer="It costs $48.", evidence_ids=("e1", "e99"), absent=False)
    claims = claims_of(draft, [PRICE])
    assert "e99" in claims[0].reason


def test_anchors_are_what_is_seen_with_its_attributes():
    from dataclasses import replace

    from admir import Memory
    from admir.types import Subject

    people = (
        Subject(id="s1", name="woman", kind="person", appearance=("red coat",), first_seen_s=11.0),
        Subject(id="s2", name="man", kind="person", appearance=("hat",), first_seen_s=18.0),
        Subject(id="s3", name="LUMIVO", first_seen_s=11.0),
    )
    memory = replace(Memory.from_timeline("v", [{"t": 19, "ocr": [], "asr": ""}]), subjects=people)
    look = line("a lamp with a blue shade", kind="frame")
    assert visual_anchors([PRICE, CAPTION, look], memory) == (
        "woman, red coat",
        "a lamp with a blue shade",
    )


def test_the_ledger_numbers_each_piece_once():
    ledger, first = add_evidence((), [line("A"), line("B")])
    assert [e.id for e in first] == ["e1", "e2"]
    ledger, again = add_evidence(ledger, [line("b"), line("C"), line("A", start=30, end=31)])
    assert [e.id for e in again] == ["e2", "e3", "e4"]
    assert len(ledger) == 4


def test_an_observation_names_id_time_kind_and_speaker():
    assert (
        format_evidence([SPOKEN]) == "[e3] 10.0-12.0 s speech, Mia: Yours for forty-eight dollars."
    )


HOLES = [
    ("Is there a warranty?", "2 year warranty", "10 year warranty"),
    ("How much does it cost?", "€4990", "49,90 €"),
    ("How much does it cost?", "$20", "Save $20 on every order"),
    ("What kind of data is it?", "Limited data", "Unlimited data"),
    ("How long is the warranty?", "5 years warranty", "Warranty 5 days, 10 years of service"),
    ("What is not in the box?", "The charger is in the box.", "Charger not in the box"),
]


@pytest.mark.parametrize(("question", "wrong", "quote"), HOLES)
def test_a_claim_near_its_line_but_not_in_it_is_refused(question, wrong, quote):
    assert not verdict(question, wrong, line(quote, id="e1")).accepted


@pytest.mark.parametrize(
    ("question", "true", "quote"),
    [
        ("Is there a warranty?", "10 year warranty", "10 year warranty"),
        ("How much does it cost?", "€49.90", "49,90 €"),
        ("Which brand is it?", "Dr. Oetker", "Dr. Oetker"),
        ("How long is the service?", "10 years of service", "Warranty 5 days, 10 years of service"),
    ],
)
def test_a_claim_that_its_line_says_is_accepted(question, true, quote):
    assert verdict(question, true, line(quote, id="e1")).accepted


def test_words_of_two_scenes_do_not_make_one_claim():
    here = line("50% off one item", id="e1", start=0, end=2)
    later = line("Everything must go", id="e2", start=10, end=12)
    assert not verdict("What is offered?", "50% off everything", here, later).accepted


def test_an_inspected_range_is_not_when_a_line_starts():
    whole = line("NOW $48", id="e1", start=1, end=5)
    window = line("NOW $48", id="e2", kind="frame", start=3, end=4)
    question = "When is the price first shown?"
    assert not verdict(question, "At 3.0 s", whole, window, cite=["e2"]).accepted
    assert verdict(question, "At 1.0 s", whole, window, cite=["e1"]).accepted


def verdict(question: str, answer: str, *evidence: Evidence, cite=None):
    """The offline backend's verdict on an answer that cites these lines; there are no pictures."""
    from admir import Memory
    from admir.agent.grounding import verify
    from admir.backends.factory import open_backend
    from admir.concurrency import run_sync
    from admir.settings import load_settings

    backend = open_backend(load_settings())
    draft = Finish(answer=answer, evidence_ids=cite or [e.id for e in evidence], absent=False)
    memory = Memory.from_timeline("v", [{"t": 19, "ocr": ["x"], "asr": ""}])
    return run_sync(verify(draft, question, evidence, memory, backend.reasoner))[0]


class Careless:
    """A backend that verifies everything, and loses a claim."""

    def __init__(self, keep: int) -> None:
        self._keep = keep

    async def check(self, check):
        from dataclasses import replace

        from admir.backends.base import VerificationResult

        claims = tuple(replace(c, status="verified", reason="sure") for c in check.claims)
        return VerificationResult(claims=claims[: self._keep])


@pytest.mark.parametrize(
    ("answer", "keep", "reason"),
    [
        ("It costs $49.", 9, "no cited evidence has 49"),
        ("It costs $48. It is blue.", 1, "the check left it out"),
    ],
)
def test_a_careless_mind_cannot_lift_a_cheap_check_or_drop_a_claim(answer, keep, reason):
    from admir import Memory
    from admir.agent.grounding import verify
    from admir.concurrency import run_sync

    draft = Finish(answer=answer, evidence_ids=("e1",), absent=False)
    memory = Memory.from_timeline("v", [])
    found, _ = run_sync(verify(draft, "?", [PRICE], memory, Careless(keep)))
    assert not found.accepted
    assert reason in found.reason
