"""What people correct is laid over a memory: wherever it is told, nowhere else, reversibly."""

from __future__ import annotations

import json
from dataclasses import replace

import cv2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir import Memory, ask, build_memory, open_memory
from admir.api import reindex
from admir.errors import CorrectionError, MemoryDamaged, UnknownCorrection, UnknownVideo
from admir.memory.corrections import NO_TEXT, added, corrected, new_correction, phrases_of, reread
from admir.memory.store import MemoryStore
from admir.settings import load_settings
from admir.types import Inference, Narrative, ScreenText, Span, Subject
from tests.drawing import flat, write_video
from tests.properties import examples

ROWS = [
    {"t": 0, "ocr": ["LUMIV0"], "asr": "a lamp"},
    {"t": 1, "ocr": ["LUMIV0", "Only $43"]},
    {"t": 6, "ocr": ["Buy now"]},
]


def make() -> Memory:
    """Two clips; the brand is misread, and captions, story and registry repeat that."""
    bare = Memory.from_timeline("ad", ROWS)
    captions = ('Text: "LUMIV0", "Only $43".', "A hand.")
    span = Span(start_s=0, end_s=1)
    arc = Inference(kind="arc", label="hook", span=span, quote="LUMIV0", rule="r", confidence=0.5)
    return replace(
        bare,
        clips=tuple(replace(c, caption=t) for c, t in zip(bare.clips, captions, strict=True)),
        narrative=Narrative(summary="LUMIV0 sells.", entities=("LUMIV0",), inferences=(arc,)),
        subjects=(Subject(id="s1", name="LUMIV0", identity=("reads LUMIV0",)),),
    )


def line(was, text):
    return new_correction("screen_text", text, was)


def test_a_corrected_line_is_right_wherever_it_is_told():
    memory = corrected(make(), [line("LUMIV0", "LUMIVO")])
    first = memory.screen_text[0]
    assert (first.text, first.was) == ("LUMIVO", "LUMIV0")
    assert memory.clips[0].screen_text[0] == "LUMIVO"
    assert memory.clips[0].caption == 'Text: "LUMIVO", "Only $43".'
    assert memory.narrative.text.count("LUMIVO") == 2
    assert memory.narrative.inferences[0].quote == "LUMIVO"
    assert memory.subjects[0].profile == "LUMIVO reads LUMIVO"
    assert [clip.corrected for clip in memory.clips] == [True, False]
    assert memory.clips[1] == make().clips[1]


def test_what_is_no_text_is_no_line_any_more():
    memory = corrected(make(), [line("LUMIV0", "")])
    assert [each.text for each in memory.screen_text] == ["Only $43", "Buy now"]
    assert memory.clips[0].caption == f'Text: "{NO_TEXT}", "Only $43".'
    assert memory.narrative.entities == ()
    assert memory.subjects == ()


def test_a_told_brand_comes_first_and_leaves_the_lines_alone():
    memory = corrected(make(), [new_correction("brand", "Lumivo Ltd", "LUMIV0")])
    assert memory.narrative.entities == ("Lumivo Ltd",)
    assert memory.subjects[0].name == "Lumivo Ltd"
    assert memory.screen_text == make().screen_text
    added_to = corrected(make(), [new_correction("brand", "Acme")])
    assert added_to.narrative.entities == ("Acme", "LUMIV0")


def test_two_lines_that_were_mixed_up_change_places():
    both = [line("LUMIV0", "Buy now"), line("Buy now", "LUMIV0")]
    memory = corrected(make(), both)
    assert [each.text for each in memory.screen_text] == ["Buy now", "Only $43", "LUMIV0"]
    assert memory.narrative.summary == "Buy now sells."


def told(memory, text):
    """A memory whose narrative says this."""
    return replace(memory, narrative=Narrative(summary=text))


