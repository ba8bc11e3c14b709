"""The command line: `admir build-memory`, `ask`, `list`, `show`, `demo`.

Exit codes: 0 done; 1 an unexpected fault; 2 bad usage, question or option; 3 a video cannot be
read; 4 no memory of that id; 5 a memory is damaged, newer, or cannot be written; 6 another
process builds the video; 7 the preset cannot run here; 8 some of several videos failed;
130 interrupted (what is done is kept).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from admir.errors import AdmirError, OptionError

if TYPE_CHECKING:
    from rich.console import Console

    from admir.settings import Settings
    from admir.trace import Built
    from admir.types import Answer, Memory
    from admir.views.rows import Unreadable

EXIT_WRONG_USE = 2
EXIT_SOME_FAILED = 8
EXIT_INTERRUPTED = 130
STOPPED = "stopped; what is done is kept, run the same command to go on"

# Typer carries a copy of click: its errors are reached by way of one that it exports.
_ClickError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[2])

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Ask questions about advertising videos, and get answers with their evidence.",
)


class PresetName(StrEnum):
    """The presets, for the command line."""

    offline = "offline"
    paper = "paper"
    local = "local"


Memories = Annotated[
    str | None,
    typer.Option(
        "--memories",
        help="Folder of memories [default: memories]",
        envvar="ADMIR_MEMORIES",
        metavar="PATH",
    ),
]
PresetOption = Annotated[
    PresetName | None,
    typer.Option("--preset", help="Which mind answers [default: offline]", envvar="ADMIR_PRESET"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.command("build-memory", short_help="Build the memory of each video.")
def build_memory_command(
    videos: Annotated[list[str], typer.Argument(help="Video files.", metavar="VIDEO")],
    meta: Annotated[
        Path | None, typer.Option(help="JSON file of text fields: product, category, ...")
    ] = None,
    memories: Memories = None,
    preset: PresetOption = None,
    as_json: Json = False,
) -> None:
    """Build the memory of each video; one that is still good is left as it is.

    With --json: one JSON object a line and video: video_id, reused, seconds, stages, warnings;
    or video, error, kind.
    """
    settings = _settings(memories, preset)
    metadata = _metadata(meta)
    failures = [_build_one(Path(v), settings, metadata, as_json=as_json) for v in videos]
    codes = [code for code in failures if code]
    if codes:
        raise typer.Exit(codes[0] if len(videos) == 1 else EXIT_SOME_FAILED)


@app.command("ask")
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

    settings = _settings(memories, preset)
    answer = asyncio.run(_answer(video, question, settings, quiet=as_json))
    if as_json:
        _print_json(answer)
        return
    console = _console()
    terminal.show_answer(console, answer)
    if trace:
        terminal.show_trace(console, answer)


@app.command("list")
def list_command(
    memories: Memories = None, preset: PresetOption = None, as_json: Json = False
) -> None:
    """List the videos that have a memory. With --json: {"memories": [{"video_id", ...}]}."""
    from admir.memory.store import MemoryStore
    from admir.views import rows, terminal

    settings = _settings(memories, preset)
    store = MemoryStore(settings.memories)
    found = [_readable(store.read, video_id) for video_id in store.ids()]
    if as_json:
        _print_json({"memories": [rows.of_memory(m) for m in found]})
    elif not found:
        _say(f"No memories in {settings.memories}.")
    else:
        terminal.show_list(_console(), found)


@app.command("show")
def show_command(
    video_id: Annotated[str, typer.Argument(help="Id of a memory (see `admir list`).")],
    memories: Memories = None,
    preset: PresetOption = None,
    as_json: Json = False,
) -> None:
    """Show the memory of a video as a person would read it. With --json: the whole Memory."""
    from admir.memory.store import MemoryStore
    from admir.views import terminal

    memory = MemoryStore(_settings(memories, preset).memories).read(video_id)
    if as_json:
        _print_json(memory)
    else:
        terminal.show_memory(_console(), memory)


@app.command("demo", short_help="Ask questions about a bundled ad.")
def demo_command(
    memories: Memories = None, preset: PresetOption = None, as_json: Json = False
) -> None:
    """Build the memory of the bundled ad and answer questions about it.

    With --json: {"answers": [Answer, ...]}.
    """
    from admir.demo import AD, QUESTIONS
    from admir.views import terminal

    settings = _settings(memories, preset)
    console = _console(quiet=as_json)
    console.print(f"Building the memory of {AD.name}, a bundled ad of an invented product.")
    answers = []
    for question in QUESTIONS:
        answer = asyncio.run(_answer(str(AD), question, settings, quiet=as_json))
        answers.append(answer)
        if not as_json:
            terminal.show_answer(console, answer)
            if any(s.verdict and not s.verdict.accepted for s in answer.steps):
                terminal.show_trace(console, answer)
            console.print()
    if as_json:
        _print_json({"answers": answers})
    else:
        _say(f"Memory, frames and traces lie under {settings.memories}.")


def main() -> None:
    """Run the command line. An error is one line on stderr and a documented exit code."""
    code = _run_app()
    sys.exit(_flush() or code)


def _run_app() -> int:
    """Run the command; its errors are told, and become the exit code."""
    try:
        code = app(standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except AdmirError as error:
        return _complain(error)
    except BrokenPipeError:
        return _leave_stdout()
    except _ClickError as error:
        return _wrong_use(error)
    except Exception as error:
        if os.environ.get("ADMIR_DEBUG"):
            raise
        return _fault(error)
    if code == EXIT_INTERRUPTED:  # typer makes this of a KeyboardInterrupt
        print(STOPPED, file=sys.stderr)
    return int(code)


def _wrong_use(error: typer.BadParameter) -> int:
    """One line, where the way out is; `admir` alone shows its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return EXIT_WRONG_USE
    context = getattr(error, "ctx", None)
    usage = f" ({context.get_usage()}; `--help` tells more)" if context else ""
    _complain(AdmirError(f"{error.format_message()}{usage}"))
    return EXIT_WRONG_USE


