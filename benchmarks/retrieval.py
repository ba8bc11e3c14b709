"""Which clip holds the evidence? Search quality on ads given as text timelines.

    python benchmarks/retrieval.py DATA [--betas 0,0.5,1,2,5] [--half even|odd]
        [--embedder FOLDER] [--clip-s 5] [--cuts]

DATA holds `videos.jsonl` (video_id, duration, events of {t, ocr, asr}) and `qa.jsonl` (video_id,
question, evidence_seconds), as E-VAds publishes them; or `text.jsonl` (video, texts of {text,
start_s, end_s}) and `qa.jsonl` (video, question, evidence as ranges), as ads whose text was written
down by hand. A memory is `Memory.from_timeline`; the target is any clip that holds an evidence
second. Left out: questions without evidence or whose evidence covers half of the clips or more,
and videos under 4 clips. `--half` keeps the videos whose id has an even or an odd CRC-32: one half
to develop on, one to check with. Prints `name hit@1 hit@3 MRR n`, a row each, from the shipped
index. The embedder is hashing, or a model of sentence-transformers in a folder. With `--cuts` also
what leaving out hits below a share of the best score keeps: the clips that are left, and how often
a target is among them.
"""

from __future__ import annotations

import argparse
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from admir.memory.index import HybridIndex, index_text_memory
from admir.perception.embed import Embedder, HashingEmbedder
from admir.perception.sentence_transformer import SentenceEmbedder
from admir.settings import Settings
from admir.types import CLIP_S, Clip, Memory

LEXICAL_BETA = 1e6
"""So large that the dense part only breaks ties."""

