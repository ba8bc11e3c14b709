"""Answers, traces and memories on a terminal, with rich.

Text of videos, questions and files is never markup, and what steers a terminal is left out of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from admir.memory.text_blocks import text_blocks
from admir.perception.people import people_words
from admir.perception.visual_style import merge_looks, pace_words, palette_words
from admir.text import normalize, shortened, to_printable
from admir.types import (
    Action,
    Answer,
    Claim,
    Clip,
    Evidence,
    Memory,
    ScreenText,
    Span,
    Step,
    Utterance,
)
from admir.views.json_rows import Unreadable
from admir.views.labels import (
    basis_words,
    cost_words,
    doubt_words,
    money_words,
    sign_of,
    standing_words,
    verdict_sign,
)

_SHORT = 3
_MOST_QUOTE = 300
_MARKS = {
    "verified": ("✓", "green"),
    "expert": ("◆", "cyan"),
    "inferred": ("≈", "magenta"),
    "unverified": ("?", "yellow"),
    "contradicted": ("✗", "red"),
}
_VERDICTS = {
    "verified": "accepted",
    "inferred": "accepted as quoted; that it answers is inferred",
    "contradicted": "rejected, backtracking",
}


def show_answer(console: Console, answer: Answer) -> None:
    """The answer, its claims with their status, and the evidence with times and frames."""
    _, style = _MARKS[sign_of(answer)]
    head = Text(to_printable(answer.answer), style="bold")
    foot = f"{basis_words(answer)} · preset {to_printable(answer.preset)} · {answer.seconds:.2f} s"
    if cost_words(answer.usage):
        foot += f" · {money_words(answer.usage)}"
    title = Text(to_printable(answer.question))
    console.print(Panel(head, title=title, subtitle=Text(foot), border_style=style))
    for claim in answer.claims:
        console.print(_claim(claim))
    for evidence in answer.evidence:
        console.print(_evidence(evidence), soft_wrap=True)
    if standing := _standing(answer):
        console.print(Text(to_printable(standing), style="dim" if answer.grounded else style))


def _standing(answer: Answer) -> str:
    """Why it is not grounded; empty where the panel says all."""
    if answer.grounded:
        return answer.reason
    if answer.basis == "none":
        return f"Not grounded: {answer.reason}" if answer.reason else ""
    reason = f" ({answer.reason})" if answer.reason else ""
    return f"{standing_words(answer)}{reason}"


def _claim(claim: Claim) -> Text:
    mark, colour = _MARKS[claim.status]
    text = Text(f" {mark} {claim.status:<12} ", style=colour)
    text.append(to_printable(claim.text), style="default")
    if doubt := doubt_words(claim):
        text.append(f"  {to_printable(doubt)}", style=colour)
    if claim.reason:
        text.append(f"  ({to_printable(claim.reason)})", style="dim")
    return text


def _evidence(evidence: Evidence) -> Text:
    """Two lines: what and when, and the frame that shows it."""
    text = Text(f" {evidence.id:<4}", style="cyan")
    text.append(f"{evidence.span}  {to_printable(evidence.source)}  ", style="default")
    text.append(to_printable(f'"{shortened(evidence.quote, _MOST_QUOTE)}"'), style="default")
    if evidence.frame:
        text.append(f"\n     {to_printable(evidence.frame)}", style="dim")
    return text


def show_trace(console: Console, answer: Answer) -> None:
    """The steps as a tree: thought, actions, what came back, verdicts."""
    tree = Tree(Text("trace", style="bold"))
    for step in answer.steps:
        branch = tree.add(_step_head(step))
        for action in step.actions:
            branch.add(_action(action))
        for observation in step.observations:
            branch.add(_first_lines(observation.text, "red" if observation.failed else "dim"))
        if step.verdict is not None:
            branch.add(_verdict(step))
    console.print(tree)
    if answer.trace:
        console.print(Text(to_printable(f"trace file: {answer.trace}"), style="dim"))


def _first_lines(text: str, style: str, most: int = 8) -> Text:
    lines = [to_printable(line) for line in text.splitlines()]
    more = [f"... {len(lines) - most} more"] if len(lines) > most else []
    return Text("\n".join([*lines[:most], *more]), style=style)


def _step_head(step: Step) -> Text:
    text = Text(f"step {step.index} ", style="bold")
    text.append(f"({step.seconds:.2f} s) ", style="dim")
    return text.append(to_printable(step.thought), style="default not bold")


def _action(action: Action) -> Text:
    given = ", ".join(f"{key}={value!r}" for key, value in action.arguments.items())
    return Text(to_printable(f"{action.tool}({given})"), style="cyan")


def _verdict(step: Step) -> RenderableType:
    assert step.verdict is not None
    sign = verdict_sign(step.verdict)
    lines = [Text(f"verdict: {_VERDICTS[sign]}", style=_MARKS[sign][1])]
    return Group(*lines, *(_claim(claim) for claim in step.verdict.claims))


def show_memory(console: Console, memory: Memory) -> None:
    """A memory as a person would read it."""
    console.print(Panel(_facts(memory), title=Text(to_printable(memory.video.id))))
    console.print(Text("\n".join(map(to_printable, memory.narrative.text.splitlines()))))
    for mismatch in memory.narrative.mismatches:
        console.print(Text(to_printable(f"Mismatch: {mismatch}"), style="yellow"))
    if memory.narrative.inferences:
        console.print(_arc(memory))
    blocks = text_blocks(memory.screen_text)
    for clip in memory.clips:
        console.print(_clip(clip, blocks, memory.utterances))
    if memory.subjects:
        console.print(_subjects(memory))
    for each in memory.corrections:
        was = f', not "{each.was}"' if each.was else ""
        told = f'corrected by a person: {each.kind.replace("_", " ")} "{each.text}"{was}'
        console.print(Text(to_printable(told), style="dim"))
    for warning in memory.provenance.warnings:
        console.print(Text(to_printable(f"! {warning}"), style="yellow"))


def _facts(memory: Memory) -> Text:
    video, origin = memory.video, memory.provenance
    sound = (
        f"{video.audio.codec}, {video.audio.loudness_dbfs:.0f} dBFS, "
        f"{video.audio.silent_share:.0%} silent"
        if video.audio
        else "none"
    )
    lines = [
        (
            f"{video.duration_s:.1f} s, {video.width}x{video.height}, {video.fps:.2f} frames/s, "
            f"{len(memory.shots)} shots, sound: {sound}"
        ),
        f"file: {video.path}",
        f"speech: {origin.speech_source}",
        f"text: {origin.text_source}, {origin.frames_read} of {origin.frames_sampled} frames read",
        (
            f"preset {origin.preset}, built {origin.built_at} in {origin.seconds:.1f} s, "
            f"embedder {origin.embedder}"
        ),
    ]
    if look := merge_looks([clip.look for clip in memory.clips if clip.look], most=5):
        lines.append(f"palette: {palette_words(look)}")
        lines.append(pace_words(memory.shots))
    if people := people_words([s for s in memory.subjects if s.seen]):
        lines.append(people)
    if video.metadata:
        lines.append(", ".join(f"{key}: {value}" for key, value in video.metadata.items()))
    return Text("\n".join(map(to_printable, lines)))


def _arc(memory: Memory) -> Table:
    """Time, part and words; parts that one sentence plays together share a row."""
    rows: dict[tuple[Span, str], list[str]] = {}
    for inference in memory.narrative.inferences:
        if inference.kind == "arc":
            rows.setdefault((inference.span, inference.quote), []).append(inference.label)
    by_rule = memory.provenance.perceiver.startswith("offline")
    title = "story, by rule" if by_rule else "story, as the model tells it"
    table = Table(title=title, title_justify="left", box=None, header_style="dim")
    for column in ("time", "role", "words"):
        table.add_column(column, no_wrap=column == "time")
    for (span, quote), roles in rows.items():
        table.add_row(str(span), ", ".join(map(to_printable, roles)), Text(to_printable(quote)))
    return table


def _clip(clip: Clip, blocks: Sequence[ScreenText], said: Sequence[Utterance]) -> Text:
    """The caption, and the lines and words that begin in the clip."""
    text = Text(f"\n{clip.span}  ", style="bold cyan")
    text.append(to_printable(clip.caption), style="default not bold")
    if clip.caption_error:
        text.append(to_printable(f"not described: {clip.caption_error}"), style="yellow not bold")
    begun = [b for b in blocks if clip.span.contains(b.span.start_s)]
    long = [b for b in begun if len(normalize(b.text)) >= _SHORT]
    for block in long:
        where = "on a thing" if block.scene else "on screen "
        _row(text, f"{where}  {block.span}  {block.text}")
    if short := len(begun) - len(long):
        _row(text, f"and {short} short mark{'s' * (short != 1)}, of one or two characters")
    for spoken in said:
        if clip.span.contains(spoken.span.start_s):
            who = f"{spoken.speaker}: " if spoken.speaker else ""
            _row(text, f"spoken      {spoken.span}  {who}{spoken.text}")
    return text


def _row(text: Text, row: str) -> None:
    text.append(f"\n    {to_printable(row)}", style="default not bold")


def _subjects(memory: Memory) -> Table:
    table = Table(title="subjects", title_justify="left", box=None, header_style="dim")
    for column in ("id", "name", "first seen", "on screen", "what is known"):
        table.add_column(column)
    for subject in memory.subjects:
        known = "; ".join((*subject.identity, *subject.appearance[:2]))
        seen = f"{subject.first_seen_s:.1f} s"
        stays = f"{subject.on_screen_s:.1f} s" if subject.seen else ""
        name = Text(to_printable(subject.name))
        table.add_row(Text(to_printable(subject.id)), name, seen, stays, Text(to_printable(known)))
    return table


def show_rows(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str = "",
) -> None:
    """A table of texts under its title, with a note on how to read it."""
    table = Table(title=to_printable(title), title_justify="left", box=None, header_style="dim")
    for index, column in enumerate(columns):
        table.add_column(to_printable(column), justify="left" if index == 0 else "right")
    for row in rows:
        table.add_row(*(Text(to_printable(cell)) for cell in row))
    console.print(table)
    if note:
        console.print(Text(to_printable(note), style="dim"))
    console.print()


def show_list(console: Console, memories: Sequence[Memory | Unreadable]) -> None:
    """One line a memory; of one that cannot be read, the reason."""
    table = Table(box=None, header_style="dim")
    for column in ("id", "length", "shots", "lines", "speech", "preset"):
        table.add_column(column)
    for memory in memories:
        if isinstance(memory, Unreadable):
            table.add_row(Text(to_printable(f"{memory.video_id}: {memory.reason}"), style="red"))
            continue
        speech = f"{len(memory.utterances)} lines" if memory.utterances else "unknown"
        table.add_row(
            Text(to_printable(memory.video.id)),
            f"{memory.video.duration_s:.1f} s",
            str(len(memory.shots)),
            str(len(memory.screen_text)),
            speech,
            Text(to_printable(memory.provenance.preset)),
        )
    console.print(table)
