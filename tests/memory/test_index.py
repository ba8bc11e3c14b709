"""The hybrid index: which clips a query finds, and which hits are one event."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.errors import EmbedderMismatch
from admir.memory.index import (
    FUSE_AFFINITY,
    FUSE_GAP_S,
    HybridIndex,
    fuse,
    index_text_memory,
    open_index,
)
from admir.memory.store import MemoryStore
from admir.perception.embed import HashingEmbedder
from admir.types import Clip, Hit, Memory, Span
from tests.properties import examples

EMBEDDER = HashingEmbedder()
AD = (
    "A man reads in the dark, tired eyes.",
    "A lamp lights the desk. Meet Halo, the lamp that listens.",
    "The lamp is blue. WAS $64 NOW $48",
    "Save 25% OFF until 30 June on every lamp",
    "智能台灯，会听的台灯。半价只要48元",
    "Order now at www.lumivo.example #glow",
)


class OtherEmbedder(HashingEmbedder):
    id = "another"


def index_of(*captions, beta=1.0):
    clips = [
        Clip(video_id="ad", index=n, span=Span(start_s=5.0 * n, end_s=5.0 * n + 5), caption=text)
        for n, text in enumerate(captions)
    ]
    return HybridIndex(clips, EMBEDDER.encode(captions), EMBEDDER, beta)


@pytest.fixture(scope="module")
def ad():
    return index_of(*AD)


def best(index, query):
    return index.search(query, 1)[0].clip_index


@pytest.mark.parametrize(
    ("query", "clip"),
    [
        ("halo", 1),
        ("Is it blue?", 2),
        ("What costs $48?", 2),
        ("$64", 2),
        ("25%", 3),
        ("25 % off", 3),
        ("台灯多少钱", 4),
        ("48元", 4),
        ("www.lumivo.example", 5),
        ("#glow", 5),
        ("tired", 0),
        ("listening lamps", 1),
    ],
)
def test_an_exact_rare_word_finds_its_clip(ad, query, clip):
    assert best(ad, query) == clip
    assert ad.search(query, 1)[0].lexical > 0


def test_a_rare_word_beats_common_ones(ad):
    assert best(ad, "lamp June") == 3


def test_words_in_the_order_of_the_query_count_more_than_the_same_words_apart():
    index = index_of("listens that light", "light that listens", "soup")
    hits = {h.clip_index: h for h in index.search("light that listens", 3)}
    assert hits[1].lexical > hits[0].lexical > 0 == hits[2].lexical


def test_hits_carry_the_clip_and_both_parts_of_the_score():
    index = index_of(*AD, beta=2.5)
    for hit in index.search("blue lamp", 6):
        assert hit.span == Span(start_s=5.0 * hit.clip_index, end_s=5.0 * hit.clip_index + 5)
        assert hit.score == pytest.approx(hit.semantic + 2.5 * hit.lexical)


def test_hits_come_best_first_and_no_more_than_asked(ad):
    scores = [hit.score for hit in ad.search("lamp", 4)]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    assert len(ad.search("lamp", 50)) == len(AD)


@pytest.mark.parametrize("query", ["", "   ", "?!", "…"])
def test_an_empty_query_scores_nothing_and_does_not_fail(ad, query):
    assert {hit.score for hit in ad.search(query, 6)} == {0.0}


def test_no_clips_and_clips_without_words_can_be_searched():
    assert index_of().search("lamp", 5) == ()
    assert index_of().moments("lamp", 5) == ()
    assert [hit.score for hit in index_of("", "").search("lamp", 5)] == [0.0, 0.0]


WORDS = st.lists(
    st.sampled_from(["lamp", "desk", "halo", "$48", "25%", "台灯", "半价", "the", "of"]), max_size=7
).map(" ".join)


@examples(150)
@given(captions=st.lists(WORDS, max_size=6), query=WORDS | st.text(max_size=12))
def test_the_lexical_score_of_any_query_stays_between_0_and_1(captions, query):
    for hit in index_of(*captions).search(query, 10):
        assert 0.0 <= hit.lexical <= 1.0
        assert -1.001 <= hit.semantic <= 1.001


def test_a_quoted_phrase_finds_its_clip_though_it_was_misread():
    index = index_of("a lamp that is light", "the 1amp that listens", "listens to the lamp")
    hits = index.search('What follows "the lamp that listens"?', 3)
    assert hits[0].clip_index == 1
    assert hits[0].lexical > 2 * hits[1].lexical


@pytest.mark.parametrize("query", ["Who is the target audience?", "该广告的目标受众是谁？"])
def test_a_concept_finds_the_clip_that_shows_it_in_other_words(query):
    index = index_of("A lamp of steel", "For busy parents and their kids 给妈妈和宝宝", "25% off")
    assert best(index, query) == 1


def test_of_clips_that_show_a_concept_alike_the_one_in_its_place_comes_first():
    lines = ["Tired of the dark?", "A lamp", "Tired of the dark?", "A lamp"]
    assert best(index_of(*lines), "What problem does it solve?") == 0
    assert best(index_of(*reversed(lines)), "How does it urge people to purchase?") == 3


# Opening


def test_the_index_of_the_ad_finds_its_offer(demo, memories):
    index = open_index(demo, MemoryStore(memories).vectors(demo), EMBEDDER, 1.0)
    (hit,) = index.search("25% off until 30 June", 1)
    assert hit.span.overlap_s(Span(start_s=20.4, end_s=23.76)) > 3


def test_vectors_of_another_embedder_are_refused_in_one_line(demo, memories):
    with pytest.raises(EmbedderMismatch, match=r"hashing-1024-v1.*another") as caught:
        open_index(demo, MemoryStore(memories).vectors(demo), OtherEmbedder(), 1.0)
    assert "\n" not in str(caught.value)


def test_a_memory_of_a_timeline_is_embedded_when_it_is_searched():
    rows = [
        {"t": 0, "ocr": ["Spring tea"], "asr": ""},
        {"t": 7, "ocr": [], "asr": "only 9 euros"},
    ]
    index = index_text_memory(Memory.from_timeline("tea", rows), EMBEDDER, 1.0)
    assert best(index, "spring tea") == 0
    assert best(index, "how many euros") == 1


# Fusion


def hit(index, start_s, score=0.5, length_s=5.0):
    return Hit(
        video_id="ad",
        clip_index=index,
        span=Span(start_s=start_s, end_s=start_s + length_s),
        score=score,
        semantic=score,
        lexical=0.0,
    )


def test_hits_near_in_time_are_one_moment_with_the_best_score():
    near, far = [hit(0, 0.0, 0.2), hit(1, 7.9, 0.9)], hit(2, 16.0, 0.4)
    moments = fuse([*near, far], np.eye(3))
    assert [(m.span, m.score, len(m.hits)) for m in moments] == [
        (Span(start_s=0.0, end_s=12.9), 0.9, 2),
        (Span(start_s=16.0, end_s=21.0), 0.4, 1),
    ]


def test_hits_far_apart_that_say_the_same_are_one_moment():
    vectors = np.array([[1.0, 0.0], [0.9, np.sqrt(0.19)], [0.0, 1.0]])
    moments = fuse([hit(0, 0.0), hit(1, 60.0), hit(2, 120.0)], vectors)
    assert [[h.clip_index for h in m.hits] for m in moments] == [[0, 1], [2]]


def test_a_hit_between_two_groups_joins_them():
    assert len(fuse([hit(0, 0.0), hit(2, 13.0), hit(1, 6.5)], np.eye(3))) == 1


@examples(150)
@given(data=st.data(), count=st.integers(0, 8))
def test_fusion_keeps_every_hit_once_and_leaves_no_two_moments_that_belong(data, count):
    starts = data.draw(st.lists(st.integers(0, 60), min_size=count, max_size=count))
    kinds = data.draw(st.lists(st.integers(0, 20), min_size=count, max_size=count))
    scores = data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
    vectors = np.eye(21)[kinds] if count else np.zeros((0, 21))
    hits = [
        hit(n, float(start), score / 10, 2.0)
        for n, (start, score) in enumerate(zip(starts, scores, strict=True))
    ]
    moments = fuse(hits, vectors)
    kept = [h.clip_index for moment in moments for h in moment.hits]
    assert sorted(kept) == list(range(count))
    assert [m.score for m in moments] == sorted((m.score for m in moments), reverse=True)
    for moment in moments:
        assert moment.span.start_s == min(h.span.start_s for h in moment.hits)
        assert moment.span.end_s == max(h.span.end_s for h in moment.hits)
        for other in moments:
            apart = [(a, b) for a in moment.hits for b in other.hits if moment is not other]
            assert all(a.span.gap_s(b.span) >= FUSE_GAP_S for a, b in apart)
            assert all(
                vectors[a.clip_index] @ vectors[b.clip_index] <= FUSE_AFFINITY for a, b in apart
            )


def test_moments_leave_out_hits_far_below_the_best(ad):
    moments = ad.moments("www.lumivo.example", 5)
    assert [h.clip_index for m in moments for h in m.hits] == [5]


def test_of_few_clips_all_come_ranked_and_each_by_itself(ad):
    moments = ad.moments("www.lumivo.example", 6)
    assert [len(moment.hits) for moment in moments] == [1] * 6
    assert moments[0].hits[0].clip_index == 5
    assert [m.score for m in moments] == sorted((m.score for m in moments), reverse=True)


def test_the_clips_that_hold_a_word_are_found_in_any_of_its_forms(ad):
    found = ad.find_words("What do the lamps light? zebra")
    assert set(found) == {"lamps", "light", "zebra"}
    assert found["lamps"]
    assert found["zebra"] == frozenset()
