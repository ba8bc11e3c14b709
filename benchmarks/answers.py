"""Are the answers right? Questions about ads whose answers were read off their frames by eye.

    python benchmarks/answers.py --media DIR [--truth DIR] [--memories DIR] [--wrong]

Each truth file `<name>.json` holds `questions`: kind, question, accepted `answers`, and where it
applies the time. Its video is DIR/<name>.mp4; `demo` is the bundled ad. A memory is built, or the
stored one used, by the shipped builder, and the shipped agent is asked.

An answer is right when it holds one of the accepted ones (one of 20 letters or more may be misread
by 7 %); of a time, when it states one within
0.7 s of the truth; of a count, when its first number is that. `absent` (nothing of that kind is in
the ad), `speech` with `unknown` and `object` (a wordless thing) are right when they are refused:
the answer rests on nothing that is there (its basis is none, absence or premise). Prints
`kind right asked share`; `exact` joins the kinds with an answer.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rapidfuzz.fuzz import partial_ratio

import admir
from admir.demo import AD
from admir.text import STATED_TIME, contains, normalize, numbers, seconds_of
from admir.types import Answer

TRUTH = Path(__file__).parent / "truth"
TIME_SLACK_S = 0.7
LONG, NEARLY = 20, 93.0
_CHINESE = {"一": "1", "两": "2", "二": "2", "三": "3", "四": "4", "五": "5"}


def main() -> None:
    """Ask everything, print a row a kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--media", type=Path, help="folder of the ads; without it, the bundled ad")
    parser.add_argument("--truth", type=Path, default=TRUTH)
    parser.add_argument("--memories", type=Path, default=Path("bench-memories"))
    parser.add_argument("--wrong", action="store_true", help="print what was answered wrongly")
    options = parser.parse_args()
    tally: dict[str, list[bool]] = defaultdict(list)
    for video, rows in truths(options.truth, options.media):
        memory = admir.build_memory(video, memories=options.memories)
        for row in rows:
            answer = admir.ask(memory, row["question"], memories=options.memories)
            right = is_right(row, answer)
            tally[group(row)].append(right)
            if options.wrong and not right:
                print(f"{video.stem} {row['kind']}: {row['question']} -> {answer.answer}")
                print(f"    {row['answers']}  grounded={answer.grounded} basis={answer.basis}")
    report(tally)


def truths(folder: Path, media: Path | None) -> Iterator[tuple[Path, Sequence[Mapping[str, Any]]]]:
    """Each video that is there, with its questions."""
    for path in sorted(folder.glob("*.json")):
        video = AD if path.stem == "demo" else (media or Path()) / f"{path.stem}.mp4"
        rows = json.loads(path.read_text("utf-8")).get("questions")
        if rows and (path.stem == "demo" or media):
            yield video, rows


def group(row: Mapping[str, Any]) -> str:
    """Its kind; a question whose right answer is a refusal is one of `absent` or `unknown`."""
    if row["kind"] == "absent":
        return "absent"
    return "unknown" if row["answers"] == ["unknown"] else str(row["kind"])


def is_right(row: Mapping[str, Any], answer: Answer) -> bool:
    """See the module."""
    if group(row) in ("absent", "unknown"):
        return answer.basis in ("none", "absence", "premise")
    if row["kind"] == "time" and _times(row["answers"]):
        stated = _times(re.findall(STATED_TIME.pattern, answer.answer) and [answer.answer])
        return any(abs(a - b) <= TIME_SLACK_S for a in stated for b in _times(row["answers"]))
    if answer.basis == "none" and not any(claim.alternatives for claim in answer.claims):
        return False  # a rejected draft; one of several that could answer is an answer
    if row["kind"] in ("count", "people") and (wanted := _counts(row["answers"])):
        counted = _counts([answer.answer], first=True)
        words = [a for a in row["answers"] if not _counts([a])]
        return bool(wanted & counted) or any(contains(answer.answer, a) for a in words)
    return any(_holds(answer.answer, a) for a in row["answers"])


def _holds(answer: str, accepted: str) -> bool:
    """Whether the accepted answer stands in the answer; in a long one small misreadings may be."""
    if contains(answer, accepted):
        return True
    long = len(normalize(accepted)) >= LONG and not numbers(accepted)
    return long and partial_ratio(normalize(accepted), normalize(answer)) >= NEARLY


def _times(texts: Sequence[str]) -> list[float]:
    """Times that the texts state; a bare number is seconds."""
    stated = [seconds_of(match) for text in texts for match in STATED_TIME.finditer(text)]
    return stated or [float(text) for text in texts if re.fullmatch(r"\d+(\.\d+)?", text)]


def _counts(texts: Sequence[str], *, first: bool = False) -> set[str]:
    """The numbers of the texts, or the first of each, times left out."""
    found = []
    for text in texts:
        plain = "".join(_CHINESE.get(c, c) for c in text)
        stated = numbers(STATED_TIME.sub(" ", plain))
        found += stated[:1] if first else stated
    return set(found)


def report(tally: Mapping[str, Sequence[bool]]) -> None:
    """A row a kind, then the exact kinds together."""
    print(f"{'kind':10} right asked share")
    for kind in sorted(tally):
        _row(kind, tally[kind])
    exact = [r for kind, rows in tally.items() if kind not in ("absent", "unknown") for r in rows]
    _row("exact", exact)


def _row(kind: str, rows: Sequence[bool]) -> None:
    print(f"{kind:10} {sum(rows):5d} {len(rows):5d} {sum(rows) / max(1, len(rows)):5.2f}")


if __name__ == "__main__":
    main()
