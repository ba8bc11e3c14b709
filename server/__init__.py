"""The HTTP service: `create_app(settings)` answers about videos, and builds their memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

    from admir.settings import Settings

__all__ = ["create_app"]


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application over `settings` (default: from the environment)."""
    from admir.server import app  # FastAPI takes a second: `admir gc` does without

    return app.create_app(settings)
