"""Lines of OCR that a second reader corrects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.backends.base import Caption, TextCorrection
from admir.memory.ocr_correction import UNSURE, apply_corrections, apply_second_ocr, is_unsure
from admir.perception.ocr import TextLine
from admir.types import ScreenText, Span
from tests.properties import examples

BOX = (0.1, 0.2, 0.5, 0.3)
WHOLE = (0.0, 0.0, 1.0, 1.0)


def line(text, confidence=0.5, box=BOX):
    return TextLine(text=text, box=box, confidence=confidence)


@pytest.mark.parametrize(
    ("text", "confidence", "unsure"),
    [
        ("N0W $48", UNSURE - 0.01, True),
        ("NOW $48", UNSURE, False),
        ("ab", 0.1, False),
        ("a - b", 0.1, False),
        ("买一送一", 0.1, True),
    ],
)
def test_a_line_is_unsure_where_its_confidence_is_low_and_it_is_no_crumb(text, confidence, unsure):
    assert is_unsure(line(text, confidence)) is unsure


def test_an_unsure_line_takes_the_text_and_keeps_its_place():
    [better] = apply_second_ocr([line("N0W S48")], ["NOW $48"])
    assert (better.text, better.box) == ("NOW $48", BOX)
    assert not is_unsure(better)


def test_in_a_frame_that_a_model_was_shown_its_reading_wins_also_over_a_sure_one():
    (better,) = apply_second_ocr([line("NOW $43", 0.95)], ["NOW $48"])
    assert (better.text, better.box, better.reread) == ("NOW $48", BOX, True)


def test_a_line_that_both_read_alike_stays_as_it_is():
    sure = line("NOW $48", 0.95)
    assert apply_second_ocr([sure], ["NOW $48"]) == (sure,)


IN_SECOND = Span(start_s=6.0, end_s=9.0)


def correct(shown, ocr_text, text, *, at=IN_SECOND):
    """A line after the caption of the second of two clips has corrected one."""
    screen = ScreenText(span=at, text=shown, box=BOX, confidence=0.95, frame_s=7.0)
    captions = (
        Caption(description=""),
        Caption(description="", corrections=(TextCorrection(ocr_text=ocr_text, text=text),)),
    )
    clips = [Span(start_s=0.0, end_s=5.0), Span(start_s=5.0, end_s=10.0)]
    (found,) = apply_corrections([screen], clips, captions)
    return found.text, found.ocr_text


def test_a_caption_puts_right_what_ocr_misread_in_its_clip_and_it_is_marked():
    assert correct("EVERYERA", "EVERYERA", "EVERY ERA") == ("EVERY ERA", "EVERYERA")
    assert correct("THlRST AlD", "THlRST AlD", "THIRST AID") == ("THIRST AID", "THlRST AlD")
    assert correct("25% 0FF", "25% 0FF", "25% OFF") == ("25% OFF", "25% 0FF")


@pytest.mark.parametrize(
    ("ocr_text", "text"),
    [
        ("NOW $48", "NOW $38"),
        ("NOW $48", "Buy one get one free"),
        ("SALE", "SALE TODAY"),
        ("NOW $48", ""),
    ],
)
def test_a_caption_makes_up_no_number_and_no_other_line(ocr_text, text):
    assert correct("NOW $48", ocr_text, text) == ("NOW $48", "")


def test_a_caption_corrects_nothing_outside_of_its_clip():
    elsewhere = Span(start_s=1.0, end_s=4.0)
    assert correct("THlRST", "THlRST", "THIRST", at=elsewhere) == ("THlRST", "")


def test_a_line_that_the_second_reader_does_not_see_stays():
    lines = [line("LUMIVO"), line("www.lumivo.example")]
    assert apply_second_ocr(lines, []) == tuple(lines)
    assert apply_second_ocr(lines, ["something else at all"])[:2] == tuple(lines)


def test_a_line_that_ocr_has_not_found_has_the_whole_picture_for_a_box():
    *_, new = apply_second_ocr([line("NOW $48", 0.95)], ["NOW $48", "Terms apply"])
    assert (new.text, new.box) == ("Terms apply", WHOLE)
    assert not is_unsure(new)


def test_a_part_of_what_ocr_has_is_not_new():
    assert len(apply_second_ocr([line("NOW $48 until 30 June", 0.95)], ["30 June"])) == 1


def test_each_reading_corrects_one_line():
    first, second = apply_second_ocr([line("PRICE A"), line("PRICE B")], ["PRICE B"])
    assert {first.text, second.text} == {"PRICE A", "PRICE B"}


def test_the_better_fitting_reading_corrects_a_line():
    better = apply_second_ocr(
        [line("UNTlL 3O JUNE"), line("N0W S48")], ["NOW $48", "UNTIL 30 JUNE"]
    )
    assert [each.text for each in better] == ["UNTIL 30 JUNE", "NOW $48"]


def test_a_flood_of_readings_is_cut():
    assert len(apply_second_ocr([], [f"line number {n:03d} of many" for n in range(500)])) == 20


texts = st.text(st.characters(codec="utf-8"), max_size=12)


@examples(150)
@given(st.lists(st.builds(line, texts, st.floats(0, 1)), max_size=6), st.lists(texts, max_size=6))
def test_no_line_is_lost_moved_or_made_unsure(lines, read):
    better = apply_second_ocr(lines, read)
    assert [each.box for each in better[: len(lines)]] == [each.box for each in lines]
    for before, after in zip(lines, better, strict=False):
        assert after == before or after.text in read
    assert all(each.text in read and each.box == WHOLE for each in better[len(lines) :])
