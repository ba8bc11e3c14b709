"""`admir eval`: benchmarks, sweeps, and what differs between two runs."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admir.cli.costs import report_destination
from admir.cli.options import Json, Memories, NoCache, PresetOption, Sets, settings_of
from admir.cli.run import EXIT_SOME_FAILED, console, print_json, say, warn
from admir.errors import OptionError

if TYPE_CHECKING:
    from admir.evaluation.data import Suite
    from admir.evaluation.run_folder import Run
    from admir.evaluation.runner import RunEvent, Scorer
    from admir.evaluation.sweep import Variant
    from admir.evaluation.systems import System
    from admir.evaluation.tables import Table
    from admir.settings import Settings
    from admir.views.progress import RowsBar

MOST_TOLD = 10
_NAME = re.compile(r"[\w-][\w.-]{0,99}")
_CONCURRENCY = {"offline": 2, "paper": 8, "local": 8}
app = typer.Typer(no_args_is_help=True, help="Measure answers against what is known to be true.")


class SystemName(StrEnum):
    """What can be measured."""

    agent = "agent"
    end_to_end = "end-to-end"


Questions = Annotated[
    Path, typer.Option(help="testset_question.json of AdsQA, or of its form.", metavar="FILE")
]
Groundtruth = Annotated[
    Path, typer.Option(help="testset_groundtruth.json; only a judge sees it.", metavar="FILE")
]
Videos = Annotated[Path, typer.Option(help="Folder of the videos.", metavar="DIR")]
Out = Annotated[Path, typer.Option(help="Folder of the run; an old one goes on.", metavar="DIR")]
JudgeModel = Annotated[
    str | None,
    typer.Option(
        "--judge", help="Model of the judge [default: gpt-4o-2024-08-06].", metavar="MODEL"
    ),
]
JudgeUrl = Annotated[
    str | None, typer.Option(help="Endpoint of the judge, if it is another.", metavar="URL")
]
NoJudge = Annotated[
    bool,
    typer.Option("--no-judge", help="Answer only; of --predictions take the scores in the files."),
]
Limit = Annotated[int | None, typer.Option(help="Only the first N items.", min=1, metavar="N")]
Concurrency = Annotated[
    int | None,
    typer.Option(help="Items at once [default: 8, offline 2].", min=1, max=256, metavar="N"),
]
SpendLimit = Annotated[
    float | None,
    typer.Option(
        help="US dollars the whole run may cost, memories included.", min=0, metavar="USD"
    ),
]
Seed = Annotated[int, typer.Option(help="Draws the intervals.", min=0, metavar="N")]


SystemOption = Annotated[
    SystemName, typer.Option("--system", help="The agent, or the model alone on 16 frames (B.1).")
]
Predictions = Annotated[
    Path | None,
    typer.Option(help="Score the answers in DIR/<question_id>/<name>.json instead.", metavar="DIR"),
]
Name = Annotated[str | None, typer.Option(help="Name of the run, and of its prediction files.")]


@app.command("adsqa", short_help="Answer and judge AdsQA, and write the reports.")
def adsqa_command(
    questions: Questions,
    groundtruth: Groundtruth,
    videos: Videos,
    out: Out,
    system: SystemOption = SystemName.agent,
    predictions: Predictions = None,
    name: Name = None,
    judge: JudgeModel = None,
    judge_url: JudgeUrl = None,
    no_judge: NoJudge = False,
    limit: Limit = None,
    concurrency: Concurrency = None,
    spend_limit: SpendLimit = None,
    seed: Seed = 0,
    memories: Memories = None,
    preset: PresetOption = None,
    sets: Sets = None,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> None:
    """Answer the questions, judge the answers, and write tables with intervals, cost and failures.

    A run that was stopped goes on where it was; what failed is asked for again. With --json:
    {"scores" (null without a judge), "usage", "stopped", "out"}.
    """
    from admir.evaluation.adsqa import read_adsqa

    if name is not None and not _NAME.fullmatch(name):
        raise OptionError(f"--name {name!r} must be of letters, digits, '_', '-' and '.'")
    chosen = _with_judge(sets, judge, judge_url)
    settings = settings_of(memories, preset, chosen, no_cache=no_cache)
    suite = read_adsqa(questions, groundtruth).first(limit)
    if predictions is not None and predictions.resolve() == out.resolve():
        raise OptionError("--out is the folder of --predictions: their files would be written over")
    measured = _system(system, predictions, name, settings, videos)
    work = Work(
        suite=suite,
        scorer=_scorer(settings, predictions, name, judged=not no_judge),
        concurrency=concurrency,
        spend_limit=spend_limit,
        seed=seed,
        quiet=as_json,
    )
    run = asyncio.run(work.run(measured, settings, out, name or _name_of(measured)))
    _report(run, out, as_json=as_json)


@app.command("sweep", short_help="Draw Fig. 3: beta, T_max and each component off.")
def sweep_command(
    questions: Questions,
    groundtruth: Groundtruth,
    videos: Videos,
    out: Out,
    beta: Annotated[str, typer.Option(help="Values of beta.", metavar="LIST")] = "0,0.5,1,2,4",
    max_steps: Annotated[str, typer.Option(help="Values of T_max.", metavar="LIST")] = "2,4,6,8,12",
    components: Annotated[bool, typer.Option(help="Also without each component.")] = True,
    judge: JudgeModel = None,
    judge_url: JudgeUrl = None,
    limit: Limit = None,
    concurrency: Concurrency = None,
    spend_limit: SpendLimit = None,
    seed: Seed = 0,
    memories: Memories = None,
    preset: PresetOption = None,
    sets: Sets = None,
    no_cache: NoCache = False,
) -> None:
    """Run the agent of AdsQA with one setting changed at a time: a folder of OUT a configuration.

    All share the same memories. The limit of money is that of each configuration.
    """
    from admir.evaluation.adsqa import read_adsqa
    from admir.evaluation.sweep import variants, write_sweep

    chosen = _with_judge(sets, judge, judge_url)

    def settings_with(told: str) -> Settings:
        return settings_of(memories, preset, [*chosen, told], no_cache=no_cache)

    default = settings_of(memories, preset, chosen, no_cache=no_cache)
    report_destination(default)
    values = {"beta": _numbers("--beta", beta), "max_steps": _numbers("--max-steps", max_steps)}
    planned = variants(settings_with, default, values, components=components)
    work = Work(
        suite=read_adsqa(questions, groundtruth).first(limit),
        scorer=_scorer(default, None, None, judged=True),
        concurrency=concurrency,
        spend_limit=spend_limit,
        seed=seed,
        quiet=False,
    )
    measured = asyncio.run(work.sweep(planned, videos, out))
    _show([write_sweep(out, measured)])
    say(f"The figures are in {out / 'sweep.html'}.")
    _exit_by([run for _, run in measured])


@app.command("diff", short_help="Say whether run B is better than run A.")
def diff_command(
    run_a: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN_A")],
    run_b: Annotated[Path, typer.Argument(help="Folder of another.", metavar="RUN_B")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of diff.html and diff.md [default: RUN_B].")
    ] = None,
) -> None:
    """Compare two runs of the same questions: paired intervals, McNemar, answers that changed."""
    from admir.evaluation.report import write_comparison
    from admir.evaluation.run_folder import read_run
    from admir.evaluation.tables import difference_table, verdict_of

    folder = out or run_b
    if not folder.is_dir():
        raise OptionError(f"--out: there is no folder {str(folder)!r}")
    found = write_comparison(folder, read_run(run_a), read_run(run_b))
    _show([difference_table(found)])
    say(f"{verdict_of(found)} {len(found.flips):,} answers changed: {folder / 'diff.html'}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What the runs of one command share."""

    suite: Suite
    scorer: Scorer | None
    concurrency: int | None
    spend_limit: float | None
    seed: int
    quiet: bool

    async def run(self, system: System, settings: Settings, out: Path, name: str) -> Run:
        """Run a system with a bar on stderr, and write its reports."""
        from admir.concurrency import run_to_end
        from admir.evaluation.adsqa import write_predictions
        from admir.evaluation.report import write_report
        from admir.evaluation.run_folder import RunInfo, open_folder, own_code
        from admir.evaluation.runner import RunEnded, Runner
        from admir.views.progress import RowsBar

        info = RunInfo(
            name=name,
            suite=self.suite.name,
            dimensions=self.suite.dimensions,
            config=system.config,
            judge=self.scorer.id if self.scorer else "",
            seed=self.seed,
            files=self.suite.files,
            left_out=self.suite.left_out,
            admir_version=version("admir"),
            code=own_code(),
        )
        with open_folder(out, info) as folder:
            runner = Runner(
                suite=self.suite,
                system=system,
                scorer=self.scorer,
                folder=folder,
                info=info,
                concurrency=self.concurrency or _CONCURRENCY[settings.preset],
                spend_limit=self.spend_limit,
            )
            stderr = console(quiet=self.quiet, stderr=True)
            with RowsBar(stderr, name, logs=True) as bar:
                ended = await run_to_end(runner.run(), lambda event: _progress(bar, event))
            assert isinstance(ended, RunEnded)
            write_predictions(out, name, ended.run.items)
            write_report(out, ended.run)
            return ended.run

    async def sweep(
        self, planned: Sequence[Variant], videos: Path, out: Path
    ) -> list[tuple[Variant, Run]]:
        """A run of the agent for each configuration, one after another."""
        from admir.evaluation.systems import AgentSystem

        return [
            (each, await self.run(AgentSystem(each.settings, videos), each.settings,
                                  out / each.label, each.label))
            for each in planned
        ]  # fmt: skip


