"""Facts of a sound track."""

from __future__ import annotations

import av
import numpy as np
import pytest

from tests.perception.videos import (
    SOUND_RATE,
    add_pictures,
    encode,
    numbered,
    tone,
    walk,
    write_sound,
)


def sound_of(tmp_path, codec, sample_format, samples):
    path = encode(
        tmp_path / "sound.mkv",
        [numbered(n) for n in range(10)],
        sound=(codec, sample_format, samples),
    )
    return walk(path)[0].audio


def as_integers(samples, kind, zero=0):
    return (samples * (np.iinfo(kind).max - zero) * 0.999 + zero).astype(kind)


def test_the_ad_has_a_sound_track_that_is_neither_silent_nor_clipped(demo):
    assert demo.video.audio.codec == "aac"
    assert -40 < demo.video.audio.loudness_dbfs < -10
    assert 0 <= demo.video.audio.silent_share < 0.5


@pytest.mark.parametrize(
    ("codec", "sample_format", "samples"),
    [
        ("aac", "fltp", tone()),
        ("pcm_f32le", "flt", tone()),
        ("pcm_s16le", "s16", as_integers(tone(), np.int16)),
        ("pcm_s32le", "s32", as_integers(tone().astype(np.float64), np.int32)),
        ("pcm_u8", "u8", as_integers(tone(), np.uint8, zero=127)),
    ],
)
def test_a_tone_has_the_loudness_it_was_written_with(tmp_path, codec, sample_format, samples):
    found = sound_of(tmp_path, codec, sample_format, samples)
    assert found.loudness_dbfs == pytest.approx(20 * np.log10(0.3 / np.sqrt(2)), abs=1.0)
    assert found.silent_share < 0.1
    assert (found.codec, found.sample_rate, found.channels) == (codec, 44_100, 1)


def test_silence_is_called_silent(tmp_path):
    found = sound_of(tmp_path, "pcm_s16le", "s16", np.zeros((1, 20_000), np.int16))
    assert (found.silent_share, found.loudness_dbfs) == (1.0, -100.0)


def test_half_a_silence_is_half_silent(tmp_path):
    samples = np.concatenate([tone(0.5), np.zeros((1, 22_050), np.float32)], axis=1)
    assert sound_of(tmp_path, "pcm_f32le", "flt", samples).silent_share == pytest.approx(
        0.5, abs=0.1
    )


def test_a_video_without_a_sound_track_has_no_sound_facts(second):
    assert walk(second)[0].audio is None


def test_a_broken_sound_sample_leaves_a_loudness_that_is_a_number(tmp_path):
    samples = tone()
    samples[0, 500] = np.nan
    assert np.isfinite(sound_of(tmp_path, "pcm_f32le", "flt", samples).loudness_dbfs)


def test_sixteen_channels_are_heard(tmp_path):
    """PyAV reads past the end of more than eight: that ended the process now and then."""
    path = tmp_path / "many.mkv"
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=25)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        audio = container.add_stream("wavpack", rate=SOUND_RATE, layout="hexadecagonal")
        add_pictures(container, video, [numbered(n, (64, 48)) for n in range(5)])
        woven = np.repeat(tone(0.2), 16, 1)
        write_sound(container, audio, "flt", woven, "hexadecagonal")
    for _ in range(20):
        found = walk(path)[0].audio
        assert found.loudness_dbfs == pytest.approx(20 * np.log10(0.3 / np.sqrt(2)), abs=1.0)
    assert found.channels == 16


def test_a_sample_without_bounds_counts_no_more_than_the_loudest(tmp_path):
    samples = tone()
    samples[0, 500] = np.inf
    found = sound_of(tmp_path, "pcm_f32le", "flt", samples)
    assert found.loudness_dbfs == pytest.approx(20 * np.log10(0.3 / np.sqrt(2)), abs=1.0)
