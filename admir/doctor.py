"""What is installed here, what is missing, and which presets can run.

Nothing heavy is imported to find a version, and no network is used but for a named endpoint.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, get_args

from admir.endpoint_probe import Endpoint, ask_endpoint
from admir.errors import AdmirError
from admir.settings import Preset, Settings
from admir.weights import Weights, needed_weights

State = Literal["ok", "missing", "broken"]
_WAIT_S = 2.0
_WAIT_IMPORT_S = 60.0
_LEAST_FREE_BYTES = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something that AD-MIR runs with: what it brings, and how to get it.

    `version` may be another short fact, such as the free space; `needed` parts are those that no
    preset runs without.
    """

    name: str
    state: State
    version: str = ""
    brings: str = ""
    how: str = ""
    needed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetReport:
    """Whether a preset can run here, or what it lacks."""

    preset: str
    lacks: tuple[str, ...]

    @property
    def ready(self) -> bool:
        """Whether it lacks nothing."""
        return not self.lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All that the doctor found."""

    chosen: PresetReport
    presets: tuple[PresetReport, ...]
    parts: tuple[Part, ...]
    weights: tuple[Weights, ...]
    endpoint: Endpoint


def diagnose(settings: Settings, endpoint: str | None = None) -> Diagnosis:
    """Look at everything. What is broken is told, and raises nothing."""
    parts = (*_needed(settings.memories), *_optional())
    answered = ask_endpoint(endpoint)
    presets = tuple(_report(name, settings, parts, answered) for name in get_args(Preset))
    chosen = next(report for report in presets if report.preset == settings.preset)
    return Diagnosis(
        chosen=chosen,
        presets=presets,
        parts=parts,
        weights=needed_weights(settings),
        endpoint=answered,
    )


def _report(
    name: str, settings: Settings, parts: tuple[Part, ...], endpoint: Endpoint
) -> PresetReport:
    """What a preset lacks: needed parts, backend, embedder, recogniser, an endpoint that fails."""
    lacks = [f"{p.name}: {p.version or p.state}" for p in parts if p.needed and p.state != "ok"]
    lacks += _faults(settings.model_copy(update={"preset": name}))
    if name != "offline" and endpoint.state == "failed":
        lacks.append(f"the endpoint {endpoint.url} does not answer: {endpoint.reason}")
    return PresetReport(preset=name, lacks=tuple(lacks))


def _faults(settings: Settings) -> list[str]:
    """Why the backend, the embedder and the recogniser of the settings cannot be opened."""
    from admir.backends.factory import open_backend, open_embedder, open_transcriber

    found = []
    openers: tuple[Callable[[Settings], object], ...] = (
        open_backend,
        open_embedder,
        open_transcriber,
    )
    for opened in openers:
        try:
            opened(settings)
        except AdmirError as error:
            found.append(str(error))
        except Exception as error:  # noqa: BLE001 - a package that is broken may raise anything
            found.append(_error_text(error))
    return found


def _needed(memories: Path) -> tuple[Part, ...]:
    """What every preset needs."""
    running = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    ours, pip = _version("admir"), "pip install --force-reinstall {}"
    return (
        Part(name="python", state="ok", version=running, brings="3.11 to 3.13 are supported"),
        Part(name="admir", state="ok" if ours else "missing", version=ours),
        _memories(memories),
        _required("decoding of video", "av", "frames and sound", pip.format("av")),
        _tried("on-screen text", "rapidocr-onnxruntime", "OCR, its models in its wheel", _try_ocr),
        _tried("word list", "symspellpy", "spaces that OCR dropped", _try_words),
        _required("agent", "langgraph", "the loop of reasoning", pip.format("langgraph")),
    )


def _optional() -> tuple[Part, ...]:
    """What may be installed beside."""
    embed, speech = 'pip install "admir[embed]"', 'pip install "admir[speech]"'
    return (
        _faces(),
        _faiss(),
        _package("sentence-transformers", "search by meaning", embed),
        _package("torch", "what sentence-transformers computes with", embed),
        _gpu(),
        _package("faster-whisper", "speech without subtitles", speech),
        _whisperx(),
    )


def _version(distribution: str) -> str:
    """The installed version without importing anything; empty where there is none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def _package(name: str, brings: str, how: str, distribution: str = "") -> Part:
    """A part that is there when its distribution is, which has its name unless another is told."""
    found = _version(distribution or name)
    state: State = "ok" if found else "missing"
    return Part(name=name, state=state, version=found, brings=brings, how=how)


def _required(name: str, distribution: str, brings: str, how: str) -> Part:
    """A part without which nothing runs."""
    return replace(_package(name, brings, how, distribution), needed=True)


