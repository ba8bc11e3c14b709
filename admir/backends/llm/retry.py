"""What a failed request means: whether it is sent again, and when, and what its user is told."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from admir.backends.llm.endpoints import WAYS_OUT, RoleModel
from admir.errors import AdmirError, EndpointError, ModelError
from admir.text import to_printable

RETRIES = 8
"""After the first attempt (paper B.2)."""

FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_LONGEST_ASKED_S = 120.0
_RETRIES_OF_A_STRANGER = 2
_MOST_WORDS = 300
_LEAST_SECRET = 6
"""Characters of a key; what is shorter is a filler such as `none`."""


class InvalidResponse(Exception):
    """The server answered with something that is no chat reply."""


def retry_delay_s(error: Exception, retries: int, *, known: bool) -> float | None:
    """Seconds until the request is sent again, after so many retries; None where it is not.

    What the server asks for, else exponential with jitter. Where nobody was reached at an address
    that has never answered (it is not `known`), two retries are enough.
    """
    import openai

    nobody = type(error) is openai.APIConnectionError and not known
    if retries >= (_RETRIES_OF_A_STRANGER if nobody else RETRIES) or not _may_pass(error):
        return None
    asked_s = _asked_wait_s(error)
    if asked_s is not None:
        return asked_s
    longest_s = min(_LONGEST_WAIT_S, FIRST_WAIT_S * 2.0**retries)
    return longest_s * random.uniform(0.5, 1.0)  # noqa: S311 - jitter


def _may_pass(error: Exception) -> bool:
    """Whether the same request may do better a little later."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if "insufficient_quota" in server_message(error):
            return False
        asked_s = _asked_wait_s(error)
        if asked_s is not None and asked_s > _LONGEST_ASKED_S:
            return False
        return error.status_code in (408, 409, 429) or error.status_code >= 500
    broken = (openai.APIConnectionError, TimeoutError, InvalidResponse, json.JSONDecodeError)
    return isinstance(error, broken)


def _asked_wait_s(error: Exception) -> float | None:
    """The Retry-After of a reply, in seconds; None where there is none that is a number."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if seconds >= 0:
            return seconds
    return None


def to_admir_error(error: Exception, model: RoleModel) -> AdmirError:
    """A fault of the exchange as an error of ours, with the server's own words."""
    import openai

    place, key = place_of(model), model.api_key
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return EndpointError(f"{place} refuses the key: {server_message(error, key)}; {WAYS_OUT}")
    if isinstance(error, openai.NotFoundError):
        return EndpointError(
            f"{place}: {server_message(error, key)}; is the name of the model right?"
        )
    if isinstance(error, openai.APIStatusError):
        return ModelError(f"{place} fails (HTTP {error.status_code}): {server_message(error, key)}")
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return ModelError(f"{place} gave no answer within {model.timeout_s:g} s")
    if isinstance(error, openai.APIConnectionError):
        return EndpointError(f"{place} cannot be reached ({_cause(error, key)}); {WAYS_OUT}")
    return ModelError(f"{place}: {_short(str(error), key) or type(error).__name__}")


def place_of(model: RoleModel) -> str:
    """Which model and where, for messages."""
    return f"{model.model} at {model.base_url}"


def _cause(error: Exception, key: str) -> str:
    cause = error.__cause__
    return _short(str(cause), key) if cause and str(cause) else type(cause or error).__name__


def server_message(error: Any, key: str = "") -> str:
    """What the server said: its message, or the start of its body. Without the key."""
    body = error.body
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    said = body.get("message") if isinstance(body, Mapping) else body
    code = body.get("code") if isinstance(body, Mapping) else None
    words = str(said or error.message)
    return _short(f"{words} ({code})" if code else words, key)


def _short(text: str, key: str) -> str:
    """The start of a text on one line; servers repeat keys that they refuse."""
    line = to_printable(text.replace(key, "***") if len(key) >= _LEAST_SECRET else text)
    return line if len(line) <= _MOST_WORDS else f"{line[:_MOST_WORDS]}..."
