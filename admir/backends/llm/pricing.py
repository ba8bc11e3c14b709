"""What replies cost, by a table of prices that settings may change."""

from __future__ import annotations

import re
from collections.abc import Mapping

from admir.backends.llm.client import RawReply
from admir.backends.llm.endpoints import RoleModel, is_loopback
from admir.settings import Price
from admir.types import Usage

PRICES: Mapping[str, Price] = {
    "gpt-4o": Price(input=2.5, cached=1.25, output=10),
    "gpt-4o-mini": Price(input=0.15, cached=0.075, output=0.6),
    "gpt-4.1": Price(input=2, cached=0.5, output=8),
    "gpt-4.1-mini": Price(input=0.4, cached=0.1, output=1.6),
    "gpt-4.1-nano": Price(input=0.1, cached=0.025, output=0.4),
    "gpt-5": Price(input=1.25, cached=0.125, output=10),
    "gpt-5-mini": Price(input=0.25, cached=0.025, output=2),
    "o1": Price(input=15, cached=7.5, output=60),
    "o3": Price(input=2, cached=0.5, output=8),
    "o4-mini": Price(input=1.1, cached=0.275, output=4.4),
    "text-embedding-3-small": Price(input=0.02, output=0),
    "text-embedding-3-large": Price(input=0.13, output=0),
}
"""List prices of OpenAI in 2025, US dollars for a million tokens. `Settings.prices` overrides."""

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")
_FREE = Price(input=0, output=0)


def price_of(model: RoleModel, own: Mapping[str, Price]) -> Price | None:
    """The price of a model; nothing on this machine; None where none is known."""
    name = model.model
    for known in (own, PRICES):
        if (price := known.get(name) or known.get(_DATED.sub("", name))) is not None:
            return price
    return _FREE if is_loopback(model.base_url) else None


def usage_of(reply: RawReply, images: int, price: Price | None) -> Usage:
    """What one answered call used and cost."""
    return Usage(
        calls=1,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        images=images,
        cost_usd=cost_usd(reply.input_tokens, reply.output_tokens, price, reply.cached_tokens),
        retries=reply.retries,
        unpriced=int(price is None or (price != _FREE and not reply.told_tokens)),
    )


def cost_usd(inputs: int, outputs: int, price: Price | None, known: int = 0) -> float:
    """US dollars for tokens, of which the server knew some already; 0 without a price."""
    if price is None:
        return 0.0
    cached = price.cached if price.cached is not None else price.input
    return ((inputs - known) * price.input + known * cached + outputs * price.output) / 1e6
