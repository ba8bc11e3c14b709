"""One chat request over the `openai` client: limits, retries, and what a server does not take."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from admir.backends.llm.endpoints import WAYS_OUT, RoleModel
from admir.backends.llm.quirks import Quirks, Shape
from admir.errors import AdmirError, EndpointError, ModelError
from admir.settings import Role
from admir.text import shown

if TYPE_CHECKING:
    from openai import AsyncOpenAI

RETRIES = 8
"""After the first attempt (paper B.2)."""

FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_LONGEST_ASKED_S = 120.0
_RETRIES_OF_A_STRANGER = 2
_MOST_WORDS = 300
_LEAST_SECRET = 6
"""Characters of a key; what is shorter is a filler such as `none`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A function call as the server gave it; the arguments are text that may be no JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReply:
    """What a server answered. `cut` where it stopped for want of room."""

    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str = ""
    cut: bool = False
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0

    @property
    def told_tokens(self) -> bool:
        """Whether the server said what the reply took."""
        return self.input_tokens + self.output_tokens > 0


class _Unusable(Exception):
    """The server answered with something that is no chat reply."""


@dataclass
class _Session:
    """Connections of one event loop: they cannot be shared between loops.

    They are those of every `Wire` and stay until the loop ends: connections that are dropped with
    their wire would be found by the garbage collector before anybody has closed them.
    """

    clients: dict[tuple[str, str], AsyncOpenAI] = field(default_factory=dict)
    keeper: AsyncGenerator[None, None] | None = None


_SESSIONS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = WeakKeyDictionary()


