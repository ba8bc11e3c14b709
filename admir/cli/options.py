"""The options that every command takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from admir.errors import OptionError

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
    typer.Option(
        "--preset", help="Which backend answers [default: offline]", envvar="ADMIR_PRESET"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Any setting, for example beta=1 or communication_expert=false; again for others.",
        metavar="NAME=VALUE",
    ),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="auto, hashing, endpoint:MODEL, or the name or folder of a model (BAAI/bge-m3).",
        metavar="NAME",
    ),
]
SpeechOption = Annotated[
    str | None,
    typer.Option(
        "--speech",
        help="auto: subtitles, else an engine that is installed; none; whisperx; faster-whisper; "
        "or a file of subtitles (.srt, .vtt).",
        metavar="KIND",
    ),
]
ScreenTextOption = Annotated[
    str | None,
    typer.Option("--screen-text", help="auto: read on-screen text; none.", metavar="KIND"),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language", help="Spoken language, as en or zh [default: detected].", metavar="CODE"
    ),
]
MaxCost = Annotated[
    float | None, typer.Option(help="US dollars an answer may cost.", metavar="USD")
]
MaxSeconds = Annotated[float | None, typer.Option(help="Seconds an answer may take.", metavar="S")]
MaxTokens = Annotated[int | None, typer.Option(help="Tokens an answer may take.", metavar="N")]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Ask models anew; keep none of their replies.")
]


def settings_of(
    memories: str | None,
    preset: PresetName | None,
    sets: Sequence[str] | None = None,
    *,
    no_cache: bool = False,
    **others: Any,
) -> Settings:
    """The settings of a command; raises OptionError."""
    from admir.settings import load_settings

    chosen = {
        "memories": memories,
        "preset": preset.value if preset else None,
        "cache": False if no_cache else None,
    }
    named = {name: value for name, value in (chosen | others).items() if value is not None}
    return load_settings(**(_pairs(sets or ()) | named))


def _pairs(sets: Sequence[str]) -> dict[str, Any]:
    """`name=value` texts as settings; a value that is JSON is taken as such."""
    found: dict[str, Any] = {}
    for text in sets:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise OptionError(f"--set {text!r}: must be NAME=VALUE")
        found[name.strip()] = _value(value)
    return found


def _value(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
