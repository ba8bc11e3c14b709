"""What the doctor found, on one screen, or as the object that programs read."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from admir.doctor import Diagnosis, Part, PresetReport
from admir.endpoint_probe import Endpoint
from admir.text import to_printable
from admir.weights import Weights

_MARKS = {"ok": ("✓", "green"), "missing": ("-", "dim"), "broken": ("✗", "red")}
_MOST_MODELS = 8


def show_diagnosis(console: Console, found: Diagnosis) -> None:
    """The parts, the endpoint, and each preset with what it lacks."""
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    for part in found.parts:
        table.add_row(*_part(part))
    for weights in found.weights:
        table.add_row(*_weights(weights))
    console.print(table)
    console.print(_endpoint(found.endpoint))
    for report in found.presets:
        console.print(_preset(report, chosen=report is found.chosen))


def _part(part: Part) -> tuple[Text, Text, Text, Text]:
    mark, colour = _MARKS[part.state]
    if part.needed and part.state == "missing":
        mark, colour = _MARKS["broken"]
    told = Text(
        to_printable(part.version or part.state), style=colour if part.state != "ok" else ""
    )
    brings = part.brings if part.state == "ok" else f"{part.brings}: {part.how}"
    return Text(mark, style=colour), Text(part.name), told, Text(to_printable(brings), style="dim")


def _weights(found: Weights) -> tuple[Text, Text, Text, Text]:
    mark, colour = _MARKS["ok" if found.folder else "missing"]
    size = f"{found.file_bytes / 1e9:.2f} GB" if found.file_bytes else "size unknown"
    told = Text(size if found.folder else f"missing, {size}", style="" if found.folder else colour)
    place = f"in {found.folder}" if found.folder else f"{found.repo}: admir fetch-models"
    brings = ", ".join(filter(None, (f"weights for {found.purpose}", found.licence, place)))
    return (
        Text(mark, style=colour),
        Text(to_printable(found.name)),
        told,
        Text(to_printable(brings), style="dim"),
    )


def _endpoint(endpoint: Endpoint) -> Text:
    state = {"ok": "ok", "none": "missing", "failed": "broken"}[endpoint.state]
    mark, colour = _MARKS[state]
    text = Text(f"{mark} endpoint ", style=colour)
    if endpoint.state != "ok":
        place = f"{endpoint.url}: " if endpoint.url else ""
        return text.append(to_printable(f"{place}{endpoint.reason}"), style="default")
    names = ", ".join(endpoint.models[:_MOST_MODELS]) or "no models"
    more = len(endpoint.models) - _MOST_MODELS
    told = f"{endpoint.url}: {names}" + (f" and {more} more" if more > 0 else "")
    return text.append(to_printable(told), style="default")


def _preset(report: PresetReport, *, chosen: bool) -> Text:
    mark, colour = _MARKS["ok" if report.ready else "broken" if chosen else "missing"]
    text = Text(f"{mark} preset {report.preset} ", style=colour)
    told = "can run" if report.ready else "cannot run: " + "; ".join(report.lacks)
    return text.append(to_printable(told), style="default")


def of_diagnosis(found: Diagnosis) -> dict[str, Any]:
    """What `doctor --json` prints."""
    return {
        "preset": found.chosen.preset,
        "ready": found.chosen.ready,
        "lacks": found.chosen.lacks,
        "parts": found.parts,
        "weights": found.weights,
        "endpoint": found.endpoint,
        "presets": [
            {"preset": r.preset, "ready": r.ready, "lacks": r.lacks} for r in found.presets
        ],
    }
