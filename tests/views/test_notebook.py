"""What a reader of a notebook sees: words, frames and times; and never a text as markup."""

from __future__ import annotations

import base64
import io
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from admir import Answer, Memory, ask, open_trace
from admir.demo import QUESTIONS
from admir.text import to_printable
from admir.trace import Backtracked
from admir.types import (
    Claim,
    ClaimStatus,
    Evidence,
    Frame,
    Inference,
    Narrative,
    ScreenText,
    Shot,
    Span,
    Step,
    Subject,
    Usage,
    Utterance,
)
from admir.views.notebook import (
    answer_html,
    backtracked_html,
    evidence_html,
    memory_html,
    register,
    step_html,
    trace_html,
)
from admir.views.notebook.markup import page, tag
from tests.answers import inferred_answer
from tests.properties import examples

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;$\x00\u202e"
VOID = {"img"}


class Reader(HTMLParser):
    """Reads HTML strictly: elements that are balanced, their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, name, attributes):
        self.names.add(name)
        self.attributes += attributes
        self.open += [name] if name not in VOID else []

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.text += [data] if "style" not in self.open else []

    def pictures(self) -> list[Image.Image]:
        uris = [value for name, value in self.attributes if name == "src"]
        assert all(uri.startswith("data:image/jpeg;base64,") for uri in uris)
        return [Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))) for uri in uris]


def text_of(html: str) -> str:
    return " ".join(Reader(html).text)


@pytest.fixture(scope="module")
def price(demo, memories) -> Answer:
    return ask(demo, QUESTIONS[1], memories=memories)


def hostile(value):
    """The same data with every text replaced by markup, ids of kinds and statuses kept."""
    if is_dataclass(value):
        kept = ("kind", "status", "basis", "transition", "light", "warmth", "file", "folder")
        changed = {
            f.name: hostile(getattr(value, f.name)) for f in fields(value) if f.name not in kept
        }
        return replace(value, **changed)
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, dict):
        return {f"{HOSTILE}{key}": hostile(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(hostile(item) for item in value)
    return value


def test_an_answer_shows_status_evidence_time_frame_and_reason(price, demo):
    html = answer_html(price, demo)
    read = Reader(html)
    text = " ".join(read.text)
    for words in ("$48", "verified", "grounded in the video", "e12", "16.3-19.6 s", "NOW $48"):
        assert words in text, words
    assert "frame at 17.0 s" in text
    assert "read again in the frame" in text
    assert read.pictures()[0].size == (320, 180)
    assert "shot 7, 27.2-32.2 s" in text


def test_the_steps_are_folded_with_calls_results_and_verdicts(price):
    html = answer_html(price)
    assert html.count("<details>") == len(price.steps) + 1
    text = text_of(html)
    for words in ("frame_inspect(", "mode = 'literal'", "draft rejected", "16.5-17.5 s"):
        assert words in text, words


def test_the_box_of_the_evidence_is_drawn_into_its_frame(price, demo):
    evidence = price.evidence[0]
    drawn, close = Reader(evidence_html(evidence)).pictures()
    [bare] = Reader(evidence_html(replace(evidence, box=None))).pictures()
    left, top, right, _ = (round(v * n) for v, n in zip(evidence.box, (320, 180) * 2, strict=True))
    above = (left, top - 6, right, top + 1)
    assert max(channel[1] for channel in drawn.crop(above).getextrema()[:2]) > 180
    assert max(channel[1] for channel in bare.crop(above).getextrema()[:1]) < 100
    assert close.width > 2 * close.height


@pytest.mark.parametrize(
    "box", [(0.5, 0.5, 0.5, 0.5), (-3.0, 2.0, 9.0, -1.0), (1.0, 1.0, 1.0, 1.0)]
)
def test_a_box_that_is_none_is_not_drawn(price, box):
    evidence = price.evidence[0]
    html = evidence_html(replace(evidence, box=box))
    assert html == evidence_html(replace(evidence, box=None))


def test_evidence_without_a_frame_shows_a_near_one_and_says_so(demo):
    evidence = Evidence(video_id="ad", kind="expert", span=Span(start_s=15, end_s=20), quote="q")
    assert "nearest kept frame, 17.0 s" in text_of(evidence_html(evidence, demo))
    assert Reader(evidence_html(evidence)).pictures() == []


def test_an_answer_finds_the_memory_that_its_trace_lies_with(price, tmp_path):
    assert "shot 7" in answer_html(price)
    lost = replace(price, trace=str(tmp_path / "a" / "b" / "c.jsonl"))
    text = text_of(answer_html(lost))
    assert "shot 7" not in text
    assert "length is not known here" in text


def test_an_inferred_claim_is_quoted_and_says_how_sure_it_is():
    html = answer_html(inferred_answer())
    text = text_of(html)
    assert "quoted; that it answers is inferred (62%), or: WAS $64 / 25% off [e1]" in text
    assert "Quoted, not proved: these words stand in the video" in text
    assert "draft accepted as quoted" in text
    assert "grounded" not in text
    assert html.count('<span class="chip inferred">') == 4
    assert ".admir .inferred {" in html


def test_every_status_has_a_style():
    styles = answer_html(inferred_answer())
    assert all(f".admir .{status} {{" in styles for status in get_args(ClaimStatus))


@pytest.mark.parametrize(
    ("basis", "grounded", "told"),
    [
        ("absence", False, "not grounded Not found; that it is absent is not proved"),
        ("absence", True, " grounded looked for, and not there"),
        ("premise", False, "not grounded No answer: the question supposes something that nothing"),
        ("none", False, "not grounded no frame"),
    ],
)
def test_what_an_answer_rests_on_is_said(basis, grounded, told):
    answer = replace(
        inferred_answer(), basis=basis, grounded=grounded, claims=(), reason="no frame"
    )
    assert told in text_of(answer_html(answer))


def test_what_nothing_shows_is_said():
    claim = Claim(text="a golden lamp", unsupported=("golden",))
    answer = replace(inferred_answer(), claims=(claim,))
    assert "a golden lamp  nothing shows: golden" in text_of(answer_html(answer))


def test_a_missing_frame_is_said(price, demo, tmp_path):
    evidence = replace(price.evidence[0], frame=str(tmp_path / "gone.jpg"))
    assert str(tmp_path / "gone.jpg") in text_of(answer_html(replace(price, evidence=(evidence,))))
    html = memory_html(replace(demo, folder=str(tmp_path)))
    assert html.count("frame missing or unreadable") == 12


@pytest.mark.parametrize(
    "content", [b"", b"GIF89a", b"\xff\xd8\xff\xe0broken", b"\x89PNG\r\n\x1a\n"]
)
def test_a_file_that_is_no_picture_is_said(price, tmp_path, content):
    (tmp_path / "odd.jpg").write_bytes(content)
    evidence = replace(price.evidence[0], frame=str(tmp_path / "odd.jpg"))
    assert "missing or unreadable" in text_of(evidence_html(evidence))


def test_a_path_that_no_file_has_is_said(price):
    for path in ("\0", "x" * 9000, "/", "/dev/null"):
        html = evidence_html(replace(price.evidence[0], frame=path))
        assert "missing or unreadable" in text_of(html)


def test_a_memory_reads_like_the_ad(demo, facts):
    html = memory_html(demo)
    text = text_of(html)
    for line in facts["screen_text"]:
        assert line["text"] in text
    for spoken in facts["speech"]:
        assert spoken["text"] in text
    for person in facts["characters"]:
        assert person["name"] in text
    assert len(Reader(html).pictures()) == 12
    assert f"and {len(demo.frames) - 12} more frames kept" in text
    assert html.count('class="mark shot-') == len(demo.shots)


def test_subjects_inferences_scene_text_and_slow_changes_are_shown(demo):
    seen = (Span(start_s=0.0, end_s=4.0), Span(start_s=9.0, end_s=12.5))
    person = Subject(id="p1", name="person 1", kind="person", seen=seen)
    found = Inference(
        kind="device",
        label="humour",
        span=seen[0],
        quote="ha ha",
        rule="Laughter is humour.",
        confidence=0.6,
    )
    html = memory_html(
        replace(
            demo,
            subjects=(person,),
            narrative=replace(demo.narrative, inferences=(found,)),
            screen_text=(replace(demo.screen_text[0], scene=True),),
            shots=(replace(demo.shots[0], transition="dissolve", transition_s=0.8),),
        )
    )
    text = text_of(html)
    for words in ("on screen 7.5 s", "humour", "“ha ha”", "Laughter is humour.", "confidence 0.60"):
        assert words in text, words
    assert "person 1 seen 9.0-12.5 s" in text
    assert "on a thing in the picture" in text
    assert "dissolve of 0.8 s" in text
    assert "~ a shot that opens with a dissolve or a fade; grey: text on a thing" in text
    assert html.count('class="mark subject"') == 2


def test_warnings_are_shown_and_a_memory_of_text_alone_has_no_frames():
    memory = Memory.from_timeline("t", [{"t": 1, "ocr": ["SALE"], "asr": "hello"}])
    memory = replace(memory, provenance=replace(memory.provenance, warnings=("no sound",)))
    html = memory_html(memory)
    assert Reader(html).pictures() == []
    for words in ("no sound", "SALE", "hello", "a memory of text alone"):
        assert words in text_of(html)


def test_an_empty_memory_is_shown():
    assert "nothing-here" in text_of(memory_html(Memory.from_timeline("nothing-here", [])))


def test_a_large_memory_stays_small_and_says_what_is_left_out(demo):
    many = 5000
    at = [Span(start_s=n * 0.001, end_s=n * 0.001 + 5) for n in range(many)]
    text = "word " * 500
    big = replace(
        demo,
        shots=tuple(Shot(index=n, span=s) for n, s in enumerate(at)),
        frames=tuple(Frame(time_s=s.start_s, file="x.jpg") for s in at),
        screen_text=tuple(
            ScreenText(span=s, text=text, box=(0, 0, 1, 1), confidence=1, frame_s=0) for s in at
        ),
        utterances=tuple(Utterance(span=s, text=text) for s in at),
        subjects=tuple(Subject(id="s", name=text, seen=tuple(at[:300])) for _ in range(300)),
        clips=tuple(replace(demo.clips[0], speech=text) for _ in at),
        narrative=Narrative(summary=text * 20, entities=(text,) * 900, explicit_text=(text,) * 900),
    )
    html = memory_html(big)
    assert len(html) < 1_000_000
    for words in (
        "and 4,960 more clips",
        "and 270 more subjects",
        "and 292 more subjects seen, not drawn",
        "and 4,990 more, not drawn",
    ):
        assert words in text_of(html), words


def test_a_large_answer_stays_small_and_says_what_is_left_out(price):
    step = price.steps[2]
    big = replace(
        price, evidence=price.evidence * 300, steps=(step,) * 300, claims=price.claims * 300
    )
    html = answer_html(big)
    assert len(html) < 1_500_000
    for words in ("and 276 more pieces of evidence", "and 260 more steps", "and 260 more claims"):
        assert words in text_of(html), words


def test_the_cost_of_a_model_is_stated(price):
    used = Usage(calls=3, input_tokens=1200, output_tokens=80, images=4, cost_usd=0.0123)
    text = text_of(step_html(replace(price.steps[0], usage=used)))
    assert "3 calls, 1,200 tokens in, 80 out, 4 pictures, $0.0123" in text


def test_a_trace_shows_its_steps_the_rejection_and_the_end(price, tmp_path):
    trace = open_trace(price.trace)
    text = text_of(trace_html(trace))
    for words in ("frame_inspect(", "look elsewhere", "Ranges tried: 6.7-9.5 s", "grounded"):
        assert words in text, words
    broken = replace(trace, events=trace.events[:3])
    assert "has no end" in text_of(trace_html(broken))


def views(price, demo):
    """Every display, of data whose every text is hostile."""
    answer, memory = hostile(price), hostile(demo)
    trace = hostile(open_trace(price.trace))
    return {
        "answer": answer_html(answer, memory),
        "memory": memory_html(memory),
        "steps": "".join(map(step_html, answer.steps)),
        "evidence": evidence_html(answer.evidence[0], memory),
        "trace": trace_html(trace),
        "backtracked": backtracked_html(trace.backtracks[0]),
    }


def test_no_text_becomes_markup(price, demo):
    for name, html in views(price, demo).items():
        read = Reader(html)
        assert not read.names & {"script", "iframe", "object", "link", "a"}, name
        assert not [a for a, _ in read.attributes if a.startswith("on") or a == "href"], name
        assert "<script>alert(1)</script>\"'><img" in " ".join(read.text), name
        assert "\x00" not in html
        assert "\u202e" not in html


def test_nothing_is_fetched_from_another_host(price, demo):
    for html in (answer_html(price, demo), memory_html(demo)):
        Reader(html).pictures()
        assert "http" not in html
        assert "url(" not in html
        assert "@import" not in html


any_text = st.text(st.sampled_from("<>&\"'/=;#!-$ab\n ") | st.characters(codec="utf-8"))


@examples(200)
@given(any_text, any_text)
def test_what_is_told_is_read_back_whatever_it_is(words, value):
    read = Reader(page(tag("p", words, title=value)))
    told = ["\n".join(map(to_printable, text.split("\n"))) for text in (words, value)]
    assert "".join(read.text) == told[0]
    assert read.attributes[-1] == ("title", told[1])
    assert [name for name, _ in read.attributes] == ["class", "title"]
    assert read.names == {"div", "style", "p"}


def test_dollars_are_no_formula(price):
    assert 'class="admir tex2jax_ignore mathjax_ignore"' in answer_html(price)


class Formatter:
    """Takes what IPython's formatter takes."""

    def __init__(self) -> None:
        self.types: dict[type, object] = {}

    def for_type(self, kind, show):
        self.types[kind] = show


def test_every_type_is_registered():
    html = Formatter()
    register(SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": html})))
    assert {Answer, Memory, Step, Evidence, Backtracked} < set(html.types)


@pytest.mark.parametrize(
    "setup",
    [
        "ip = InteractiveShell.instance()\nimport admir",
        "import admir\nip = InteractiveShell.instance()\nip.run_line_magic('load_ext', 'admir')",
    ],
)
def test_a_shell_shows_html_and_keeps_the_plain_text(setup, tmp_path):
    code = (
        f"from IPython.core.interactiveshell import InteractiveShell\n{setup}\n"
        "ip.display_formatter.active_types = ['text/plain', 'text/html']\n"
        "from admir import Memory\n"
        "data, _ = ip.display_formatter.format(Memory.from_timeline('some-ad', []))\n"
        "print(data['text/html'][:11], data['text/plain'][:13])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"IPYTHONDIR": str(tmp_path), "PATH": ""},
    )
    assert (done.stdout.strip(), done.returncode) == ("<div class= Memory(video=", 0), done.stderr


def test_outside_of_a_notebook_nothing_is_loaded_for_it():
    code = (
        "import sys, admir; print([m for m in ('IPython', 'PIL', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
