"""Files cut at any byte or with bytes overwritten: read as far as they go, or refused in words."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.errors import VideoError
from admir.perception.audio import decode_audio
from admir.perception.subtitles import read_subtitles
from tests.perception.videos import encode, noise, numbered, shown_at, tone, walk
from tests.properties import examples

KINDS = {
    "mp4": ("libx264", {"movflags": "faststart"}),
    "mkv": ("libx264", {}),
    "ts": ("libx264", {}),
    "avi": ("mpeg4", {}),
    "mpg": ("mpeg2video", {}),
}
FRAMES = 60


@pytest.fixture(scope="module")
def whole(folder):
    """The bytes of a video of 2.4 s with sound and words, by container."""
    shown = [numbered(n % 28, (64, 48)) for n in range(FRAMES - 10)] + noise(10, (64, 48))
    return {
        kind: encode(
            folder / f"whole.{kind}",
            shown,
            codec=codec,
            muxing=muxing,
            sound=None if kind == "mpg" else ("aac", "fltp", tone(2.4)),
            cues=[(0, 900, "hello")] if kind == "mp4" else (),
        ).read_bytes()
        for kind, (codec, muxing) in KINDS.items()
    }


def read_all(path):
    """Everything that a build and a question read of a file; None where it is refused in words."""
    try:
        facts, thumbs, samples = walk(path)
        found = shown_at(path, [sample.time_s for sample in samples])
    except VideoError as error:
        return None if repr(path.name) in str(error) else pytest.fail(str(error))
    read_subtitles(path)
    sound = decode_audio(path)
    assert (sound.dtype, sound.ndim) == (np.float32, 1)
    assert np.all(np.abs(sound) <= 1)
    times = [thumb.time_s for thumb in thumbs]
    assert times == sorted(times)
    assert (times[0], len(times)) == (0.0, facts.frame_count)
    assert math.isfinite(facts.duration_s)
    assert facts.duration_s >= times[-1]
    assert 0 < facts.fps <= 300
    assert len(found) <= len(samples)
    return facts


@examples(60)
@given(kind=st.sampled_from(sorted(KINDS)), share=st.floats(0, 1))
def test_a_file_cut_anywhere_is_read_to_the_cut_or_refused(tmp_path_factory, whole, kind, share):
    path = tmp_path_factory.mktemp("cut") / f"cut.{kind}"
    path.write_bytes(whole[kind][: int(share * len(whole[kind]))])
    facts = read_all(path)
    if facts and facts.broken_at_s is None and facts.stated_duration_s:
        assert facts.stated_duration_s - facts.duration_s <= 1.0


@examples(120)
@given(kind=st.sampled_from(sorted(KINDS)), data=st.data())
def test_bytes_that_are_overwritten_bring_no_fault(tmp_path_factory, whole, kind, data):
    """Where the headers stand, and anywhere."""
    path, size = tmp_path_factory.mktemp("hurt") / f"hurt.{kind}", len(whole[kind])
    place = st.integers(0, min(2000, size - 1)) | st.integers(0, size - 1)
    hurt = bytearray(whole[kind])
    for at, byte in data.draw(st.lists(st.tuples(place, st.integers(0, 255)), min_size=1)):
        hurt[at] = byte
    path.write_bytes(hurt)
    read_all(path)


@examples(25)
@given(kind=st.sampled_from(sorted(KINDS)), data=st.data())
def test_bytes_that_are_missing_bring_no_fault(tmp_path_factory, whole, kind, data):
    path, size = tmp_path_factory.mktemp("gap") / f"gap.{kind}", len(whole[kind])
    start, length = data.draw(st.integers(0, size)), data.draw(st.integers(1, 500))
    path.write_bytes(whole[kind][:start] + whole[kind][start + length :])
    read_all(path)
