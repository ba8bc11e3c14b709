"""`admir gc`."""

from __future__ import annotations

from typing import Annotated

import typer

from admir.cli.options import Json, Memories, PresetOption, settings_of
from admir.cli.run import print_json, say


def gc_command(
    days: Annotated[
        float | None,
        typer.Option(
            help="Clear away traces, unfinished builds and ended jobs older than this "
            "[default: server.keep_days; where that is not set, they stay].",
            min=0,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")
    ] = False,
    memories: Memories = None,
    preset: PresetOption = None,
    as_json: Json = False,
) -> None:
    """Clear away old traces, unfinished builds, ended jobs, and uploads that no memory needs.

    With --json: traces, builds, uploads, jobs, freed_bytes, dry_run.
    """
    from admir.server.retention import clear_away
    from admir.trace import to_plain

    settings = settings_of(memories, preset)
    kept = settings.server.keep_days if days is None else days
    cleared = clear_away(settings.memories, kept, dry_run=dry_run)
    if as_json:
        return print_json({**to_plain(cleared), "dry_run": dry_run})
    what = "Would clear away" if dry_run else "Cleared away"
    say(
        f"{what} {cleared.traces} traces, {cleared.builds} unfinished builds, {cleared.uploads} "
        f"uploads and {cleared.jobs} jobs: {cleared.freed_bytes / 1e6:,.1f} MB."
    )
    if kept is None:
        say("Traces and jobs stay: --days N or the setting server.keep_days says for how long.")
    return None