def _fault(error: Exception) -> int:
    what = str(error) or "no message"
    hint = "ADMIR_DEBUG=1 shows the traceback"
    return _complain(AdmirError(f"unexpected {type(error).__name__}: {what} ({hint})"))


def _flush() -> int:
    """Write out what is left for stdout; 1 where nobody reads it or it cannot be written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return _leave_stdout()
    except OSError as error:
        _complain(AdmirError(f"cannot write the output: {error.strerror}"))
        return _leave_stdout()
    return 0


def _leave_stdout() -> int:
    """Nobody reads: what is still buffered goes nowhere, and Python says nothing of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _settings(memories: str | None, preset: PresetName | None) -> Settings:
    from admir.settings import load_settings

    return load_settings(memories=memories, preset=preset.value if preset else None)


def _metadata(path: Path | None) -> dict[str, str] | None:
    """The fields of a JSON file, None without one; raises OptionError."""
    if path is None:
        return None
    try:
        fields = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise OptionError(f"--meta {path.name!r} cannot be read as JSON: {error}") from None
    if not isinstance(fields, dict):
        raise OptionError(f"--meta {path.name!r} must hold one JSON object of text fields")
    return {key: _field(path, key, value) for key, value in fields.items()}


def _field(path: Path, key: str, value: object) -> str:
    """Text or a number as text; anything else says nothing of a product."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise OptionError(f"--meta {path.name!r}: {key!r} must be a text or a number")
    try:
        f"{key}{value}".encode()
    except UnicodeEncodeError:
        raise OptionError(f"--meta {path.name!r}: {key!r} holds half a character") from None
    return str(value)


def _build_one(
    path: Path, settings: Settings, metadata: dict[str, str] | None, *, as_json: bool
) -> int:
    """Build one video and report it; the exit code of its error, or 0."""
    from admir.views import rows

    try:
        built = asyncio.run(_build(path, settings, metadata, quiet=as_json))
    except AdmirError as error:
        if as_json:
            _print_row({"video": str(path), "error": str(error), "kind": error.kind})
        else:
            _complain(error)
        return error.exit_code
    if as_json:
        _print_row(rows.of_build(built))
    else:
        _report(built)
    return 0


async def _build(
    path: Path, settings: Settings, metadata: dict[str, str] | None, *, quiet: bool
) -> Built:
    """Build with a bar on stderr; `metadata` None keeps what the stored memory has."""
    from admir.api import build_events
    from admir.concurrency import last_of
    from admir.trace import BuildProgress, Built
    from admir.views.progress import BuildBar

    with BuildBar(_console(quiet=quiet, stderr=True), path.name) as bar:
        last = await last_of(
            build_events(path, settings, metadata),
            lambda event: bar.show(event) if isinstance(event, BuildProgress) else None,
        )
    assert isinstance(last, Built)
    return last


async def _answer(video: str, question: str, settings: Settings, *, quiet: bool) -> Answer:
    from admir.api import ask_events, check_question, video_file
    from admir.concurrency import last_of
    from admir.memory.store import MemoryStore
    from admir.trace import Answered

    check_question(question)
    path = video_file(video)
    if path is not None:
        memory = (await _build(path, settings, None, quiet=quiet)).memory
    else:
        memory = MemoryStore(settings.memories).read(video)
    last = await last_of(ask_events(memory, question, settings))
    assert isinstance(last, Answered)
    return last.answer


def _console(*, quiet: bool = False, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(quiet=quiet, stderr=stderr, highlight=False, soft_wrap=False)


def _complain(error: AdmirError) -> int:
    """Print the error and return its exit code."""
    print(f"error: {error}", file=sys.stderr)
    return error.exit_code


def _report(built: Built) -> None:
    memory = built.memory
    what = "unchanged" if built.reused else f"built in {memory.provenance.seconds:.1f} s"
    _say(
        f"{memory.video.id}: {what}; {memory.video.duration_s:.1f} s, {len(memory.shots)} shots, "
        f"{len(memory.screen_text)} lines on screen, {len(memory.utterances)} spoken"
    )
    for warning in memory.provenance.warnings:
        _say(f"  ! {warning}")


def _readable(read: Callable[[str], Memory], video_id: str) -> Memory | Unreadable:
    from admir.views.rows import Unreadable

    try:
        return read(video_id)
    except AdmirError as error:
        return Unreadable(video_id=video_id, reason=str(error))


def _print_json(value: Any) -> None:
    """One object over several lines."""
    from admir.trace import to_json, to_plain

    print(to_json(to_plain(value), indent=1))


def _print_row(row: dict[str, Any]) -> None:
    """One object on one line, at once."""
    from admir.trace import to_json

    print(to_json(row), flush=True)


def _say(line: str) -> None:
    """A line for people; nothing in it is markup, or steers the terminal."""
    from admir.text import shown

    _console().print(shown(line), markup=False)
