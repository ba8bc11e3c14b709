"""`admir demo`."""

from __future__ import annotations

import asyncio

from admir.cli.ask import answer_one
from admir.cli.options import Json, Memories, PresetOption, settings_of
from admir.cli.run import console, print_json, say


def demo_command(
    memories: Memories = None, preset: PresetOption = None, as_json: Json = False
) -> None:
    """Build the memory of the bundled ad and answer questions about it.

    With --json: {"answers": [Answer, ...]}.
    """
    from admir.demo import AD, QUESTIONS
    from admir.views import terminal

    settings = settings_of(memories, preset)
    screen = console(quiet=as_json)
    screen.print(f"Building the memory of {AD.name}, a bundled ad of an invented product.")
    answers = []
    for question in QUESTIONS:
        answer = asyncio.run(answer_one(str(AD), question, settings, quiet=as_json))
        answers.append(answer)
        if not as_json:
            terminal.show_answer(screen, answer)
            if any(s.verdict and not s.verdict.accepted for s in answer.steps):
                terminal.show_trace(screen, answer)
            screen.print()
    if as_json:
        print_json({"answers": answers})
    else:
        say(f"Memory, frames and traces lie under {settings.memories}.")
