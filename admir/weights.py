"""Weights of models: which a task needs, where they lie, and how they get there.

They are looked for in a folder that is named, else in the cache of the Hugging Face hub
(`HF_HUB_CACHE`, `HF_HOME`). `admir.download` gets them; nothing here uses the network.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from admir.errors import BackendUnavailable
from admir.settings import ENDPOINT, Settings, own_path

Purpose = Literal["embedding", "speech", "alignment", "diarisation"]

BGE_M3 = "BAAI/bge-m3"

_HASHING = ("hashing", "hashing-1024-v1")

_WITHOUT: Mapping[Purpose, str] = {
    "embedding": "`--preset offline` or `--embedder hashing` needs none",
    "speech": "`--speech none` needs none",
    "alignment": "without it words have no times",
    "diarisation": "without it speakers are not told apart",
}

_WHISPER: Mapping[str, tuple[str, int]] = {
    "tiny": ("Systran/faster-whisper-tiny", 78_000_000),
    "base": ("Systran/faster-whisper-base", 148_000_000),
    "small": ("Systran/faster-whisper-small", 487_000_000),
    "medium": ("Systran/faster-whisper-medium", 1_530_000_000),
    "large-v2": ("Systran/faster-whisper-large-v2", 3_090_000_000),
    "large-v3": ("Systran/faster-whisper-large-v3", 3_090_000_000),
    "large-v3-turbo": ("mobiuslabsgmbh/faster-whisper-large-v3-turbo", 1_620_000_000),
}
_SHORT = {"large": "large-v3", "turbo": "large-v3-turbo"}
_ALIGNMENT = "jonatasgrosman/wav2vec2-large-xlsr-53-{}"
_LANGUAGES: Mapping[str, str] = {
    "ar": "arabic",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "ja": "japanese",
    "nl": "dutch",
    "pl": "polish",
    "pt": "portuguese",
    "ru": "russian",
    "zh": "chinese-zh-cn",
}
DIARISATION = "pyannote/speaker-diarization-community-1"
_KNOWN: Mapping[str, tuple[int, str]] = {
    BGE_M3: (2_290_000_000, "MIT"),
    **{repo: (size, "MIT") for repo, size in _WHISPER.values()},
    **{_ALIGNMENT.format(name): (1_270_000_000, "Apache-2.0") for name in _LANGUAGES.values()},
    DIARISATION: (34_000_000, "CC-BY-4.0, terms to be accepted on its page"),
}
"""Bytes and licence, of those that are asked for by default."""

_MODEL_FILES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "model.bin",
    "config.yaml",
)
_FIRST_FILES = ("config.json", "config.yaml", "modules.json")
_TOKENS: Mapping[Purpose, tuple[str, ...]] = {
    "embedding": ("tokenizer.json", "vocab.txt", "sentencepiece.bpe.model", "tokenizer.model"),
    "speech": ("tokenizer.json",),
    "alignment": ("vocab.json",),
    "diarisation": ("config.yaml",),
}
_WANTED = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin", "*.yaml")
_UNWANTED = (
    "onnx/*",
    "openvino/*",
    "*.onnx",
    "*.msgpack",
    "*.h5",
    "imgs/*",
    "optimizer*",
    "eval/*",
)
_UNSAFE = "pytorch_model*.bin*"
_WHOLE_BYTES, _END_BYTES = 4_000_000, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights that something needs. `folder` is None where they are not on the disk.

    `repo` is theirs at the hub, empty for a folder that is named. `file_bytes` is what they take,
    about as much where they are not there yet, and 0 where that is not known.
    """

    name: str
    purpose: Purpose
    repo: str
    folder: Path | None
    file_bytes: int = 0
    licence: str = ""


def weights(name: str, purpose: Purpose) -> Weights:
    """What is known of weights, from the disk alone. `name` is that of a model or its folder.

    For alignment it is a language (`en`). Raises BackendUnavailable for a language without one.
    """
    own = own_path(name)
    if is_folder(name):
        repo, folder = "", own.resolve() if is_whole(own, purpose) else None
    else:
        repo = _repo(name, purpose)
        folder = _cached(repo, purpose)
    size, licence = _KNOWN.get(repo, (0, ""))
    if folder is not None:
        size = sum(path.stat().st_size for path in _files(folder))
    return Weights(
        name=name, purpose=purpose, repo=repo, folder=folder, file_bytes=size, licence=licence
    )


def needed_weights(settings: Settings) -> tuple[Weights, ...]:
    """What a build and an answer by these settings load from the disk, also without subtitles.

    Of speech only what an installed engine, or one that is named, would load.
    """
    found = []
    if (name := embedding_name(settings)) is not None:
        found.append(weights(name, "embedding"))
    engine = _engine(settings)
    if engine is not None:
        found.append(weights(settings.speech_model, "speech"))
    language = settings.language or ""
    if engine == "whisperx" and language in _LANGUAGES:
        found.append(weights(language, "alignment"))
    if engine == "whisperx" and settings.speakers:
        found.append(weights(DIARISATION, "diarisation"))
    return tuple(found)


def embedding_name(settings: Settings) -> str | None:
    """The model on the disk that embeds by these settings; None where there is none."""
    if settings.embedder == "auto":
        return None if settings.preset == "offline" else BGE_M3
    other = settings.embedder in _HASHING or settings.embedder.startswith(ENDPOINT)
    return None if other else settings.embedder


def _engine(settings: Settings) -> str | None:
    """What recognises speech by these settings; None where nothing does."""
    if settings.speech in ("whisperx", "faster-whisper"):
        return settings.speech
    if settings.speech != "auto":
        return None
    installed = (("whisperx", "whisperx"), ("faster-whisper", "faster_whisper"))
    return next((engine for engine, package in installed if find_spec(package)), None)


