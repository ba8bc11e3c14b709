"""The vectors of a memory: in slices, and made anew without the video."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from admir.api import open_for_asking, reindex
from admir.errors import EmbedderMismatch, ModelError, UnknownVideo
from admir.memory.embedding import embed_clips
from admir.memory.store import MemoryStore
from admir.perception.embed import HashingEmbedder, same_vectors, without_revision
from admir.settings import load_settings
from admir.types import Clip, Span
from tests.memory.making import CountingReader, build, builder_of


class Halved(HashingEmbedder):
    """The first half of each vector, and a warning."""

    id = "halved"

    def encode(self, texts):
        return np.ascontiguousarray(super().encode(texts)[:, :512])


def clips(count):
    return [
        Clip(video_id="ad", index=n, span=Span(start_s=5.0 * n, end_s=5.0 * n + 5), caption=f"c{n}")
        for n in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 256, 700])
def test_slices_make_one_table(count):
    told = []
    vectors = embed_clips(clips(count), HashingEmbedder(), lambda *done: told.append(done))
    whole = HashingEmbedder().encode([clip.index_text for clip in clips(count)])
    assert np.array_equal(vectors, whole)
    assert told == [(at, count) for at in range(256, count, 256)]


class Widths(HashingEmbedder):
    """As an endpoint: no width where there is no text."""

    def encode(self, texts):
        rows = super().encode(texts)
        return rows if rows.any() else rows[:, :0]


@pytest.mark.parametrize("empty", [range(256), range(256, 512), range(512)])
def test_a_slice_without_any_text_takes_the_width_of_the_others(empty):
    some = [replace(c, caption="" if c.index in empty else "lamp") for c in clips(512)]
    vectors = embed_clips(some, Widths())
    assert vectors.shape == (512, 0 if len(empty) == 512 else 1024)
    assert not vectors[list(empty)].any()


def test_widths_that_differ_between_slices_are_an_error():
    class Changing(Widths):
        def encode(self, texts):
            return super().encode(texts)[:, : 4 * len(texts)]

    with pytest.raises(ModelError, match="different widths"):
        embed_clips(clips(300), Changing())


def test_it_stops_between_slices():
    assert len(embed_clips(clips(700), HashingEmbedder(), stop=lambda: True)) == 256


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("hashing-1024-v1", "hashing-1024-v1", True),
        ("hashing-1024-v1", "halved", False),
        ("BAAI/bge-m3@ab12", "/models/bge@ab12", True),
        ("BAAI/bge-m3@ab12", "BAAI/bge-m3@cd34", False),
        ("/models/v@2/bge@ab12", "BAAI/bge-m3@ab12", True),
        ("endpoint:a", "endpoint:b", False),
        ("endpoint:a@1", "endpoint:b@1", False),
        ("endpoint:a@1", "endpoint:a@1", True),
    ],
)
def test_weights_are_told_by_their_revision(one, other, same):
    assert same_vectors(one, other) is same


@pytest.mark.parametrize(
    ("made_by", "name"),
    [
        ("BAAI/bge-m3@ab12", "BAAI/bge-m3"),
        ("/models/v@2/bge@ab12", "/models/v@2/bge"),
        ("endpoint:tiny@2", "endpoint:tiny@2"),
        ("hashing-1024-v1", "hashing-1024-v1"),
    ],
)
def test_a_memory_is_asked_by_the_name_of_its_embedder(made_by, name):
    assert without_revision(made_by) == name


@pytest.fixture
def stored(video, tmp_path):
    """(folder of memories, reader that counted, memory)."""
    reader = CountingReader()
    last, _ = build(builder_of(tmp_path / "m", reader), video)
    return tmp_path / "m", reader, last.memory


@pytest.fixture
def video(ramp, tmp_path):
    return Path(shutil.copy(ramp, tmp_path / "ad.mp4"))


def with_embedder(builder, embedder):
    return replace(builder, embedder=embedder)


def test_a_build_with_another_embedder_only_embeds(stored, video):
    root, reader, before = stored
    read = reader.count
    last, _ = build(with_embedder(builder_of(root, reader), Halved("half is gone")), video)
    assert not last.reused
    assert reader.count == read, "no frame is read again"
    assert set(last.stage_seconds) == {"hash", "embed"}
    assert (last.memory.provenance.embedder, last.memory.provenance.dimensions) == ("halved", 512)
    assert "half is gone" in last.memory.provenance.warnings
    assert last.memory.clips == before.clips
    assert MemoryStore(root).vectors(last.memory).shape == (len(before.clips), 512)
    again, _ = build(with_embedder(builder_of(root, reader), Halved()), video)
    assert again.reused


def test_vectors_that_are_damaged_are_made_anew_from_the_memory(stored, video):
    root, reader, before = stored
    (Path(before.folder) / "vectors.npy").write_bytes(b"torn")
    read = reader.count
    last, _ = build(builder_of(root, reader), video)
    assert not last.reused
    assert reader.count == read
    assert MemoryStore(root).vectors(last.memory).shape == (len(before.clips), 1024)


def test_reindex_needs_no_video_and_keeps_everything_else(stored, video, monkeypatch):
    root, _, before = stored
    video.unlink()
    monkeypatch.setattr("admir.api.open_embedder", lambda settings, made_by: Halved())
    after = reindex("ad", load_settings(memories=root))
    assert after == MemoryStore(root).read("ad")
    assert after.provenance.embedder == "halved"
    assert (after.clips, after.frames) == (before.clips, before.frames)
    assert all((Path(after.folder) / frame.file).is_file() for frame in after.frames)
    assert Path(before.folder).is_dir(), "a reader may still have the build before"


def test_reindex_twice_leaves_the_warning_once(stored, monkeypatch):
    root, _, _ = stored
    gone = "search compares words alone: for the test"
    monkeypatch.setattr("admir.api.open_embedder", lambda settings, made_by: HashingEmbedder(gone))
    for _ in range(2):
        warnings = reindex("ad", load_settings(memories=root)).provenance.warnings
        assert warnings.count(gone) == 1


def test_a_build_that_ends_while_the_embedder_is_opened_is_kept(stored, monkeypatch):
    root, _, before = stored
    store = MemoryStore(root)

    def opened(settings, made_by):
        newer = replace(before.narrative, summary="newer")
        store.publish(store.copied(before), replace(before, narrative=newer), store.vectors(before))
        return Halved()

    monkeypatch.setattr("admir.api.open_embedder", opened)
    assert reindex("ad", load_settings(memories=root)).narrative.summary == "newer"


def test_reindex_of_nothing_says_so(tmp_path):
    with pytest.raises(UnknownVideo, match="no memory of 'ad'"):
        reindex("ad", load_settings(memories=tmp_path))


def test_another_embedder_than_the_memorys_is_an_error_that_says_what_to_do(stored, monkeypatch):
    root, _, memory = stored
    monkeypatch.setattr("admir.api.open_embedder", lambda settings, made_by="": Halved())
    with pytest.raises(EmbedderMismatch, match=r"'hashing-1024-v1'.*'halved'.*admir reindex ad"):
        open_for_asking(memory, load_settings(memories=root))


def test_a_memory_from_before_widths_were_told_can_be_asked(stored):
    root, _, memory = stored
    older = replace(memory, provenance=replace(memory.provenance, dimensions=0))
    assert open_for_asking(older, load_settings(memories=root)).index.search("lamp", 3)


def test_an_embedder_that_changed_its_width_is_an_error(stored):
    root, _, memory = stored
    opened = open_for_asking(memory, load_settings(memories=root))
    opened.index._embedder = Halved()
    with pytest.raises(EmbedderMismatch, match=r"gives 512 numbers now.*1024"):
        opened.index.search("lamp", 3)
