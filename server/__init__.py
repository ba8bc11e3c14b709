"""The HTTP service: `create_app(settings)`. It answers about memories that are built already."""

from __future__ import annotations

from admir.server.app import create_app

__all__ = ["create_app"]