@pytest.mark.parametrize(
    ("was", "right", "text", "said"),
    [
        ("5", "S", '5 shots, "5" on screen, 15', '5 shots, "S" on screen, 15'),
        ("with", "", "A woman with a lamp", "A woman with a lamp"),
        ("hand", "band", 'her hand, "hand"', 'her hand, "band"'),
        ("LG", "KG", "LG sells", "KG sells"),
        ("LG", "KG", "ALGA", "ALGA"),
        ("$43", "$48", "ONLY $43, not $430 or $43.50", "ONLY $48, not $430 or $43.50"),
        ("华为", "小米", "画面写着华为手机", "画面写着小米手机"),
        ("25%", "30%", "It offers 25%.", "It offers 30%."),
    ],
)
def test_names_and_prices_are_put_right_anywhere_other_words_where_they_are_quoted(
    was, right, text, said
):
    memory = told(Memory.from_timeline("ad", [{"t": 0, "ocr": [was], "asr": ""}]), text)
    assert corrected(memory, [line(was, right)]).narrative.summary == said


def test_a_block_of_lines_is_put_right_where_it_is_quoted():
    def shown(text, top):
        span, box = Span(start_s=0, end_s=2), (0.1, top, 0.5, top + 0.1)
        return ScreenText(span=span, text=text, box=box, confidence=1, frame_s=0)

    memory = told(replace(make(), screen_text=(shown("so it", 0.1), shown("is hand made", 0.21))),
                  'Text: "so it is hand made".')  # fmt: skip
    right = corrected(memory, [line("is hand made", "is home made")])
    assert right.narrative.summary == 'Text: "so it is home made".'


def test_a_line_that_this_build_did_not_read_changes_nothing_told():
    memory = told(make(), 'The "SALE" of LUMIV0.')
    assert corrected(memory, [line("SALE", "DALE")]).narrative == memory.narrative


@pytest.mark.parametrize(
    ("again", "right"),
    [
        ("LUMIV0", "LUMIVO"),
        ("LUMIV0.", "LUMIVO"),
        ("LUMlV0 HOME", "LUMlV0 HOME"),
        ('"LUMIV0" in white on red', '"LUMIVO" in white on red'),
        ("Only $48", "Only $48"),
        ("Only $43", "Only $44"),
        ("Buy now", "Buy now"),
    ],
)
def test_what_is_read_again_is_put_right_but_other_figures_are_another_line(again, right):
    memory = corrected(make(), [line("LUMIV0", "LUMIVO"), line("Only $43", "Only $44")])
    assert reread(again, memory, phrases_of(memory)) == right


def test_a_line_is_not_taken_for_one_that_is_nearly_alike():
    lines = [{"t": n, "ocr": [text], "asr": ""} for n, text in
             enumerate(("LUMIVO HOMES", "LUMIVO HOME", "LUMIVQ HOME"))]  # fmt: skip
    memory = corrected(Memory.from_timeline("ad", lines),
                       [line("LUMIVO HOMES", "LUMIVO INNS"), line("LUMIVQ HOME", "")])  # fmt: skip
    assert reread("LUMIVO HOME", memory, phrases_of(memory)) == "LUMIVO HOME"
    assert reread("LUMIVQ HOME", memory, phrases_of(memory)) == ""
    assert reread("LUMIVO  HOMEZ", memory, phrases_of(memory)) != ""


def test_of_a_misreading_and_a_right_reading_each_is_corrected_by_itself():
    both = Memory.from_timeline("ad", [{"t": 0, "ocr": ["LUMIVO"]}, {"t": 3, "ocr": ["LUMIV0"]}])
    known = added(both, (), line("LUMIV0", "LUMIVO"))
    known = added(both, known, line("LUMIVO", "LUMIVO HOME"))
    assert [each.text for each in corrected(both, known).screen_text] == ["LUMIVO HOME", "LUMIVO"]


def test_the_later_correction_of_a_reading_takes_the_place_of_the_one_before():
    memory = make()
    known = added(memory, added(memory, (), line("LUMIV0", "x")), line("LUMIV0", "LUMIVO"))
    assert [(c.was, c.text) for c in known] == [("LUMIV0", "LUMIVO")]
    known = added(memory, (), new_correction("brand", "A"))
    known = added(memory, known, new_correction("brand", "B"))
    assert [c.text for c in known] == ["B"]


