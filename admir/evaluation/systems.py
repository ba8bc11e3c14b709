"""What is evaluated: the agent, the end-to-end baseline of B.1, or answers that are there already.

A system opens a video and gives a function from a case to a prediction. It is never shown what is
true of a case.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from admir.api import ask_opened, build_events, open_for_asking
from admir.backends.base import paid_for
from admir.backends.factory import open_backend
from admir.backends.llm.content import Part, clean, image
from admir.backends.llm.schemas import AnswerForm
from admir.backends.llm.typed_client import Model
from admir.concurrency import run_to_end
from admir.errors import AdmirError, BackendUnavailable, OptionError, VideoUnreadable
from admir.evaluation.adsqa import final_answer, read_prediction, video_file
from admir.evaluation.data import Case, Prediction
from admir.memory.store import MemoryStore
from admir.perception.decode import Picture, open_container, sample_times
from admir.perception.frame_seek import decode_at
from admir.perception.frames import length_s, picture_track
from admir.prompts import load_prompt
from admir.settings import Settings
from admir.text import truncate_words
from admir.trace import Answered, BuildProgress, Built
from admir.types import Span, Usage

BASELINE_FRAMES, BASELINE_SIDE = 16, 1024
"""Uniform frames, and pixels of their longest side (B.1)."""

_OF_THIS_MACHINE = {
    *("memories", "server", "cache", "cache_folder", "cache_mb", "api_key", "concurrency"),
    *("timeout_s", "workers", "device", "gpu_mb"),
}
"""Settings that no answer depends on."""

Answering = Callable[[Case], Awaitable[Prediction]]
Tell = Callable[[BuildProgress], None]


class System(Protocol):
    """What answers. `config` is what its answers depend on: a run goes on with the same alone.

    Answers that are `lasting` are kept, and not asked for again.
    """

    name: str
    lasting: bool
    config: Mapping[str, Any]

    async def open(self, video: str, tell: Tell) -> tuple[Answering, Usage]:
        """What answers about a video, and what preparing it cost.

        Raises AdmirError where the video cannot be used, BackendUnavailable where none can.
        """


def config_of(settings: Settings) -> dict[str, Any]:
    """The settings that answers depend on, without secrets."""
    plain = settings.model_dump(mode="json", exclude=_OF_THIS_MACHINE)
    own = {name: role for name, role in plain["roles"].items() if name != "judge"}
    for role in own.values():
        role.pop("api_key", None)
    return plain | {"roles": own}


@dataclass
class AgentSystem:
    """The agent of the paper, with any of its parts switched off by `settings`."""

    settings: Settings
    videos: Path
    name = "agent"
    lasting = True

    def __post_init__(self) -> None:
        backend = open_backend(self.settings)
        self.config: Mapping[str, Any] = {
            "system": self.name,
            "settings": config_of(self.settings),
            "models": dict(backend.models),
            "prompts": dict(backend.prompts),
        }

    async def open(self, video: str, tell: Tell) -> tuple[Answering, Usage]:
        """See `System`: the memory is built where it is missing.

        What people have corrected in it is left out: the system is measured, not they.
        """
        path, store = video_file(self.videos, video), MemoryStore(self.settings.memories)
        built = await run_to_end(
            build_events(path, self.settings),
            lambda event: tell(event) if isinstance(event, BuildProgress) else None,
        )
        assert isinstance(built, Built)
        memory = store.read_built(built.memory.video.id)
        opened = await asyncio.to_thread(open_for_asking, memory, self.settings)

        async def answer(case: Case) -> Prediction:
            async with aclosing(ask_opened(opened, case.question)) as events:
                last = await run_to_end(events)
            assert isinstance(last, Answered)
            found = last.answer
            return Prediction(
                text=found.answer,
                grounded=found.grounded,
                usage=found.usage,
                seconds=found.seconds,
                trace=found.trace or "",
            )

        made = "store" in built.stage_seconds  # not where only the vectors are new
        return answer, memory.provenance.usage if made else Usage()


class BaselineSystem:
    """A model alone, end to end: 16 uniform frames with their times, then the question (B.1)."""

    name = "end-to-end"
    lasting = True

    def __init__(self, settings: Settings, videos: Path) -> None:
        if settings.preset == "offline":
            raise OptionError(
                "the end-to-end baseline asks a model: choose `--preset paper` or `--preset local`"
            )
        self._model = Model(settings, ("baseline",))
        self._videos, self._words = videos, settings.answer_words
        self.config: Mapping[str, Any] = {
            "system": self.name,
            "settings": config_of(settings),
            "models": {"baseline": self._model.models["baseline"].model},
            "prompts": {"baseline": load_prompt("baseline").sha256},
        }

    async def open(self, video: str, tell: Tell) -> tuple[Answering, Usage]:
        """See `System`: the frames are decoded once for all questions about the video."""
        tell(BuildProgress(stage="decode", done=0, total=0))
        shown = await asyncio.to_thread(uniform_frames, video_file(self._videos, video))
        parts = await asyncio.to_thread(_interleaved, shown)

        async def answer(case: Case) -> Prediction:
            started = time.monotonic()
            text = load_prompt("baseline").render(most_words=str(self._words))
            asked = [*parts, f"Question: {clean(case.question)}"]
            reply = await self._model.complete("baseline", text, asked, AnswerForm)
            seconds = round(time.monotonic() - started, 3)
            answer = truncate_words(" ".join(reply.value.answer.split()), self._words)
            return Prediction(text=answer, usage=reply.usage, seconds=seconds)

        return answer, Usage()


def uniform_frames(path: Path) -> list[Picture]:
    """16 pictures, each from the middle of a sixteenth of the video; raises VideoError."""
    with open_container(path) as container:
        track = picture_track(container)
        assert track is not None  # open_container saw to it
        duration_s = length_s(container, track)
    fps = BASELINE_FRAMES / max(duration_s, 1e-3)
    times = sample_times(Span(start_s=0.0, end_s=duration_s), fps, BASELINE_FRAMES)
    found = {frame.time_s: frame for frame in decode_at(path, times, BASELINE_SIDE).values()}
    if not found:
        raise VideoUnreadable(f"{path.name!r} gives no pictures")
    return [found[time_s] for time_s in sorted(found)]


def _interleaved(shown: list[Picture]) -> list[Part]:
    return [
        part
        for picture in shown
        for part in (f"Frame at {picture.time_s:.3f} s:", image(picture, BASELINE_SIDE, whole=True))
    ]


class FilesSystem:
    """Answers that somebody else has given, in the layout of the authors of AdsQA."""

    name = "files"
    lasting = False
    """Reading them again costs nothing, and they may have changed."""

    def __init__(self, folder: Path, prediction_name: str) -> None:
        if not folder.is_dir():
            raise OptionError(f"--predictions: there is no folder {str(folder)!r}")
        self._folder, self._name = folder, prediction_name
        self.config: Mapping[str, Any] = {"system": self.name, "predictions": prediction_name}

    async def open(self, video: str, tell: Tell) -> tuple[Answering, Usage]:
        """See `System`: the video is not looked at."""

        async def answer(case: Case) -> Prediction:
            try:
                found = read_prediction(self._folder, case.id, self._name)
            except ValueError as error:
                return Prediction(error=str(error), kind="bad-prediction")
            if found is None:
                return Prediction(error=f"there is no {self._name}.json", kind="no-prediction")
            return Prediction(text=final_answer(found[0]))

        return answer, Usage()


async def predicted(answer: Answering, case: Case) -> Prediction:
    """The prediction of a case, or why there is none; raises BackendUnavailable."""
    try:
        return await answer(case)
    except BackendUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - an item of many must not cost a night's run
        return failure_of(error)


def failure_of(error: Exception) -> Prediction:
    """No answer, and why."""
    if isinstance(error, AdmirError):
        return Prediction(error=str(error), kind=error.kind, usage=paid_for(error))
    told = AdmirError(f"unexpected {type(error).__name__}: {error}")
    return Prediction(error=str(told), kind="unexpected")
