"""A model as judge: 0, 0.5 or 1 for an answer beside the golden one (paper 3.1, C.4)."""

from __future__ import annotations

from pathlib import Path

from admir.backends.base import paid_for
from admir.backends.llm.content import Part, clean, data_block
from admir.backends.llm.endpoints import hosts
from admir.backends.llm.schemas import JudgeForm
from admir.backends.llm.typed_client import Model
from admir.errors import ModelError, OptionError
from admir.evaluation.adsqa import final_answer, read_prediction, read_score
from admir.evaluation.data import Case, Judgement, Reference
from admir.prompts import load_prompt
from admir.settings import Settings

PROMPT = "judge"


class Judge:
    """Judges by the model of the role `judge`. `id` names that and the prompt.

    Raises EndpointError where there is no key or no server, OptionError where the preset does not
    say which model judges, or for a limit in money without prices.
    """

    lasting = True

    def __init__(self, settings: Settings) -> None:
        self._model = Model(_reachable(settings), ("judge",))
        self.model = self._model.models["judge"].model
        self.hosts = hosts(self._model.models.values())
        """Beyond this machine, those that see what is judged."""
        self.id = f"{self.model} {load_prompt(PROMPT).sha256[:8]}"

    async def score(self, case: Case, reference: Reference, text: str) -> Judgement:
        """The word on an answer, as far as AdsQA reads it; what cannot be read is a failure.

        Raises EndpointError where no reply can come.
        """
        text = final_answer(text)
        if not text:
            return Judgement(score=0.0, reason="the answer is empty")
        parts: list[Part] = [
            data_block("meta-information", reference.meta_info.splitlines()),
            f"Question: {clean(case.question)}",
            data_block("golden answer", reference.answer.splitlines()),
            data_block("response", text.splitlines()),
        ]
        instructions = load_prompt(PROMPT).render()
        try:
            reply = await self._model.complete("judge", instructions, parts, JudgeForm)
        except ModelError as error:
            return Judgement(score=None, error=str(error), usage=paid_for(error))
        told = reply.value
        score = 0.0 if told.contradicts else float(told.score)
        reason = " ".join(told.reason.split())
        return Judgement(score=score, reason=reason, usage=reply.usage)


class WrittenScores:
    """The scores that stand in files of the layout of the authors of AdsQA."""

    lasting = False

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self.id = f"the scores in {name}.json"

    async def score(self, case: Case, reference: Reference, text: str) -> Judgement:
        """The score that is there; one that is not there, or unreadable, is a failure."""
        try:
            found = read_prediction(self._folder, case.id, self._name)
        except ValueError as error:
            return Judgement(score=None, error=str(error))
        told = found[1] if found else ""
        score = read_score(told)
        return Judgement(score=score, error="" if score is not None else f"it says {told!r}")


def _reachable(settings: Settings) -> Settings:
    """The offline preset has no models: its answers are judged by one of the preset `paper`.

    A local server serves whatever it serves: which of its models judges must be said.
    """
    if settings.preset == "offline":
        return settings.model_copy(update={"preset": "paper"})
    own = settings.roles.get("judge")
    if settings.preset == "local" and (own is None or own.model is None):
        raise OptionError("preset 'local': say which model judges: --judge MODEL (or --no-judge)")
    return settings
