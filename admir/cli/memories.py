"""`admir list` and `admir show`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from admir.cli.options import Json, Memories, PresetOption, settings_of
from admir.cli.run import console, print_json, say
from admir.errors import AdmirError

if TYPE_CHECKING:
    from admir.types import Memory
    from admir.views.json_rows import Unreadable


def list_command(
    memories: Memories = None, preset: PresetOption = None, as_json: Json = False
) -> None:
    """List the videos that have a memory. With --json: {"memories": [{"video_id", ...}]}."""
    from admir.memory.store import MemoryStore
    from admir.views import json_rows, terminal

    settings = settings_of(memories, preset)
    store = MemoryStore(settings.memories)
    found = [_readable(store.read, video_id) for video_id in store.ids()]
    if as_json:
        print_json({"memories": [json_rows.of_memory(m) for m in found]})
    elif not found:
        say(f"No memories in {settings.memories}.")
    else:
        terminal.show_list(console(), found)


def _readable(read: Callable[[str], Memory], video_id: str) -> Memory | Unreadable:
    from admir.views.json_rows import Unreadable

    try:
        return read(video_id)
    except AdmirError as error:
        return Unreadable(video_id=video_id, reason=str(error))


def show_command(
    video_id: Annotated[str, typer.Argument(help="Id of a memory (see `admir list`).")],
    memories: Memories = None,
    preset: PresetOption = None,
    as_json: Json = False,
) -> None:
    """Show the memory of a video as a person would read it. With --json: the whole Memory."""
    from admir.memory.store import MemoryStore
    from admir.views import terminal

    memory = MemoryStore(settings_of(memories, preset).memories).read(video_id)
    if as_json:
        print_json(memory)
    else:
        terminal.show_memory(console(), memory)
