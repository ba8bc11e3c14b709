"""Which device a speech model runs on, in how much of its memory, and what happens when it fails.

A card is shared: with the models that caption, with other programs. So its free memory is asked
for before anything is loaded, and whatever fails on it is done again on the CPU.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from admir.errors import BackendUnavailable
from admir.settings import Device

T = TypeVar("T")
Warn = Callable[[str], None]

_OVERHEAD_MB = 900
"""What CUDA's own context and the work on one piece take beside the weights."""

_PIECE_MB = 250
"""What each further piece of a batch takes, with beams (large-v3, float16)."""

_MOST_PIECES = 16
_MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlan:
    """A device, the numbers that are calculated with, and how many pieces are heard at once."""

    device: Literal["cpu", "cuda"]
    compute_type: str
    batch: int


ON_CPU = DevicePlan(device="cpu", compute_type="int8", batch=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceLimit:
    """What a recogniser may use: the wanted device, and most of the card's memory in MB."""

    device: Device = "auto"
    gpu_mb: int | None = None


def place_for(
    folder: Path, share: DeviceLimit, sees_cuda: Callable[[], bool], warn: Warn
) -> DevicePlan:
    """Where the weights in a folder fit; `warn` is told why it is not the card, where one is."""
    if share.device == "cpu":
        return ON_CPU
    if not sees_cuda():
        if share.device == "cuda":
            warn("no CUDA device is seen; speech is recognised on the CPU")
        return ON_CPU
    free_mb = free_gpu_mb()
    limits = [mb for mb in (free_mb, share.gpu_mb) if mb is not None]
    if not limits:
        return DevicePlan(device="cuda", compute_type="float16", batch=1)
    for compute_type, part in (("float16", 1.0), ("int8_float16", 0.5)):
        spare_mb = min(limits) - (weights_mb(folder) * part + _OVERHEAD_MB)
        if spare_mb >= 0:
            batch = min(_MOST_PIECES, 1 + int(spare_mb / _PIECE_MB))
            return DevicePlan(device="cuda", compute_type=compute_type, batch=batch)
    needed_mb = weights_mb(folder) / 2 + _OVERHEAD_MB
    warn(
        f"speech is recognised on the CPU: {needed_mb:.0f} MB of the card are needed, "
        f"{min(limits)} MB may be taken"
    )
    return ON_CPU


def weights_mb(folder: Path) -> float:
    """The size of a model's weights, which CTranslate2 keeps in float16."""
    file = folder / "model.bin"
    return file.stat().st_size / _MB if file.is_file() else 0.0


def free_gpu_mb() -> int | None:
    """Free memory of the first card that is visible to CUDA; None where it cannot be asked for."""
    query = ("nvidia-smi", "--query-gpu=index,uuid,memory.free", "--format=csv,noheader,nounits")
    try:
        told = subprocess.run(  # noqa: S603 - a fixed command
            query, capture_output=True, text=True, timeout=20, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return _free_of(told, os.environ.get("CUDA_VISIBLE_DEVICES", ""))


def _free_of(told: str, visible: str) -> int | None:
    """MB from lines `index, uuid, MB`, of the card that `visible` names, else of the first."""
    wanted = visible.split(",")[0].strip()
    free: dict[str, int] = {}
    for line in told.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) == len(("index", "uuid", "free")) and parts[2].isdecimal():
            free |= {parts[0]: int(parts[2]), parts[1]: int(parts[2])}
    named = (mb for name, mb in free.items() if wanted and name.startswith(wanted))
    return next(named, next(iter(free.values()), None))


@contextmanager
def loading() -> Iterator[None]:
    """Around the loading of weights, which may hold anything: all that fails is a RuntimeError."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - tokenizers raises Exception itself
        raise RuntimeError(str(error)) from None


def with_cpu_behind(place: DevicePlan, work: Callable[[DevicePlan], T], warn: Warn, what: str) -> T:
    """Do the work there; where the card fails, or CUDA's libraries do, on the CPU.

    Raises BackendUnavailable naming `what` where the CPU fails too.
    """
    failed = ""
    if place.device == "cuda":
        try:
            return work(place)
        except (RuntimeError, OSError) as error:
            # The error holds the frames, they hold the model, and that holds the card's memory.
            failed = _reason(error)
    if failed:
        warn(f"the graphics card failed ({failed}); speech is recognised on the CPU")
    try:
        return work(ON_CPU)
    except (RuntimeError, OSError, MemoryError) as error:
        raise BackendUnavailable(
            f"{what} cannot be used: {_reason(error)}; delete its folder and get it anew with "
            "`admir fetch-models`, or take `--speech none`"
        ) from None


def _reason(error: BaseException) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:200]
