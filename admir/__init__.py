"""AD-MIR answers questions about advertising videos and proves its answers.

from admir import ask, build_memory, open_memory

memory = build_memory("ad.mp4")
answer = ask(memory, "What price is shown?")
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from admir.api import ask, build_memory, open_memory
    from admir.errors import AdmirError
    from admir.trace_reader import Trace, open_trace
    from admir.types import Answer, Memory

_HOMES = {
    "ask": "admir.api",
    "build_memory": "admir.api",
    "open_memory": "admir.api",
    "AdmirError": "admir.errors",
    "Answer": "admir.types",
    "Memory": "admir.types",
    "Trace": "admir.trace_reader",
    "open_trace": "admir.trace_reader",
}

__all__ = [
    "AdmirError",
    "Answer",
    "Memory",
    "Trace",
    "ask",
    "build_memory",
    "open_memory",
    "open_trace",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: `import admir` costs nothing."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'admir' has no attribute {name!r}")


def load_ipython_extension(ip: Any) -> None:
    """`%load_ext admir`: answers, memories and traces show as HTML (`admir.views.notebook`)."""
    import_module("admir.views.notebook").register(ip)


# Within a notebook's kernel the display comes of itself; elsewhere IPython is not even imported.
_get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
if _get_ipython is not None and (_ip := _get_ipython()) is not None:
    load_ipython_extension(_ip)
