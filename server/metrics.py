"""What Prometheus reads at `/metrics`."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from admir.errors import AdmirError
from admir.trace import Answered, AnswerEvent, StepTaken
from admir.types import Answer

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300)


class Metrics:
    """Counters of one application, in a registry of their own."""

    def __init__(self) -> None:
        own = self._own = CollectorRegistry()
        self._asks = Counter("admir_asks", "Questions, by outcome", ["outcome"], registry=own)
        self._ask_s = Histogram(
            "admir_ask_seconds", "Seconds of a question", registry=own, buckets=_SECONDS
        )
        self._step_s = Histogram(
            "admir_step_seconds", "Seconds of a step", ["tool"], registry=own, buckets=_SECONDS
        )
        self._tokens = Counter("admir_tokens", "Tokens of models", ["kind"], registry=own)
        self._cost = Counter("admir_cost_usd", "US dollars for models", registry=own)
        self._calls = Counter(
            "admir_model_calls",
            "Replies of models, by their origin",
            ["source"],
            registry=own,
        )

    def gauge(self, name: str, words: str, value: Callable[[], float]) -> None:
        """A figure that is asked for whenever it is read."""
        Gauge(f"admir_{name}", words, registry=self._own).set_function(value)

    def text(self) -> bytes:
        """All of it in the format of Prometheus."""
        return generate_latest(self._own)

    async def watched(
        self, events: AsyncGenerator[AnswerEvent, None]
    ) -> AsyncGenerator[AnswerEvent, None]:
        """The events of an answer, counted on their way."""
        started, outcome = time.monotonic(), "gone"
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, StepTaken):
                        self._count_step(event)
                    elif isinstance(event, Answered):
                        outcome = "grounded" if event.answer.grounded else "ungrounded"
                        self._count_answer(event.answer)
                    yield event
        except AdmirError as error:
            outcome = error.kind
            raise
        except Exception:
            outcome = "unexpected"
            raise
        finally:
            self._asks.labels(outcome).inc()
            self._ask_s.observe(time.monotonic() - started)

    def _count_step(self, event: StepTaken) -> None:
        for tool in {action.tool for action in event.step.actions} or {"none"}:
            self._step_s.labels(tool).observe(event.step.seconds)

    def _count_answer(self, answer: Answer) -> None:
        used = answer.usage
        self._tokens.labels("input").inc(used.input_tokens)
        self._tokens.labels("output").inc(used.output_tokens)
        self._cost.inc(used.cost_usd)
        self._calls.labels("model").inc(used.calls)
        self._calls.labels("cache").inc(used.cached)
