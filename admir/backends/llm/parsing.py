"""From the text of a reply to typed data, with what is wrong in words that a model can act on."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, TypeVar

from json_repair import repair_json
from pydantic import BaseModel, ConfigDict, ValidationError

from admir.backends.llm.client import RawReply

_FENCE = re.compile(r"^\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_THINKING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_MOST_FAULTS = 5


class ReplyForm(BaseModel):
    """Base of what models are asked to reply with. Unknown fields are passed over.

    NaN, which JSON has no word for, would make a memory that cannot be read again.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


F = TypeVar("F", bound=ReplyForm)


class InvalidReply(Exception):
    """The reply is not what was asked for; the message goes back to the model."""


@cache
def json_schema(form: type[ReplyForm]) -> dict[str, Any]:
    """The JSON schema of a form, as strict servers take it: all fields required, no others."""
    schema: dict[str, Any] = _strict(form.model_json_schema())
    return schema


def _strict(part: Any) -> Any:
    """Without titles and defaults; every object closed and all its fields required."""
    if isinstance(part, list):
        return [_strict(item) for item in part]
    if not isinstance(part, dict):
        return part
    kept = {k: v for k, v in part.items() if k not in ("title", "default", "description")}
    if "properties" in part:
        kept["properties"] = {name: _strict(each) for name, each in part["properties"].items()}
        kept["required"] = list(part["properties"])
        kept["additionalProperties"] = False
    if "$defs" in part:
        kept["$defs"] = {name: _strict(each) for name, each in part["$defs"].items()}
    return {k: v if k in ("properties", "$defs") else _strict(v) for k, v in kept.items()}


def parse_reply(reply: RawReply, form: type[F]) -> F:
    """The reply as data of the form; raises Unfit with what is wrong."""
    if reply.cut:
        raise InvalidReply("it was cut off for its length; say it shorter")
    if not reply.content.strip():
        raise InvalidReply("it is empty")
    try:
        return form.model_validate(_object(reply.content))
    except ValidationError as error:
        raise InvalidReply(_faults(error)) from None


def _object(text: str) -> dict[str, Any]:
    """The JSON object in a text, which may be fenced, commented or slightly broken."""
    bare = _THINKING.sub("", text)
    fenced = _FENCE.match(bare)
    bare = (fenced[1] if fenced else bare).strip()
    try:
        found = load_json(bare)
    except (ValueError, RecursionError):
        found = _repaired(bare)
    if not isinstance(found, dict):
        raise InvalidReply("it holds no JSON object")
    return found


def load_json(text: str) -> Any:
    """JSON as data; half a character, which no UTF-8 file takes, becomes a question mark.

    Raises ValueError or RecursionError.
    """
    found = json.loads(text)
    return json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))


def _repaired(text: str) -> Any:
    """JSON with slips of the pen mended. What breaks off is not mended: its end is not known."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise InvalidReply("it holds no whole JSON object")
    rest = text[end + 1 :].strip()
    if not _is_closed(text[start : end + 1]) or rest.startswith((",", '"', "[")):
        raise InvalidReply("its JSON breaks off before its end")
    try:
        return repair_json(text[start : end + 1], return_objects=True)
    except (ValueError, RecursionError):
        raise InvalidReply("its JSON cannot be read") from None


def _is_closed(text: str) -> bool:
    """Whether every brace outside of strings is closed, and the last string too."""
    bare = _STRING.sub("", text)
    return '"' not in bare and bare.count("{") == bare.count("}")


def _faults(error: ValidationError) -> str:
    told = [
        f"{'.'.join(str(part) for part in fault['loc']) or 'the object'}: {fault['msg']}"
        for fault in error.errors()[:_MOST_FAULTS]
    ]
    return "; ".join(told)
