"""A request, and the forms that servers differ in: learnt from what they refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from admir.backends.llm.endpoints import RoleModel

Format = Literal["schema", "json", "text"]
TokensName = Literal["max_tokens", "max_completion_tokens"]
Message = dict[str, Any]

_AS_JSON = "Reply with one JSON object and nothing else. It must fit this JSON schema:\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """What a server and its model take."""

    format: Format = "schema"
    tokens_name: TokensName | None = None
    left_out: frozenset[str] = frozenset()

    def learn(self, words: str, body: Mapping[str, Any]) -> Quirks | None:
        """What to do after a refusal in these words; None where they name nothing to change."""
        said = words.lower()
        if "response_format" in body and any(
            w in said for w in ("response_format", "json_schema", "schema", "json mode", "guided")
        ):
            return replace(self, format="json" if self.format == "schema" else "text")
        if self.tokens_name is None and "max_completion_tokens" in said:  # once: not to and fro
            other: TokensName = "max_completion_tokens" if "max_tokens" in body else "max_tokens"
            return replace(self, tokens_name=other)
        for name in ("temperature", "parallel_tool_calls"):
            if name in body and name in said:
                return replace(self, left_out=self.left_out | {name})
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A chat request before it is fitted to its server.

    The first message is the system's. `schema` asks for JSON of that form, `tools` for calls of
    functions.
    """

    messages: Sequence[Message]
    name: str = ""
    schema: Mapping[str, Any] | None = None
    tools: Sequence[Mapping[str, Any]] = ()

    def body(self, model: RoleModel, quirks: Quirks) -> dict[str, Any]:
        """The arguments of `chat.completions.create`."""
        tokens = quirks.tokens_name or (
            "max_completion_tokens" if model.reasoning else "max_tokens"
        )
        body: dict[str, Any] = {
            "model": model.model,
            "messages": list(self.messages),
            tokens: model.max_output_tokens,
        }
        if not model.reasoning:
            body["temperature"] = model.temperature
        if self.tools:
            body["tools"] = list(self.tools)
            if not model.reasoning:
                body["parallel_tool_calls"] = True
        if self.schema is not None:
            self._ask_for_json(body, quirks, self.schema)
        return {key: value for key, value in body.items() if key not in quirks.left_out}

    def _ask_for_json(
        self, body: dict[str, Any], quirks: Quirks, schema: Mapping[str, Any]
    ) -> None:
        if quirks.format == "schema":
            form = {"name": self.name, "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
            return
        if quirks.format == "json":
            body["response_format"] = {"type": "json_object"}
        first, *others = body["messages"]
        told = f"{first['content']}\n\n{_AS_JSON}{json.dumps(schema, ensure_ascii=False)}"
        body["messages"] = [{**first, "content": told}, *others]