def find_weights(name: str, purpose: Purpose) -> Path:
    """The folder of weights on the disk; raises BackendUnavailable where they are not whole."""
    found = weights(name, purpose)
    if found.folder is not None:
        return found.folder
    if not found.repo:
        raise BackendUnavailable(
            f"the folder {name!r} holds no {purpose} model; {_WITHOUT[purpose]}"
        )
    raise BackendUnavailable(
        f"the {purpose} model {name!r} is not on the disk (looked in {cache_folder()} for "
        f"{found.repo}); get it with `{_way(found)}`; {_WITHOUT[purpose]}"
    )


def _way(wanted: Weights) -> str:
    """The command that gets weights, whatever else the settings are."""
    options: Mapping[Purpose, str] = {
        "embedding": f"--embedder {wanted.name}",
        "speech": f"--set speech_model={wanted.name}",
        "alignment": f"--speech whisperx --language {wanted.name}",
        "diarisation": "--speech whisperx --set speakers=true",
    }
    return f"admir fetch-models {options[wanted.purpose]}"


def is_folder(name: str) -> bool:
    """Whether a model is named by its place on the disk."""
    return name.startswith((".", "/", "~")) or os.path.isdir(name)  # noqa: PTH112 - odd names


def cache_folder() -> Path:
    """Where the hub's cache is, whether or not its package is installed."""
    if stated := os.environ.get("HF_HUB_CACHE"):
        return own_path(stated)
    home = os.environ.get("HF_HOME") or Path(
        os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface"
    )
    return own_path(home) / "hub"


def revision_of(folder: Path) -> str:
    """Twelve digits that tell these weights from others, wherever they lie.

    Of a large file its size, its beginning and its end are taken.
    """
    digest = hashlib.sha256()
    for path in _files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(_sample(path))
    return digest.hexdigest()[:12]


def model_files(names: Iterable[str]) -> frozenset[str]:
    """Of the files of a model those that are loaded: of two forms in one folder the safe one."""

    def fits(name: str, patterns: Sequence[str]) -> bool:
        return any(fnmatch(name, pattern) for pattern in patterns)

    found = {name for name in names if fits(name, _WANTED) and not fits(name, _UNWANTED)}
    places = {name: name.rpartition("/") for name in found}
    safe = {place[0] for name, place in places.items() if name.endswith(".safetensors")}
    return frozenset(
        name
        for name, (folder, _, file) in places.items()
        if not (folder in safe and fnmatch(file, _UNSAFE))
    )


def _files(folder: Path) -> Iterator[Path]:
    """The files that a model is made of; papers about it and other forms of it are not."""
    there = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    return (there[name] for name in sorted(model_files(there)))


def _sample(path: Path) -> bytes:
    with path.open("rb") as stream:
        if path.stat().st_size <= _WHOLE_BYTES:
            return stream.read()
        begin = stream.read(_END_BYTES)
        stream.seek(-_END_BYTES, os.SEEK_END)
        return begin + stream.read()


def _repo(name: str, purpose: Purpose) -> str:
    if purpose == "speech":
        known = _WHISPER[_SHORT.get(name, name)][0] if _SHORT.get(name, name) in _WHISPER else name
        return known if "/" in known else f"Systran/faster-whisper-{known}"
    if purpose == "diarisation":
        return DIARISATION
    if purpose == "alignment":
        if name not in _LANGUAGES:
            raise BackendUnavailable(f"there is no model that aligns words of language {name!r}")
        return _ALIGNMENT.format(_LANGUAGES[name])
    return name if "/" in name else f"sentence-transformers/{name}"


def _cached(repo: str, purpose: Purpose) -> Path | None:
    """The folder of a whole snapshot: that of the branch `main`, else the newest."""
    home = cache_folder() / f"models--{repo.replace('/', '--')}"
    try:
        main = (home / "refs" / "main").read_text("ascii").strip()
    except (OSError, ValueError):
        main = ""
    try:
        found = sorted(
            (home / "snapshots").iterdir(), key=lambda p: (p.name == main, p.stat().st_mtime)
        )
    except (OSError, ValueError):  # ValueError: a name with a null byte
        return None
    return next((folder for folder in reversed(found) if is_whole(folder, purpose)), None)


def is_whole(folder: Path, purpose: Purpose) -> bool:
    """Whether all that is loaded is there: a download may have been cut off."""
    try:
        if not any((folder / name).is_file() for name in _FIRST_FILES):
            return False  # whatever folder it is, its many files are not walked through
        there = {
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
        }
    except (OSError, ValueError):
        return False
    wants = [("config.json", "config.yaml"), _TOKENS[purpose], _MODEL_FILES]
    if purpose == "embedding" and "modules.json" in there and "config.json" not in there:
        wants = [_nested(there)]
    if not all(any(name in there for name in names) for names in wants):
        return False
    shards = [_shards(folder / name) for name in model_files(there) if name.endswith(".index.json")]
    return all(shard in there for names in shards for shard in names)


def _nested(there: set[str]) -> tuple[str, ...]:
    """Models of sentence-transformers that keep their transformer in a folder of its own."""
    return tuple(name for name in there if name.rpartition("/")[2] in _MODEL_FILES) or ("-",)


def _shards(index: Path) -> set[str]:
    try:
        return set(json.loads(index.read_bytes())["weight_map"].values())
    except (OSError, ValueError, LookupError, AttributeError, TypeError):
        return {"-"}
