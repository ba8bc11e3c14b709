"""What people import: `build_memory`, `open_memory`, `ask`, and their event streams.

The plain functions run to the end and also work inside a notebook's running event loop.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from admir.backends.base import Backend
from admir.backends.factory import (
    asr_unavailable_reason,
    open_backend,
    open_embedder,
    open_transcriber,
    reader_of,
)
from admir.concurrency import run_sync, run_to_end
from admir.errors import MemoryStoreError, OptionError, QuestionError
from admir.memory.builder import Builder
from admir.memory.embedding import reembed
from admir.memory.frame_access import prepare_looks
from admir.memory.index import HybridIndex, index_text_memory, open_index
from admir.memory.store import MemoryStore
from admir.memory.subjects import SubjectIndex
from admir.perception.decode import open_container
from admir.perception.frames import length_s, picture_track
from admir.settings import MAX_QUESTION_CHARS, Settings, load_settings
from admir.tools.base import ToolContext
from admir.trace import Answered, AnswerEvent, BuildEvent, Built, TraceFile
from admir.types import Answer, Memory, Turn

if TYPE_CHECKING:
    from admir.agent.controller import Agent
    from admir.backends.llm.estimate import Estimate


def build_memory(
    video: str | Path,
    *,
    metadata: Mapping[str, str] | None = None,
    memories: str | Path | None = None,
    preset: str | None = None,
    **options: Any,
) -> Memory:
    """Build the memory of a video file, or return the stored one when it is still good.

    `options` are fields of `Settings`. Raises OptionError, VideoError, BuildInProgress,
    MemoryStoreError, ModelError or BackendUnavailable.
    """
    settings = load_settings(memories=memories, preset=preset, **options)
    last = run_sync(run_to_end(build_events(Path(video), settings, metadata)))
    assert isinstance(last, Built)
    return last.memory


def open_memory(video_id: str, *, memories: str | Path | None = None) -> Memory:
    """The stored memory of a video; raises UnknownVideo, MemoryDamaged or MemoryVersionError."""
    return MemoryStore(load_settings(memories=memories).memories).read(video_id)


def ask(
    video: str | Path | Memory,
    question: str,
    *,
    memories: str | Path | None = None,
    preset: str | None = None,
    **options: Any,
) -> Answer:
    """Answer a question about a video, given by its id, its memory, or its file.

    A file whose memory is missing is built first. `options` are fields of `Settings`. Raises
    QuestionError and what `build_memory` and `open_memory` raise.
    """
    settings = load_settings(memories=memories, preset=preset, **options)
    last = run_sync(run_to_end(_ask_any(video, question, settings)))
    assert isinstance(last, Answered)
    return last.answer


def build_events(
    path: Path, settings: Settings, metadata: Mapping[str, str] | None = None
) -> AsyncIterator[BuildEvent]:
    """The build as a stream of events that ends with `Built`.

    Without `metadata` a stored memory keeps what it has.
    """
    builder = Builder(
        settings=settings,
        store=MemoryStore(settings.memories),
        backend=open_backend(settings),
        embedder=open_embedder(settings),
        reader=reader_of(settings),
        transcriber=open_transcriber(settings),
        deaf_because=asr_unavailable_reason(settings),
    )
    return builder.build(path, metadata)


def reindex(video_id: str, settings: Settings) -> Memory:
    """Embed the clips of a stored memory anew, with the embedder of the settings, or else its own.

    The video is not needed. Raises UnknownVideo, MemoryDamaged, BuildInProgress, MemoryStoreError,
    BackendUnavailable or ModelError.
    """
    store = MemoryStore(settings.memories)
    known = store.read_built(video_id)  # one that is not there gets no folder for its lock
    embedder = open_embedder(settings, known.provenance.embedder)
    with store.building(video_id):  # read again: a build may have ended meanwhile
        return reembed(store, store.read_built(video_id), embedder)


def estimate(path: Path, settings: Settings) -> Estimate:
    """About what building the memory of a video costs; nothing of it is decoded.

    Raises VideoError, EndpointError, or OptionError for the preset that costs nothing.
    """
    if settings.preset == "offline":
        raise OptionError("preset 'offline' calls no model: a build costs nothing")
    from admir.backends.llm.estimate import estimate_build

    with open_container(path) as container:
        track = picture_track(container)
        assert track is not None  # open_container saw to it
        duration_s = length_s(container, track)
        size = {"width": track.width or 1, "height": track.height or 1}
    return estimate_build(settings, duration_s=duration_s, **size)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSession:
    """A memory that can be asked: index and backend are open. Questions leave it as it is."""

    memory: Memory
    settings: Settings
    backend: Backend
    subjects: SubjectIndex
    index: HybridIndex


def open_for_asking(memory: Memory, settings: Settings) -> AskSession:
    """Open what an ask needs, once for many.

    Clips that people have corrected are embedded again. Raises BackendUnavailable,
    EmbedderMismatch, MemoryDamaged or ModelError.
    """
    embedder = open_embedder(settings, memory.provenance.embedder if memory.folder else "")
    beta = settings.beta if settings.hybrid_index else 0.0
    if memory.folder:
        vectors = MemoryStore(settings.memories).vectors(memory)
        index = open_index(memory, vectors, embedder, beta)
    else:
        index = index_text_memory(memory, embedder, beta)
    backend = open_backend(settings, again=True)
    threading.Thread(target=_prepare, args=(memory, index), daemon=True).start()
    subjects = SubjectIndex(memory.subjects, embedder)
    return AskSession(
        memory=memory, settings=settings, backend=backend, subjects=subjects, index=index
    )


def _prepare(memory: Memory, index: HybridIndex) -> None:
    """What the first search and the first look need is made while a model still thinks."""
    index.prepare()
    prepare_looks(memory)


def ask_events(memory: Memory, question: str, settings: Settings) -> AsyncIterator[AnswerEvent]:
    """The answer as a stream of events that ends with `Answered`; each is traced on disk.

    A memory that is not stored (`Memory.from_timeline`) leaves no trace; where one cannot be
    written, `Answer.warnings` says so.
    """
    return _traced(lambda: _agent(memory, check_question(question), settings))


def ask_opened(
    opened: AskSession, question: str, earlier: Sequence[Turn] = ()
) -> AsyncGenerator[AnswerEvent, None]:
    """`ask_events` about a memory that is open already, perhaps going on from what was asked."""
    return _traced(lambda: _agent_of(opened, check_question(question), earlier))


async def _traced(
    made: Callable[[], tuple[Agent, TraceFile]],
) -> AsyncGenerator[AnswerEvent, None]:
    """The events of an agent, written to its trace where it has one."""
    agent, trace = made()
    with trace:
        async for event in agent.events():
            yield trace.write(event)


def check_question(question: str) -> str:
    """The question without outer spaces; raises QuestionError."""
    text = " ".join(question.split())
    if not text:
        raise QuestionError("the question is empty; ask something about the video")
    if len(text) > MAX_QUESTION_CHARS:
        raise QuestionError(
            f"the question has {len(text):,} characters, at most {MAX_QUESTION_CHARS:,} are taken"
        )
    return text


def video_file(video: str | Path) -> Path | None:
    """The path, when the argument names an existing file rather than an id."""
    path = Path(video)
    try:
        return path if path.is_file() else None
    except OSError:  # a name longer than the file system takes
        return None


async def _ask_any(
    video: str | Path | Memory, question: str, settings: Settings
) -> AsyncIterator[AnswerEvent]:
    check_question(question)
    if not isinstance(video, Memory):
        video = await find_memory(video, settings)
    async for event in ask_events(video, question, settings):
        yield event


async def find_memory(video: str | Path, settings: Settings) -> Memory:
    """The stored memory of an id, else of a file, built when there is none."""
    store = MemoryStore(settings.memories)
    path = video_file(video)
    if path is None:
        return store.read(str(video))
    last = await run_to_end(build_events(path, settings))
    assert isinstance(last, Built)
    return last.memory


def _agent(memory: Memory, question: str, settings: Settings) -> tuple[Agent, TraceFile]:
    return _agent_of(open_for_asking(memory, settings), question)


def _agent_of(
    opened: AskSession, question: str, earlier: Sequence[Turn] = ()
) -> tuple[Agent, TraceFile]:
    """The agent of one question, and where its trace goes."""
    from admir.agent.budget import Budget
    from admir.agent.controller import Agent

    memory, settings = opened.memory, opened.settings
    path, warning = _trace_path(memory, settings)
    tools = ToolContext(
        memory=memory,
        index=opened.index,
        perceiver=opened.backend.perceiver,
        settings=settings,
        pictures_folder=path.with_suffix("") if path else None,
    )
    agent = Agent(
        question=question,
        memory=memory,
        backend=opened.backend,
        subjects=opened.subjects,
        tools=tools,
        settings=settings,
        budget=Budget.of(settings),
        earlier=tuple(earlier),
    )
    return agent, TraceFile(path, warning)


def _trace_path(memory: Memory, settings: Settings) -> tuple[Path | None, str]:
    """Where the trace goes; else why a stored memory can have none."""
    if not memory.folder:
        return None, ""
    try:
        return MemoryStore(settings.memories).trace_path(memory.video.id), ""
    except MemoryStoreError as error:
        return None, f"no trace is kept: {error}"
