"""A disk that becomes full: an error in words, the earlier memory whole, the next run goes on."""

from __future__ import annotations

import builtins
import errno
import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir import ask
from admir.errors import MemoryStoreError
from admir.memory.store import MemoryStore
from tests.conftest import flat, write_video
from tests.memory.making import CountingReader, build, builder_of
from tests.properties import examples

OPEN = io.open


class _Full:
    """A disk that takes so many writes; of the next one it takes half."""

    def __init__(self, takes: int) -> None:
        self.left = takes

    def open(self, file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        stream = OPEN(file, mode, *args, **options)
        return stream if not set(mode) & set("wax+") else _File(stream, self)

    def write(self, stream: Any, data: Any) -> int:
        self.left -= 1
        if self.left < 0:
            stream.write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return stream.write(data)


class _File:
    """An open file on that disk."""

    def __init__(self, stream: Any, disk: _Full) -> None:
        self._stream, self._disk = stream, disk

    def write(self, data: Any) -> int:
        return self._disk.write(self._stream, data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


@contextmanager
def disk_that_takes(writes: int) -> Iterator[_Full]:
    """Whatever Python opens to write is on that disk."""
    disk = _Full(writes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", disk.open)
        patch.setattr(builtins, "open", disk.open)
        yield disk


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """Three seconds; every one has another brightness."""
    path = tmp_path_factory.mktemp("video") / "ad.mp4"
    draw = lambda n: flat((40 + 50 * (n // 10),) * 3, (64, 48))  # noqa: E731
    return write_video(path, draw, frames=30, fps=10, size=(64, 48))


@pytest.fixture(scope="module")
def built(video, tmp_path_factory):
    """A memory of it, and how many writes a second one with other clips takes."""
    root = tmp_path_factory.mktemp("built") / "memories"
    build(builder_of(root), video)
    again = Path(shutil.copytree(root, root.with_name("again")))
    with disk_that_takes(10_000) as disk:
        build(builder_of(again, clip_s=2.0), video)
    return root, 10_000 - disk.left


@examples(10)
@given(share=st.floats(0, 1, exclude_max=True))
def test_whenever_the_disk_becomes_full_nothing_is_half_written(
    video, built, tmp_path_factory, share
):
    source, writes = built
    root = Path(shutil.copytree(source, tmp_path_factory.mktemp("full") / "memories"))
    before, store = MemoryStore(root).read("ad"), MemoryStore(root)
    first, second = CountingReader(), CountingReader()
    with (
        disk_that_takes(int(share * writes)),
        pytest.raises(MemoryStoreError, match="No space left on device"),
    ):
        build(builder_of(root, first, clip_s=2.0, workers=1), video)
    assert store.read("ad") == before
    assert store.vectors(before).shape[0] == len(before.clips)

    after = build(builder_of(root, second, clip_s=2.0, workers=1), video)[0].memory
    assert store.read("ad") == after
    assert len(after.clips) == 2
    assert first.count + second.count <= after.provenance.frames_read + 1
    left = sorted(path.name for path in Path(after.folder).iterdir())
    assert left == ["frames", "memory.json", "vectors.npy"]


@examples(6)
@given(writes=st.integers(0, 12))
def test_a_disk_that_becomes_full_does_not_cost_an_answer(built, tmp_path_factory, writes):
    root = Path(shutil.copytree(built[0], tmp_path_factory.mktemp("asked") / "memories"))
    whole = ask("ad", "What does it cost?", memories=root)
    with disk_that_takes(writes) as disk:
        told = ask("ad", "What does it cost?", memories=root)
    assert (told.answer, told.grounded) == (whole.answer, whole.grounded)
    assert (told.trace is None) == (disk.left < 0)
    assert bool(told.warnings) == (disk.left < 0)
    assert all("No space left on device" in said for said in told.warnings)
    assert whole.warnings == ()
