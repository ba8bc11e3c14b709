"""The evidence ledger: every piece of evidence has one id for the whole ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from admir.text import normalize, to_printable
from admir.tools.base import ToolResult
from admir.tools.registry import ToolError
from admir.types import Action, Evidence, Observation


def add_evidence(
    ledger: Sequence[Evidence], found: Iterable[Evidence]
) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...]]:
    """The ledger with `found` in it, and `found` with ids.

    Evidence that is there already keeps its id.
    """
    known = {_identity(e): e for e in ledger}
    grown, numbered = list(ledger), []
    for evidence in found:
        key = _identity(evidence)
        if key not in known:
            known[key] = replace(evidence, id=f"e{len(grown) + 1}")
            grown.append(known[key])
        numbered.append(known[key])
    return tuple(grown), tuple(dict.fromkeys(numbered))


def _identity(evidence: Evidence) -> tuple[str, ...]:
    span = evidence.span
    where = (f"{span.start_s:.2f}", f"{span.end_s:.2f}")
    return (evidence.video_id, evidence.kind, normalize(evidence.quote), *where)


def format_evidence(evidence: Iterable[Evidence]) -> str:
    """One line each, as it stands in an observation."""
    return "\n".join(f"[{e.id}] {e.span} {e.source}: {to_printable(e.quote)}" for e in evidence)


def skipped(action: Action) -> Observation:
    """The observation of an action that came with the end."""
    return Observation(tool=action.tool, text="not carried out: finish came with it", failed=True)


def to_observation(
    ledger: tuple[Evidence, ...], action: Action, result: ToolResult | ToolError, note: str
) -> tuple[tuple[Evidence, ...], Observation]:
    """The observation of one action, its evidence entered into the ledger."""
    if isinstance(result, ToolError):
        return ledger, Observation(tool=action.tool, text=f"{note}{result}", failed=True)
    ledger, numbered = add_evidence(ledger, result.evidence)
    text = "\n".join(
        part for part in (f"{note}{result.summary}", format_evidence(numbered)) if part
    )
    return ledger, Observation(
        tool=action.tool,
        text=text,
        evidence=numbered,
        looked_at=result.looked_at,
        hits=result.hits,
        grids_s=result.grids_s,
    )
