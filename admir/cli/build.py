"""`admir build-memory`: videos and folders of videos, one after the other."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admir.cli.costs import report_destination, say_estimates, warn_of_word_search
from admir.cli.options import (
    EmbedderOption,
    Json,
    LanguageOption,
    Memories,
    NoCache,
    PresetOption,
    ScreenTextOption,
    Sets,
    SpeechOption,
    settings_of,
)
from admir.cli.run import EXIT_SOME_FAILED, complain, console, print_row, say
from admir.errors import AdmirError, BackendUnavailable, OptionError

if TYPE_CHECKING:
    from admir.settings import Settings
    from admir.trace import Built

_MOST_META_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What every video of one command is built with."""

    settings: Settings
    metadata: Mapping[str, str] | None
    as_json: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A video and which of how many it is; `fault` where it was no use to look for videos."""

    path: Path
    number: str = ""
    fault: AdmirError | None = None


def build_memory_command(
    videos: Annotated[
        list[str], typer.Argument(help="Video files, and folders of them.", metavar="VIDEO")
    ],
    meta: Annotated[
        Path | None, typer.Option(help="JSON file of text fields: product, category, ...")
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what a build would cost, and build nothing.")
    ] = False,
    speech: SpeechOption = None,
    language: LanguageOption = None,
    screen_text: ScreenTextOption = None,
    embedder: EmbedderOption = None,
    memories: Memories = None,
    preset: PresetOption = None,
    sets: Sets = None,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> None:
    """Build the memory of each video; one that is still good is left as it is.

    Of a folder its video files are taken, by name, not those of the folders in it. A broken video
    does not stop the others.

    With --json: one JSON object a line and video: video_id, reused, rebuilt_because, seconds,
    stages, warnings; or video, error, kind.
    """
    settings = settings_of(
        *(memories, preset, sets),
        no_cache=no_cache,
        speech=speech,
        language=language,
        screen_text=screen_text,
        embedder=embedder,
    )
    work = _Work(settings=settings, metadata=_metadata(meta), as_json=as_json)
    places = _numbered([place for video in videos for place in _list_inputs(Path(video))])
    _check_speech(settings, len(places))
    if not estimate:
        return _build_all(places, work)
    asked = [(place.path, place.fault) for place in places]
    if say_estimates(asked, settings, as_json=as_json):
        raise typer.Exit(EXIT_SOME_FAILED)
    return None


def _build_all(places: Sequence[_Place], work: _Work) -> None:
    """Build one video after the other; the exit code tells what became of them."""
    report_destination(work.settings)
    warn_of_word_search(work.settings)
    failed = [(place.path, error) for place in places if (error := _build_one(place, work))]
    if len(places) > 1 and not work.as_json:
        _summarise(len(places), failed)
    if failed:
        raise typer.Exit(failed[0][1].exit_code if len(places) == 1 else EXIT_SOME_FAILED)


def _check_speech(settings: Settings, count: int) -> None:
    """A file of subtitles belongs to one video, and must be there."""
    from admir.memory.speech_stage import given_file

    file = given_file(settings)
    if file is None:
        return
    if count > 1:
        raise OptionError(f"--speech {settings.speech!r} belongs to one video, {count} are given")
    if not os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises for a name that is too long
        raise OptionError(f"--speech {settings.speech!r}: there is no such file")


def _list_inputs(path: Path) -> list[_Place]:
    from admir.batch.folders import videos_in

    try:
        return [_Place(path=video) for video in videos_in(path)]
    except AdmirError as error:
        return [_Place(path=path, fault=error)]


def _numbered(places: list[_Place]) -> list[_Place]:
    """Of more than one, each says which it is."""
    if len(places) == 1:
        return places
    return [
        _Place(path=place.path, fault=place.fault, number=f"[{n}/{len(places)}] ")
        for n, place in enumerate(places, start=1)
    ]


def _build_one(place: _Place, work: _Work) -> AdmirError | None:
    """Build one video and report it; its error, where it has one that the next may not have."""
    from admir.views import json_rows

    try:
        if place.fault:
            raise place.fault
        title = f"{place.number}{place.path.name}"
        built = asyncio.run(
            build(place.path, work.settings, work.metadata, title=title, quiet=work.as_json)
        )
    except BackendUnavailable:
        raise
    except AdmirError as error:
        if work.as_json:
            print_row({"video": str(place.path), "error": str(error), "kind": error.kind})
        else:
            complain(error)
        return error
    if work.as_json:
        print_row(json_rows.of_build(built))
    else:
        _report(built, place.number)
    return None


async def build(
    path: Path,
    settings: Settings,
    metadata: Mapping[str, str] | None,
    *,
    title: str,
    quiet: bool,
) -> Built:
    """Build with a bar on stderr; `metadata` None keeps what the stored memory has."""
    from admir.api import build_events
    from admir.concurrency import run_to_end
    from admir.trace import BuildProgress, Built
    from admir.views.progress import BuildBar

    with BuildBar(console(quiet=quiet, stderr=True), title) as bar:
        last = await run_to_end(
            build_events(path, settings, metadata),
            lambda event: bar.show(event) if isinstance(event, BuildProgress) else None,
        )
    assert isinstance(last, Built)
    return last


def _report(built: Built, number: str) -> None:
    from admir.views.labels import cost_words

    memory = built.memory
    whole = not built.reused and "store" in built.stage_seconds
    say(
        f"{number}{memory.video.id}: {_what(built, whole=whole)}; {memory.video.duration_s:.1f} s, "
        f"{len(memory.shots)} shots, {len(memory.screen_text)} lines on screen, "
        f"{len(memory.utterances)} spoken"
    )
    if built.rebuilt_because:
        say(f"  built again: {built.rebuilt_because}")
    if whole and (paid := cost_words(memory.provenance.usage)):
        say(f"  {paid}")
    for warning in memory.provenance.warnings:
        say(f"  ! {warning}")


def _what(built: Built, *, whole: bool) -> str:
    """What was done, and how long it took now."""
    if built.reused:
        return "unchanged"
    if whole:
        return f"built in {built.memory.provenance.seconds:.1f} s"
    return f"embedded anew in {sum(built.stage_seconds.values()):.1f} s"


def _summarise(total: int, failed: Sequence[tuple[Path, AdmirError]]) -> None:
    """What became of several videos; each broken one with its reason."""
    good = f"{total - len(failed)} of {total} videos have a memory"
    say(f"{good}, {len(failed)} failed:" if failed else f"{good}.")
    for path, error in failed:
        say(f"  {path.name}: {error}")


def _metadata(path: Path | None) -> dict[str, str] | None:
    """The fields of a JSON file, None without one; raises OptionError."""
    if path is None:
        return None
    try:
        with path.open("rb") as stream:
            text = stream.read(_MOST_META_BYTES + 1)
        if len(text) > _MOST_META_BYTES:
            raise OptionError(f"--meta {path.name!r} is larger than {_MOST_META_BYTES:,} bytes")
        fields = json.loads(text.decode("utf-8"))
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
