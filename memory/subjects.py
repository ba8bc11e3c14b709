"""Which subjects a question is about (paper 2.2.2, eq. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from admir.perception.embed import Embedder, Vectors
from admir.types import Narrative, Subject


class SubjectIndex:
    """The registry of one memory, searched by its profiles, which are embedded once."""

    def __init__(self, subjects: Sequence[Subject], embedder: Embedder) -> None:
        self._subjects = tuple(subjects)
        self._embedder = embedder

    @cached_property
    def _vectors(self) -> Vectors:
        return self._embedder.encode([subject.profile for subject in self._subjects])

    def active(
        self, question: str, narrative: Narrative, top_k: int
    ) -> tuple[tuple[Subject, float], ...]:
        """The `top_k` subjects by rho = cos(profile, question + narrative), and rho, best first.

        Raises what the embedder raises.
        """
        if not self._subjects or top_k < 1:
            return ()
        anchor = self._embedder.encode([f"{question}\n{narrative.text}"])[0]
        scores = self._vectors @ anchor
        best = self._with_people([int(i) for i in np.argsort(-scores, kind="stable")], top_k)
        return tuple((self._subjects[i], round(float(scores[i]), 4)) for i in best)

    def _with_people(self, ranked: list[int], top_k: int) -> list[int]:
        """The best, in which an object gives way to a person: ads have many things in them."""
        chosen, others = ranked[:top_k], ranked[top_k:]
        people = [i for i in others if self._subjects[i].kind == "person"]
        objects = [i for i in reversed(chosen) if self._subjects[i].kind == "object"]
        gone = set(objects[: len(people)])
        kept = {*chosen, *people[: len(objects)]} - gone
        return [i for i in ranked if i in kept]
