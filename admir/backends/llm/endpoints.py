"""Which model plays which role, where it is reached, and how it is to be called."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import ValidationError

from admir.endpoint_probe import Endpoint, ask_endpoint
from admir.errors import EndpointError
from admir.settings import ROLES, ModelSettings, Role, Settings

OPENAI_URL = "https://api.openai.com/v1"
LOCAL_URLS = (
    "http://127.0.0.1:8000/v1",  # vLLM
    "http://127.0.0.1:11434/v1",  # Ollama
    "http://127.0.0.1:1234/v1",  # LM Studio
    "http://127.0.0.1:8080/v1",  # llama.cpp server
)
_PAPER: Mapping[Role, str] = {
    "expert": "o1",
    "refine": "gpt-4o-mini",
    "judge": "gpt-4o-2024-08-06",  # that of the authors of AdsQA
}
_PAPER_MODEL = "gpt-4o"
_REASONING = re.compile(r"(^|/)(o\d|gpt-5(?!-chat))")
_NOT_FOR_CHAT = re.compile(r"embed|rerank|whisper|tts|bge|e5-|dall-e|moderation", re.IGNORECASE)
_EMBEDDERS = tuple(
    re.compile(kind, re.IGNORECASE)
    for kind in (
        "bge-m3",
        "text-embedding-3-large",
        "text-embedding-3",
        "(^|[/-])(bge|e5|gte)-",
        "embed",
    )
)
"""Embedding models by their names: the paper's, those of OpenAI, then any."""

_TIMEOUT_S = 180.0
_CONCURRENCY = {"offline": 1, "paper": 64, "local": 8}
"""A service answers as many side by side; one card works off a queue, which takes time, too."""

_OUTPUT_TOKENS, _REASONING_TOKENS = 4_000, 25_000
_NO_KEY = "none"
_KNOWN: dict[tuple[str, str], Endpoint] = {}
T = TypeVar("T")

