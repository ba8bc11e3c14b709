"""Embeddings of an OpenAI-compatible endpoint (`POST /embeddings`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from admir.backends.llm.endpoints import RoleModel, embedding_model
from admir.backends.llm.pricing import cost_usd, price_of
from admir.backends.llm.retry import retry_delay_s, to_admir_error
from admir.errors import ModelError
from admir.perception.embed import Embedder, Vectors, unit
from admir.settings import ENDPOINT, Settings
from admir.types import Usage

if TYPE_CHECKING:
    from openai import OpenAI

_TEXTS_A_CALL = 64
_MOST_CHARS = 20_000
"""Of one text: models take some 8,000 tokens, and refuse more."""

_MOST = 1e15
"""A number of a vector is smaller; the squares of larger ones are no float32."""


class EndpointEmbedder(Embedder):
    """Encodes with a model behind an endpoint. The texts leave this machine, unless it is on it."""

    def __init__(self, model: str, settings: Settings) -> None:
        self.id = f"{ENDPOINT}{model}"
        self._usage = Usage()
        self._name = model
        self._settings = settings
        self._lock = threading.Lock()

    @cached_property
    def endpoint(self) -> RoleModel:
        """Where the texts go; raises EndpointError."""
        return embedding_model(self._settings, self._name)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), d]; see `Embedder`. Raises EndpointError or ModelError."""
        filled = [number for number, text in enumerate(texts) if text.strip()]
        starts = range(0, len(filled), _TEXTS_A_CALL)
        calls = [filled[start : start + _TEXTS_A_CALL] for start in starts]
        found = [self._call([texts[n][:_MOST_CHARS] for n in numbers]) for numbers in calls]
        width = found[0].shape[1] if found else 0
        rows = np.zeros((len(texts), width), dtype=np.float32)
        for numbers, vectors in zip(calls, found, strict=True):
            if vectors.shape[1] != width:
                raise ModelError(f"{self._place} gives vectors of different widths")
            rows[numbers] = vectors
        return unit(rows)

    @property
    def _place(self) -> str:
        return f"the embedding model {self._name!r} at {self.endpoint.base_url}"

    @cached_property
    def _client(self) -> OpenAI:
        from openai import OpenAI

        end = self.endpoint
        return OpenAI(
            base_url=end.base_url,
            api_key=end.api_key,
            timeout=end.timeout_s,
            max_retries=0,
        )

    def spent(self) -> Usage:
        """What the calls so far have cost."""
        return self._usage

    def _call(self, texts: Sequence[str]) -> Vectors:
        """The vectors of one call [len(texts), d]."""
        reply = self._sent(list(texts))
        self._count(getattr(reply, "usage", None))
        return self._read(reply, len(texts))

    def _sent(self, texts: list[str]) -> Any:
        """What the server replies; sent again where that may help. Raises as `told` says."""
        with self._lock:
            create = self._client.embeddings.create
        for retries in count():
            try:
                return create(model=self._name, input=texts, encoding_format="float")
            except Exception as error:  # noqa: BLE001 - whatever a server does is told
                wait_s = retry_delay_s(error, retries, known=self._usage.calls > 0)
                if wait_s is None:
                    raise to_admir_error(error, self.endpoint) from None
            time.sleep(wait_s)
        raise AssertionError("counting does not end")

    def _read(self, reply: Any, count: int) -> Vectors:
        """The vectors of a reply, which may be anything. Raises ModelError."""
        try:
            rows = {item.index: item.embedding for item in reply.data}
            wide = np.array([rows[number] for number in range(count)], dtype=np.float64)
        except (LookupError, ValueError, TypeError, AttributeError):
            raise ModelError(f"{self._place} answers with no embeddings") from None
        if wide.ndim != 2 or wide.shape[1] == 0 or not (np.abs(wide) < _MOST).all():
            raise ModelError(f"{self._place} answers with other things than vectors")
        return wide.astype(np.float32)

    def _count(self, told_usage: Any) -> None:
        tokens = getattr(told_usage, "prompt_tokens", 0)
        tokens = tokens if isinstance(tokens, int) else 0
        price = price_of(self.endpoint, self._settings.prices)
        used = Usage(
            calls=1,
            input_tokens=tokens,
            cost_usd=cost_usd(tokens, 0, price),
            unpriced=int(price is None),
        )
        with self._lock:
            self._usage += used
