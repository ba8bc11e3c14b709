"""Claims and evidence: what is said, where it is pointed at, and the frame that shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from admir.memory.frame_access import nearest_frame
from admir.types import Claim, Evidence, Memory
from admir.views.labels import doubt_words
from admir.views.notebook.markup import Html, cut, div, joined, more, page, section, span, stated
from admir.views.notebook.pictures import EVIDENCE_WIDTH, STRIP_WIDTH, crop, figure
from admir.views.notebook.timeline import Lane, Mark, shot_lane, timeline

_MOST_CARDS, _MOST_FRAMES, _MOST_CLAIMS = 24, 8, 40
_LONGEST = 1200


def evidence_html(evidence: Evidence, memory: Memory | None = None) -> str:
    """One piece of evidence with its frame; where it has none, a kept frame of the memory."""
    return page(card(evidence, memory))


def cards(evidence: Sequence[Evidence], memory: Memory | None) -> Html:
    """All evidence of an answer, as far as a display should go."""
    shown = [card(each, memory) for each in evidence[:_MOST_CARDS]]
    return section("Evidence", *shown, more(len(evidence) - _MOST_CARDS, "pieces of evidence"))


def card(evidence: Evidence, memory: Memory | None) -> Html:
    """The frame on one side; id, kind, time and words on the other."""
    image = _frame(evidence, memory)
    kind = span("chip kind", evidence.kind.replace("_", " "))
    head = [span("", f"{evidence.id} "), kind, span("", str(evidence.span))]
    if evidence.speaker:
        head.append(span("soft", f" {evidence.speaker}"))
    if evidence.corrected:
        head.append(span("soft", " corrected by a person"))
    words = [div("row", *head), div("quote", cut(f"“{evidence.quote}”", _LONGEST))]
    if evidence.frame and evidence.box:
        words.append(crop(evidence.frame, evidence.box, f"close up of {evidence.quote}"))
    return div("card" if image else "card plain", *([image] if image else []), div("", *words))


def _frame(evidence: Evidence, memory: Memory | None) -> Html:
    if evidence.frame:
        at = "" if evidence.frame_s is None else f" at {stated(evidence.frame_s)}"
        boxes = [evidence.box] if evidence.box else []
        return figure(evidence.frame, f"frame{at}", width=EVIDENCE_WIDTH, boxes=boxes)
    middle = (evidence.span.start_s + evidence.span.end_s) / 2
    near = nearest_frame(memory, middle) if memory and memory.folder else None
    if memory is None or near is None:
        return Html()
    path = str(Path(memory.folder) / near.file)
    return figure(path, f"nearest kept frame, {stated(near.time_s)}", width=EVIDENCE_WIDTH)


def frames(evidence: Iterable[Evidence]) -> Html:
    """Each frame that evidence names once, in the order of time, with what is boxed in it."""
    by_path: dict[str, list[Evidence]] = {}
    for each in evidence:
        if each.frame:
            by_path.setdefault(each.frame, []).append(each)
    found = sorted(by_path.items(), key=lambda item: item[1][0].frame_s or 0.0)
    shown = [_shared(path, those) for path, those in found[:_MOST_FRAMES]]
    if not shown:
        return Html()
    return joined((div("strip few", *shown), more(len(found) - _MOST_FRAMES, "frames")))


def _shared(path: str, those: Sequence[Evidence]) -> Html:
    """A small frame with everything that is pointed at in it."""
    ids, at = cut(", ".join(e.id for e in those), 60), those[0].frame_s
    caption = ids if at is None else f"{ids} at {stated(at)}"
    return figure(path, caption, width=STRIP_WIDTH, boxes=[e.box for e in those if e.box])


def claims(found: Sequence[Claim]) -> Html:
    """Each claim with its status, how sure it is, the evidence that it cites and the reason."""
    return joined(
        (*map(_claim, found[:_MOST_CLAIMS]), more(len(found) - _MOST_CLAIMS, "claims")),
    )


def _claim(claim: Claim) -> Html:
    cited = f" [{', '.join(claim.evidence)}]" if claim.evidence else ""
    reason = f" ({claim.reason})" if claim.reason else ""
    doubt = f" {cut(doubt_words(claim), _LONGEST)}"
    return div(
        "row",
        span(f"chip {claim.status}", claim.status),
        span("", cut(claim.text, _LONGEST)),
        span("soft", doubt.rstrip() + cited + reason),
    )


def evidence_timeline(
    evidence: Sequence[Evidence], looked: Sequence[Mark], memory: Memory | None
) -> Html:
    """Where the evidence stands along the video, over its shots where the memory is known."""
    ends = [e.span.end_s for e in evidence] + [mark.span.end_s for mark in looked]
    if not ends:
        return Html()
    length_s = max(*ends, memory.video.duration_s if memory else 0.0)
    lanes = [
        Lane(name="evidence", marks=[_mark(e) for e in evidence], flags=True),
        Lane(name="looked at again", marks=looked, flags=True),
    ]
    if memory is not None:
        lanes.insert(0, shot_lane(memory))
    note = (
        ""
        if memory
        else "The line ends with the last evidence: the video's length is not known here."
    )
    return section("Where it is", timeline(length_s, lanes), *([div("soft", note)] if note else []))


def _mark(evidence: Evidence) -> Mark:
    kind = evidence.kind.replace("_", " ")
    title = f"{evidence.id}, {kind}, {evidence.span}: {evidence.quote}"
    return Mark(span=evidence.span, label=evidence.id, title=title, tone=evidence.kind)
