"""Speech from subtitles beside the video and inside it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.sidecars import sidecar_of
from admir.perception.subtitles import (
    MAX_SUBTITLE_BYTES,
    parse_subtitles,
    read_subtitles,
)
from tests.conftest import write_video
from tests.perception.videos import encode, numbered
from tests.properties import examples

TWO_CUES = """1
00:00:00,600 --> 00:00:02,559
Mia: I can hardly see.

2
00:00:04,800 --> 00:00:06,359
My eyes hurt.
"""
TWO_UTTERANCES = [(0.6, 2.559, "Mia", "I can hardly see."), (4.8, 6.359, None, "My eyes hurt.")]


def told(utterances):
    return [
        (round(u.span.start_s, 3), round(u.span.end_s, 3), u.speaker, u.text) for u in utterances
    ]


def parsed(text):
    return told(parse_subtitles(text))


def one_cue(text):
    """(speaker, text) of a cue with this body; None where it is no speech."""
    found = parse_subtitles(f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n")
    return (found[0].speaker, found[0].text) if found else None


def beside(tmp_path, data, name="ad.srt"):
    """The transcript of a video with this subtitle file beside it."""
    (tmp_path / name).write_bytes(data)
    return read_subtitles(tmp_path / "ad.mp4")


def test_the_speech_of_the_ad_has_its_exact_words_times_and_speakers(demo, facts):
    true = [(x["start_s"], x["end_s"], x["speaker"], x["text"]) for x in facts["speech"]]
    assert told(demo.utterances) == true
    assert demo.provenance.speech_source == "ad.srt"


# Files beside the video


def test_an_srt_file_gives_its_cues(tmp_path):
    found = beside(tmp_path, TWO_CUES.encode())
    assert (told(found.utterances), found.source) == (TWO_UTTERANCES, "ad.srt")


def test_a_vtt_file_gives_its_cues_without_header_settings_and_markup(tmp_path):
    text = (
        "WEBVTT - an ad\n\nSTYLE\n::cue { color: red }\n\nNOTE made by hand\n\n"
        "intro\n00:00.600 --> 00:02.559 align:start position:10%\n"
        "<v Mia>I can <i>hardly</i> <00:01.000>see.</v>\n\n"
        "01:00:04.800 --> 01:00:06.359\n<v.loud Tom>My eyes&nbsp;hurt.\n"
    )
    found = beside(tmp_path, text.encode(), "ad.vtt")
    assert told(found.utterances) == [
        (0.6, 2.559, "Mia", "I can hardly see."),
        (3604.8, 3606.359, "Tom", "My eyes hurt."),
    ]


def test_srt_wins_over_vtt(tmp_path):
    (tmp_path / "ad.vtt").write_text("WEBVTT\n")
    (tmp_path / "ad.srt").write_text("")
    assert sidecar_of(tmp_path / "ad.mp4") == tmp_path / "ad.srt"


def test_the_file_beside_the_video_wins_over_a_track_inside(tmp_path):
    video = encode(tmp_path / "ad.mp4", [numbered(1)] * 20, cues=[(100, 500, "inside")])
    (tmp_path / "ad.srt").write_text(TWO_CUES)
    assert told(read_subtitles(video).utterances) == TWO_UTTERANCES


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "utf-16-le-bom", "utf-16-be-bom"]
)
def test_the_usual_encodings_of_a_chinese_file_are_read(tmp_path, encoding):
    text = TWO_CUES.replace("My eyes hurt.", "我的眼睛很疼，今天只要48元。")
    if encoding.endswith("-bom"):
        data = ("\ufeff" + text).encode(encoding.removesuffix("-bom"))
    else:
        data = text.encode(encoding)
    assert [u.text for u in beside(tmp_path, data).utterances] == [
        "I can hardly see.",
        "我的眼睛很疼，今天只要48元。",
    ]


def test_a_western_file_of_one_byte_letters_is_read(tmp_path):
    text = TWO_CUES.replace("My eyes hurt.", "Un café, s'il vous plaît")
    found = beside(tmp_path, text.encode("latin-1"))
    assert found.utterances[1].text == "Un café, s'il vous plaît"


@pytest.mark.parametrize(
    "words", ["Déjà vu, très bientôt – 5 €", "Größe für Mädchen", "“Now” it’s"]
)
def test_a_windows_file_does_not_become_chinese(tmp_path, words):
    found = beside(tmp_path, TWO_CUES.replace("My eyes hurt.", words).encode("cp1252"))
    assert found.utterances[1].text == words


def test_a_subtitle_file_that_cannot_be_read_says_so(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    found = beside(tmp_path, TWO_CUES.encode())
    assert (found.utterances, found.source) == (
        (),
        "none: ad.srt cannot be read (Permission denied)",
    )


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", ""])
def test_a_name_that_no_disk_can_hold_has_no_subtitles(name):
    assert sidecar_of(Path(name)) is None


@pytest.mark.parametrize(
    "piece", ["<", "{\\", "&#", "<v ", "00:00:01.0 --> ", "9:", "[", "-->\n", "-"]
)
def test_hostile_subtitles_are_read_quickly(piece):
    started = time.process_time()
    parse_subtitles("00:00:01.0 --> 00:00:02.0\n" + piece * (200_000 // len(piece)))
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends_of_other_systems_are_line_ends(ending):
    assert parsed(TWO_CUES.replace("\n", ending)) == TWO_UTTERANCES


def test_a_file_without_a_cue_counts_as_none_and_says_so(tmp_path):
    found = beside(tmp_path, b"\x00\xff\xfe nothing to see\n" * 9)
    assert found.utterances == ()
    assert found.source == "none: ad.srt holds no cue that can be read"


def test_a_huge_file_is_not_read_and_says_so(tmp_path):
    found = beside(tmp_path, b"\n" * (MAX_SUBTITLE_BYTES + 1))
    assert (found.utterances, found.source) == ((), "none: ad.srt is over 8 MB")


def test_no_subtitles_anywhere_count_as_none(tmp_path):
    video = write_video(tmp_path / "ad.mp4", numbered, frames=3)
    found = read_subtitles(video)
    assert (found.utterances, found.source[:5]) == ((), "none:")


# Tracks inside the video


@pytest.mark.parametrize(
    ("name", "cue_codec"),
    [("ad.mp4", "mov_text"), ("ad.mkv", "srt"), ("ad.mkv", "ass"), ("ad.mkv", "webvtt")],
)
def test_a_subtitle_track_inside_the_video_gives_its_cues(tmp_path, name, cue_codec):
    cues = [(200, 800, "Mia: Hello, there"), (1000, 1600, "<i>Two</i> lines\\Nhere {\\b1}now")]
    video = encode(tmp_path / name, [numbered(1)] * 50, cues=cues, cue_codec=cue_codec)
    found = read_subtitles(video)
    assert told(found.utterances) == [
        (0.2, 0.8, "Mia", "Hello, there"),
        (1.0, 1.6, None, "Two lines here now"),
    ]
    assert found.source == "subtitle track inside the video"


def test_a_track_of_a_late_video_counts_from_the_first_picture(tmp_path):
    late = [2000 + 40 * n for n in range(25)]
    video = encode(
        tmp_path / "late.mkv",
        [numbered(1)] * 25,
        times_ms=late,
        cues=[(2200, 2800, "hello")],
        cue_codec="srt",
    )
    assert told(read_subtitles(video).utterances) == [(0.2, 0.8, None, "hello")]


# Cues


@pytest.mark.parametrize(
    ("raw", "speaker", "text"),
    [
        ("Mia: Hello", "Mia", "Hello"),
        ("- Mia: Hello", "Mia", "Hello"),
        ("DR. O'Neil-Smith: Hello", "DR. O'Neil-Smith", "Hello"),
        ("小明: 你好", "小明", "你好"),
        ("<v Mia>Hello</v>", "Mia", "Hello"),
        ("<v Mia>Remember: switch it off</v>", "Mia", "Remember: switch it off"),
        ("It costs 12:30", None, "It costs 12:30"),
        ("Only today: five dollars off", None, "Only today: five dollars off"),
        ("Price: 48 dollars", None, "Price: 48 dollars"),
        ("A Name Of Words: Hello", None, "A Name Of Words: Hello"),
        ("Old Mr. Bean: Hello", "Old Mr. Bean", "Hello"),
        ("be\x1b[31mware\u202e &#x202e;now", None, "be[31mware now"),
        ("www.lumivo.example:8080", None, "www.lumivo.example:8080"),
        ("{\\an8}<b>Two\nlines</b>", None, "Two lines"),
        ("♪ Light that listens ♪", None, "Light that listens"),
        ("(laughs) Yes", None, "(laughs) Yes"),
        ("fish &amp; chips &lt;3", None, "fish & chips <3"),
    ],
)
def test_a_cue_is_told_by_speaker_and_plain_words(raw, speaker, text):
    assert one_cue(raw) == (speaker, text)


@pytest.mark.parametrize("raw", ["[Music]", "(door slams)", "♪♪♪", "...", "-", "<i></i>", "♪ ♪"])
def test_sounds_and_empty_cues_are_no_speech(raw):
    assert one_cue(raw) is None


@pytest.mark.parametrize(
    ("stamp", "times"),
    [
        ("0:00:01.5 --> 0:00:02.25", (1.5, 2.25)),
        ("00:01,000-->00:02,000", (1.0, 2.0)),
        ("00:00:01,000 --> 00:00:02,000 X1:10 X2:20", (1.0, 2.0)),
        ("100:00:01,000 --> 100:00:02,000", (360001.0, 360002.0)),
    ],
)
def test_looser_spellings_of_a_time_are_understood(stamp, times):
    (found,) = parse_subtitles(f"{stamp}\nhello\n")
    assert (found.span.start_s, found.span.end_s) == times


def test_cues_come_in_order_of_their_time():
    first, second = TWO_CUES.split("\n\n")
    assert parsed(f"{second}\n\n{first}\n") == TWO_UTTERANCES


@pytest.mark.parametrize(
    "broken",
    [
        "3\n00:00:09,000 --> 00:00:08,000\nends before it starts",
        "3\n00:00:09,000 --> 00:00:09,000\nno length",
        "3\n00:00:09,000 -> 00:00:10,000\nno arrow",
        "3\nsoon --> later\nno times",
        "3\n00:00:09,000 -->\nno end",
    ],
)
def test_a_broken_cue_is_left_out_and_its_neighbours_stay(broken):
    first, second = TWO_CUES.split("\n\n")
    assert parsed(f"{first}\n\n{broken}\n\n{second}") == TWO_UTTERANCES


def test_a_cue_without_words_does_not_swallow_the_next_one():
    assert parsed(f"0\n00:00:00,100 --> 00:00:00,500\n\n{TWO_CUES}") == TWO_UTTERANCES


def test_cues_without_a_blank_line_between_them_are_told_apart():
    assert parsed(TWO_CUES.replace("\n\n", "\n")) == TWO_UTTERANCES


@pytest.mark.parametrize("digits", [400, 5000])
def test_absurd_hours_are_a_broken_cue(digits):
    assert parsed(f"{'1' * digits}:00:00.0 --> {'2' * digits}:00:01.0\nhello\n\n{TWO_CUES}") == (
        TWO_UTTERANCES
    )


def test_a_long_run_of_digits_is_read_quickly():
    started = time.process_time()
    parse_subtitles("9" * 10_000)
    assert time.process_time() - started < 0.1


PIECES = st.sampled_from(
    [
        "\n",
        "\n\n",
        "\r\n",
        " --> ",
        "00:00:01,000",
        "00:00:02.5",
        "12:34",
        "Mia: ",
        "<v Tom>",
        "</v>",
        "<",
        ">",
        "{\\an8}",
        "♪",
        "[",
        "&#0;",
        "&#1114112;",
        "WEBVTT",
        "hello",
        "半价",
    ]
)


@examples(300)
@given(st.text(max_size=80) | st.lists(PIECES | st.text(max_size=4), max_size=25).map("".join))
def test_any_text_gives_ordered_utterances_with_words_and_length(text):
    found = parse_subtitles(text)
    starts = [u.span.start_s for u in found]
    assert starts == sorted(starts)
    assert all(u.text.strip() and u.span.duration_s > 0 for u in found)
    assert all(u.speaker is None or u.speaker.strip() for u in found)


@examples(100)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 10_000_000),
            st.integers(1, 60_000),
            st.sampled_from([None, "Mia", "Narrator"]),
            st.text("abc 半价48$%", min_size=1).map(str.split).map(" ".join).filter(bool),
        ),
        max_size=6,
        unique_by=lambda cue: cue[0],
    )
)
def test_what_is_written_as_srt_is_read_back_to_the_millisecond(cues):
    text = "".join(
        f"{n}\r\n{stamp(start)} --> {stamp(start + length)}\r\n{said(speaker, words)}\r\n\r\n"
        for n, (start, length, speaker, words) in enumerate(cues)
    )
    expected = [(a / 1000, (a + b) / 1000, *heard(s, w)) for a, b, s, w in sorted(cues)]
    assert parsed(text) == expected


def stamp(ms):
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"


def heard(speaker, words):
    """A name before a number is not taken for a speaker: it may be `Price: 48`."""
    return (None, said(speaker, words)) if words[0].isdigit() else (speaker, words)


def said(speaker, words):
    return f"{speaker}: {words}" if speaker else words


@examples(60)
@given(st.binary(max_size=200))
def test_any_bytes_beside_a_video_are_read_without_a_crash(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("bytes")
    beside(folder, data)