class Wire:
    """Sends requests of roles to their endpoints. Works in any number of event loops."""

    def __init__(self, models: Mapping[Role, RoleModel]) -> None:
        self._models = models
        self._limits: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = (
            WeakKeyDictionary()
        )
        self._quirks: dict[tuple[str, str], Quirks] = {}
        self._known: set[str] = set()

    def quirks_of(self, model: RoleModel) -> Quirks:
        """What the server of this model is known not to take."""
        return self._quirks.setdefault((model.base_url, model.model), Quirks())

    async def send(self, model: RoleModel, shape: Shape) -> RawReply:
        """Send a request until it is answered.

        Raises EndpointError or ModelError with the server's own words.
        """
        import openai

        while True:
            quirks = self.quirks_of(model)
            try:
                return await self._with_retries(model, shape.body(model, quirks))
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                words = _words(error, model.api_key)
                learnt = quirks.learn(words, shape.body(model, quirks))
                if learnt is None:
                    raise ModelError(f"{_place(model)} refuses: {words}") from None
                self._quirks[(model.base_url, model.model)] = learnt
            except AdmirError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a server does is told
                raise told(error, model) from None

    async def _with_retries(self, model: RoleModel, body: Mapping[str, Any]) -> RawReply:
        retrying = AsyncRetrying(
            stop=enough(lambda: model.base_url in self._known),
            wait=wait_s,
            retry=retry_if_exception(may_pass),
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                reply = await self._once(model, body)
                self._known.add(model.base_url)
                number = attempt.retry_state.attempt_number
        return replace(reply, retries=number - 1)

    async def _once(self, model: RoleModel, body: Mapping[str, Any]) -> RawReply:
        from openai.types.chat import ChatCompletion

        session = await _session()
        async with self._limit(model.base_url), asyncio.timeout(model.timeout_s):
            client = _client(session, model)
            # `chat.completions.create` walks through every picture for types it may convert.
            found: Any = await client.post(
                "/chat/completions", body=dict(body), cast_to=ChatCompletion
            )
        return _read(found)

    def _limit(self, base_url: str) -> asyncio.Semaphore:
        """One limit an endpoint: the largest that a role with this endpoint asks for."""
        limits = self._limits.setdefault(asyncio.get_running_loop(), {})
        if base_url not in limits:
            most = max(m.concurrency for m in self._models.values() if m.base_url == base_url)
            limits[base_url] = asyncio.Semaphore(most)
        return limits[base_url]


def enough(known: Callable[[], bool]) -> Callable[[RetryCallState], bool]:
    """Stops after nine attempts; after three where nobody has answered at that address yet."""
    import openai

    most, few = stop_after_attempt(1 + RETRIES), stop_after_attempt(1 + _RETRIES_OF_A_STRANGER)

    def stop(state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        nobody = type(error) is openai.APIConnectionError and not known()
        return few(state) if nobody else most(state)

    return stop


async def _session() -> _Session:
    loop = asyncio.get_running_loop()
    if loop not in _SESSIONS:
        session = _SESSIONS[loop] = _Session()
        session.keeper = _closing(session, loop)
        await anext(session.keeper)
    return _SESSIONS[loop]


def load_client() -> None:
    """Load what the first call needs, which takes half a second: also in a thread, before it."""
    import openai

    openai.DefaultAsyncHttpxClient()  # what it is made of is only loaded with the first


def _client(session: _Session, model: RoleModel) -> AsyncOpenAI:
    from openai import AsyncOpenAI

    key = (model.base_url, model.api_key)
    if key not in session.clients:
        session.clients[key] = AsyncOpenAI(
            base_url=model.base_url, api_key=model.api_key, max_retries=0, timeout=None
        )
    return session.clients[key]


async def _closing(
    session: _Session, loop: asyncio.AbstractEventLoop
) -> AsyncGenerator[None, None]:
    """Closes the clients when the loop ends: it then closes the generators that are under way."""
    try:
        yield
    finally:
        _SESSIONS.pop(loop, None)  # connections hold their loop: it would never be freed
        for client in session.clients.values():
            await client.close()


def _read(found: Any) -> RawReply:
    """The reply of a server, which may be anything. Raises _Unusable."""
    try:
        choice = found.choices[0]
        message = choice.message
        calls = tuple(
            ToolCall(
                name=_whole(c.function.name),
                arguments=_as_text(c.function.arguments),
            )
            for c in message.tool_calls or ()
        )
        used = found.usage
        details = getattr(used, "prompt_tokens_details", None)
        return RawReply(
            content=_whole(message.content or ""),
            tool_calls=calls,
            refusal=_whole(getattr(message, "refusal", None) or ""),
            cut=choice.finish_reason == "length",
            input_tokens=int(getattr(used, "prompt_tokens", 0) or 0),
            cached_tokens=int(getattr(details, "cached_tokens", 0) or 0),
            output_tokens=int(getattr(used, "completion_tokens", 0) or 0),
        )
    except (AttributeError, IndexError, TypeError, ValueError):
        raise _Unusable(_stated(found) or "its answer is no chat reply") from None


def _as_text(arguments: Any) -> str:
    """Arguments as JSON; some servers send the object itself."""
    return _whole(arguments if isinstance(arguments, str) else json.dumps(arguments))


def _whole(text: Any) -> str:
    """A text without half characters, which can be neither kept nor sent back."""
    return str(text).encode("utf-8", "replace").decode()


def _stated(found: Any) -> str:
    """What went wrong, where the body of a successful reply says so: routers do that."""
    error = getattr(found, "error", None)
    said = error.get("message") if isinstance(error, Mapping) else error
    return said if isinstance(said, str) else ""


def may_pass(error: BaseException) -> bool:
    """Whether the same request may do better a little later."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if "insufficient_quota" in _words(error):
            return False
        asked = _asked_wait_s(error)
        if asked is not None and asked > _LONGEST_ASKED_S:
            return False
        return error.status_code in (408, 409, 429) or error.status_code >= 500
    broken = (openai.APIConnectionError, TimeoutError, _Unusable, json.JSONDecodeError)
    return isinstance(error, broken)


def wait_s(state: RetryCallState) -> float:
    """Seconds to wait: what the server asks for, else exponential with jitter."""
    error = state.outcome.exception() if state.outcome else None
    asked = _asked_wait_s(error)
    if asked is not None:
        return asked
    longest = min(_LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (state.attempt_number - 1))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - jitter


def _asked_wait_s(error: BaseException | None) -> float | None:
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


def told(error: Exception, model: RoleModel) -> AdmirError:
    """A fault of the exchange as an error of ours, with the server's own words."""
    import openai

    place, key = _place(model), model.api_key
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return EndpointError(f"{place} refuses the key: {_words(error, key)}; {WAYS_OUT}")
    if isinstance(error, openai.NotFoundError):
        return EndpointError(f"{place}: {_words(error, key)}; is the name of the model right?")
    if isinstance(error, openai.APIStatusError):
        return ModelError(f"{place} fails (HTTP {error.status_code}): {_words(error, key)}")
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return ModelError(f"{place} gave no answer within {model.timeout_s:g} s")
    if isinstance(error, openai.APIConnectionError):
        return EndpointError(f"{place} cannot be reached ({_cause(error, key)}); {WAYS_OUT}")
    return ModelError(f"{place}: {_short(str(error), key) or type(error).__name__}")


def _place(model: RoleModel) -> str:
    return f"{model.model} at {model.base_url}"


def _cause(error: Exception, key: str) -> str:
    cause = error.__cause__
    return _short(str(cause), key) if cause and str(cause) else type(cause or error).__name__


def _words(error: Any, key: str = "") -> str:
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
    line = shown(text.replace(key, "***") if len(key) >= _LEAST_SECRET else text)
    return line if len(line) <= _MOST_WORDS else f"{line[:_MOST_WORDS]}..."