def test_a_line_with_odd_spaces_can_be_corrected():
    memory = Memory.from_timeline("ad", [{"t": 0, "ocr": ["BUY\u3000 NOW"], "asr": ""}])
    right = corrected(memory, added(memory, (), line("BUY  NOW", "BY NOW")))
    assert [each.text for each in right.screen_text] == ["BY NOW"]


@pytest.mark.parametrize(
    ("kind", "text", "was", "why"),
    [
        ("screen_text", "x", "", "which line"),
        ("screen_text", "x", " x ", "already"),
        ("brand", " \u202e ", "", "needs a name"),
        ("brand", "x" * 501, "", "500 characters"),
    ],
)
def test_a_correction_that_says_nothing_is_refused(kind, text, was, why):
    with pytest.raises(CorrectionError, match=why):
        new_correction(kind, text, was)


def test_a_line_that_nobody_read_cannot_be_corrected():
    with pytest.raises(CorrectionError, match="no line of 'ad' was read as \"LUMIVO\""):
        added(make(), (), line("LUMIVO", "x"))


_TEXTS = st.text(st.characters(categories=("L", "N", "P", "Zs")), max_size=12)


@examples(60)
@given(st.lists(st.tuples(_TEXTS, _TEXTS), max_size=4))
def test_corrections_of_what_was_not_read_change_nothing_else(pairs):
    memory = make()
    given_ = []
    for was, text in pairs:
        try:
            given_.append(line(f"{was}zzz", text))
        except CorrectionError:
            continue
    changed = corrected(memory, given_)
    assert replace(changed, corrections=()) == memory


# Beside a build on disk


@pytest.fixture
def store(demo_copy):
    return MemoryStore(demo_copy)


def test_a_corrected_line_answers_is_marked_and_is_not_read_against(store):
    """The frame still reads LUMIVO; the person's word stands, and says so."""
    store.correct("ad", line("LUMIVO", "VELTRA"))
    answer = ask("ad", "Which brand is advertised?", memories=store.root)
    assert answer.grounded, answer.reason
    assert "veltra" in answer.answer.lower()
    [piece, *_] = [e for e in answer.evidence if e.corrected]
    assert piece.source == "screen text, corrected by a person"
    assert "a person's word" in answer.claims[0].reason


def test_a_told_brand_is_the_answer(store):
    store.correct("ad", new_correction("brand", "Halden & Sons"))
    answer = ask("ad", "Which brand is advertised?", memories=store.root)
    assert answer.grounded, answer.reason
    assert "Halden & Sons" in answer.answer
    assert [e.kind for e in answer.evidence] == ["person"]


def test_a_corrected_line_is_found_by_its_right_words(store):
    before = open_memory("ad", memories=store.root)
    was = max((each.text for each in before.screen_text), key=len)
    store.correct("ad", line(was, "Quokkas welcome"))
    answer = ask("ad", "What does the ad say about quokkas?", memories=store.root)
    assert "Quokkas welcome" in answer.answer
    assert answer.grounded, answer.reason


def test_frames_that_are_looked_at_again_say_what_the_person_said(store):
    question = "What text is shown at 1 second?"
    before = ask("ad", question, memories=store.root)
    [was, *_] = [e.quote for e in before.evidence if e.kind in ("frame", "screen_text")]
    parts = [each.text for each in open_memory("ad", memories=store.root).screen_text]
    wrong = next(part for part in parts if part in was)
    store.correct("ad", line(wrong, "Quokkas welcome"))
    after = ask("ad", question, memories=store.root)
    assert "Quokkas" in after.answer
    assert wrong not in after.answer


