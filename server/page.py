"""The page: `/` and `/static/...`, from the files in `static`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_ASK_AGAIN = "no-cache"
"""A browser may keep a file, but asks each time whether it is still the one (304)."""


@dataclass(frozen=True, slots=True)
class _File:
    """One file as it is sent."""

    data: bytes
    media_type: str
    etag: str


def page_router() -> APIRouter:
    """The routes of the page. Its files are read once."""
    router, files = APIRouter(include_in_schema=False), _read(STATIC)

    @router.api_route("/", methods=["GET", "HEAD"])
    async def page(request: Request) -> Response:
        """The page itself; it holds nothing of any video."""
        return _reply(request, files["index.html"])

    @router.api_route("/static/{name}", methods=["GET", "HEAD"])
    async def static(name: str, request: Request) -> Response:
        """A style, a script or a picture of the page."""
        if name not in files:
            raise HTTPException(404, f"the page has no file {name!r}")
        return _reply(request, files[name])

    return router


def _read(folder: Path) -> dict[str, _File]:
    found = {}
    for path in folder.iterdir():
        if (kind := _TYPES.get(path.suffix)) is not None:
            data = path.read_bytes()
            found[path.name] = _File(data, kind, f'"{hashlib.sha256(data).hexdigest()[:20]}"')
    return found


def _reply(request: Request, file: _File) -> Response:
    headers = {"ETag": file.etag, "Cache-Control": _ASK_AGAIN}
    known = request.headers.get("if-none-match", "")
    if file.etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(file.data, media_type=file.media_type, headers=headers)
