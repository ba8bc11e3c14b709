"""`admir fetch-models` and `admir reindex`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from admir.cli.costs import report_destination
from admir.cli.options import (
    EmbedderOption,
    Json,
    LanguageOption,
    Memories,
    PresetOption,
    Sets,
    SpeechOption,
    settings_of,
)
from admir.cli.run import EXIT_SOME_FAILED, complain, console, print_json, print_row, say
from admir.errors import AdmirError, BackendUnavailable

if TYPE_CHECKING:
    from admir.settings import Settings
    from admir.types import Memory
    from admir.weights import Weights


def fetch_models_command(
    preset: PresetOption = None,
    embedder: EmbedderOption = None,
    speech: SpeechOption = None,
    language: LanguageOption = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Download the weights that the preset needs, and check them. What is there is left as it is.

    They go to the cache of the Hugging Face hub (HF_HOME). `--set speech_model=NAME` chooses
    another Whisper. A download that was cut off goes on.

    With --json: {"fetched": [{"name", "purpose", "repo", "folder", "file_bytes", "licence"}]}.
    """
    from admir.weights import needed_weights, weights

    settings = settings_of(None, preset, sets, embedder=embedder, speech=speech, language=language)
    wanted = needed_weights(settings)
    missing = [each for each in wanted if each.folder is None]
    for each in missing:
        _fetch(each, quiet=as_json)
    if as_json:
        print_json({"fetched": [weights(each.name, each.purpose) for each in wanted]})
        return
    for each in wanted:
        say(f"{each.name}: {'fetched' if each in missing else 'there already'}")
    if not wanted:
        others = "choose others by --preset, --embedder or --speech"
        say(f"preset {settings.preset!r} needs no weights; {others}")


def _fetch(wanted: Weights, *, quiet: bool) -> None:
    from admir.download import fetch
    from admir.views.progress import BytesBar

    with BytesBar(console(quiet=quiet, stderr=True), wanted.name) as bar:
        fetch(wanted, bar.show)


def reindex_command(
    video_ids: Annotated[
        list[str], typer.Argument(help="Ids of memories (see `admir list`).", metavar="VIDEO_ID")
    ],
    embedder: EmbedderOption = None,
    memories: Memories = None,
    preset: PresetOption = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Embed the clips of memories anew, with another embedder. Their videos are not needed.

    With --json: one JSON object a line and memory: video_id, embedder, dimensions, warnings; or
    video_id, error, kind.
    """
    settings = settings_of(memories, preset, sets, embedder=embedder)
    report_destination(settings)
    errors = [error for each in video_ids if (error := _reindex(each, settings, as_json))]
    if errors:
        raise typer.Exit(errors[0].exit_code if len(video_ids) == 1 else EXIT_SOME_FAILED)


def _reindex(video_id: str, settings: Settings, as_json: bool) -> AdmirError | None:
    """Embed one memory anew and report it; its error, where it has one."""
    from admir.api import reindex

    try:
        with console(quiet=as_json, stderr=True).status(f"{video_id}: embedding"):
            memory = reindex(video_id, settings)
    except BackendUnavailable:
        raise
    except AdmirError as error:
        if as_json:
            print_row({"video_id": video_id, "error": str(error), "kind": error.kind})
        else:
            complain(error)
        return error
    _report(memory, as_json=as_json)
    return None


def _report(memory: Memory, *, as_json: bool) -> None:
    made = memory.provenance
    if as_json:
        print_row(
            {
                "video_id": memory.video.id,
                "embedder": made.embedder,
                "dimensions": made.dimensions,
                "warnings": made.warnings,
            }
        )
        return
    say(f"{memory.video.id}: {len(memory.clips)} clips embedded by {made.embedder}")
    for warning in made.warnings:
        say(f"  ! {warning}")