def test_a_correction_outlives_a_new_build_and_new_vectors(tmp_path):
    def draw(_):
        picture = flat((30, 30, 30), (320, 120))
        cv2.putText(picture, "LUMIVO", (40, 80), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (255, 255, 255), 3)
        return picture

    video = write_video(tmp_path / "ad.mp4", draw, frames=10, fps=10, size=(320, 120))
    made = build_memory(video, memories=tmp_path / "m")
    [read] = made.screen_text
    store = MemoryStore(tmp_path / "m")
    store.correct("ad", line(read.text, "VELTRA"))
    assert build_memory(video, memories=store.root).screen_text == store.read("ad").screen_text
    again = build_memory(video, memories=store.root, metadata={"campaign": "spring"})
    assert again.provenance.built_at >= made.provenance.built_at
    assert [(each.text, each.was) for each in again.screen_text] == [("VELTRA", read.text)]
    reindex("ad", load_settings(memories=store.root))
    number = (store.root / "ad/current").read_text().strip()
    assert number == "3"
    built = json.loads((store.root / "ad/builds" / number / "memory.json").read_text())
    assert [each["text"] for each in built["screen_text"]] == [read.text]
    assert "corrections" not in built
    store.withdraw("ad", store.read("ad").corrections[0].id)
    assert store.read("ad") == store.read_built("ad")


def test_what_is_not_there_cannot_be_taken_back(store):
    with pytest.raises(UnknownCorrection, match="no correction 'nope'"):
        store.withdraw("ad", "nope")
    with pytest.raises(UnknownVideo):
        store.correct("nope", line("LUMIVO", "x"))


def test_corrections_are_of_a_film_and_not_of_its_place(tmp_path):
    """Another film at the same path has the same id, and none of its corrections."""
    video = write_video(tmp_path / "clip.mp4", lambda _: flat((30, 30, 30), (64, 48)), frames=5)
    build_memory(video, memories=tmp_path / "m")
    store = MemoryStore(tmp_path / "m")
    store.correct("clip", new_correction("brand", "Acme Cola"))
    first = video.read_bytes()
    write_video(video, lambda _: flat((200, 30, 30), (64, 48)), frames=5)
    assert build_memory(video, memories=store.root).corrections == ()
    store.correct("clip", new_correction("brand", "Other"))
    video.write_bytes(first)
    assert [c.text for c in build_memory(video, memories=store.root).corrections] == ["Acme Cola"]


def test_a_video_of_a_long_name_is_corrected_and_removed(tmp_path):
    name = "片" * 60 + "ab"
    video = write_video(tmp_path / f"{name}.mp4", lambda _: flat((30, 30, 30), (64, 48)), frames=5)
    made = build_memory(video, memories=tmp_path / "m")
    store = MemoryStore(tmp_path / "m")
    store.correct(made.video.id, new_correction("brand", "Acme"))
    store.remove(made.video.id)
    assert store.ids() == ()


def test_what_is_removed_is_not_corrected_and_leaves_nothing(store, monkeypatch):
    memory = store.read_built("ad")
    store.remove("ad")
    monkeypatch.setattr(store, "read_built", lambda _: memory)  # read before it was removed
    with pytest.raises(UnknownVideo):
        store.correct("ad", new_correction("brand", "Ghost"))
    assert not (store.root / "ad").exists()


def test_a_told_brand_is_no_product_and_proves_itself_by_whole_words(store):
    before = ask("ad", "What is the product called?", memories=store.root)
    store.correct("ad", new_correction("brand", "On"))
    assert ask("ad", "What is the product called?", memories=store.root).answer == before.answer
    answer = ask("ad", "Which brand is advertised?", memories=store.root)
    assert (answer.answer, [e.kind for e in answer.evidence]) == ("On", ["person"])


@pytest.mark.parametrize("broken", [b"", b"{", b'[{"id": 1}]', b"\xff"])
def test_a_damaged_file_of_corrections_is_said_and_not_overwritten(store, broken):
    path = store.root / "ad/corrections.json"
    path.write_bytes(broken)
    with pytest.raises(MemoryDamaged, match=r"corrections\.json cannot be read .*remove it"):
        store.read("ad")
    with pytest.raises(MemoryDamaged):
        store.correct("ad", line("LUMIVO", "x"))
    assert path.read_bytes() == broken
