"""`admir ask`: one question, or a table of them."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admir.cli.build import build
from admir.cli.costs import report_destination, report_question_destination, warn_of_word_search
from admir.cli.options import (
    EmbedderOption,
    Json,
    MaxCost,
    MaxSeconds,
    MaxTokens,
    Memories,
    NoCache,
    PresetOption,
    Sets,
    settings_of,
)
from admir.cli.run import EXIT_SOME_FAILED, console, print_json, say, warn, wrong_use

if TYPE_CHECKING:
    from admir.batch import FileEvent, TableAnswered
    from admir.settings import Settings
    from admir.types import Answer

MOST_FAILURES_TOLD = 10

QuestionsOption = Annotated[
    Path | None,
    typer.Option(help="Table of questions in place of VIDEO QUESTION: .csv or .jsonl."),
]
OutOption = Annotated[
    Path | None, typer.Option(help="Where the table's answers go: .csv or .jsonl.")
]


def ask_command(
    context: typer.Context,
    video: Annotated[
        str | None, typer.Argument(help="Id of a memory, or a video file.", metavar="VIDEO")
    ] = None,
    question: Annotated[
        str | None, typer.Argument(help="The question.", metavar="QUESTION")
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show the steps as a tree.")] = False,
    questions: QuestionsOption = None,
    out: OutOption = None,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = None,
    max_tokens: MaxTokens = None,
    embedder: EmbedderOption = None,
    memories: Memories = None,
    preset: PresetOption = None,
    sets: Sets = None,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> None:
    """Answer a question about a video, or a table of them. A file without a memory gets one first.

    With --json: the Answer as one object: answer, grounded, basis, claims, evidence, steps, usage,
    preset, models, prompt_hashes, reason, seconds, trace, warnings.

    A table has the fields question, and video_id or video (a file), and any others, which are
    carried through. Its answers are written row by row; the same command goes on after an
    interrupt, and asks rows again that failed. With --json: {"asked", "reused", "failed", "out"}.

    A budget that is spent ends an answer with its best draft, and the answer says so.
    """
    own = {"max_cost": max_cost, "max_seconds": max_seconds, "max_tokens": max_tokens}
    settings = settings_of(memories, preset, sets, no_cache=no_cache, embedder=embedder, **own)
    report_destination(settings)
    if questions is not None or out is not None:
        if questions is None or out is None:
            raise wrong_use(context, "--questions and --out go together.")
        if video is not None or trace:
            raise wrong_use(context, "--questions goes without VIDEO, QUESTION and --trace.")
        return _ask_table(questions, out, settings, as_json=as_json)
    if video is None or question is None:
        missing = "VIDEO" if video is None else "QUESTION"
        raise wrong_use(context, f"Missing argument '{missing}'.")
    answer = asyncio.run(answer_one(video, question, settings, quiet=as_json))
    return _show(answer, trace=trace, as_json=as_json)


def _show(answer: Answer, *, trace: bool, as_json: bool) -> None:
    from admir.views import terminal

    if as_json:
        print_json(answer)
        return
    screen = console()
    terminal.show_answer(screen, answer)
    from admir.agent.selection import BY_WORDS

    for warning in answer.warnings:
        if warning != BY_WORDS:  # said at the start
            warn(warning)
    if trace:
        terminal.show_trace(screen, answer)


def _ask_table(questions: Path, out: Path, settings: Settings, *, as_json: bool) -> None:
    """Answer a table with a bar on stderr, and say what became of it."""
    failures: list[str] = []
    done = asyncio.run(_answers(questions, out, settings, failures, quiet=as_json))
    if as_json:
        print_json(done)
    else:
        counts = f"{done.asked} asked, {done.reused} there already, {done.failed} failed"
        say(f"{done.asked + done.reused} rows: {counts}; the answers are in {done.out}")
        for failure in failures:
            say(f"  {failure}")
        if done.failed > len(failures):
            say(f"  and {done.failed - len(failures)} more")
    if done.failed:
        raise typer.Exit(EXIT_SOME_FAILED)


async def _answers(
    questions: Path, out: Path, settings: Settings, failures: list[str], *, quiet: bool
) -> TableAnswered:
    """Answer the table; the first rows that fail are entered into `failures`."""
    from admir.batch import RowFailed, TableAnswered, TableOpened, answer_file
    from admir.concurrency import run_to_end
    from admir.trace import BuildProgress
    from admir.views.progress import RowsBar

    rows = count(1)

    def report(event: FileEvent) -> None:
        if isinstance(event, TableOpened):
            bar.start(event.total)
        elif isinstance(event, BuildProgress):
            bar.building(event)
        elif not isinstance(event, TableAnswered):
            bar.step()
            number = next(rows)
            if isinstance(event, RowFailed) and len(failures) < MOST_FAILURES_TOLD:
                failures.append(f"row {number}: {event.error}")

    with RowsBar(console(quiet=quiet, stderr=True), questions.name) as bar:
        last = await run_to_end(answer_file(questions, out, settings), report)
    assert isinstance(last, TableAnswered)
    return last


async def answer_one(video: str, question: str, settings: Settings, *, quiet: bool) -> Answer:
    """Answer about the memory of an id or of a file, which is built with a bar on stderr."""
    from admir.api import ask_events, check_question, video_file
    from admir.concurrency import run_to_end
    from admir.memory.store import MemoryStore
    from admir.trace import Answered

    check_question(question)
    path = video_file(video)
    if path is not None:
        warn_of_word_search(settings)
        memory = (await build(path, settings, None, title=path.name, quiet=quiet)).memory
    else:
        memory = MemoryStore(settings.memories).read(video)
        report_question_destination(settings, memory)
    last = await run_to_end(ask_events(memory, question, settings))
    assert isinstance(last, Answered)
    return last.answer
