"""Weights of models from the Hugging Face hub: only what is needed, and every file checked."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from admir.errors import BackendUnavailable, WeightsError
from admir.weights import Weights, cache_folder, is_whole, model_files

_LOOK_S = 0.25


def fetch(wanted: Weights, tell: Callable[[int, int], None] = lambda _, __: None) -> Path:
    """Download what is missing of weights, check every file, and return their folder.

    `tell` hears bytes done and in all. What is there already is not fetched again; a download that
    was cut off goes on. Raises WeightsError, or BackendUnavailable without the hub's package.
    """
    if not wanted.repo:
        raise WeightsError(f"{wanted.name!r} is a folder; what it lacks cannot be fetched")
    try:
        import huggingface_hub
        import huggingface_hub.utils
    except ImportError:
        raise BackendUnavailable(
            'fetching weights needs the extra "embed", "speech" or "whisperx": '
            '`pip install "admir[embed]"`'
        ) from None
    try:
        return _fetched(huggingface_hub, wanted, tell)
    except WeightsError:
        raise
    except Exception as error:  # noqa: BLE001 - a network and a hub fail in many ways
        why = " ".join(str(error).split())[:300] or type(error).__name__
        raise WeightsError(
            f"{wanted.repo} cannot be fetched from {hub_url()}: {why}; run the command again, or "
            "set HF_ENDPOINT to a mirror, HF_TOKEN to a token"
        ) from None


def hub_url() -> str:
    """Where weights come from."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def _fetched(hub: Any, wanted: Weights, tell: Callable[[int, int], None]) -> Path:
    hub.utils.disable_progress_bars()
    info = hub.HfApi(endpoint=hub_url()).model_info(wanted.repo, files_metadata=True, timeout=30)
    names = model_files([file.rfilename for file in info.siblings])
    files = [file for file in info.siblings if file.rfilename in names]
    total, done, folder = sum(file.size or 0 for file in files), 0, Path()
    tell(0, total)
    blobs = cache_folder() / f"models--{wanted.repo.replace('/', '--')}" / "blobs"
    for file in files:
        with _watched(blobs, partial(_tell_more, tell, done, total)):
            place = hub.hf_hub_download(
                wanted.repo,
                file.rfilename,
                revision=info.sha,
                endpoint=hub_url(),
                cache_dir=cache_folder(),  # the hub's package may go by other variables
            )
        _check(Path(place), file)
        folder = Path(place).parents[file.rfilename.count("/")]
        done += file.size or 0
        tell(done, total)
    if not files or not is_whole(folder, wanted.purpose):
        raise WeightsError(f"{wanted.repo} is no {wanted.purpose} model that can be used here")
    return folder


def _tell_more(tell: Callable[[int, int], None], done: int, total: int, arrived: int) -> None:
    tell(min(total, done + arrived), total)


@contextmanager
def _watched(blobs: Path, tell: Callable[[int], None]) -> Iterator[None]:
    """Tell how much of a file has arrived while it is downloaded."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_LOOK_S):
            with suppress(OSError, ValueError):
                tell(max(path.stat().st_size for path in blobs.glob("*.incomplete")))

    watcher = threading.Thread(target=watch, name="admir-fetch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _check(path: Path, file: Any) -> None:
    """Size and, where the hub tells it, SHA-256; a wrong file is removed. Raises WeightsError."""
    size = path.stat().st_size
    good = file.size is None or size == file.size
    stated = (file.lfs or {}).get("sha256") if file.lfs else None
    if good and stated:
        with path.open("rb") as stream:
            good = hashlib.file_digest(stream, "sha256").hexdigest() == stated
    if not good:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise WeightsError(f"{file.rfilename} did not arrive as it is at the hub; fetch it again")
