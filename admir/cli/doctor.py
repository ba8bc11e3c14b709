"""`admir doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from admir.cli.options import Json, Memories, PresetOption, Sets, settings_of
from admir.cli.run import console, print_json
from admir.errors import BackendUnavailable


def doctor_command(
    endpoint: Annotated[
        str | None,
        typer.Option(
            help="URL of an OpenAI-compatible endpoint to ask [default: OPENAI_BASE_URL]",
            metavar="URL",
        ),
    ] = None,
    memories: Memories = None,
    preset: PresetOption = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Say what is installed, what is missing and how to get it, and whether the preset can run.

    Ends with 0 where it can, and with 7 where it cannot. No network is used, but for an endpoint
    that --endpoint or OPENAI_BASE_URL names.

    With --json: {"preset", "ready", "lacks", "parts": [{"name", "state", "version", "brings",
    "how", "needed"}], "weights": [{"name", "purpose", "repo", "folder", "file_bytes", "licence"}],
    "endpoint": {"state", "url", "models", "reason"}, "presets"}.
    """
    from admir.doctor import diagnose
    from admir.views import doctor as view

    found = diagnose(settings_of(memories, preset, sets), endpoint)
    if as_json:
        print_json(view.of_diagnosis(found))
    else:
        view.show_diagnosis(console(), found)
    if not found.chosen.ready:
        raise typer.Exit(BackendUnavailable.exit_code)
