"""What statuses are called and costs are told as, wherever an answer is shown."""

from __future__ import annotations

from admir.types import Usage

BASES = {
    "evidence": "grounded in the video",
    "expert": "rests on the expert's reading alone",
    "absence": "nothing in the video supports an answer",
    "none": "not grounded",
}


def cost_words(usage: Usage) -> str:
    """Calls, tokens, pictures and money on one line; empty where no model was asked."""
    if not usage.calls and not usage.cached:
        return ""
    cached = f", {usage.cached} replies from the cache" if usage.cached else ""
    retries = f", {usage.retries} retries" if usage.retries else ""
    return (
        f"{usage.calls} calls{retries}{cached}, {usage.input_tokens:,} tokens in, "
        f"{usage.output_tokens:,} out, {usage.images} pictures, {money_words(usage)}"
    )


def money_words(usage: Usage) -> str:
    """Dollars, and how many calls have no price that is known."""
    if usage.unpriced and not usage.cost_usd:
        return "price unknown"
    unpriced = f" and {usage.unpriced} calls of unknown price" if usage.unpriced else ""
    return f"${usage.cost_usd:.4f}{unpriced}"
