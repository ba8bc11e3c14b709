"""What models cost and what they are shown, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from admir.cli.run import complain, print_row, say, warn
from admir.errors import AdmirError

if TYPE_CHECKING:
    from admir.settings import Settings


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
    from admir.views.words import cost_words

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


def tell_where_it_goes(settings: Settings) -> None:
    """Say once that frames and text leave this machine, where they do. Raises EndpointError."""
    named = settings.embedder.partition("endpoint:")[2]
    if settings.preset == "offline" and not named:
        return
    from admir.backends.llm.endpoints import embedding_model, hosts, role_models

    if settings.preset != "offline" and (abroad := hosts(role_models(settings).values())):
        warn(f"frames and text of the video go to {', '.join(abroad)}")
    if named and (abroad := hosts([embedding_model(settings, named)])):
        warn(f"captions, speech and on-screen text go to {', '.join(abroad)}")
