"""What code alone says of a draft: claims are split, held against lines, and not repeated."""

from __future__ import annotations

import pytest

from admir.agent.claims import cheap_check, claims_of, find_doubts, find_repeat, split_claims
from admir.agent.selection import weak_evidence
from admir.backends.base import Rejection
from admir.text import find_times, numbers
from admir.tools.finish import Finish
from admir.types import Claim, Evidence, Span, Verdict


def line(quote: str, id_: str, *, kind="screen_text", start=10.0, end=12.0, **more) -> Evidence:
    span = Span(start_s=start, end_s=end)
    return Evidence(video_id="v", kind=kind, span=span, quote=quote, id=id_, **more)


def check(text: str, *evidence: Evidence, nearby=()) -> Claim:
    claim = Claim(text=text, evidence=tuple(e.id for e in evidence))
    return cheap_check(claim, evidence, nearby)


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        (
            "The lamp costs $48 and it ends in June.",
            ("The lamp costs $48", "and it ends in June."),
        ),
        (
            "A red car is shown, while the voice promises free shipping.",
            ("A red car is shown", ", while the voice promises free shipping."),
        ),
        ("It shows salt and pepper.", ("It shows salt and pepper.",)),
        ('It reads "lean and it is mean".', ('It reads "lean and it is mean".',)),
    ],
)
def test_a_compound_claim_is_split_at_its_clauses(answer, claims):
    assert tuple(part.strip(" ,") for part in split_claims(answer)) == tuple(
        part.strip(" ,") for part in claims
    )


def test_every_cited_line_reaches_the_check_of_every_claim():
    draft = Finish(answer="Zorba Cola costs half. It is red.", evidence_ids=("e1", "e2"))
    claims = claims_of(draft, [line("LUMIVO HALO", "e1"), line("25% OFF", "e2")])
    assert [claim.evidence for claim in claims] == [("e1", "e2")] * 2


def test_a_quote_may_run_over_lines_that_follow_each_other():
    above = line("UNITED WE", "e1", box=(0.1, 0.1, 0.5, 0.2))
    below = line("STAND TALL", "e2", box=(0.1, 0.2, 0.5, 0.3))
    late = line("STAND TALL", "e2", start=30.0, end=31.0)
    assert not check('It reads "United we stand tall".', below, above).reason
    assert check('It reads "United we stand tall".', above, late).unsupported == (
        "United we stand tall",
    )


@pytest.mark.parametrize(
    "text",
    ["It shows from 47.1 to 47.4 s.", "It stays between 47.1 and 47.4 seconds.", "47.1-47.4 s"],
)
def test_both_ends_of_a_range_are_times(text):
    assert not check(text, line("GO", "e1", start=47.0, end=47.5)).reason
    assert check(text, line("GO", "e1", start=20.0, end=21.0)).reason


@pytest.mark.parametrize("text", ["It costs $999.", 'It reads "BUY NOW".', "It holds 64 percent."])
def test_numbers_and_written_words_of_the_expert_are_no_proof(text):
    told = line('It costs $999, reads "BUY NOW" and holds 64 percent.', "e1", kind="expert")
    found = check(text, told)
    assert "only the communication expert has" in found.reason
    assert found.unsupported


def test_what_a_line_beside_the_cited_one_says_is_held():
    cited, beside = line("LUMIVO", "e1"), line("NOW $48", "")
    assert not check("Lumivo costs $48.", cited, nearby=[beside]).reason


def test_a_name_that_no_line_holds_is_a_doubt_and_no_fault():
    cited = line("a red pagoda", "e1", kind="frame", frame_s=10.0)
    claim = check("It shows a Chinese pagoda.", cited)
    assert not claim.reason
    assert find_doubts([claim], [cited], []) == ("Chinese",)


def test_a_count_is_for_the_frames_to_say():
    cited = line("costumed people", "e1", kind="frame", frame_s=10.0)
    claim = check("It shows 5 people.", cited)
    assert not claim.reason
    assert find_doubts([claim], [cited], []) == ("5",)
    assert check("It lasts 5 days.", cited).unsupported == ("5",)


