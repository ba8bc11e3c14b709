"""AD-MIR answers questions about advertising videos and proves its answers.

from admir import ask, build_memory, open_memory

memory = build_memory("ad.mp4")
answer = ask(memory, "What price is shown?")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from admir.api import ask, build_memory, open_memory
    from admir.errors import AdmirError
    from admir.types import Answer, Memory

_HOMES = {
    "ask": "admir.api",
    "build_memory": "admir.api",
    "open_memory": "admir.api",
    "AdmirError": "admir.errors",
    "Answer": "admir.types",
    "Memory": "admir.types",
}

__all__ = ["AdmirError", "Answer", "Memory", "ask", "build_memory", "open_memory"]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: `import admir` costs nothing."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'admir' has no attribute {name!r}")
