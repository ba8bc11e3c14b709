"""What everybody asks models by: `Model.complete` for typed data, `Model.act` for tool calls."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from admir.backends.base import ToolSpec, no_reply
from admir.backends.llm.cache import ReplyCache, cache_folder
from admir.backends.llm.client import ChatClient, RawReply, ToolCall, load_client
from admir.backends.llm.content import Image, Part, system, user
from admir.backends.llm.endpoints import RoleModel, role_models
from admir.backends.llm.parsing import InvalidReply, ReplyForm, json_schema, load_json, parse_reply
from admir.backends.llm.pricing import price_of, usage_of
from admir.backends.llm.quirks import ChatRequest, Message, Quirks
from admir.errors import ModelError, OptionError
from admir.prompts import load_prompt
from admir.settings import ROLES, Role, Settings
from admir.types import Usage

CORRECTIONS = 2
"""How often a malformed reply goes back to the model with what was wrong."""

_DEEPEST = 20
F = TypeVar("F", bound=ReplyForm)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[T]):
    """What a model said, as data; what it cost, corrections included; and which model it was."""

    value: T
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallReply:
    """A thought and the calls of functions that go with it."""

    thought: str
    calls: tuple[ToolCall, ...]


class Model:
    """All models of one backend, by role. Safe to use from many tasks and event loops at once."""

    def __init__(self, settings: Settings, roles: Sequence[Role] = ROLES) -> None:
        self.models: Mapping[Role, RoleModel] = role_models(settings, roles)
        self._prices = {role: price_of(m, settings.prices) for role, m in self.models.items()}
        if settings.max_cost is not None:
            self._check_prices()
        # It takes a while: that may pass while other things are opened.
        threading.Thread(target=load_client, daemon=True).start()
        self._wire = ChatClient(self.models)
        self._cache: ReplyCache | None = None
        if settings.cache:
            most_bytes = settings.cache_mb * 1_000_000
            self._cache = ReplyCache(cache_folder(settings.cache_folder), most_bytes)
        self._lock = threading.Lock()
        self._spent = Usage()

    def spent(self) -> Usage:
        """What all calls of this object have cost so far."""
        return self._spent

    async def complete(
        self, role: Role, instructions: str, parts: Sequence[Part], form: type[F]
    ) -> Reply[F]:
        """The reply of a role to text and pictures, as data of a form.

        Raises ModelError where no usable reply came, EndpointError where none can come.
        """
        messages = [system(instructions), user(parts)]
        images = sum(isinstance(part, Image) for part in parts)
        schema = json_schema(form)
        usage, problem = Usage(), ""
        sent: list[tuple[str, RawReply]] = []
        for _ in range(1 + CORRECTIONS):
            shape = ChatRequest(messages=messages, name=role, schema=schema)
            try:
                raw, key, used = await self._ask(role, shape, images)
            except ModelError as error:
                raise no_reply(str(error), usage) from None
            usage = usage + used
            if not used.cached:
                sent.append((key, raw))
            try:
                value = parse_reply(raw, form)
            except InvalidReply as fault:
                problem = f"{fault}; {raw.refusal}" if raw.refusal else str(fault)
                messages = [*messages, *_correction(raw.content, problem, schema)]
                continue
            self._keep(sent)
            return Reply(value=value, usage=usage, model=self.models[role].model)
        name = self.models[role].model
        raise no_reply(f"{name} gave no usable reply as {role}: {problem}", usage)

    async def act(
        self, role: Role, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> Reply[ToolCallReply]:
        """The next thought and calls of functions in a conversation.

        Raises ModelError where the model cannot answer, EndpointError where none can.
        """
        functions = [{"type": "function", "function": _function(tool)} for tool in tools]
        raw, key, usage = await self._ask(role, ChatRequest(messages=messages, tools=functions), 0)
        if not usage.cached and (raw.tool_calls or raw.content.strip()):
            self._keep([(key, raw)])
        thought = raw.content.strip() or (f"(refused: {raw.refusal})" if raw.refusal else "")
        acted = ToolCallReply(thought=thought, calls=raw.tool_calls)
        return Reply(value=acted, usage=usage, model=self.models[role].model)

    async def _ask(
        self, role: Role, shape: ChatRequest, images: int
    ) -> tuple[RawReply, str, Usage]:
        """A reply from the cache or the server, where it is kept, and what it cost."""
        model = self.models[role]
        # Before anything is learnt of the server: a later run has learnt nothing when it asks.
        body = shape.body(model, Quirks()) if self._cache else {}
        key = ReplyCache.key(model.base_url, body)
        known = self._cache.get(key) if self._cache else None
        if known is not None:
            self._count(used := Usage(cached=1))
            return known, key, used
        raw = await self._wire.send(model, shape)
        self._count(used := usage_of(raw, images, self._prices[role]))
        return raw, key, used

    def _count(self, used: Usage) -> None:
        with self._lock:
            self._spent += used

    def _keep(self, sent: Sequence[tuple[str, RawReply]]) -> None:
        """Keep new replies that led to something; those that led nowhere are asked for again."""
        if self._cache:
            for key, raw in sent:
                self._cache.put(key, raw)

    def _check_prices(self) -> None:
        unknown = sorted({m.model for r, m in self.models.items() if self._prices[r] is None})
        if unknown:
            raise OptionError(
                f"max_cost: no price is known of {', '.join(unknown)}; set one, for example "
                f'ADMIR_PRICES=\'{{"{unknown[0]}": {{"input": 1, "output": 2}}}}\''
            )


def _correction(content: str, problem: str, schema: Mapping[str, Any]) -> tuple[Message, Message]:
    """The reply that cannot be used, and why, for the model to say it again."""
    form = json.dumps(schema, ensure_ascii=False)
    told = load_prompt("correction").render(problem=problem, schema=form)
    said: Message = {"role": "assistant", "content": content or "(nothing)"}
    return said, user([told])


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call; those that are no JSON object stand under one odd name.

    The check of the tool's arguments then refuses them, and the model is told so.
    """
    try:
        found = load_json(call.arguments or "{}")
    except (ValueError, RecursionError):
        found = None
    plain = isinstance(found, dict) and _is_plain(found)
    return found if plain else {"arguments_that_are_no_json_object": True}


def _is_plain(value: Any, room: int = _DEEPEST) -> bool:
    """Whether data is of bearable depth and holds finite numbers alone."""
    if isinstance(value, float):
        return math.isfinite(value)
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return room > 0 and all(_is_plain(each, room - 1) for each in inner)
