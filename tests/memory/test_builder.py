"""The road from a video file to a memory: reuse, resuming, and what it says of poor files.

Texts are read by a reader that counts: OCR itself is tested elsewhere.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import cv2
import pytest

from admir.concurrency import run_sync, run_to_end
from admir.errors import (
    BuildInProgress,
    MemoryStoreError,
    OptionError,
    VideoNotFound,
    VideoUnreadable,
)
from admir.memory.store import MemoryStore
from admir.trace import BuildProgress, Built
from admir.types import clip_spans
from tests.drawing import flat, write_video
from tests.memory.making import CountingReader, Died, build, builder_of, stop_after
from tests.model_server import ModelServer
from tests.perception.videos import cut_off, encode, noise, tone

STAGES = {
    "offline": [
        *("hash", "speech", "decode", "read text", "faces", "caption"),
        *("merge", "narrate", "embed", "store"),
    ],
    "models": [
        *("hash", "speech", "decode", "caption", "read text"),
        *("merge", "narrate", "embed", "store"),
    ],
}
PERCEIVERS = {"offline": "offline-measured-v2", "models": "llm:gpt-4o:"}


@pytest.fixture(params=["offline", "models"])
def backend(request):
    """Which backend tells what it sees: a test that takes it, or `builder`, runs with both."""
    return request.param


@pytest.fixture
def builder(backend):
    """Makes a builder with its own reader and that backend: `builder(root, reader, **settings)`."""
    if backend == "offline":
        yield builder_of
        return
    with ModelServer() as server:
        reach = {"preset": "paper", "base_url": server.url, "api_key": "k", "cache": False}
        yield lambda root, reader=None, **settings: builder_of(root, reader, **reach | settings)
        assert server.protocol == []


@pytest.fixture
def root(tmp_path):
    return tmp_path / "memories"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Four seconds; every second has another brightness."""
    path = tmp_path_factory.mktemp("video") / "ad.mp4"
    return write_video(path, lambda n: flat((40 + 50 * (n // 10),) * 3), frames=40, fps=10)


@pytest.fixture
def video(original, tmp_path):
    return Path(shutil.copy(original, tmp_path / "ad.mp4"))


# A build


def test_the_ad_is_cut_into_clips_that_cover_it_and_hold_their_frames(demo, facts):
    assert [clip.span for clip in demo.clips] == list(clip_spans(facts["duration_s"]))
    assert [clip.index for clip in demo.clips] == list(range(len(demo.clips)))
    for clip in demo.clips:
        assert 1 <= len(clip.frames) <= 5
        assert all(clip.span.contains(frame.time_s) for frame in clip.frames)
        assert clip.caption
    assert all((Path(demo.folder) / frame.file).is_file() for frame in demo.frames)


def test_clips_hold_what_is_said_and_shown_while_they_last(demo, facts):
    for clip in demo.clips:
        for row in facts["speech"]:
            overlaps = row["start_s"] < clip.span.end_s and row["end_s"] > clip.span.start_s
            assert (row["text"] in clip.speech) == overlaps
    (offer,) = [clip for clip in demo.clips if clip.span.start_s == 20.0]
    assert {"25% OFF", "until 30 June"} <= set(offer.screen_text)
    assert "NOW $48" not in offer.screen_text


def test_the_stages_are_told_in_order_and_timed(backend, builder, root, video):
    last, events = build(builder(root), video)
    told = dict.fromkeys(e.stage for e in events if isinstance(e, BuildProgress))
    assert list(told) == list(last.stage_seconds) == STAGES[backend]
    assert all(e.done <= e.total for e in events if isinstance(e, BuildProgress) and e.total)
    assert [type(e) for e in events].count(Built) == 1


def test_a_build_leaves_a_whole_memory_and_no_scratch_files(backend, builder, root, video):
    memory = build(builder(root), video)[0].memory
    assert MemoryStore(root).read("ad") == memory
    assert sorted(p.name for p in Path(memory.folder).iterdir()) == [
        "frames",
        "memory.json",
        "vectors.npy",
    ]
    assert memory.provenance.perceiver.startswith(PERCEIVERS[backend])
    assert (memory.provenance.frames_sampled, memory.provenance.frames_read) == (5, 4)
    assert [x.text for x in memory.screen_text] == ["NOW $48"]


def test_text_that_is_switched_off_is_not_read(builder, root, video):
    reader = CountingReader()
    memory = build(builder(root, reader, screen_text="none"), video)[0].memory
    assert (memory.screen_text, reader.count, memory.provenance.frames_read) == ((), 0, 0)
    assert "on-screen text was not read (switched off)" in memory.provenance.warnings


def test_what_is_missing_is_said_in_warnings(builder, root, video):
    warnings = build(builder(root), video)[0].memory.provenance.warnings
    assert any("speech is unknown" in said for said in warnings)
    assert any("no sound track" in said for said in warnings)


def test_a_file_that_breaks_off_is_built_as_far_as_it_goes_with_a_warning(builder, root, tmp_path):
    whole = encode(
        tmp_path / "ad.mp4",
        noise(75),
        sound=("aac", "fltp", tone(3.0)),
        muxing={"movflags": "faststart"},
    )
    memory = build(builder(root), cut_off(whole))[0].memory
    assert 0.8 < memory.video.duration_s < 2.2
    assert any(
        "breaks off" in said and "3.0 s stated" in said for said in memory.provenance.warnings
    )


@pytest.mark.parametrize("frames", [1, 5])
def test_the_shortest_videos_have_a_memory_of_one_clip(builder, root, tmp_path, frames):
    path = write_video(tmp_path / "short.mp4", lambda n: flat((9 * n, 0, 0)), frames=frames)
    memory = build(builder(root), path)[0].memory
    assert [clip.span.end_s for clip in memory.clips] == [pytest.approx(frames / 25)]
    assert len(memory.frames) >= 1


@pytest.mark.parametrize("name", ["still.png", "still.jpg"])
def test_of_a_still_picture_the_memory_says_what_it_is(builder, root, tmp_path, name):
    cv2.imwrite(str(tmp_path / name), flat((40, 90, 200)))
    memory = build(builder(root), tmp_path / name)[0].memory
    assert [x.text for x in memory.screen_text] == ["NOW $48"]
    assert "the file holds one picture: nothing in it moves" in memory.provenance.warnings


# Reuse


def test_a_second_build_of_the_same_file_reuses_the_memory(builder, root, video):
    first = build(builder(root), video)[0].memory
    reader = CountingReader()
    last, _ = build(builder(root, reader), video)
    assert (last.reused, last.memory, reader.count) == (True, first, 0)


def test_the_same_file_under_another_name_reuses_the_memory(builder, root, video, tmp_path):
    build(builder(root), video)
    (tmp_path / "b").mkdir()
    copy = Path(shutil.copy(video, tmp_path / "b" / "ad.mp4"))
    assert build(builder(root), copy)[0].reused


def test_a_memory_whose_video_has_moved_is_built_anew_with_the_new_path(
    builder, root, video, tmp_path
):
    build(builder(root), video)
    (tmp_path / "b").mkdir()
    moved = Path(shutil.move(video, tmp_path / "b" / "ad.mp4"))
    last, _ = build(builder(root), moved)
    assert (last.reused, last.memory.video.id) == (False, "ad")
    assert last.memory.video.path == str(moved)


@pytest.mark.parametrize("change", ["subtitles", "metadata", "clip_s", "frame_fps", "content"])
def test_whatever_a_memory_depends_on_makes_it_anew_under_the_same_id(builder, root, video, change):
    first = build(builder(root), video)[0].memory
    metadata, settings = {}, {}
    if change == "subtitles":
        video.with_suffix(".srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nhello\n")
    elif change == "metadata":
        metadata = {"brand": "Lumivo"}
    elif change == "content":
        write_video(video, lambda n: flat((n, n, n)), frames=5)
    else:
        settings = {change: 2.0}
    last, _ = build(builder(root, **settings), video, metadata)
    assert not last.reused
    assert last.memory.video.id == first.video.id
    assert last.memory.provenance.fingerprint != first.provenance.fingerprint
    assert MemoryStore(root).ids() == ("ad",)


def test_no_metadata_keeps_that_of_the_stored_memory(builder, root, video):
    build(builder(root), video, {"brand": "Lumivo"})
    last = run_sync(run_to_end(builder(root).build(video, None)))
    assert (last.reused, last.memory.video.metadata) == (True, {"brand": "Lumivo"})
    anew = run_sync(run_to_end(builder(root, clip_s=2.0).build(video, None)))
    assert (anew.reused, anew.memory.video.metadata) == (False, {"brand": "Lumivo"})


def test_metadata_that_utf_8_cannot_hold_is_refused_before_anything_is_made(builder, root, video):
    with pytest.raises(OptionError, match="'brand'"):
        build(builder(root), video, {"brand": "\ud800"})
    assert not root.exists()


def test_the_frames_of_a_clip_are_spread_over_it(builder, root, video):
    (clip,) = build(builder(root, frame_fps=5.0), video)[0].memory.clips
    assert len(clip.frames) == 5
    assert clip.frames[0].time_s < 0.5
    assert clip.frames[-1].time_s > 3.5


def test_a_memory_of_frames_that_may_be_broken_is_built_again_and_it_is_said_why(
    builder, root, video
):
    first = build(builder(root), video)[0]
    assert (first.rebuilt_because, first.memory.provenance.decoder) == ("", "every frame")
    file = Path(first.memory.folder) / "memory.json"
    old = file.read_text("utf-8").replace('"every frame"', '""')
    file.write_text(old.replace(first.memory.provenance.fingerprint, "0" * 64), "utf-8")
    again = build(builder(root), video)[0]
    assert not again.reused
    assert "its frames may be broken" in again.rebuilt_because
    assert build(builder(root), video)[0].reused


def test_why_a_memory_is_built_again_is_said(root, video, tmp_path):
    build(builder_of(root), video)
    assert "other settings" in build(builder_of(root, clip_s=2.0), video)[0].rebuilt_because
    video.write_bytes(write_video(tmp_path / "b.mp4", lambda n: flat((9, n, 9))).read_bytes())
    assert "the video has changed" in build(builder_of(root), video)[0].rebuilt_because


def test_a_damaged_memory_is_built_anew(builder, root, video):
    first = build(builder(root), video)[0].memory
    (Path(first.folder) / "memory.json").write_text("{")
    assert not build(builder(root), video)[0].reused
    assert MemoryStore(root).read("ad").clips == first.clips


def test_another_video_of_the_same_name_gets_an_id_of_its_own(builder, root, video, tmp_path):
    build(builder(root), video)
    (tmp_path / "b").mkdir()
    other = write_video(tmp_path / "b" / "ad.mp4", lambda n: flat((n, n, n)), frames=5)
    memory = build(builder(root), other)[0].memory
    assert memory.video.id == f"ad-{memory.video.sha256[:6]}"
    assert MemoryStore(root).ids() == ("ad", memory.video.id)


# Interruption


def test_a_build_that_died_goes_on_where_it_was(builder, root, video):
    before, after = CountingReader(dies_at=3), CountingReader()
    with pytest.raises(Died):
        build(builder(root, before, workers=1), video)
    assert MemoryStore(root).ids() == ()
    memory = build(builder(root, after, workers=1), video)[0].memory
    assert (before.count - 1) + after.count == memory.provenance.frames_read == 4
    assert after.count < 3


STOPS = [
    *(("offline", "read text", 1), ("offline", "read text", 3)),
    *(("models", "decode", 2), ("models", "caption", 1), ("models", "merge", 0)),
]


@pytest.mark.parametrize(("backend", "stage", "done"), STOPS, indirect=["backend"])
def test_a_stopped_build_goes_on_where_it_was(backend, builder, root, video, stage, done):
    before, after = CountingReader(), CountingReader()
    stop_after(builder(root, before, workers=1), video, stage, done)
    assert MemoryStore(root).ids() == ()
    memory = build(builder(root, after, workers=1), video)[0].memory
    assert before.count >= (done if stage == "read text" else 0)
    assert before.count + after.count == memory.provenance.frames_read == 4


def test_a_resumed_build_makes_what_an_undisturbed_one_makes(builder, root, video, tmp_path):
    undisturbed = build(builder(tmp_path / "other"), video)[0].memory
    stop_after(builder(root), video, "caption", 1)
    resumed = build(builder(root), video)[0].memory
    for part in ("video", "clips", "narrative", "shots", "frames", "screen_text", "subjects"):
        assert getattr(resumed, part) == getattr(undisturbed, part)


@pytest.mark.parametrize("stage", ["decode", "caption"])
def test_a_stopped_build_frees_the_lock_and_leaves_the_old_memory(builder, root, video, stage):
    old = build(builder(root), video)[0].memory
    stop_after(builder(root, clip_s=2.0), video, stage, 1)
    assert MemoryStore(root).read("ad") == old
    with MemoryStore(root).building("ad"):
        pass


def test_a_frame_torn_by_a_power_cut_does_not_block_the_next_build(builder, root, video):
    with pytest.raises(Died):
        build(builder(root, CountingReader(dies_at=2), workers=1), video)
    (partial,) = (root / "ad" / "builds").iterdir()
    (partial / "frames" / "000001.jpg").write_bytes(b"")
    assert build(builder(root), video)[0].memory.clips


def test_a_build_killed_while_it_is_published_loses_nothing(builder, root, video, monkeypatch):
    def die(*_):
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(MemoryStore, "publish", die)
        with pytest.raises(Died):
            build(builder(root), video)
    reader = CountingReader()
    assert build(builder(root, reader), video)[0].memory.clips
    assert reader.count == 0


# Refusals


def test_a_second_builder_is_told_to_wait_and_changes_nothing(builder, root, video):
    with (
        MemoryStore(root).building("ad"),
        pytest.raises(BuildInProgress, match="another process is building 'ad'"),
    ):
        build(builder(root), video)
    assert MemoryStore(root).ids() == ()


@pytest.mark.parametrize(
    ("content", "error"), [(None, VideoNotFound), (b"", VideoUnreadable), (b"hi", VideoUnreadable)]
)
def test_a_file_that_is_no_video_leaves_no_trace_in_the_store(
    builder, root, tmp_path, content, error
):
    path = tmp_path / "ad.mp4"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error):
        build(builder(root), path)
    assert not root.exists()


def test_a_folder_that_cannot_be_made_is_a_store_error(builder, video, tmp_path):
    (tmp_path / "memories").write_text("a file")
    with pytest.raises(MemoryStoreError, match="cannot write to"):
        build(builder(tmp_path / "memories"), video)
