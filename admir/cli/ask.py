"""`admir ask`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from admir.cli.build import build
from admir.cli.options import Json, Memories, PresetOption, settings_of
from admir.cli.run import console, print_json

if TYPE_CHECKING:
    from admir.settings import Settings
    from admir.types import Answer


def ask_command(
    video: Annotated[str, typer.Argument(help="Id of a memory, or a video file.")],
    question: Annotated[str, typer.Argument(help="The question.")],
    trace: Annotated[bool, typer.Option("--trace", help="Show the steps as a tree.")] = False,
    memories: Memories = None,
    preset: PresetOption = None,
    as_json: Json = False,
) -> None:
    """Answer a question about a video. A file without a memory gets one first.

    With --json: the Answer as one object: answer, grounded, basis, claims, evidence, steps, usage,
    preset, models, prompt_hashes, reason, seconds, trace.
    """
    from admir.views import terminal

    settings = settings_of(memories, preset)
    answer = asyncio.run(answer_one(video, question, settings, quiet=as_json))
    if as_json:
        print_json(answer)
        return
    screen = console()
    terminal.show_answer(screen, answer)
    if trace:
        terminal.show_trace(screen, answer)


async def answer_one(video: str, question: str, settings: Settings, *, quiet: bool) -> Answer:
    """Answer about the memory of an id or of a file, which is built with a bar on stderr."""
    from admir.api import ask_events, check_question, video_file
    from admir.concurrency import last_of
    from admir.memory.store import MemoryStore
    from admir.trace import Answered

    check_question(question)
    path = video_file(video)
    if path is not None:
        memory = (await build(path, settings, None, title=path.name, quiet=quiet)).memory
    else:
        memory = MemoryStore(settings.memories).read(video)
    last = await last_of(ask_events(memory, question, settings))
    assert isinstance(last, Answered)
    return last.answer
