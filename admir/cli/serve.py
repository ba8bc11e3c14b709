"""`admir serve`."""

from __future__ import annotations

import ipaddress
import sys
from contextlib import suppress
from typing import Annotated, Any

import typer

from admir.cli.options import Memories, PresetOption, Sets, settings_of
from admir.cli.run import warn
from admir.errors import OptionError

_TURN_S = 0.0001
"""The longest turn of a thread that computes: a short reply takes several turns between them."""

_MOST_FILES = 65_536
_OTHER_FILES = 256
"""Open beside connections: videos, memories, the logs."""


def serve_command(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65_535)] = 8765,
    open_to_all: Annotated[
        bool,
        typer.Option("--without-key", help="Listen beyond this machine without an API key."),
    ] = False,
    memories: Memories = None,
    preset: PresetOption = None,
    sets: Sets = None,
) -> None:
    """Serve the page and the HTTP API until Ctrl-C.

    Beyond this machine it needs a key (ADMIR_SERVER__API_KEY), unless --without-key is said.
    """
    settings = settings_of(memories, preset, sets)
    if not _is_loopback(host) and settings.server.api_key is None:
        if not open_to_all:
            raise OptionError(
                f"--host {host} is reached from other machines: set ADMIR_SERVER__API_KEY, or say "
                "--without-key"
            )
        warn(f"anybody who reaches {host}:{port} may ask, upload and delete")
    import uvicorn

    from admir.server import create_app
    from admir.server.timeouts import TimeoutProtocol

    sys.setswitchinterval(_TURN_S)
    uvicorn.run(
        create_app(settings),
        host=host,
        port=port,
        http=TimeoutProtocol,
        log_config=_log_config(),
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=10,
        limit_concurrency=_room_for_connections() - _OTHER_FILES,
    )


def _room_for_connections() -> int:
    """How many files may be open, raised as far as the system lets us; more get 503."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
        return most
    return soft


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _log_config() -> dict[str, Any]:
    """One JSON object a line on stderr."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "admir.server.logs.JsonLines"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "loggers": {
            "admir": {"handlers": ["stderr"], "level": "INFO"},
            "uvicorn": {"handlers": ["stderr"], "level": "INFO"},
        },
    }
