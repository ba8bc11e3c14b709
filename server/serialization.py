"""Data as the service sends it, and the schema of that.

It is the JSON of the command line and of traces, but that files of the server are addresses here.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter
from starlette.responses import Response

from admir.trace import to_json, to_plain

_SPAN = ("start_s", "end_s")


def to_api_json(value: Any) -> Any:
    """The JSON of an event, an answer or a memory."""
    return _with_addresses(to_plain(value))


async def json_reply(value: Any) -> Response:
    """The same as a reply, written in a thread: a memory of megabytes holds nobody else up."""
    body = await asyncio.to_thread(lambda: to_json(to_api_json(value)))
    return Response(body, media_type="application/json")


def _with_addresses(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_with_addresses(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    found = {key: _with_addresses(item) for key, item in plain.items()}
    video = quote(str(found.get("video_id", "")), safe="")
    if found.get("frame") and found.get("frame_s") is not None and video:
        found["frame"] = f"/videos/{video}/frames/{found['frame_s']:g}.jpg"
    if isinstance(found.get("trace"), str) and found["trace"] and video:
        found["trace"] = f"/videos/{video}/traces/{Path(found['trace']).stem}"
    return found


def schemas_of(kind: type) -> dict[str, Any]:
    """The JSON Schema of what `to_api_json` makes of a dataclass and of its parts, by name."""
    made = TypeAdapter(kind).json_schema(
        mode="serialization", ref_template="#/components/schemas/{model}"
    )
    named = {**made.pop("$defs", {}), kind.__name__: made}
    return {name: _flat(schema) for name, schema in named.items()}


def _flat(schema: dict[str, Any]) -> dict[str, Any]:
    """A `span` is told by `start_s` and `end_s` of what it belongs to."""
    fields = schema.get("properties", {})
    if "span" not in fields:
        return schema
    seconds = {"type": "number", "minimum": 0}
    flat = dict.fromkeys(_SPAN, seconds) | {k: v for k, v in fields.items() if k != "span"}
    wanted = [*_SPAN, *(name for name in schema.get("required", ()) if name != "span")]
    return {**schema, "properties": flat, "required": wanted}
