"""The backend of presets `paper` and `local`: any OpenAI-compatible endpoint.

`Model` asks (limits, retries, typed replies, prices, cache); `LlmPerceiver` and `LlmReasoner` know
what to ask, role by role.
"""

from __future__ import annotations

from admir.backends.base import Backend
from admir.backends.llm.perceiver import PROMPTS as SEEING
from admir.backends.llm.perceiver import LlmPerceiver
from admir.backends.llm.reasoner import PROMPTS as THINKING
from admir.backends.llm.reasoner import LlmReasoner
from admir.backends.llm.typed_client import Model
from admir.prompts import load_prompt
from admir.settings import Settings

__all__ = ["Model", "llm_backend"]


def llm_backend(settings: Settings) -> Backend:
    """Both halves over one `Model`.

    Raises EndpointError where there is no key or no server, OptionError for a budget in money
    without prices.
    """
    model = Model(settings)
    return Backend(
        perceiver=LlmPerceiver(model),
        reasoner=LlmReasoner(model, answer_words=settings.answer_words),
        models={role: each.model for role, each in model.models.items()},
        prompts={name: load_prompt(name).sha256 for name in (*SEEING, *THINKING)},
        spent=model.spent,
    )
