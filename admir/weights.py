"""Where the weights of models lie on this machine. Nothing here reaches for the network."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from admir.errors import BackendUnavailable

WeightsKind = Literal["embedding", "speech", "alignment", "diarisation"]

_SPEECH = {
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    **{
        size: f"Systran/faster-whisper-{size}"
        for size in ("tiny", "base", "small", "medium", "large-v2", "large-v3")
    },
}


def find_weights(name_or_folder: str, kind: WeightsKind) -> Path:
    """The folder of a model's weights: a folder itself, or that of a download.

    Raises BackendUnavailable with what to do.
    """
    folder = Path(name_or_folder).expanduser()
    if folder.is_dir():
        return folder
    repository = _SPEECH.get(name_or_folder, name_or_folder) if kind == "speech" else name_or_folder
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(repository, local_files_only=True))
    except (ImportError, OSError, ValueError):
        raise BackendUnavailable(
            f"the {kind} weights {name_or_folder!r} are not on this machine (no such folder, "
            f"and no {repository} in Hugging Face's cache): run `admir fetch-models`; "
            "`--speech none` needs none"
        ) from None
