"""The shortest question to a model: the final wording of an answer."""

from __future__ import annotations

from typing import Any

from admir.backends.llm import Model
from admir.backends.llm.schemas import AnswerForm
from admir.backends.llm.typed_client import Reply
from admir.concurrency import run_sync
from admir.settings import Role
from tests.model_replies import ROLES_BY_TITLE

PART = "Accepted answer: a red car"
TITLES = {role: f"# {title}" for title, role in ROLES_BY_TITLE.items()}


def complete(model: Model, role: Role = "refine", text: str = PART) -> Reply[AnswerForm]:
    """What the model replies; the scripted server repeats the accepted answer."""
    return run_sync(model.complete(role, TITLES[role], [text], AnswerForm))


def said(model: Model, **more: Any) -> str:
    return complete(model, **more).value.answer