WAYS_OUT = (
    "set OPENAI_API_KEY (and OPENAI_BASE_URL for another endpoint), start a local server and "
    "choose `--preset local`, or use `--preset offline`, which needs no model"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleModel:
    """A role's model, ready to be called. `api_key` never leaves this object but to its server."""

    role: Role
    model: str
    base_url: str
    api_key: str
    temperature: float
    timeout_s: float
    concurrency: int
    max_output_tokens: int
    reasoning: bool

    def __repr__(self) -> str:
        return f"RoleModel({self.role}: {self.model} at {self.base_url})"


def role_models(settings: Settings, wanted: Sequence[Role] = ROLES) -> dict[Role, RoleModel]:
    """The model of each role by the settings, the environment and the preset.

    Raises EndpointError where there is no key, or no local server that says what it serves.
    """
    roles = {role: settings.roles.get(role, ModelSettings()) for role in wanted}
    common = settings.base_url
    if common is None and any(own.base_url is None for own in roles.values()):
        common = _default_url(settings)
    return {role: _role_model(role, own, settings, common or "") for role, own in roles.items()}


def embedding_model(settings: Settings, name: str) -> RoleModel:
    """The model `name` that embeds, and where; raises EndpointError."""
    own = settings.roles.get("embed", ModelSettings()).model_copy(update={"model": name})
    url = own.base_url or settings.base_url or _default_url(settings)
    return _role_model("embed", own, settings, url)


def find_embedding_model(settings: Settings) -> str:
    """An embedding model that the endpoint lists, the best known first; empty where none is.

    An endpoint that does not say what it serves has none.
    """
    own = settings.roles.get("embed", ModelSettings())
    try:
        url = own.base_url or settings.base_url or _default_url(settings)
        served = _served(url, _key(own, settings, url))
    except EndpointError:  # the build says so, in its first call
        return ""
    able = [name for name in served.models if "rerank" not in name.lower()]
    ranked = (name for kind in _EMBEDDERS for name in able if kind.search(name))
    return own.model or next(ranked, "")


def _role_model(role: Role, own: ModelSettings, settings: Settings, common: str) -> RoleModel:
    base_url = own.base_url or common
    shared = None if role == "judge" else settings.model  # one judge for whatever is judged
    model = own.model or shared or _default_model(role, settings, base_url)
    reasoning = _first(own.reasoning, settings.reasoning, bool(_REASONING.search(model)))
    tokens = _REASONING_TOKENS if reasoning else _OUTPUT_TOKENS
    return RoleModel(
        role=role,
        model=model,
        base_url=base_url,
        api_key=_key(own, settings, base_url),
        temperature=_first(own.temperature, settings.temperature, 0.0),
        timeout_s=_first(own.timeout_s, settings.timeout_s, _TIMEOUT_S),
        concurrency=_first(own.concurrency, settings.concurrency, _CONCURRENCY[settings.preset]),
        max_output_tokens=_first(own.max_output_tokens, settings.max_output_tokens, tokens),
        reasoning=reasoning,
    )


def _first(own: T | None, common: T | None, default: T) -> T:
    return own if own is not None else common if common is not None else default


def _key(own: ModelSettings, settings: Settings, base_url: str) -> str:
    """The key; a server on this machine needs none.

    A key goes to its own host alone: that of the setting or the environment beside it. A server
    that was merely found on this machine gets none of the environment's.
    """
    common = settings.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    abroad = urlsplit(common).hostname != urlsplit(base_url).hostname
    for secret in (own.api_key, None if own.base_url and abroad else settings.api_key):
        if secret is not None and secret.get_secret_value().strip():
            return _sendable(secret.get_secret_value().strip())
    key = "" if abroad else os.environ.get("OPENAI_API_KEY", "").strip()
    if not key and settings.preset != "local" and not is_loopback(base_url):
        raise EndpointError(f"preset {settings.preset!r} needs a key: {WAYS_OUT}")
    return _sendable(key) or _NO_KEY


def _sendable(key: str) -> str:
    """The key; raises EndpointError where no header can hold it, without showing it."""
    if not key.isascii() or not key.isprintable() or " " in key:
        raise EndpointError("the key holds characters that cannot be sent; was it copied whole?")
    return key


def _default_url(settings: Settings) -> str:
    stated = os.environ.get("OPENAI_BASE_URL", "").strip().rstrip("/")
    if stated:
        try:
            return ModelSettings(base_url=stated).base_url or stated
        except ValidationError as error:
            raise EndpointError(f"OPENAI_BASE_URL {error.errors()[0]['msg']}") from None
    return OPENAI_URL if settings.preset == "paper" else _local_server().url


def _default_model(role: Role, settings: Settings, base_url: str) -> str:
    if settings.preset == "paper":
        return _PAPER.get(role, _PAPER_MODEL)
    served = _served(base_url, _key(settings.roles.get(role, ModelSettings()), settings, base_url))
    if served.state != "ok":
        raise EndpointError(f"{served.url or base_url}: {served.reason}; {WAYS_OUT}")
    chat = [name for name in served.models if not _NOT_FOR_CHAT.search(name)]
    if not chat:
        raise EndpointError(f"{served.url} serves no model to talk to; set ADMIR_MODEL to its name")
    return chat[0]


def _served(base_url: str, key: str) -> Endpoint:
    """What the endpoint says it serves; asked until it names a model, then known."""
    found = _KNOWN.get((base_url, key)) or ask_endpoint(base_url, key=key)
    if found.state == "ok" and found.models:
        _KNOWN[base_url, key] = found
    return found


def _local_server() -> Endpoint:
    """The first well-known server on this machine that answers."""
    with ThreadPoolExecutor(len(LOCAL_URLS)) as pool:
        for found in pool.map(lambda url: ask_endpoint(url, key=_NO_KEY), LOCAL_URLS):
            if found.state == "ok":
                return found
    tried = "vLLM (port 8000), Ollama (11434), LM Studio (1234) nor llama.cpp (8080)"
    raise EndpointError(f"preset 'local': neither {tried} answers on this machine; {WAYS_OUT}")


def is_loopback(base_url: str) -> bool:
    """Whether the endpoint is on this machine, so that nothing leaves it."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def hosts(models: Iterable[RoleModel]) -> tuple[str, ...]:
    """The hosts beyond this machine that get what the models are shown."""
    urls = {model.base_url for model in models if not is_loopback(model.base_url)}
    return tuple(sorted({urlsplit(url).hostname or "" for url in urls}))
