"""Whatever the codec, a frame that is returned is the frame of a full decode, at its own time."""

from __future__ import annotations

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir.perception.decode import decode
from admir.perception.frame_seek import decode_at
from tests.perception.videos import encode
from tests.properties import examples

FPS, COUNT = 25, 75
SIZE = (160, 128)

_X264 = {"preset": "medium", "g": "25", "sc_threshold": "40"}
KINDS = {
    "h264 pyramid": ("mp4", "libx264", _X264 | {"bf": "7", "b-pyramid": "normal", "refs": "6"}),
    "h264 strict pyramid": ("mp4", "libx264", _X264 | {"bf": "3", "b-pyramid": "strict"}),
    "h264 open gop": (
        "mp4",
        "libx264",
        _X264 | {"bf": "3", "b-pyramid": "normal", "x264-params": "open-gop=1"},
    ),
    "h264 open gop mkv": (
        "mkv",
        "libx264",
        _X264 | {"bf": "5", "b-pyramid": "normal", "x264-params": "open-gop=1"},
    ),
    "h264 open gop ts": ("ts", "libx264", _X264 | {"bf": "3", "x264-params": "open-gop=1"}),
    "h264 intra refresh": ("ts", "libx264", _X264 | {"bf": "0", "x264-params": "intra-refresh=1"}),
    "h264 one ref": ("mp4", "libx264", _X264 | {"bf": "2", "refs": "1"}),
    "h264 no b": ("mp4", "libx264", _X264 | {"bf": "0", "refs": "3"}),
    "hevc": ("mp4", "libx265", {"g": "25", "x265-params": "log-level=none:bframes=4"}),
    "hevc open gop": (
        "mkv",
        "libx265",
        {"g": "25", "x265-params": "log-level=none:open-gop=1:bframes=4:temporal-layers=3"},
    ),
    "vp9": (
        "webm",
        "libvpx-vp9",
        {
            "g": "25",
            "auto-alt-ref": "1",
            "lag-in-frames": "16",
            "deadline": "good",
            "cpu-used": "5",
        },
    ),
    "av1": ("mkv", "libsvtav1", {"g": "25", "preset": "10"}),
    "av1 open gop": (
        "mkv",
        "libsvtav1",
        {"g": "25", "preset": "10", "svtav1-params": "irefresh-type=1"},
    ),
    "mpeg4 asp": ("avi", "mpeg4", {"g": "25", "bf": "2"}),
    "mpeg4 asp mp4": ("mp4", "mpeg4", {"g": "25", "bf": "2"}),
    "mpeg2": ("ts", "mpeg2video", {"g": "15", "bf": "2"}),
    "mpeg2 mkv": ("mkv", "mpeg2video", {"g": "15", "bf": "2"}),
}


def moving(index):
    """A picture full of detail, moving, of another scene after 40 frames."""
    random = np.random.default_rng(index >= 40)
    ground = random.integers(0, 255, (SIZE[1] // 8, SIZE[0] // 8, 3), dtype=np.uint8)
    picture = np.roll(np.kron(ground, np.ones((8, 8, 1), dtype=np.uint8)), 3 * index, axis=1)
    picture[8 + index : 40 + index, 20:60] = (index * 3, 255 - index * 3, 128)
    return np.ascontiguousarray(picture)


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    """By kind: the file, with all its frames [n, height, width, 3] and their times."""
    folder, made = tmp_path_factory.mktemp("true"), {}

    def video(kind):
        if kind not in made:
            ending, codec, options = KINDS[kind]
            path = folder / f"{kind.replace(' ', '-')}.{ending}"
            encode(path, [moving(n) for n in range(COUNT)], codec=codec, fps=FPS, options=options)
            made[kind] = (path, *decoded_whole(path))
        return made[kind]

    return video


def decoded_whole(path):
    """All frames of a file as PyAV gives them, by no code of ours, and their times."""
    with av.open(str(path)) as container:
        frames = [
            frame.reformat(*SIZE, "bgr24", interpolation="AREA").to_ndarray()
            for frame in container.decode(video=0)
        ]
    return np.asarray(frames), np.arange(len(frames)) / FPS


@pytest.mark.parametrize("kind", KINDS)
def test_each_frame_that_is_sought_is_that_of_a_full_decode(videos, kind):
    path, frames, times = videos(kind)
    assert len(frames) == COUNT
    for number in [*range(0, COUNT, 6), 24, 25, 26, 39, 40, 49, 50, 51, COUNT - 1]:
        (found,) = decode_at(path, [times[number] + 0.01]).values()
        assert np.array_equal(found.pixels, frames[number]), number
        assert found.time_s == pytest.approx(times[number], abs=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_each_frame_of_the_build_is_that_of_a_full_decode(videos, kind):
    path, frames, times = videos(kind)
    thumbs, samples = [], []
    facts = decode(path, thumbs.append, samples.append, sample_fps=5)
    assert facts.frame_count == len(thumbs) == COUNT
    assert [thumb.time_s for thumb in thumbs] == pytest.approx(times, abs=2e-3)
    assert len(samples) == 16, "five a second, and the last"
    for sample in samples:
        number = round(sample.time_s * FPS)
        assert np.array_equal(sample.pixels, frames[number]), number


@examples(20)
@given(
    kind=st.sampled_from(["h264 pyramid", "h264 open gop", "hevc open gop", "mpeg2"]),
    asked=st.lists(
        st.integers(0, COUNT * 40 - 1).filter(lambda ms: ms % 40 < 39), min_size=1, max_size=6
    ),
)
def test_any_times_together_bring_the_frames_shown_then(videos, kind, asked):
    path, frames, _ = videos(kind)
    found = decode_at(path, [ms / 1000 for ms in asked])
    assert set(found) == {ms / 1000 for ms in asked}
    for asked_s, picture in found.items():
        number = int(asked_s * FPS + 1e-6)
        assert np.array_equal(picture.pixels, frames[number])
        assert picture.time_s == pytest.approx(number / FPS, abs=2e-3)
