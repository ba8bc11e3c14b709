"""The store: a reader sees a whole memory or a one-line error, never a half of one."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir import Memory
from admir.errors import (
    BuildInProgress,
    MemoryDamaged,
    MemoryStoreError,
    MemoryVersionError,
    UnknownVideo,
)
from admir.memory import fs
from admir.memory import store as store_module
from admir.memory.corrections import new_correction
from admir.memory.store import MemoryStore, slug
from admir.types import FORMAT_VERSION, AudioFacts, Frame
from tests.properties import examples


def make(word="hello", video_id="ad", **video):
    """A small memory with two frames."""
    bare = Memory.from_timeline(video_id, [{"t": 0, "ocr": [word], "asr": f"say {word}"}])
    frames = tuple(Frame(time_s=float(n), file=f"frames/{n:06d}.jpg") for n in range(2))
    return replace(bare, video=replace(bare.video, **video), frames=frames)


def publish(store, memory, fingerprint="f" * 64):
    """Publish as the builder does."""
    with store.building(memory.video.id):
        folder = store.partial(memory.video.id, fingerprint)
        for frame in memory.frames:
            (folder / frame.file).write_bytes(b"picture")
        return store.publish(folder, memory, vectors_of(memory))


def vectors_of(memory):
    return np.full((len(memory.clips), 4), len(memory.clips[0].speech), dtype=np.float32)


def read_whole(store, video_id="ad"):
    """The word of the stored memory, after everything of it was looked at."""
    memory = store.read(video_id)
    word = memory.clips[0].screen_text[0]
    assert memory == replace(make(word, video_id), video=memory.video, folder=memory.folder)
    assert np.array_equal(store.vectors(memory), vectors_of(memory))
    return word


@pytest.fixture
def store(tmp_path):
    return MemoryStore(tmp_path / "memories")


@pytest.fixture
def stored(store):
    """A store with one published memory."""
    publish(store, make())
    return store


def refusal(caught):
    """The message, once it is sure to be one line that says what to do."""
    message = str(caught.value)
    assert "\n" not in message
    assert "admir" in message
    return message


# Round trip


def test_what_is_published_is_read_back_equal(store):
    memory = make(path="/v/ad.mp4", sha256="a" * 64, metadata={"brand": "Lumivo 灯"})
    assert publish(store, memory) == store.read("ad")
    assert replace(store.read("ad"), folder="") == memory


def test_the_memory_of_the_ad_is_read_back_equal(demo, memories):
    store = MemoryStore(memories)
    assert store.read(demo.video.id) == demo
    rows = store.vectors(demo)
    assert rows.dtype == np.float32
    assert rows.shape[0] == len(demo.clips)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)


TIMELINE = st.lists(
    st.fixed_dictionaries(
        {
            "t": st.integers(0, 40),
            "ocr": st.lists(st.text(max_size=12), max_size=2),
            "asr": st.text(max_size=12),
        }
    ),
    min_size=1,
    max_size=5,
)


@examples(40)
@given(rows=TIMELINE, duration_s=st.floats(0.1, 100), loudness=st.floats(-100, 10))
def test_memories_of_any_words_and_numbers_are_read_back_equal(
    tmp_path_factory, rows, duration_s, loudness
):
    sound = AudioFacts(
        codec="aac", sample_rate=1, channels=1, loudness_dbfs=loudness, silent_share=0.1
    )
    memory = Memory.from_timeline("ad", rows, duration_s=duration_s)
    memory = replace(memory, video=replace(memory.video, audio=sound))
    store = MemoryStore(tmp_path_factory.mktemp("memories"))
    assert publish(store, memory) == store.read("ad")


def test_nothing_is_created_by_looking(store):
    assert store.ids() == ()
    with pytest.raises(UnknownVideo):
        store.read("ad")
    assert store.id_for(Path("ad.mp4"), "a" * 64) == "ad"
    assert not store.root.exists()


def test_ids_name_the_finished_memories_in_order(store):
    for video_id in ("b", "a"):
        publish(store, make(video_id=video_id))
    store.partial("c", "f" * 64)
    assert store.ids() == ("a", "b")


# Half memories


def test_a_new_build_takes_the_place_of_the_old_one(stored):
    publish(stored, make("again"))
    assert read_whole(stored) == "again"


def test_a_build_under_way_is_not_seen(stored):
    folder = stored.partial("ad", "e" * 64)
    (folder / "memory.json").write_text("{")
    assert read_whole(stored) == "hello"


def test_the_first_build_under_way_is_no_memory(store):
    store.partial("ad", "e" * 64)
    assert store.ids() == ()
    with pytest.raises(UnknownVideo):
        store.read("ad")


class Killed(BaseException):
    """The process ends here."""


def test_killed_at_any_step_of_publishing_a_reader_sees_the_old_or_the_new(tmp_path, monkeypatch):
    seen, finished = [], False
    while not finished:
        store = MemoryStore(tmp_path / str(len(seen)))
        publish(store, make("old"))
        with monkeypatch.context() as patch:
            _kill_at(patch, step=len(seen))
            try:
                publish(store, make("new"), "e" * 64)
                finished = True
            except Killed:
                pass
        seen.append(read_whole(store))
        publish(store, make("next"), "d" * 64)
        assert read_whole(store) == "next"
    assert seen == ["old"] * seen.count("old") + ["new"] * seen.count("new")
    assert seen.count("old") > 8


def _kill_at(patch, step):
    """Die at the n-th change to the disk from now on."""
    left = [step]

    def dying(real):
        def act(*args, **options):
            if not left[0]:
                raise Killed
            left[0] -= 1
            return real(*args, **options)

        return act

    sync = dying(fs.sync)
    for module in (fs, store_module):
        patch.setattr(module, "sync", sync)
    patch.setattr(store_module.np, "save", dying(np.save))
    for name in ("replace", "write_bytes", "write_text"):
        patch.setattr(Path, name, dying(getattr(Path, name)))


def test_a_reader_beside_a_writer_never_sees_a_half(stored):
    """At most one build is published while a read goes on: the last two are kept for readers."""
    failures, reads, stop = [], [0], threading.Event()

    def keep_reading():
        while not stop.is_set():
            try:
                read_whole(stored)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
                failures.append(error)
            reads[0] += 1

    reader = threading.Thread(target=keep_reading)
    reader.start()
    for number in range(15):
        publish(stored, make(f"build {number}"), f"{number:064d}")
        before = reads[0]
        while reads[0] == before and reader.is_alive():
            stop.wait(0.001)
    stop.set()
    reader.join()
    assert failures == []
    assert reads[0] >= 15


def test_only_two_builds_are_kept_and_the_opened_one_is_among_them(stored):
    for word in ("second", "third"):
        opened = stored.read("ad")
        publish(stored, make(word))
    kept = sorted(p.name for p in (stored.root / "ad" / "builds").iterdir())
    assert kept == ["2", "3"]
    assert stored.vectors(opened).shape == (1, 4)


def test_a_removed_memory_is_gone_and_says_of_which_video_it_was(store):
    publish(store, make("one", path="/videos/ad.mp4"))
    publish(store, make("two", "other", path="/videos/other.mp4"))
    assert store.video_paths() == {"ad": "/videos/ad.mp4", "other": "/videos/other.mp4"}
    with store.building("ad"), pytest.raises(BuildInProgress):
        store.remove("ad")
    assert store.remove("ad") == "/videos/ad.mp4"
    assert store.ids() == ("other",)
    assert not (store.root / "ad").exists()
    with pytest.raises(UnknownVideo):
        store.remove("ad")
    with pytest.raises(UnknownVideo):
        store.remove("../other")


def test_a_damaged_memory_and_one_whose_removal_was_broken_off_can_be_removed(store):
    publish(store, make(path="/videos/ad.mp4"))
    (store.root / "ad" / "builds" / "1" / "memory.json").write_bytes(b"noise")
    (store.root / "ad" / "current").unlink()
    assert store.remove("ad") == "/videos/ad.mp4"
    assert store.video_paths() == {}


def test_a_first_build_under_way_is_not_removed(store):
    with store.building("ad"):
        store.partial("ad", "f" * 64)
    with pytest.raises(UnknownVideo):
        store.remove("ad")
    assert list((store.root / "ad" / "builds").iterdir())


def test_a_partial_of_other_settings_is_removed_and_an_own_one_is_kept(stored):
    mine = stored.partial("ad", "a" * 64)
    (mine / "journal.jsonl").write_text("kept")
    assert stored.partial("ad", "a" * 64) == mine
    assert (mine / "journal.jsonl").read_text() == "kept"
    stored.partial("ad", "b" * 64)
    assert not mine.exists()
    assert read_whole(stored) == "hello"


# Damage


def build_of(store):
    return Path(store.read("ad").folder)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b"{}", b"\xff\xfe", b'{"video": 5}', b"[" * 100_000],
    ids=lambda content: repr(content[:12]),
)
def test_a_damaged_memory_file_is_called_damaged(stored, content):
    (build_of(stored) / "memory.json").write_bytes(content)
    with pytest.raises(MemoryDamaged, match=r"memory\.json") as caught:
        stored.read("ad")
    assert "'ad' is damaged" in refusal(caught)


@pytest.mark.parametrize("name", ["memory.json", "vectors.npy", "frames/000001.jpg"])
def test_a_missing_file_is_named(stored, name):
    (build_of(stored) / name).unlink()
    with pytest.raises(MemoryDamaged) as caught:
        stored.read("ad")
    assert name in refusal(caught)


@pytest.mark.parametrize("content", ["", "7", "x", "../../secret", "1\n2", "²", "-1"])
def test_a_current_that_names_no_build_is_called_damaged(stored, content):
    (stored.root / "ad" / "current").write_text(content, encoding="utf-8")
    with pytest.raises(MemoryDamaged, match="current") as caught:
        stored.read("ad")
    refusal(caught)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"1" * 5000], ids=["no text", "long"])
def test_a_current_of_noise_is_called_damaged(stored, content):
    (stored.root / "ad" / "current").write_bytes(content)
    with pytest.raises(MemoryDamaged):
        stored.read("ad")


@pytest.mark.parametrize(
    "rows",
    [np.ones((2, 4)), np.ones((0, 4)), np.ones(4), np.array([[{}]], dtype=object)],
    ids=["too many", "too few", "flat", "objects"],
)
def test_vectors_that_do_not_fit_are_called_damaged(stored, rows):
    memory = stored.read("ad")
    np.save(Path(memory.folder) / "vectors.npy", rows, allow_pickle=True)
    with pytest.raises(MemoryDamaged, match=r"vectors\.npy") as caught:
        stored.vectors(memory)
    refusal(caught)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.99])
def test_vectors_cut_short_are_called_damaged(stored, share):
    memory = stored.read("ad")
    path = Path(memory.folder) / "vectors.npy"
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(MemoryDamaged):
        stored.vectors(memory)


def test_vectors_with_a_damaged_header_are_called_damaged(stored):
    memory = stored.read("ad")
    path = Path(memory.folder) / "vectors.npy"
    path.write_bytes(path.read_bytes().replace(b"}", b" ", 1))
    with pytest.raises(MemoryDamaged):
        stored.vectors(memory)


@examples(150)
@given(data=st.data())
def test_a_byte_changed_or_lost_in_memory_json_is_noticed_or_harmless(tmp_path_factory, data):
    store = MemoryStore(tmp_path_factory.mktemp("memories"))
    publish(store, make())
    path = build_of(store) / "memory.json"
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at : at + 1] = data.draw(st.binary(max_size=1))
    path.write_bytes(content)
    with suppress(MemoryDamaged, MemoryVersionError):
        assert isinstance(store.read("ad"), Memory)


def test_a_memory_of_a_newer_version_is_refused_with_both_versions(stored):
    path = build_of(stored) / "memory.json"
    plain = json.loads(path.read_text("utf-8")) | {"format_version": 7, "new_field": {"a": 1}}
    path.write_text(json.dumps({"surprise": plain.pop("video")} | plain), encoding="utf-8")
    with pytest.raises(MemoryVersionError, match=rf"format 7.*up to {FORMAT_VERSION}") as caught:
        stored.read("ad")
    assert "upgrade admir" in refusal(caught)


def test_words_of_a_video_cannot_pose_as_a_newer_version(store):
    memory = make('"format_version": 9', metadata={'"format_version": 9': "x"})
    publish(store, memory)
    assert store.read("ad").clips == memory.clips


# Ids

HOSTILE = ["../x", "", "x" * 300, "a/b", "a\\b", ".", "..", "ad\n", "a\0b", "ad/../ad", "/etc", "~"]


@pytest.mark.parametrize("video_id", HOSTILE)
def test_a_hostile_id_is_an_unknown_video_and_touches_nothing(stored, video_id):
    before = sorted(stored.root.parent.rglob("*"))
    for use in (stored.read, stored.trace_path, lambda i: stored.partial(i, "f" * 64)):
        with pytest.raises(UnknownVideo) as caught:
            use(video_id)
        assert len(refusal(caught)) < 400 + len(str(stored.root))
    with pytest.raises(UnknownVideo), stored.building(video_id):
        pass
    assert sorted(stored.root.parent.rglob("*")) == before


def test_an_unknown_id_is_answered_with_the_known_ones(stored):
    with pytest.raises(UnknownVideo, match=r"'nope'.*known: ad") as caught:
        stored.read("nope")
    refusal(caught)


def test_an_id_too_long_for_the_disk_is_an_unknown_video(stored):
    with pytest.raises(UnknownVideo):
        stored.read("𠀀" * 80)


@examples(200)
@given(st.text(max_size=120))
def test_a_slug_is_always_an_id_that_the_store_and_the_disk_take(stem):
    found = slug(stem)
    assert store_module._ID.fullmatch(found)
    assert found == slug(found)
    assert len(f"{found}-0123ab".encode()) <= 255
    assert found not in (".", "..")


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("ad", "ad"),
        ("Mein Film (final).v2", "Mein-Film-final-v2"),
        ("广告 ２", "广告-2"),
        ("../../etc/passwd", "etc-passwd"),
        ("...", "video"),
        ("🎉", "video"),
        ("x" * 100, "x" * 60),
        ("x" * 59 + " y", "x" * 59),
    ],
)
def test_a_slug_keeps_what_can_be_kept(stem, expected):
    assert slug(stem) == expected


def test_another_file_of_the_same_stem_gets_its_hash_and_keeps_it(store, tmp_path):
    paths = [tmp_path / folder / "ad.mp4" for folder in "abc"]
    hashes = [letter * 64 for letter in "123"]
    ids = []
    for path, sha256 in zip(paths, hashes, strict=True):
        ids.append(store.id_for(path, sha256))
        publish(store, make(video_id=ids[-1], path=str(path.resolve()), sha256=sha256))
    assert ids == ["ad", "ad-222222", "ad-333333"]
    assert [store.id_for(p, h) for p, h in zip(paths, hashes, strict=True)] == ids


def test_a_moved_file_and_a_changed_file_keep_their_id(store, tmp_path):
    here, there = tmp_path / "ad.mp4", tmp_path / "b" / "ad.mp4"
    publish(store, make(path=str(here.resolve()), sha256="1" * 64))
    assert store.id_for(there, "1" * 64) == "ad"
    assert store.id_for(here, "2" * 64) == "ad"


@pytest.mark.parametrize("owner", [True, False])
def test_a_damaged_memory_of_another_file_keeps_its_id(store, tmp_path, owner):
    here, there = tmp_path / "ad.mp4", tmp_path / "b" / "ad.mp4"
    memory = publish(store, make(path=str(here.resolve()), sha256="1" * 64))
    if not owner:
        (store.root / "ad" / "owner.json").unlink()
    (Path(memory.folder) / "memory.json").write_text("{")
    (store.root / "ad" / "current").write_bytes(b"\xff")
    assert store.id_for(there, "2" * 64) == "ad-222222"
    assert (store.id_for(here, "1" * 64) == "ad") == owner


def test_new_content_keeps_an_id_with_a_hash(store, tmp_path):
    publish(store, make(path="/other/ad.mp4", sha256="1" * 64))
    here = tmp_path / "ad.mp4"
    publish(store, make(video_id="ad-222222", path=str(here.resolve()), sha256="2" * 64))
    assert store.id_for(here, "3" * 64) == "ad-222222"


@pytest.mark.parametrize("subtitles", ["equal", "other", "none"])
def test_a_copy_is_the_same_video_where_its_subtitles_are_equal(store, tmp_path, subtitles):
    here, there = tmp_path / "ad.mp4", tmp_path / "b" / "ad.mp4"
    there.parent.mkdir()
    for path in (here, there):
        path.write_bytes(b"video")
    here.with_suffix(".srt").write_text("equal")
    if subtitles != "none":
        there.with_suffix(".srt").write_text(subtitles)
    publish(store, make(path=str(here.resolve()), sha256="1" * 64))
    assert store.id_for(there, "1" * 64) == ("ad" if subtitles == "equal" else "ad-111111")
    assert store.id_for(here, "1" * 64) == "ad"


def test_an_orphan_build_does_not_push_out_the_one_before(stored):
    opened = stored.read("ad")
    for orphan in ("7", "8"):
        (stored.root / "ad" / "builds" / orphan).mkdir()
    publish(stored, make("again"))
    kept = sorted(p.name for p in (stored.root / "ad" / "builds").iterdir())
    assert kept == ["1", "9"]
    assert stored.vectors(opened).shape == (1, 4)


# Locks, traces, disks


def test_a_second_builder_is_told_to_wait(store):
    with (
        store.building("ad"),
        pytest.raises(BuildInProgress, match="'ad'") as caught,
        MemoryStore(store.root).building("ad"),
    ):
        pass
    refusal_without_command = str(caught.value)
    assert "\n" not in refusal_without_command
    assert "wait" in refusal_without_command


def test_the_lock_is_free_again_after_a_build_that_failed(store):
    with pytest.raises(Killed), store.building("ad"):
        raise Killed
    with store.building("ad"), store.building("other"):
        pass


def test_a_reader_is_not_held_up_by_a_builder(stored):
    with stored.building("ad"):
        assert read_whole(stored) == "hello"


def test_traces_have_new_names_in_order_of_time(stored):
    paths = [stored.trace_path("ad") for _ in range(5)]
    assert len(set(paths)) == 5
    assert paths == sorted(paths)
    assert {p.parent for p in paths} == {stored.root / "ad" / "traces"}


def test_a_root_that_cannot_be_a_folder_is_a_store_error(tmp_path):
    (tmp_path / "memories").write_text("a file")
    store = MemoryStore(tmp_path / "memories")
    assert store.ids() == ()
    with pytest.raises(MemoryStoreError, match="cannot write to"), store.building("ad"):
        pass


def test_the_state_of_a_memory_is_another_after_whatever_changes_what_is_read(store):
    publish(store, make())
    first = store.state("ad")
    assert store.state("ad") == first
    told = store.correct("ad", new_correction("brand", "Lumivo"))
    corrected = store.state("ad")
    store.withdraw("ad", told.corrections[0].id)
    withdrawn = store.state("ad")
    publish(store, make("again"))
    built = store.state("ad")
    (Path(store.read("ad").folder) / "memory.json").write_text("{}")
    states = [first, corrected, withdrawn, built, store.state("ad")]
    assert len(set(states)) == len(states)
    with pytest.raises(UnknownVideo):
        store.state("other")
