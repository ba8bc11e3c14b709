"""Lines followed over time: what becomes one line, when it starts and ends."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.demo import FACTS
from admir.perception.ocr import TextLine
from admir.perception.screen_text import NO_THUMBS, Reading, Thumbs, follow_lines
from admir.text import contains, normalize
from admir.types import Span
from tests.properties import examples

TRUE_LINES = json.loads(FACTS.read_text("utf-8"))["screen_text"]
HERE, THERE = (0.1, 0.1, 0.5, 0.2), (0.5, 0.7, 0.9, 0.8)
SLACK_S = 0.35


def line(text, box=HERE, confidence=0.95):
    return TextLine(text=text, box=box, confidence=confidence)


def follow(*frames, thumbs=NO_THUMBS, cuts=(), end_s=None):
    """Lines of frames that were sampled once a second; a string is a line at one place."""
    readings = [
        Reading(
            time_s=float(second),
            lines=tuple(line(t) if isinstance(t, str) else t for t in shown),
        )
        for second, shown in enumerate(frames)
    ]
    span = Span(start_s=0.0, end_s=float(len(frames)) if end_s is None else end_s)
    return follow_lines(readings, span, thumbs, cuts)


def told(lines):
    return [(found.text, found.span.start_s, found.span.end_s) for found in lines]


# Against the truth of the bundled ad


@pytest.mark.parametrize(
    "true", TRUE_LINES, ids=lambda true: f"{true['text']} at {true['start_s']}"
)
def test_every_line_of_the_ad_is_found_with_its_times(demo, true):
    alike = [
        found
        for found in demo.screen_text
        if contains(found.text, true["text"]) and found.vertical == true["vertical"]
    ]
    assert any(
        abs(found.span.start_s - true["start_s"]) <= SLACK_S
        and abs(found.span.end_s - true["end_s"]) <= SLACK_S
        for found in alike
    ), told(alike)


def test_the_ad_shows_no_line_that_is_not_true(demo, facts):
    truths = [true["text"] for true in facts["screen_text"]]
    assert [x.text for x in demo.screen_text if not any(contains(t, x.text) for t in truths)] == []


def test_every_line_of_the_ad_was_read_while_it_stood(demo):
    assert all(x.span.start_s <= x.frame_s < x.span.end_s for x in demo.screen_text)


# What is one line


def test_one_line_in_every_frame_is_one_line():
    assert told(follow(["NOW $48"], ["NOW $48"], ["NOW $48"])) == [("NOW $48", 0.0, 3.0)]


def test_a_line_missed_in_one_frame_goes_on():
    assert told(follow(["NOW $48"], [], ["NOW $48"])) == [("NOW $48", 0.0, 3.0)]


def test_a_line_that_comes_back_after_two_frames_is_another_one():
    found = follow(["NOW $48"], [], [], ["NOW $48"])
    assert told(found) == [("NOW $48", 0.0, 1.0), ("NOW $48", 3.0, 4.0)]


def test_one_text_at_two_places_is_two_lines():
    found = follow(*[[line("LUMIVO"), line("LUMIVO", THERE)]] * 3)
    assert [x.box for x in found] == [HERE, THERE]


def places(lines):
    return sorted((found.box, found.span.start_s) for found in lines)


def test_a_text_that_comes_a_second_time_further_down_is_a_line_of_its_own():
    above, below = line("LUMIVO", HERE), line("LUMIVO", THERE)
    assert places(follow([above], [above, below], [above, below])) == [(HERE, 0.0), (THERE, 1.0)]


def test_a_text_that_comes_a_second_time_further_up_is_a_line_of_its_own():
    above, below = line("LUMIVO", HERE), line("LUMIVO", THERE)
    assert places(follow([below], [above, below], [above, below])) == [(HERE, 1.0), (THERE, 0.0)]


def test_readings_of_one_line_that_differ_by_a_letter_are_one_and_the_surest_wins():
    frames = [
        [line("Llght that listens.", confidence=0.7)],
        [line("Light that listens.", confidence=0.99)],
        [line("Light that listens.", confidence=0.9)],
    ]
    (found,) = follow(*frames)
    assert (found.text, found.confidence, found.frame_s) == ("Light that listens.", 0.99, 1.0)


def test_of_alike_readings_the_one_with_its_spaces_counts():
    (found,) = follow(["Orderonlinetoday"], ["Order online today"], ["Orderonlinetoday"])
    assert found.text == "Order online today"


def test_a_line_that_is_typed_out_is_one_line_with_its_whole_text():
    (found,) = follow(
        [line("Light that lis", (0.1, 0.1, 0.4, 0.2))], *[["Light that listens."]] * 2
    )
    assert (found.text, found.span.start_s) == ("Light that listens.", 0.0)


def test_a_piece_read_beside_the_whole_line_is_left_out():
    whole, piece = line("Light that listens."), line("listens.", (0.3, 0.1, 0.5, 0.2))
    assert [x.text for x in follow(*[[whole, piece]] * 2)] == ["Light that listens."]


def test_a_short_uncertain_line_is_texture():
    assert follow([line("x1", confidence=0.7)]) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("NOW $48", "NOW $38"),
        ("SAVE 25% OFF", "SAVE 35% OFF"),
        ("ONLY $5", "ONLY $50"),
        ("SAVE TEN NOW", "SAVE SIX NOW"),
    ],
)
def test_two_amounts_one_after_the_other_in_one_place_are_two_lines(first, second):
    assert told(follow(*[[first]] * 3, *[[second]] * 3)) == [(first, 0.0, 3.0), (second, 3.0, 6.0)]


@pytest.mark.parametrize("noisy", ["5O% OFF TODAY", "50%0FF TODAY", "50% OFF T0DAY", "50%OFFTODAY"])
def test_a_digit_read_as_a_letter_or_the_other_way_is_noise(noisy):
    found = follow(["50% OFF TODAY"], [line(noisy, confidence=0.8)], ["50% OFF TODAY"])
    assert told(found) == [("50% OFF TODAY", 0.0, 3.0)]


@pytest.mark.parametrize(
    ("first", "second", "confidence"),
    [
        ("Every rival was defeated", "Every idol was destroyed", 0.85),  # another word tells
        ("Every rival was defeated", "Every idol was destroyed", 0.97),
        ("We made it for you", "We made it for them", 0.97),
        ("Hands that unite", "Hands that write", 0.97),
    ],
)
def test_two_subtitles_one_after_the_other_in_one_place_never_join(first, second, confidence):
    shown = [[line(text, confidence=confidence)] for text in (first, first, second, second)]
    assert told(follow(*shown)) == [(first, 0.0, 2.0), (second, 2.0, 4.0)]


@pytest.mark.parametrize(
    "noisy", ["lconic in evcry era,", "lconic in every ora", "Iconic in every era, for"]
)
def test_readings_that_ocr_is_unsure_of_are_one_line(noisy):
    frames = [["Iconic in every era"], [line(noisy, confidence=0.8)], ["Iconic in every era"]]
    assert [(x.span.start_s, x.span.end_s) for x in follow(*frames)] == [(0.0, 3.0)]


def test_what_a_model_read_stands_before_what_ocr_read_more_often():
    misread = line("WORLDEXPO1202", confidence=0.99)
    reread = TextLine(text="WORLD EXPO 1202", box=HERE, confidence=0.85, reread=True)
    (found,) = follow([misread], [reread], [misread])
    assert (found.text, found.ocr_text) == ("WORLD EXPO 1202", "WORLDEXPO1202")


def test_many_lines_are_followed_quickly():
    frames = [
        [line(f"line {n * 7919} {n}", HERE) for n in range(30 * k, 30 * k + 30)] for k in range(40)
    ]
    follow(["warm up"])
    started = time.process_time()
    follow(*frames)
    assert time.process_time() - started < 2.0


# When it starts and ends


def thumbs_of(on_at_s, off_at_s, length_s=4.0):
    """Thumbs at 12.5 a second; a bright block stands at `HERE` from one time to another."""
    times = np.arange(0, length_s, 0.08)
    pixels = np.full((len(times), 90, 160), 40, dtype=np.uint8)
    shown = (times >= on_at_s) & (times < off_at_s)
    pixels[shown, 9:18, 16:80] = 220
    return Thumbs(times_s=times, pixels=pixels)


def test_thumbs_tell_when_a_line_came_and_went_between_two_samples():
    (found,) = follow([], ["SALE"], ["SALE"], [], thumbs=thumbs_of(0.4, 2.6))
    assert found.span.start_s == pytest.approx(0.4, abs=0.081)
    assert found.span.end_s == pytest.approx(2.6, abs=0.081)


def test_a_start_close_to_a_cut_is_the_cut():
    (found,) = follow([], ["SALE"], ["SALE"], [], thumbs=thumbs_of(0.4, 2.6), cuts=[0.36, 2.64])
    assert told([found]) == [("SALE", 0.36, 2.64)]


def test_no_line_begins_before_the_cut_behind_which_it_was_seen_first():
    """The picture changes most before the cut, where the line is not: inside another shot."""
    (found,) = follow([], ["SALE"], ["SALE"], thumbs=thumbs_of(0.3, 2.6), cuts=[0.8])
    assert found.span.start_s == 0.8


def test_no_line_ends_behind_the_cut_before_which_it_was_seen_last():
    (found,) = follow(["SALE"], ["SALE"], [], thumbs=thumbs_of(0.0, 1.9), cuts=[1.4])
    assert found.span.end_s == 1.4


def test_a_line_that_a_shot_between_does_not_show_is_two_lines():
    found = follow(["LUMIVO"], [], ["LUMIVO"], cuts=[0.5, 1.5])
    assert told(found) == [("LUMIVO", 0.0, 0.5), ("LUMIVO", 2.0, 3.0)]


def test_a_line_goes_where_another_stood_in_its_place():
    found = follow(["LUMIVO"], ["ORDER IT TODAY"], ["LUMIVO"])
    assert [text for text, *_ in told(found)] == ["LUMIVO", "ORDER IT TODAY", "LUMIVO"]


def test_a_line_that_was_read_in_pieces_goes_on():
    left, right = (0.1, 0.1, 0.28, 0.2), (0.3, 0.1, 0.5, 0.2)
    found = follow(["NOW $48"], [line("NOW", left), line("$48", right)], ["NOW $48"])
    assert told(found) == [("NOW $48", 0.0, 3.0)]


def test_what_ocr_made_of_a_line_in_one_frame_is_no_line_beside_it():
    found = follow(["ORDER IT TODAY"], [line("0R7ER_tb1AY", confidence=0.5)], ["ORDER IT TODAY"])
    assert told(found) == [("ORDER IT TODAY", 0.0, 3.0)]


def test_a_line_that_is_seen_on_both_sides_of_a_cut_crosses_it():
    assert told(follow(["LUMIVO"], ["LUMIVO"], cuts=[0.5])) == [("LUMIVO", 0.0, 2.0)]


def test_a_line_ends_where_another_comes_in_its_place():
    """The first is missed in a frame, so that its end is sought late."""
    first = [line("THE LAMP THAT LISTENS")]
    found = follow(first, [line("ORDER IT TODAY")], [line("ORDER IT TODAY")], thumbs=NO_THUMBS)
    ends = {x.text: (x.span.start_s, x.span.end_s) for x in found}
    assert ends["THE LAMP THAT LISTENS"][1] <= ends["ORDER IT TODAY"][0]


@examples(100)
@given(
    st.lists(
        st.sampled_from(["THE LAMP THAT LISTENS", "ORDER IT TODAY", "NOW $48", ""]), max_size=9
    ),
    st.lists(st.floats(0.1, 8.9), max_size=3),
    st.integers(0, 2**32 - 1),
)
def test_lines_of_one_place_never_overlap_and_cross_no_cut_that_hides_them(shown, cuts, seed):
    random = np.random.default_rng(seed)
    times = np.arange(0, 10, 0.08)
    pixels = random.integers(0, 255, (len(times), 90, 160), dtype=np.uint8)
    frames = [[text] if text else [] for text in shown]
    found = follow(*frames, thumbs=Thumbs(times_s=times, pixels=pixels), cuts=sorted(cuts))
    for n, a in enumerate(found):
        assert all(a.span.overlap_s(b.span) <= 1e-9 for b in found[n + 1 :])
        for cut_s in cuts:
            if a.span.start_s + 1e-6 < cut_s < a.span.end_s - 1e-6:
                seen = [t for t, text in enumerate(shown) if text == a.text and a.span.contains(t)]
                assert min(seen) <= cut_s <= max(seen)


def test_without_thumbs_a_line_starts_at_the_sample_that_shows_it():
    assert told(follow([], ["SALE"], ["SALE"], [], [])) == [("SALE", 1.0, 3.0)]


def test_a_line_in_the_first_and_the_last_sample_lasts_from_edge_to_edge():
    assert told(follow(["SALE"], ["SALE"], end_s=1.7)) == [("SALE", 0.0, 1.7)]


def test_no_readings_give_no_lines():
    assert follow() == follow([]) == ()


LINES = st.builds(
    line,
    st.sampled_from(["SALE", "NOW $48", "Light that listens.", "www.lumivo.example", "半价"]),
    st.sampled_from([HERE, THERE]),
    st.sampled_from([0.81, 0.9, 0.99]),
)


def test_a_line_that_moves_takes_none_away_that_stood_in_its_new_place():
    found = follow([line("NOW $48", HERE)], [line("SALE", THERE)], [line("NOW $48", THERE)])
    assert {each.text for each in found} == {"NOW $48", "SALE"}


@examples(150)
@given(st.lists(st.lists(LINES, max_size=3, unique_by=lambda x: x.box), max_size=8))
def test_lines_come_in_order_inside_the_span_and_each_sure_text_is_kept(frames):
    found = follow(*frames)
    starts = [x.span.start_s for x in found]
    assert starts == sorted(starts)
    assert all(0 <= x.span.start_s <= x.frame_s <= x.span.end_s <= len(frames) for x in found)
    read = {normalize(x.text) for shown in frames for x in shown}
    assert {normalize(x.text) for x in found} == read
