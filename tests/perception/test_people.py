"""Faces followed over a shot and joined over cuts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.faces import SURE, Face
from admir.perception.people import (
    MOST_PEOPLE,
    FaceFrame,
    follow_people,
    merge_spans,
    most_at_once,
    people_words,
    sight_of,
)
from admir.types import Shot, Span
from tests.conftest import flat
from tests.properties import examples

SKIN, OTHER_SKIN = (140, 170, 220), (40, 60, 90)
NAVY, GREEN = (90, 40, 20), (60, 160, 60)


def shots(*edges):
    return tuple(
        Shot(index=i, span=Span(start_s=a, end_s=b)) for i, (a, b) in enumerate(pairwise(edges))
    )


def face(x=0.5, size=0.2, score=2.0):
    half = size / 2
    return Face(box=(x - half, 0.3 - half, x + half, 0.3 + half), score=score, view="front")


def sight(x=0.5, size=0.2, score=2.0, skin=SKIN, worn=NAVY):
    """A face of one colour over clothes of another on grey."""
    picture = flat((128, 128, 128), (200, 200))
    found = face(x, size, score)
    left, top, right, bottom = (round(200 * v) for v in found.box)
    picture[bottom:, max(0, left - 20) : right + 20] = worn
    picture[max(0, top - 20) : bottom, max(0, left) : right] = skin
    return sight_of(found, picture)


def moments(*rows):
    return [FaceFrame(time_s=float(t), sights=tuple(sights)) for t, sights in rows]


def spans(subject):
    return [(span.start_s, span.end_s) for span in subject.seen]


def test_a_face_is_seen_half_a_step_about_its_pictures():
    found = follow_people(
        moments((0, []), (1, [sight()]), (2, [sight(0.55)]), (3, [])), shots(0, 4)
    )
    assert [(p.name, p.kind, p.first_seen_s, spans(p)) for p in found] == [
        ("Person 1", "person", 0.5, [(0.5, 2.5)])
    ]
    assert found[0].on_screen_s == 2.0


def test_a_sight_does_not_reach_over_a_cut():
    found = follow_people(moments((0, []), (1, [sight()]), (2, [])), shots(0, 0.8, 1.3, 3))
    assert spans(found[0]) == [(0.8, 1.3)]


def test_pictures_may_come_at_any_spacing():
    found = follow_people(moments((1, [sight()]), (1.2, [sight()]), (1.6, [])), shots(0, 3))
    assert spans(found[0]) == [(0.9, 1.4)]


def test_one_look_over_a_cut_is_one_person_and_another_look_is_another():
    again = moments((1, [sight()]), (3, [sight(0.3, 0.3)]))
    assert [spans(p) for p in follow_people(again, shots(0, 2, 4))] == [[(0.0, 4.0)]]
    for other in (sight(worn=GREEN), sight(skin=OTHER_SKIN)):
        found = follow_people(moments((1, [sight()]), (3, [other])), shots(0, 2, 4))
        assert [p.name for p in found] == ["Person 1", "Person 2"]


def test_two_who_look_alike_and_are_seen_together_are_two():
    found = follow_people(moments((1, [sight(0.2), sight(0.8)]), (3, [sight()])), shots(0, 2, 4))
    assert len(found) == 2
    assert most_at_once(found) == 2
    assert (
        people_words(found) == "Faces of about 2 different people were found, at least 2 at once."
    )


def test_who_wears_nothing_that_shows_is_not_joined_over_a_cut():
    bare = sight(size=0.8)
    assert bare.worn == ""
    assert bare.clothes == ()
    assert len(follow_people(moments((1, [bare]), (3, [bare])), shots(0, 2, 4))) == 2


def test_a_doubtful_face_counts_only_beside_a_sure_one():
    doubtful = sight(score=SURE - 0.1)
    assert follow_people(moments((1, [doubtful]), (2, [doubtful])), shots(0, 3)) == ()
    found = follow_people(moments((1, [doubtful]), (2, [sight(score=SURE)])), shots(0, 3))
    assert [p.first_seen_s for p in found] == [0.5]
    cut = follow_people(moments((1, [doubtful]), (2, [sight(score=SURE)])), shots(0, 1.4, 3))
    assert [p.first_seen_s for p in cut] == [1.5]


def test_a_face_across_the_picture_in_other_clothes_is_somebody_else():
    far = moments((1, [sight(0.1, 0.1)]), (2, [sight(0.9, 0.1, worn=GREEN)]))
    assert [spans(p) for p in follow_people(far, shots(0, 3))] == [[(0.5, 1.5)], [(1.5, 2.5)]]
    near = moments((1, [sight(0.5, 0.1)]), (2, [sight(0.55, 0.1, worn=GREEN)]))
    assert len(follow_people(near, shots(0, 3))) == 1


def test_what_is_seen_of_a_person_is_told_in_words():
    close = follow_people(moments((1, [sight(0.5, 0.3)])), shots(0, 2))[0]
    assert close.appearance == (
        "wearing mostly dark blue",
        "large in the picture (close-up)",
        "in the centre",
    )
    far = follow_people(moments((1, [sight(0.2, 0.08)])), shots(0, 2))[0]
    assert far.appearance == ("wearing mostly dark blue", "small in the picture", "on the left")
    assert close.identity == ("a face seen in 1 picture",)


def test_only_so_many_are_kept_and_the_others_are_counted():
    bare = [sight(x, 0.1, skin=SKIN) for x in (0.1, 0.3, 0.5, 0.7, 0.9)]
    crowd = [replace(one, clothes=(), worn="") for one in bare]
    edges = [0, 2, 3, 4, 5, 6]
    rows = [(edge + 0.5, crowd) for edge in edges[:-1]]
    found = follow_people(moments(*rows), shots(*edges))
    assert len(found) == MOST_PEOPLE + 1
    assert found[-1].name == "5 more people"
    assert [p.name for p in found[:5]] == [f"Person {n}" for n in range(1, 6)]
    assert people_words(found) == (
        "Faces of more than 20 different people were found, at least 5 at once."
    )


def test_nobody_is_no_words():
    assert follow_people([], shots(0, 1)) == ()
    assert people_words(()) == ""
    assert most_at_once(()) == 0


LOOKS = [
    sight(x, size, score, skin, worn)
    for x, size, score, skin, worn in (
        (0.2, 0.2, 2.0, SKIN, NAVY),
        (0.8, 0.2, 2.0, SKIN, NAVY),
        (0.5, 0.1, 1.0, OTHER_SKIN, NAVY),
        (0.5, 0.3, 0.6, SKIN, GREEN),
        (0.3, 0.8, 1.5, SKIN, GREEN),
    )
]
ROWS = st.lists(st.lists(st.sampled_from(LOOKS), max_size=3, unique=True), max_size=12)
CUTS = st.lists(st.integers(1, 11).map(lambda n: n - 0.25), max_size=4, unique=True).map(sorted)


@examples(150)
@given(ROWS, CUTS)
def test_no_sure_face_is_lost_and_first_sight_is_the_earliest(rows, cuts):
    seen = moments(*enumerate(rows))
    end = float(max(len(rows), 12))
    found = follow_people(seen, shots(0.0, *cuts, end))
    for moment in seen:
        sure = [s for s in moment.sights if s.face.score >= SURE]
        there = [p for p in found if any(x.contains(moment.time_s) for x in p.seen)]
        assert len(there) >= len(sure)
    for person in found:
        assert person.first_seen_s == person.seen[0].start_s == min(s.start_s for s in person.seen)
        assert all(a.end_s < b.start_s for a, b in pairwise(person.seen))
        assert person.seen[-1].end_s <= end
    assert [p.first_seen_s for p in found] == sorted(p.first_seen_s for p in found)


def test_spans_that_touch_are_one():
    pairs = [(3.0, 4.0), (0.0, 1.0), (1.0, 2.0), (3.5, 3.7)]
    merged = merge_spans(Span(start_s=a, end_s=b) for a, b in pairs)
    assert merged == (Span(start_s=0.0, end_s=2.0), Span(start_s=3.0, end_s=4.0))


def test_a_sight_at_the_rim_of_a_picture_has_its_colours():
    rim = Face(box=(-0.05, -0.05, 0.2, 0.2), score=2.0, view="side")
    assert np.isclose(sum(sight_of(rim, flat(SKIN, (100, 100))).head), 3.0, atol=0.02)
