"""Which subtitles belong to a video, of several languages."""

from __future__ import annotations

import av
import pytest

from admir.perception.sidecars import language_code, sidecar_of
from admir.perception.subtitles import has_subtitles, read_subtitles
from tests.conftest import flat, write_video

CUE = "1\n00:00:00,100 --> 00:00:00,900\n{}\n"


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        *(("en", "en"), ("eng", "en"), ("en-US", "en"), ("zh-Hans", "zh"), ("zho", "zh")),
        *(("chi", "zh"), ("PT_br", "pt"), ("haw", "haw"), ("und", None), ("sdh", None)),
        *(("", None), (None, None), ("forced", None), ("take 2", None)),
    ],
)
def test_tags_of_languages(tag, code):
    assert language_code(tag) == code


@pytest.mark.parametrize(
    ("files", "language", "taken"),
    [
        (["ad.srt", "ad.vtt"], None, "ad.srt"),
        (["ad.vtt", "ad.en.srt"], None, "ad.vtt"),
        (["ad.zh.vtt", "ad.en.srt"], None, "ad.en.srt"),
        (["ad.zh.vtt", "ad.en.srt"], "zh", "ad.zh.vtt"),
        (["ad.srt", "ad.eng.srt"], "en", "ad.eng.srt"),
        (["ad.srt", "ad.zh-Hans.srt"], "en", "ad.srt"),
        (["ad.zh.srt"], "en", None),
        (["ad.en-US.VTT"], "en", "ad.en-US.VTT"),
        (["ad.forced.srt", "ad.sdh.srt", "ad.txt", "advert.en.srt"], None, None),
        (["ad.en.srt", "ad.en.mp4"], None, None),
        ([], "en", None),
    ],
)
def test_which_file_is_taken(tmp_path, files, language, taken):
    for name in files:
        (tmp_path / name).write_text("")
    (tmp_path / "ad.it.srt").mkdir()
    found = sidecar_of(tmp_path / "ad.mp4", language)
    assert (found.name if found else None) == taken


def with_tracks(path, *languages):
    """A video with a track of subtitles for each language; None names none."""
    plain = write_video(path.with_name("plain.mp4"), lambda _: flat((0, 0, 0)))
    with av.open(str(plain)) as source, av.open(str(path), "w") as out:
        video = out.add_stream_from_template(source.streams.video[0])
        tracks = []
        for language in languages:
            cues = path.with_name(f"cues.{language}.srt.txt")
            cues.write_text(CUE.format(f"in {language}"))
            with av.open(str(cues), format="srt") as file:
                track = out.add_stream_from_template(file.streams.subtitles[0])
                if language:
                    track.metadata["language"] = language
                tracks.append((track, [p for p in file.demux() if p.size]))
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = video
                out.mux(packet)
        for track, packets in tracks:
            for packet in packets:
                packet.stream = track
                out.mux(packet)
    return path


@pytest.mark.parametrize(
    ("languages", "wanted", "said"),
    [
        (("eng", "chi"), None, "in eng"),
        (("eng", "chi"), "zh", "in chi"),
        (("eng", "chi"), "fr", None),
        ((None, "fre"), "fr", "in fre"),
        ((None, "fre"), "en", "in None"),
        ((), "en", None),
    ],
)
def test_which_track_inside_is_taken(tmp_path, languages, wanted, said):
    video = with_tracks(tmp_path / "ad.mkv", *languages)
    found = read_subtitles(video, wanted)
    assert [each.text for each in found.utterances] == ([said] if said else [])
    assert has_subtitles(video, wanted) == bool(said)


def test_a_file_without_a_cue_is_no_subtitles(tmp_path):
    video = with_tracks(tmp_path / "ad.mkv", "eng")
    (tmp_path / "ad.srt").write_text("nothing here")
    assert not has_subtitles(video)
    (tmp_path / "ad.srt").write_text(CUE.format("Hello"))
    assert has_subtitles(video)


def test_a_file_that_is_no_video_has_none(tmp_path):
    (tmp_path / "ad.mp4").write_bytes(b"no video")
    assert not has_subtitles(tmp_path / "ad.mp4")
