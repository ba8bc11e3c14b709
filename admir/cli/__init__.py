"""The command line: `admir build-memory`, `ask`, `list`, `show`, `reindex`, `demo` and others.

Exit codes: 0 done; 1 an unexpected fault; 2 bad usage, question or option; 3 a video cannot be
read; 4 no memory of that id; 5 a memory is damaged, newer, or a file cannot be written; 6 another
process builds the video; 7 the preset cannot run here; 8 some of several videos or questions
failed, or have no score; 9 a model gave no usable answer; 130 interrupted (what is done is kept).
"""

from __future__ import annotations

import typer

from admir.cli.ask import ask_command
from admir.cli.build import build_memory_command
from admir.cli.demo import demo_command
from admir.cli.doctor import doctor_command
from admir.cli.evaluate import app as eval_app
from admir.cli.gc import gc_command
from admir.cli.memories import list_command, show_command
from admir.cli.models import fetch_models_command, reindex_command
from admir.cli.run import leave, run
from admir.cli.serve import serve_command

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Ask questions about advertising videos, and get answers with their evidence.",
)
app.command("build-memory", short_help="Build the memory of each video.")(build_memory_command)
app.command("ask", short_help="Answer one question, or a table of them.")(ask_command)
app.command("list")(list_command)
app.command("show")(show_command)
app.command("reindex", short_help="Embed memories anew.")(reindex_command)
app.command("demo", short_help="Ask questions about a bundled ad.")(demo_command)
app.command("doctor", short_help="Say what is installed and what can run.")(doctor_command)
app.command("fetch-models", short_help="Download the weights of models.")(fetch_models_command)
app.command("gc", short_help="Clear away old traces and what no memory needs.")(gc_command)
app.command("serve", short_help="Serve the page and the HTTP API.")(serve_command)
app.add_typer(eval_app, name="eval", short_help="Measure answers: AdsQA, sweeps, differences.")


def main() -> None:
    """Run the command line. An error is one line on stderr and a documented exit code."""
    run(app)


def main_of_process() -> None:
    """`main` for a process that is nothing else: it ends at once.

    Python would take half a second to free what was loaded, for nobody.
    """
    try:
        main()
    except SystemExit as ending:
        leave(int(ending.code or 0))
