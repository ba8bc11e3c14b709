"""Videos that are more than they say: their jobs fail with a reason, soon and in little memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import httpx
import pytest

from tests.perception.test_huge import SMALL, grown
from tests.perception.videos import encode, numbered, state_length
from tests.server.running import serving
from tests.server.sending import ended, send, settings_for

_SIDE = 16_000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with serving(settings_for(tmp_path_factory.mktemp("m"), video_s=5)) as session:
        yield session


def _with_a_huge_jpeg(path: Path, before: int) -> Path:
    """An AVI of 64x48 in which one JPEG says that it has 256 million pixels."""
    plain = grown(path.with_name(f"plain-{path.name}"), "mjpeg", "yuvj420p", sizes=(SMALL,))
    with av.open(plain) as container:
        jpeg = next(bytes(packet) for packet in container.demux(video=0))
    place = jpeg.index(b"\xff\xc0") + 5
    side = _SIDE.to_bytes(2, "big")
    huge = jpeg[:place] + 2 * side + jpeg[place + 4 :]
    room = bytes(_SIDE * _SIDE // 200)  # FFmpeg passes over what has too few bytes for its size
    with av.open(path, "w") as container:
        track = container.add_stream("mjpeg", rate=25)
        (track.width, track.height), track.pix_fmt = SMALL, "yuvj420p"
        for time, data in enumerate([*[jpeg] * before, huge + room]):
            packet = av.Packet(data)
            packet.stream, packet.pts, packet.dts = track, time, time
            packet.is_keyframe = True
            container.mux(packet)
    return path


def _failed(client: httpx.Client, path: Path) -> tuple[str, str]:
    """Kind and detail of the job's error."""
    job = ended(client, send(client, path.read_bytes(), path.name))
    assert job["state"] == "failed"
    return job["error"]["kind"], job["error"]["detail"]


@pytest.mark.parametrize("before", [0, 100], ids=["first", "later"])
def test_a_picture_of_a_quarter_of_a_billion_pixels_is_not_decoded(client, tmp_path, before):
    kind, detail = _failed(client, _with_a_huge_jpeg(tmp_path / f"huge{before}.avi", before))
    assert kind == "video-unreadable"
    assert "has a picture of more than" in detail


def test_a_stream_that_changes_its_size_is_followed_to_4k(client, tmp_path):
    path = grown(tmp_path / "grows.ts", "libx264", sizes=(*[SMALL] * 20, (4608, 2592)))
    kind, detail = _failed(client, path)
    assert kind == "video-unreadable"
    assert "9,437,184 pixels" in detail


def test_a_video_that_goes_on_longer_than_it_says_ends(client, tmp_path):
    shown = [numbered(n % 28, SMALL) for n in range(60)]
    path = encode(tmp_path / "long.mkv", shown, fps=1)
    state_length(path, 2000.0)
    kind, detail = _failed(client, path)
    assert kind == "too-large"
    assert "more than 5 s" in detail


def test_a_gap_in_the_times_is_no_length(client, tmp_path):
    """Ten hours between two pictures of a file that says it has two seconds."""
    shown = [numbered(n, SMALL) for n in range(20)]
    times = [*range(0, 1000, 100), *range(36_000_000, 36_001_000, 100)]
    path = encode(tmp_path / "gap.mkv", shown, times_ms=times)
    state_length(path, 2000.0)
    job = ended(client, send(client, path.read_bytes(), path.name))
    assert job["state"] == "done"
    assert client.get("/videos/gap").json()["duration_s"] < 2