def _progress(bar: RowsBar, event: RunEvent) -> None:
    from admir.evaluation.runner import ItemDone, RunStarted
    from admir.trace import BuildProgress

    if isinstance(event, RunStarted):
        bar.start(event.total)
    elif isinstance(event, BuildProgress):
        bar.building(event)
    elif isinstance(event, ItemDone):
        bar.step()


def _with_judge(sets: list[str] | None, judge: str | None, url: str | None) -> list[str]:
    """The judge's options among the settings, as those of its role."""
    own = {key: value for key, value in (("model", judge), ("base_url", url)) if value}
    if not own:
        return list(sets or ())
    told = [text.partition("=")[2] for text in sets or () if text.startswith("roles=")]
    others = [text for text in sets or () if not text.startswith("roles=")]
    try:
        roles = json.loads(told[-1]) if told else {}
        merged = roles | {"judge": {**roles.get("judge", {}), **own}}
    except (ValueError, TypeError, AttributeError):
        raise OptionError(f"--set roles={told[-1]}: must be a JSON object") from None
    return [*others, f"roles={json.dumps(merged)}"]


def _system(
    kind: SystemName, predictions: Path | None, name: str | None, settings: Settings, videos: Path
) -> System:
    from admir.evaluation.systems import AgentSystem, BaselineSystem, FilesSystem

    if predictions is not None:
        return FilesSystem(predictions, _needed(name))
    report_destination(settings)
    if not videos.is_dir():
        raise OptionError(f"--videos: there is no folder {str(videos)!r}")
    if kind is SystemName.end_to_end:
        return BaselineSystem(settings, videos)
    return AgentSystem(settings, videos)


