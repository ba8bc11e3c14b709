"""Weights on the disk: where they are looked for, whether they are whole, which they are."""

from __future__ import annotations

import json
import shutil

import pytest

from admir import weights as weights_module
from admir.errors import BackendUnavailable
from admir.settings import load_settings
from admir.weights import (
    BGE_M3,
    DIARISATION,
    find_weights,
    model_files,
    needed_weights,
    revision_of,
    weights,
)

FILES = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": b"0123"}


def write(folder, files=FILES):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The hub's cache, empty."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def snapshot(hub, repo, revision="c0ffee", files=FILES, main=True):
    home = hub / f"models--{repo.replace('/', '--')}"
    if main:
        write(home, {"refs/main": revision.encode()})
    return write(home / "snapshots" / revision, files)


def test_a_folder_is_taken_as_it_is(tmp_path):
    folder = write(tmp_path / "own")
    assert find_weights(str(folder), "embedding") == folder
    assert weights(str(folder), "embedding").file_bytes == 8


@pytest.mark.parametrize("name", ["~nobody-at-all/own", "./" + "o" * 5000, "/", ".", "./a\0b"])
def test_a_folder_that_cannot_be_is_one_line(name):
    with pytest.raises(BackendUnavailable, match="holds no embedding model"):
        find_weights(name, "embedding")


def test_a_name_with_a_null_byte_is_one_line(hub):
    with pytest.raises(BackendUnavailable, match="not on the disk"):
        find_weights("a\0b", "embedding")


@pytest.mark.parametrize("lacks", FILES)
def test_a_folder_that_lacks_a_file_is_an_error(tmp_path, lacks):
    folder = write(tmp_path / "own", {k: v for k, v in FILES.items() if k != lacks})
    with pytest.raises(BackendUnavailable, match=r"holds no embedding model.*hashing"):
        find_weights(str(folder), "embedding")


def test_a_missing_model_says_where_it_was_looked_for_and_how_to_get_it(hub):
    with pytest.raises(BackendUnavailable) as caught:
        find_weights(BGE_M3, "embedding")
    for words in (BGE_M3, str(hub), "admir fetch-models", "--preset offline"):
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "purpose", "command"),
    [
        ("a/b", "embedding", "admir fetch-models --embedder a/b`"),
        ("tiny", "speech", "admir fetch-models --set speech_model=tiny`"),
        ("de", "alignment", "admir fetch-models --speech whisperx --language de`"),
        (DIARISATION, "diarisation", "admir fetch-models --speech whisperx --set speakers=true`"),
    ],
)
def test_the_command_that_is_told_gets_what_is_missing(hub, name, purpose, command):
    with pytest.raises(BackendUnavailable) as caught:
        find_weights(name, purpose)
    assert command in str(caught.value)


def test_the_branch_main_is_taken_where_several_are_there(hub):
    snapshot(hub, BGE_M3, "older")
    snapshot(hub, BGE_M3, "chosen")
    snapshot(hub, BGE_M3, "newest", main=False)
    assert find_weights(BGE_M3, "embedding").name == "chosen"


def test_a_snapshot_that_was_cut_off_does_not_count(hub):
    shards = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    files = {
        "config.json": b"{}",
        "tokenizer.json": b"{}",
        "model.safetensors.index.json": json.dumps(shards).encode(),
        "model-1.safetensors": b"1",
    }
    folder = snapshot(hub, BGE_M3, files=files)
    assert weights(BGE_M3, "embedding").folder is None
    write(folder, {"model-2.safetensors": b"2"})
    assert weights(BGE_M3, "embedding").folder == folder


def test_names_of_whisper_stand_for_their_repositories(hub):
    files = {"config.json": b"{}", "tokenizer.json": b"{}", "model.bin": b"0"}
    folder = snapshot(hub, "Systran/faster-whisper-tiny", files=files)
    assert find_weights("tiny", "speech") == folder
    assert find_weights("Systran/faster-whisper-tiny", "speech") == folder


def test_a_language_without_alignment_is_an_error(hub):
    with pytest.raises(BackendUnavailable, match="language 'xx'"):
        find_weights("xx", "alignment")


def test_the_revision_is_that_of_the_content_wherever_it_lies(tmp_path, monkeypatch):
    monkeypatch.setattr(weights_module, "_WHOLE_BYTES", 10)
    monkeypatch.setattr(weights_module, "_END_BYTES", 4)
    one = write(tmp_path / "one", {**FILES, "model.safetensors": b"x" * 50})
    moved = shutil.copytree(one, tmp_path / "two")
    write(moved, {"README.md": b"a paper about it", "onnx/config.json": b"{}"})
    write(moved, {"pytorch_model.bin": b"the same, in another form"})
    assert revision_of(one) == revision_of(moved)
    for changed in (b"x" * 51, b"y" + b"x" * 49, b"x" * 49 + b"y"):
        write(moved, {"model.safetensors": changed})
        assert revision_of(one) != revision_of(moved)


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (["model.safetensors", "pytorch_model.bin"], ["model.safetensors"]),
        (["a-1.safetensors", "pytorch_model.bin.index.json"], ["a-1.safetensors"]),
        (["2_Dense/model.safetensors", "pytorch_model.bin"], None),
        (["model.bin", "a.json", "README.md", "onnx/a.json"], ["model.bin", "a.json"]),
    ],
)
def test_of_two_forms_in_one_folder_the_safe_one_is_taken(names, kept):
    assert model_files(names) == frozenset(names if kept is None else kept)


@pytest.mark.parametrize(
    ("options", "purposes"),
    [
        ({"preset": "offline", "embedder": "auto", "speech": "none"}, []),
        ({"preset": "local", "embedder": "auto", "speech": "none"}, ["embedding"]),
        ({"preset": "paper", "embedder": "hashing", "speech": "none"}, []),
        ({"preset": "paper", "embedder": "endpoint:x", "speech": "none"}, []),
        ({"preset": "offline", "embedder": "a/b", "speech": "none"}, ["embedding"]),
        ({"preset": "paper", "embedder": "hashing-1024-v1", "speech": "none"}, []),
        ({"preset": "offline", "embedder": "auto", "speech": "faster-whisper"}, ["speech"]),
        ({"preset": "offline", "embedder": "auto", "speech": "whisperx"}, ["speech"]),
        (
            {"embedder": "auto", "speech": "whisperx", "language": "en", "speakers": True},
            ["speech", "alignment", "diarisation"],
        ),
    ],
)
def test_what_is_needed_follows_the_settings(hub, options, purposes):
    assert [each.purpose for each in needed_weights(load_settings(**options))] == purposes
    assert all(
        each.file_bytes and each.licence
        for each in needed_weights(load_settings(**options))
        if each.repo != "a/b"
    )
