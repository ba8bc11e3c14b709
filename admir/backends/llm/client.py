"""One chat request over the `openai` client: limits, retries, and what a server does not take."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import orjson

from admir.backends.llm.endpoints import RoleModel
from admir.backends.llm.quirks import ChatRequest, Quirks
from admir.backends.llm.retry import (
    InvalidResponse,
    place_of,
    retry_delay_s,
    server_message,
    to_admir_error,
)
from admir.errors import AdmirError, ModelError
from admir.settings import Role

if TYPE_CHECKING:
    from openai import AsyncOpenAI


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A function call as the server gave it; the arguments are text that may be no JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReply:
    """What a server answered. `truncate_words` where it stopped for want of room."""

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


@dataclass
class _Session:
    """Connections of one event loop: they cannot be shared between loops.

    They are those of every `ChatClient` and stay until the loop ends: connections dropped with
    their wire would be found by the garbage collector before anybody has closed them.
    """

    clients: dict[tuple[str, str], AsyncOpenAI] = field(default_factory=dict)
    keeper: AsyncGenerator[None, None] | None = None


_SESSIONS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = WeakKeyDictionary()


class ChatClient:
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

    async def send(self, model: RoleModel, shape: ChatRequest) -> RawReply:
        """Send a request until it is answered.

        Raises EndpointError or ModelError with the server's own words.
        """
        import openai

        while True:
            quirks = self.quirks_of(model)
            try:
                return await self._with_retries(model, shape.body(model, quirks))
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                words = server_message(error, model.api_key)
                learnt = quirks.learn(words, shape.body(model, quirks))
                if learnt is None:
                    raise ModelError(f"{place_of(model)} refuses: {words}") from None
                self._quirks[(model.base_url, model.model)] = learnt
            except AdmirError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a server does is told
                raise to_admir_error(error, model) from None

    async def _with_retries(self, model: RoleModel, body: Mapping[str, Any]) -> RawReply:
        for retries in count():
            try:
                reply = await self._once(model, body)
            except Exception as error:
                wait_s = retry_delay_s(error, retries, known=model.base_url in self._known)
                if wait_s is None:
                    raise
            else:
                self._known.add(model.base_url)
                return replace(reply, retries=retries)
            await asyncio.sleep(wait_s)
        raise AssertionError("counting does not end")

    async def _once(self, model: RoleModel, body: Mapping[str, Any]) -> RawReply:
        from openai.types.chat import ChatCompletion

        session = await _session()
        async with self._limit(model.base_url), asyncio.timeout(model.timeout_s):
            client = _client(session, model)
            # `chat.completions.create` walks through every picture for types it may convert, and
            # its JSON of megabytes would hold up every thread for tens of milliseconds.
            found: Any = await client.post(
                "/chat/completions", content=orjson.dumps(body), cast_to=ChatCompletion
            )
        return _read(found)

    def _limit(self, base_url: str) -> asyncio.Semaphore:
        """One limit an endpoint: the largest that a role with this endpoint asks for."""
        limits = self._limits.setdefault(asyncio.get_running_loop(), {})
        if base_url not in limits:
            most = max(m.concurrency for m in self._models.values() if m.base_url == base_url)
            limits[base_url] = asyncio.Semaphore(most)
        return limits[base_url]


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
    """The reply of a server, which may be anything. Raises Unusable."""
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
        raise InvalidResponse(_stated(found) or "its answer is no chat reply") from None


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
