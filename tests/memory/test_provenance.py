"""What a memory depends on and what it warns of. Reuse by fingerprint: see test_builder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from admir.errors import OptionError, VideoUnreadable
from admir.memory.provenance import check_names, read_source


def test_a_source_is_known_by_its_content_and_size(tmp_path):
    path = tmp_path / "ad.mp4"
    path.write_bytes(b"light that listens")
    found = read_source(path)
    assert found.sha256 == hashlib.sha256(b"light that listens").hexdigest()
    assert (found.path, found.file_bytes) == (path, 18)


def test_a_source_that_cannot_be_read_is_named_in_one_line(tmp_path):
    with pytest.raises(VideoUnreadable, match=r"'gone\.mp4' cannot be read") as caught:
        read_source(tmp_path / "gone.mp4")
    assert "\n" not in str(caught.value)


def test_names_of_any_language_are_taken(tmp_path):
    check_names(tmp_path / "广告 – été.mp4", {"brand": "Lumivo 灯 🎉"})


def test_a_file_name_that_is_not_text_is_refused(tmp_path):
    with pytest.raises(VideoUnreadable, match="is not UTF-8"):
        check_names(tmp_path / "ad\udcff.mp4", {})


@pytest.mark.parametrize("metadata", [{"brand": "\ud83d"}, {"\ud83d": "x"}])
def test_metadata_with_half_a_character_are_refused(metadata):
    with pytest.raises(OptionError, match="half a character"):
        check_names(Path("ad.mp4"), metadata)


def test_the_memory_of_the_ad_says_where_it_came_from(demo):
    origin = demo.provenance
    assert (origin.preset, origin.speech_source, origin.warnings) == ("offline", "ad.srt", ())
    assert (origin.text_source, origin.embedder) == (
        "rapidocr-onnxruntime+turns+bends",
        "hashing-1024-v1",
    )
    assert 0 < origin.frames_read <= origin.frames_sampled == len(demo.frames)
    assert demo.video.sha256 == hashlib.sha256(Path(demo.video.path).read_bytes()).hexdigest()
