"""`create_app(settings)`: the routes and what stands around them."""

from __future__ import annotations

import gc
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from fastapi import FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from admir.backends.factory import open_backend, open_embedder
from admir.backends.llm.client import load_client
from admir.errors import AdmirError
from admir.memory.frame_access import DECODED
from admir.memory.store import MemoryStore
from admir.server.ask import ask_router
from admir.server.ask_service import AskService
from admir.server.corrections import corrections_router
from admir.server.ingest import IngestService
from admir.server.metrics import Metrics
from admir.server.page import page_router
from admir.server.problems import document_problems, handle_problems, problem, reply, responses
from admir.server.read_routes import library_router
from admir.server.retention_thread import RetentionThread
from admir.server.security import AuthMiddleware
from admir.server.serialization import schemas_of
from admir.server.videos import videos_router
from admir.settings import Settings, load_settings
from admir.types import Answer, Memory

_OBJECTS_A_COLLECTION = 100_000
"""An ask leaves nothing to collect, and looking for it stops everybody: it is done seldom."""

_ABOUT = "Answers questions about advertising videos, and proves its answers."


class Health(BaseModel):
    """Whether the service runs, and with which preset."""

    status: Literal["ok"] = "ok"
    preset: str


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application over `settings` (default: from the environment).

    `admir serve` runs it, as does `uvicorn --factory admir.server:create_app`.
    """
    chosen = settings or load_settings()
    store, metrics = MemoryStore(chosen.memories), Metrics()
    asks = AskService(settings=chosen, store=store)
    DECODED.resize(chosen.server.cache_mb * 1_000_000)
    metrics.gauge("picture_cache_bytes", "Decoded pictures kept", lambda: DECODED.size_bytes)
    desk = IngestService.of(chosen, store, metrics)
    keeper = RetentionThread(chosen.memories, chosen.server.keep_days)
    metrics.gauge("asks_under_way", "Questions being answered", lambda: asks.under_way)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        importlib.import_module("admir.agent.graph")  # later it would stop everybody for long
        if chosen.preset != "offline":
            load_client()
        asks.start()
        desk.start()
        keeper.start()
        gc.set_threshold(_OBJECTS_A_COLLECTION)
        gc.freeze()  # what is loaded stays: collecting it again would stop them, too
        try:
            yield
        finally:
            keeper.close()
            desk.close()
            asks.close()

    app = FastAPI(title="AD-MIR", description=_ABOUT, lifespan=lifespan)
    handle_problems(app)
    app.include_router(ask_router(asks, metrics))
    app.include_router(library_router(store, chosen))
    app.include_router(corrections_router(store))
    app.include_router(page_router())
    app.include_router(videos_router(desk))
    _add_state(app, chosen, metrics)
    if chosen.server.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(chosen.server.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["authorization", "content-type", "x-api-key", "last-event-id"],
        )
    app.add_middleware(AuthMiddleware, settings=chosen.server)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """Add the schemas of our own data to the OpenAPI document."""
    document = app.openapi()
    document_problems(document)
    document["components"]["schemas"] |= schemas_of(Answer) | schemas_of(Memory)


def _add_state(app: FastAPI, settings: Settings, metrics: Metrics) -> None:
    """How the service is."""

    @app.get("/healthz", tags=["state"])
    async def healthz() -> Health:
        """Whether the service runs, and with which preset."""
        return Health(preset=settings.preset)

    @app.get("/readyz", tags=["state"], responses=responses(503))
    def readyz() -> Response:
        """Whether questions can be answered: the preset's backend and embedder are there."""
        try:
            open_backend(settings)
            open_embedder(settings)
        except AdmirError as error:
            return reply(problem(503, error.kind, str(error)))
        return JSONResponse({"status": "ready", "preset": settings.preset})

    @app.get("/metrics", tags=["state"], response_class=PlainTextResponse)
    def figures() -> Response:
        """Figures for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
