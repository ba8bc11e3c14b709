"""Claims, cheap checks and the ledger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.agent.grounding import cheap_check, claims_of, split_claims, visual_anchors
from admir.agent.ledger import described, enter
from admir.text import squash
from admir.tools.finish import Finish
from admir.types import Claim, Evidence, Span


def line(quote: str, *, kind="screen_text", start=10.0, end=12.0, **more) -> Evidence:
    span = Span(start_s=start, end_s=end)
    return Evidence(video_id="v", kind=kind, span=span, quote=quote, **more)


PRICE = line("NOW $48", id="e1")
CAPTION = line("A red lamp stands on a table.", kind="caption", id="e2")
SPOKEN = line("Yours for forty-eight dollars.", kind="speech", id="e3", speaker="Mia")


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
    assert squash("".join(split_claims(answer))) == squash(answer)


def test_a_number_must_stand_in_a_cited_quote_or_be_its_time():
    assert faulty("It costs $48.", "e1") == ""
    assert faulty("It costs 48 dollars.", "e3") == ""
    assert faulty("It is shown at 11 s.", "e1") == ""
    assert "49" in faulty("It costs $49.", "e1")
    assert "30" in faulty("It is shown at 30 s.", "e1")


def test_a_quote_must_stand_in_a_cited_line():
    assert faulty('It reads "now $48".', "e1") == ""
    assert "no cited evidence says" in faulty('It reads "NOW $48 ONLY".', "e1")


def test_a_name_must_stand_in_some_evidence():
    assert faulty("It is said by Mia", "e3") == ""
    assert '"Zelda"' in faulty("It is said by Zelda", "e3")


def test_a_caption_proves_nothing():
    assert "caption" in faulty("A red lamp stands on a table.", "e2")


def test_evidence_that_was_never_observed_is_a_fault():
    draft = Finish(answer="It costs $48.", evidence_ids=("e1", "e99"), absent=False)
    claims = claims_of(draft, [PRICE])
    assert "e99" in claims[0].reason


def test_each_claim_gets_the_evidence_that_shares_words_with_it():
    draft = Finish(answer="Now it costs $48. It is yours.", evidence_ids=("e1", "e3"), absent=False)
    first, second = claims_of(draft, [PRICE, SPOKEN])
    assert first.evidence == ("e1",)
    assert second.evidence == ("e3",)


def test_anchors_come_from_proving_evidence_alone():
    assert visual_anchors([PRICE, CAPTION]) == ("NOW", "$48")


def test_the_ledger_numbers_each_piece_once():
    ledger, first = enter((), [line("A"), line("B")])
    assert [e.id for e in first] == ["e1", "e2"]
    ledger, again = enter(ledger, [line("b"), line("C"), line("A", start=30, end=31)])
    assert [e.id for e in again] == ["e2", "e3", "e4"]
    assert len(ledger) == 4


def test_an_observation_names_id_time_kind_and_speaker():
    assert described([SPOKEN]) == "[e3] 10.0-12.0 s speech, Mia: Yours for forty-eight dollars."