def _tried(name: str, distribution: str, brings: str, attempt: Callable[[], None]) -> Part:
    """A needed part that is there when it works."""
    found, how = _version(distribution), f"pip install --force-reinstall {distribution}"
    state: State = "ok" if found else "missing"
    try:
        attempt()
    except Exception as error:  # noqa: BLE001 - a package that is broken may raise anything
        state, found = "broken" if found else "missing", _error_text(error)
    return Part(name=name, state=state, version=found, brings=brings, how=how, needed=True)


def _error_text(error: Exception) -> str:
    return str(AdmirError(f"{type(error).__name__}: {error}"))


def _try_ocr() -> None:
    import numpy as np

    from admir.perception.ocr import RapidOcrReader

    RapidOcrReader(1).read(np.zeros((64, 64, 3), dtype=np.uint8))


def _try_words() -> None:
    from importlib.resources import files

    if not (files("symspellpy") / "frequency_dictionary_en_82_765.txt").is_file():
        raise FileNotFoundError("the English dictionary is not there")


def _memories(folder: Path) -> Part:
    """Whether memories can be written, and how much room there is."""
    how = "name another folder with --memories or ADMIR_MEMORIES"
    part = Part(name="memories", state="broken", brings=f"in {folder}", how=how, needed=True)
    try:
        place = folder.absolute()
        while not place.exists() and place != place.parent:
            place = place.parent
        if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
            return replace(part, version="cannot be written")
        free = shutil.disk_usage(place).free
    except OSError as error:  # a name too long, a folder that may not be looked into
        return replace(part, version=f"cannot be written: {error.strerror}")
    room: State = "ok" if free >= _LEAST_FREE_BYTES else "broken"
    return replace(part, state=room, version=f"{free / 1e9:.1f} GB free")


def _faces() -> Part:
    """OpenCV, and the cascades that its 5.x no longer ships."""
    name, how = "opencv", 'pip install "opencv-python-headless<5"'
    found = _version("opencv-python-headless") or _version("opencv-python")
    brings = "pictures; its cascades find faces"
    try:
        import cv2

        folder = Path(cv2.__file__).parent / "data"
        there = (folder / "haarcascade_frontalface_default.xml").is_file()
    except Exception as error:  # noqa: BLE001 - libGL may be missing, or two builds mixed
        return Part(
            name=name,
            state="broken",
            version=_error_text(error),
            brings=brings,
            how=how,
            needed=True,
        )
    state: State = "ok" if there else "broken"
    told = found if there else f"{found} without face cascades"
    return Part(name=name, state=state, version=told, brings=brings, how=how, needed=True)


def _faiss() -> Part:
    cpu, gpu = _version("faiss-cpu"), _version("faiss-gpu")
    how = 'pip install "admir[cpu]" or "admir[gpu]", one of the two'
    part = Part(name="faiss", state="missing", brings="search where clips are many", how=how)
    if cpu and gpu:
        told = "cpu and gpu overwrite each other: remove one"
        return replace(part, state="broken", version=told)
    told = f"{cpu} (cpu)" if cpu else f"{gpu} (gpu)" if gpu else ""
    return replace(part, state="ok" if told else "missing", version=told)


def _gpu() -> Part:
    """The names of the GPUs, from the driver: asking torch would take seconds."""
    names = _output_of(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], _WAIT_S)
    brings, how = "faster speech and embedding", "an NVIDIA GPU and its driver"
    state: State = "ok" if names else "missing"
    told = ", ".join(names.splitlines()[:4])
    return Part(name="gpu", state=state, version=told, brings=brings, how=how)


def _output_of(command: list[str], wait_s: float) -> str:
    """stdout, empty where the command is not there, fails or hangs."""
    try:
        ran = subprocess.run(  # noqa: S603 - both commands are ours
            command, capture_output=True, text=True, timeout=wait_s, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.strip()


def _whisperx() -> Part:
    """`import whisperx` proves nothing; what transcribes is imported, where it can do no harm."""
    found = _version("whisperx")
    how = 'pip install "admir[whisperx]", in an environment of its own'
    part = Part(
        name="whisperx", state="missing", brings="speech with word times and speakers", how=how
    )
    if not found:
        return part
    attempt = (
        "try:\n import whisperx.asr\n print('works')\n"
        "except (ImportError, OSError, AttributeError): pass"
    )
    works = _output_of([sys.executable, "-c", attempt], _WAIT_IMPORT_S).endswith("works")
    told = found if works else f"{found} cannot be imported"
    return replace(part, state="ok" if works else "broken", version=told)
