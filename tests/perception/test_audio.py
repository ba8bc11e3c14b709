"""The sound of a video as samples: in step with the picture, whatever the file does."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.errors import VideoNotFound, VideoUnreadable
from admir.perception import audio
from admir.perception.audio import decode_audio
from admir.perception.speech import SAMPLE_RATE
from tests.conftest import flat, write_video
from tests.perception.voices import click, music, voice, write_sounding
from tests.properties import examples

STARTS = {
    "together": {},
    "picture later": {"picture_at_s": 1.0},
    "sound later": {"sound_at_s": 0.6},
    "both": {"picture_at_s": 1.0, "sound_at_s": 0.4},
}


def heard_at_s(samples):
    return np.flatnonzero(np.abs(samples) > 0.2)[0] / SAMPLE_RATE


@pytest.mark.parametrize(
    ("kind", "codec"),
    [("mkv", "pcm_s16le"), ("mkv", "flac"), ("mov", "pcm_s16le"), ("mp4", "aac"), ("ts", "aac")],
)
@pytest.mark.parametrize("starts", STARTS.values(), ids=STARTS)
def test_sample_0_is_heard_with_the_first_picture(tmp_path, kind, codec, starts):
    video = write_sounding(tmp_path / f"v.{kind}", click(4.0, 2.0), codec=codec, **starts)
    wanted_s = 2.0 + starts.get("sound_at_s", 0.0) - starts.get("picture_at_s", 0.0)
    assert heard_at_s(decode_audio(video)) == pytest.approx(wanted_s, abs=0.005)


@pytest.mark.parametrize("rate", [8_000, 22_050, 48_000])
def test_any_rate_becomes_16_khz(tmp_path, rate):
    time_s = np.arange(3 * rate) / rate
    samples = (0.5 * np.sin(2 * np.pi * 440 * time_s)).astype(np.float32)
    found = decode_audio(write_sounding(tmp_path / "v.mkv", samples, rate=rate))
    assert len(found) == pytest.approx(3 * SAMPLE_RATE, abs=100)
    spectrum = np.abs(np.fft.rfft(found[: 2 * SAMPLE_RATE]))
    assert np.argmax(spectrum) / 2 == pytest.approx(440, abs=1)
    assert np.abs(found).max() == pytest.approx(0.5, abs=0.05)


def test_lossless_sound_at_16_khz_comes_as_it_was(tmp_path):
    found = decode_audio(write_sounding(tmp_path / "v.mkv", voice()))
    assert len(found) == len(voice())
    assert np.abs(found - voice()).max() < 2 / 32_768


def test_what_is_missing_inside_is_silence_and_what_follows_keeps_its_time(tmp_path):
    samples = click(6.0, 4.0)
    whole = decode_audio(write_sounding(tmp_path / "whole.mkv", samples))
    torn = decode_audio(write_sounding(tmp_path / "torn.mkv", samples, gap=(1.0, 3.0)))
    assert heard_at_s(torn) == pytest.approx(heard_at_s(whole), abs=0.001)
    assert len(torn) == len(whole)


def test_files_joined_end_to_end_go_on(tmp_path):
    one = write_sounding(tmp_path / "v.ts", click(2.0, 1.0), codec="aac").read_bytes()
    (tmp_path / "two.ts").write_bytes(one + one)
    found = decode_audio(tmp_path / "two.ts")
    loud = np.flatnonzero(np.abs(found) > 0.2) / SAMPLE_RATE
    assert loud[0] == pytest.approx(1.0, abs=0.05)
    assert loud[-1] == pytest.approx(3.0, abs=0.15)


def test_a_video_without_sound_has_no_samples(tmp_path):
    found = decode_audio(write_video(tmp_path / "v.mp4", lambda _: flat((0, 0, 0))))
    assert (found.shape, found.dtype) == ((0,), np.float32)


def test_what_is_no_video_is_refused(tmp_path):
    (tmp_path / "v.mp4").write_bytes(b"no video")
    with pytest.raises(VideoUnreadable):
        decode_audio(tmp_path / "v.mp4")
    with pytest.raises(VideoNotFound):
        decode_audio(tmp_path / "gone.mp4")


def test_what_was_read_before_the_file_breaks_off_is_kept(tmp_path):
    video = write_sounding(tmp_path / "v.mkv", voice())
    data = video.read_bytes()
    video.write_bytes(data[: len(data) // 2])
    found = decode_audio(video)
    assert 0.3 * len(voice()) < len(found) < 0.7 * len(voice())
    assert np.abs(found - voice()[: len(found)]).max() < 2 / 32_768


def test_sound_behind_the_longest_is_not_heard(tmp_path, monkeypatch):
    monkeypatch.setattr(audio, "LONGEST_S", 2.0)
    found = decode_audio(write_sounding(tmp_path / "v.mkv", voice()))
    assert len(found) == 2 * SAMPLE_RATE


def test_a_stop_ends_the_decoding(tmp_path):
    asked = iter([False] * 20 + [True] * 10_000)
    found = decode_audio(write_sounding(tmp_path / "v.mkv", voice()), stop=lambda: next(asked))
    assert 0 < len(found) < len(voice()) / 2


def test_the_language_chooses_the_track(tmp_path):
    path = tmp_path / "v.mkv"
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=5)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        tracks = [container.add_stream("pcm_s16le", rate=SAMPLE_RATE, layout="mono") for _ in "ab"]
        for track, name in zip(tracks, ("eng", "ger"), strict=True):
            track.metadata["language"] = name
        picture = av.VideoFrame.from_ndarray(flat((0, 0, 0), (64, 48)), format="bgr24")
        container.mux([*video.encode(picture), *video.encode()])
        for track, at_s in zip(tracks, (0.2, 0.6), strict=True):
            frame = av.AudioFrame.from_ndarray(click(1.0, at_s)[None, :], "fltp", "mono")
            frame.sample_rate = SAMPLE_RATE
            container.mux([*track.encode(frame), *track.encode()])
    for language, at_s in ((None, 0.2), ("en", 0.2), ("de", 0.6), ("deu", 0.6), ("fr", 0.2)):
        assert heard_at_s(decode_audio(path, language)) == pytest.approx(at_s, abs=0.005)


def test_many_channels_are_mixed_to_one(tmp_path):
    path = tmp_path / "v.mkv"
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=5)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream("pcm_s16le", rate=SAMPLE_RATE, layout="5.1")
        picture = av.VideoFrame.from_ndarray(flat((0, 0, 0), (64, 48)), format="bgr24")
        container.mux([*video.encode(picture), *video.encode()])
        samples = np.tile(music(1.0), (6, 1)).T.reshape(1, -1)
        data = np.ascontiguousarray(samples * 32_767).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(data, "s16", "5.1")
        frame.sample_rate = SAMPLE_RATE
        container.mux([*sound.encode(frame), *sound.encode()])
    found = decode_audio(path)
    assert len(found) == SAMPLE_RATE
    assert 0.1 < np.abs(found).max() <= 1.0


WILD = st.sampled_from([0.0, 0.5, -0.5, np.nan, np.inf, -np.inf, 7.0])


@examples(40)
@given(
    starts=st.lists(st.floats(-5, 40), min_size=1, max_size=8),
    levels=st.lists(WILD, min_size=8, max_size=8),
    anew=st.booleans(),
)
def test_whatever_the_packets_say_the_samples_are_sound(starts, levels, anew):
    """Times that jump to and fro, before the picture and behind the end; samples that are none."""
    room = np.zeros(10 * SAMPLE_RATE, dtype=np.float32)
    tape = audio._Tape(room=room, zero_s=0.0, begins_anew=anew)
    for start_s, level in zip(starts, levels, strict=False):
        samples = np.full((1, 1600), level, dtype=np.float32)
        frame = av.AudioFrame.from_ndarray(samples, "fltp", "mono")
        frame.sample_rate, frame.time_base = SAMPLE_RATE, Fraction(1, SAMPLE_RATE)
        frame.pts = round(start_s * SAMPLE_RATE)
        tape.add(frame)
    found = tape.samples()
    assert len(found) <= len(room)
    assert np.all(np.abs(found) <= 1)
