"""What models cost and what they are shown, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from admir.cli.run import complain, print_row, say, warn
from admir.errors import AdmirError

if TYPE_CHECKING:
    from admir.settings import Settings
    from admir.types import Memory


def say_estimates(
    places: Sequence[tuple[Path, AdmirError | None]], settings: Settings, *, as_json: bool
) -> int:
    """About what the builds would cost, a line or a JSON object a video; how many failed.

    Raises AdmirError for a single video, and for what fails for all.
    """
    failed = 0
    from admir.api import estimate
    from admir.errors import VideoError
    from admir.trace import to_plain
    from admir.views.labels import cost_words

    for path, fault in places:
        try:
            if fault:
                raise fault
            found = estimate(path, settings)
        except VideoError as error:
            if len(places) == 1:
                raise
            failed += 1
            if as_json:
                print_row({"video": str(path), "error": str(error), "kind": error.kind})
            else:
                complain(error)
            continue
        if as_json:
            print_row({"video": str(path), **to_plain(found)})
        else:
            calls = ", ".join(f"{p.calls} {r}" for r, p in found.parts.items() if p.calls)
            say(f"{path.name}: about {cost_words(found.total)} ({calls})")
    return failed


def report_destination(settings: Settings) -> None:
    """Say once that frames and text leave this machine, where they do. Raises EndpointError."""
    if settings.preset != "offline":
        from admir.backends.llm.endpoints import hosts, role_models

        if abroad := hosts(role_models(settings).values()):
            warn(f"frames and text of the video go to {', '.join(abroad)}")
    _report_embedder(settings, settings.embedder, "captions, speech and on-screen text go")


def warn_of_word_search(settings: Settings) -> None:
    """Say before a build how its memory will be searched, where that is by words alone."""
    if settings.preset != "offline" and settings.embedder == "auto":
        from admir.backends.factory import open_embedder

        for warning in open_embedder(settings).warnings:
            warn(warning)


def report_question_destination(settings: Settings, memory: Memory) -> None:
    """Say that it leaves this machine where an endpoint made the vectors. Raises EndpointError."""
    if settings.embedder == "auto":
        from admir.agent.selection import BY_WORDS, compares_words_alone

        if compares_words_alone(memory, settings):
            warn(BY_WORDS)
        what = "the question, with words of the memory, goes"
        _report_embedder(settings, memory.provenance.embedder, what)


def _report_embedder(settings: Settings, embedder: str, what: str) -> None:
    from admir.settings import ENDPOINT

    if not embedder.startswith(ENDPOINT):
        return
    from admir.backends.llm.endpoints import embedding_model, hosts

    if abroad := hosts([embedding_model(settings, embedder.removeprefix(ENDPOINT))]):
        warn(f"{what} to {', '.join(abroad)}")
