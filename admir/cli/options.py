"""The options that every command takes."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from admir.settings import Settings


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


def settings_of(memories: str | None, preset: PresetName | None) -> Settings:
    """The settings of a command; raises OptionError."""
    from admir.settings import load_settings

    return load_settings(memories=memories, preset=preset.value if preset else None)