def _needed(name: str | None) -> str:
    if not name:
        raise OptionError("--predictions needs --name: that of the files, without .json")
    return name


def _scorer(
    settings: Settings, predictions: Path | None, name: str | None, *, judged: bool
) -> Scorer | None:
    from admir.evaluation.judge import Judge, WrittenScores

    if judged:
        judge = Judge(settings)
        if judge.hosts:
            warn(f"questions, answers and what is true of them go to {', '.join(judge.hosts)}")
        return judge
    return WrittenScores(predictions, _needed(name)) if predictions is not None else None


def _name_of(system: System) -> str:
    """The system with its first model: `agent-gpt-4o`."""
    models = system.config.get("models") or {}
    model = models.get("controller") or models.get("baseline") or "offline"
    return re.sub(r"[^\w.-]+", "-", f"{system.name}-{model}")


def _numbers(option: str, text: str) -> list[float]:
    try:
        return sorted({float(part) for part in text.split(",") if part.strip()})
    except ValueError:
        raise OptionError(f"{option} {text!r} must be numbers with commas between them") from None


def _report(run: Run, out: Path, *, as_json: bool) -> None:
    """The tables of a run, and where its reports are."""
    from admir.evaluation.scores import scores_of
    from admir.evaluation.tables import answers_table, cost_table, published_table, scores_table

    scores = scores_of(run)
    if as_json:
        usage = {"answers": run.usage, "scores": run.judge_usage, "builds": run.info.build_usage}
        told = scores if run.is_judged else None
        print_json({"scores": told, "usage": usage, "stopped": run.info.stopped, "out": str(out)})
    elif not run.is_judged:
        _show([answers_table(run), cost_table(run)])
        say("Nothing was judged: there are no scores. Run it again without --no-judge for them.")
        say(f"The reports are in {out / 'report.html'} and {out / 'report.md'}.")
    else:
        _show([scores_table(scores), published_table(run, scores), cost_table(run)])
        for case_id, why in scores.failures[:MOST_TOLD]:
            say(f"  {case_id}: {why}")
        if len(scores.failures) > MOST_TOLD:
            say(f"  and {len(scores.failures) - MOST_TOLD} more without a score")
        say(f"The reports are in {out / 'report.html'} and {out / 'report.md'}.")
    _exit_by([run])


def _exit_by(runs: Sequence[Run]) -> None:
    """Warn where a run was broken off; the exit code says where items have no score."""
    for run in runs:
        if run.info.stopped:
            warn(f"{run.info.name}: broken off, {run.info.stopped}; run it again to go on")
    if any(item.failure for run in runs for item in run.items if run.info.judge):
        raise typer.Exit(EXIT_SOME_FAILED)


def _show(tables: Sequence[Table]) -> None:
    from admir.views.terminal import show_rows

    for table in tables:
        show_rows(console(), table.title, table.columns, table.rows, table.note)
