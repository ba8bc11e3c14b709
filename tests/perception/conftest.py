"""Videos that several tests of the senses look at."""

from __future__ import annotations

import pytest

from tests.conftest import write_video
from tests.perception.videos import encode, noise, numbered, tone


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("videos")


@pytest.fixture(scope="session")
def second(folder):
    """One second of 25 numbered frames, H.264 with B-frames and a key frame each 12."""
    return write_video(folder / "second.mp4", numbered)


@pytest.fixture(scope="session")
def loud(folder):
    """Three seconds with a tone in AAC, in an MP4 whose index stands first."""
    return encode(
        folder / "loud.mp4",
        noise(75),
        sound=("aac", "fltp", tone(3.0)),
        muxing={"movflags": "faststart"},
    )