def rejected(*claims: Claim, evidence=("e1", "e2")) -> Rejection:
    return Rejection(draft="", reason="", evidence=evidence, ranges=(), claims=claims)


FAILED = Claim(
    text="The shoes cost $48.",
    status="unverified",
    evidence=("e1",),
    reason="it is a lamp",
    checked=True,
)


@pytest.mark.parametrize(
    "text", ["The shoes cost $48.", "$48 is what the shoes cost", "Cost of shoes: $48"]
)
def test_a_rejected_claim_on_the_same_evidence_is_a_repeat_in_any_words(text):
    claim = Claim(text=text, evidence=("e1",))
    assert find_repeat([claim], [rejected(FAILED)]) == (0, "it is a lamp")


@pytest.mark.parametrize(
    "claim",
    [
        Claim(text="The shoes cost $48.", evidence=("e3",)),
        Claim(text="The lamp is yellow.", evidence=("e1",)),
        Claim(text="The shoes do not cost $48.", evidence=("e1",)),
        Claim(text="The shoes cost $84.", evidence=("e1",)),
        Claim(text="The red shoes cost $48.", evidence=("e1",)),
    ],
)
def test_new_evidence_other_words_or_a_denial_are_no_repeat(claim):
    assert find_repeat([claim], [rejected(FAILED)]) == (-1, "")


def test_a_claim_without_the_word_that_failed_is_no_repeat():
    failed = Claim(
        text="It shows a Chinese pagoda.",
        status="unverified",
        evidence=("e1",),
        unsupported=("Chinese",),
        checked=True,
    )
    without = Claim(text="It shows a pagoda.", evidence=("e1",))
    again = Claim(text="A Chinese pagoda is shown.", evidence=("e1",))
    assert find_repeat([without], [rejected(failed)])[0] == -1
    assert find_repeat([again], [rejected(failed)])[0] == 0


def test_only_evidence_of_claims_that_nothing_settles_becomes_weak():
    verdict = Verdict(
        accepted=False,
        claims=(
            Claim(text="a", status="verified", evidence=("e1", "e2")),
            Claim(text="b", status="unverified", evidence=("e2", "e3"), checked=True),
            Claim(text="c", status="unverified", evidence=("e4",), unsupported=("word",)),
            Claim(text="f", status="unverified", evidence=("e6",)),
            Claim(text="d", status="contradicted", evidence=("e5",)),
        ),
    )
    assert weak_evidence(verdict) == {"e3"}


@pytest.mark.parametrize(
    "text", ["The man and the woman has red hair.", "Coke and the can is red."]
)
def test_a_list_of_nouns_is_no_clause(text):
    assert split_claims(text) == (text,)


@pytest.mark.parametrize("text", ["It costs $8 and 3 seconds later it ends.", "$9 to 5 s"])
def test_money_is_no_start_of_a_range_of_times(text):
    assert check(text, line("GO", "e1", start=2.0, end=9.0)).reason


def test_a_quote_of_one_letter_does_not_shift_the_next():
    found = check('The sign says "A" and the door says "SALE".', line("A SALE", "e1"))
    assert not found.reason


def test_single_quotation_marks_quote():
    assert check("It reads 'BUY NOW'.", line("hi", "e1")).unsupported == ("BUY NOW",)
    assert not check("It's the dog's bowl.", line("hi", "e1")).reason


@pytest.mark.parametrize("text", ["1" * 10_000, "1" * 5_000 + "-" + "1" * 5_000, "“" * 10_000])
def test_long_answers_are_read_soon(text):
    draft = Finish(answer=text[:4000], evidence_ids=("e1",))
    [claim] = claims_of(draft, [line("hi", "e1")]) or [None]
    if claim is not None:
        cheap_check(claim, [line("hi", "e1")])
    assert find_times(text) == ()


def test_a_number_word_said_a_thousand_times_is_no_number():
    assert numbers("hundred " * 2_300)