Ranker = Callable[[str], Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question about one memory, and the clips that count as found."""

    memory: Memory
    question: str
    targets: frozenset[int]


def main() -> None:
    """Load, rank, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--betas", default="0,0.5,1,2,3,5,10,20")
    parser.add_argument("--half", choices=("even", "odd"))
    parser.add_argument("--embedder", type=Path)
    parser.add_argument("--clip-s", type=float, default=CLIP_S)
    parser.add_argument("--cuts", action="store_true")
    options = parser.parse_args()
    embedder = open_embedder(options.embedder)
    items = [
        item for item in load(options.data, options.clip_s) if options.half in (None, _half(item))
    ]
    default = Settings().beta
    print(f"{'name':16} hit@1 hit@3   MRR     n")
    show("lexical", items, shipped(items, LEXICAL_BETA, embedder))
    show("dense", items, shipped(items, 0.0, embedder))
    show(f"hybrid b={default:g}", items, shipped(items, default, embedder))
    show("keyword", items, {id(i.memory): keyword_baseline(i.memory.clips) for i in items})
    show_chance(items)
    for beta in (float(b) for b in options.betas.split(",")):
        show(f"beta {beta:g}", items, shipped(items, beta, embedder))
    if options.cuts:
        show_cuts(items, default, embedder)


def open_embedder(folder: Path | None) -> Embedder:
    """Hashing, or the model of a folder, on the CPU."""
    if folder is None:
        return HashingEmbedder()
    return SentenceEmbedder(folder.name, folder, device="cpu", gpu_mb=None)


def show_cuts(items: Sequence[Item], beta: float, embedder: Embedder) -> None:
    """What is left of the best 8 where those below a share of the best score are left out."""
    memories = {id(item.memory): item.memory for item in items}
    indexes = {key: index_text_memory(m, embedder, beta) for key, m in memories.items()}
    print(f"{'cut':16} kept target among them")
    for cut in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        kept = found = 0
        for item in items:
            hits = indexes[id(item.memory)].search(item.question, 8)
            near = {h.clip_index for h in hits if h.score >= cut * hits[0].score}
            kept += len(near)
            found += bool(near & item.targets)
        print(f"{cut:<16g} {kept / len(items):4.2f} {found / len(items):5.3f}")


def load(folder: Path, clip_s: float) -> Iterator[Item]:
    """The questions that count."""
    by_hand = (folder / "text.jsonl").is_file()
    videos = _rows(folder / ("text.jsonl" if by_hand else "videos.jsonl"))
    make = _memory_by_hand if by_hand else _memory
    memories = {row.get("video_id") or row["video"]: make(row, clip_s) for row in videos}
    for row in _rows(folder / "qa.jsonl"):
        memory = memories.get(row.get("video_id") or row["video"])
        seconds = row.get("evidence_seconds") or [
            float(second)
            for start_s, end_s in row.get("evidence") or []
            for second in range(int(start_s), max(int(start_s) + 1, int(end_s)))
        ]
        if memory is None or len(memory.clips) < 4 or not seconds:
            continue
        targets = frozenset(
            c.index for c in memory.clips if any(c.span.contains(s) for s in seconds)
        )
        if 0 < len(targets) < len(memory.clips) / 2:
            yield Item(memory=memory, question=row["question"], targets=targets)


def _half(item: Item) -> str:
    return "odd" if zlib.crc32(item.memory.video.id.encode()) % 2 else "even"


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _memory(row: dict[str, Any], clip_s: float) -> Memory:
    duration_s = row.get("duration")
    return Memory.from_timeline(
        row["video_id"], row["events"], duration_s=duration_s, clip_s=clip_s
    )


def _memory_by_hand(row: dict[str, Any], clip_s: float) -> Memory:
    """Legible texts a second."""
    texts = [text for text in row["texts"] if text["legible"]]
    duration_s = max((text["end_s"] for text in texts), default=0.0)
    events = [
        {"t": t, "ocr": [x["text"] for x in texts if x["start_s"] < t + 1 and x["end_s"] > t]}
        for t in range(int(duration_s) + 1)
    ]
    return Memory.from_timeline(row["video"], events, duration_s=duration_s, clip_s=clip_s)


def shipped(items: Sequence[Item], beta: float, embedder: Embedder) -> dict[int, Ranker]:
    """The shipped index of each memory as a ranker of its clips."""
    memories = {id(item.memory): item.memory for item in items}
    indexes = {key: index_text_memory(m, embedder, beta) for key, m in memories.items()}
    return {key: _ranker(index, len(memories[key].clips)) for key, index in indexes.items()}


def _ranker(index: HybridIndex, count: int) -> Ranker:
    return lambda question: [hit.clip_index for hit in index.search(question, count)]


def keyword_baseline(clips: Sequence[Clip]) -> Ranker:
    """The share of ASCII keywords that stand in the clip, as AD-MIR's public code has it."""

    def rank(question: str) -> Sequence[int]:
        keys = set(re.findall(r"[a-zA-Z0-9]+", question.lower()))
        scores = [
            sum(key in clip.index_text.lower() for key in keys) / max(1, len(keys))
            for clip in clips
        ]
        return sorted(range(len(clips)), key=lambda i: -scores[i])

    return rank


def show(name: str, items: Sequence[Item], rankers: dict[int, Ranker]) -> None:
    """Print one row."""
    places = [_place(rankers[id(item.memory)](item.question), item.targets) for item in items]
    first = sum(p == 1 for p in places) / len(places)
    third = sum(p <= 3 for p in places) / len(places)
    reciprocal = sum(1 / p for p in places) / len(places)
    print(f"{name:16} {first:5.3f} {third:5.3f} {reciprocal:5.3f} {len(places):5d}")


def _place(ranking: Sequence[int], targets: frozenset[int]) -> int:
    return next(place for place, clip in enumerate(ranking, start=1) if clip in targets)


def show_chance(items: Sequence[Item]) -> None:
    """The expectation of a random order, computed exactly."""
    rows = [_chance(len(i.memory.clips), len(i.targets)) for i in items]
    first, third, reciprocal = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    print(f"{'chance':16} {first:5.3f} {third:5.3f} {reciprocal:5.3f} {len(rows):5d}")


def _chance(clips: int, targets: int) -> tuple[float, float, float]:
    """P(first place is 1), P(it is at most 3), E(1/place) for `targets` of `clips` at random."""
    miss, places = 1.0, []
    for place in range(clips - targets + 1):
        hit = miss * targets / (clips - place)
        places.append(hit)
        miss -= hit
    return places[0], sum(places[:3]), sum(p / (n + 1) for n, p in enumerate(places))


if __name__ == "__main__":
    main()
