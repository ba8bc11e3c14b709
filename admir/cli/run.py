"""How a command ends, and how it speaks: exit codes, errors of one line, stdout and stderr."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, cast

import typer

from admir.errors import AdmirError
from admir.text import to_printable

if TYPE_CHECKING:
    from rich.console import Console

EXIT_WRONG_USE = 2
EXIT_SOME_FAILED = 8
EXIT_INTERRUPTED = 130
_OBJECTS_A_COLLECTION = 10_000
STOPPED = "stopped; what is done is kept, run the same command to go on"

# Typer carries a copy of click: its errors are reached by way of one that it exports.
_UsageError, _ClickError = cast("list[type[typer.BadParameter]]", typer.BadParameter.__mro__[1:3])


def run(app: typer.Typer) -> None:
    """Run a command and leave the process with its exit code."""
    # After every 700 new objects, as is Python's own way, a seventh of loading goes into it.
    gc.set_threshold(_OBJECTS_A_COLLECTION)
    # NumPy's threads, once loaded, burn a third of a second waiting for work before they sleep.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    code = _run_app(app)
    sys.exit(_flush() or code)


def leave(code: int) -> NoReturn:
    """End the process once its threads and what was registered for its end are done."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()  # noqa: SLF001 - there is no other way to run them before os._exit
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    os._exit(code)


def _run_app(app: typer.Typer) -> int:
    """Run the command; its errors are told, and become the exit code."""
    try:
        code = app(standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except AdmirError as error:
        return complain(error)
    except BrokenPipeError:
        return _leave_stdout()
    except _ClickError as error:
        return _wrong_use(error)
    except Exception as error:
        if os.environ.get("ADMIR_DEBUG"):
            raise
        return _fault(error)
    if code == EXIT_INTERRUPTED:  # typer makes this of a KeyboardInterrupt
        print(STOPPED, file=sys.stderr)
    return int(code)


def wrong_use(context: typer.Context, message: str) -> Exception:
    """The error of arguments that do not go together; it shows the usage of the command."""
    return _UsageError(message, ctx=context)


def _wrong_use(error: typer.BadParameter) -> int:
    """One line, where the way out is; `admir` alone shows its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return EXIT_WRONG_USE
    context = getattr(error, "ctx", None)
    usage = f" ({context.get_usage()}; `--help` tells more)" if context else ""
    complain(AdmirError(f"{error.format_message()}{usage}"))
    return EXIT_WRONG_USE


def _fault(error: Exception) -> int:
    what = str(error) or "no message"
    hint = "ADMIR_DEBUG=1 shows the traceback"
    return complain(AdmirError(f"unexpected {type(error).__name__}: {what} ({hint})"))


def _flush() -> int:
    """Write out what is left for stdout; 1 where nobody reads it or it cannot be written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return _leave_stdout()
    except OSError as error:
        complain(AdmirError(f"cannot write the output: {error.strerror}"))
        return _leave_stdout()
    return 0


def _leave_stdout() -> int:
    """Nobody reads: what is still buffered goes nowhere, and Python says nothing of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def complain(error: AdmirError) -> int:
    """Print the error and return its exit code."""
    print(f"error: {error}", file=sys.stderr)
    return error.exit_code


def warn(message: str) -> None:
    """A line on stderr about what was done nevertheless."""
    print(f"warning: {to_printable(message)}", file=sys.stderr)


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """A console that leaves texts as they are."""
    from rich.console import Console

    return Console(quiet=quiet, stderr=stderr, highlight=False, soft_wrap=False)


def print_json(value: Any) -> None:
    """One object over several lines."""
    from admir.trace import to_json, to_plain

    print(to_json(to_plain(value), indent=1))


def print_row(row: dict[str, Any]) -> None:
    """One object on one line, at once."""
    from admir.trace import to_json

    print(to_json(row), flush=True)


def say(line: str) -> None:
    """A line for people; nothing in it is markup, or steers the terminal."""
    console().print(to_printable(line), markup=False, soft_wrap=True)
