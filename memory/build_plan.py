"""What is to be built, and what of it a stored memory has already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from admir.errors import MemoryDamaged, UnknownVideo
from admir.memory.index import check_vectors
from admir.memory.provenance import BuildComponents, Source, fingerprint_of
from admir.memory.store import MemoryStore
from admir.perception.decode import DECODER
from admir.perception.embed import same_vectors
from admir.types import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is built, under which id, in which folder."""

    video_id: str
    source: Source
    metadata: Mapping[str, str]
    fingerprint: str
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Compares a video with its stored memory. `given` None keeps the metadata of that."""

    store: MemoryStore
    makers: BuildComponents
    source: Source
    given: Mapping[str, str] | None

    def fresh(self, video_id: str) -> Memory | None:
        """The stored memory, where a build would only make it again."""
        known = self.but_for_vectors(video_id)
        return known if known is not None and self._has_vectors(known) else None

    def but_for_vectors(self, video_id: str) -> Memory | None:
        """The stored memory, where a build would only make it again but for its vectors."""
        known = self._known(video_id)
        if known is None or known.provenance.failed or not Path(known.video.path).is_file():
            return None
        return known if known.provenance.fingerprint == self._fingerprint(known) else None

    def rebuild_reason(self, video_id: str) -> str:
        """Why the stored memory is not good any more; empty where there is none."""
        known = self._known(video_id)
        if known is None:
            return ""
        if known.video.sha256 != self.source.sha256:
            return "the video has changed"
        if known.provenance.decoder != DECODER:
            return (
                "its frames may be broken: an earlier version decoded only some of them, "
                "and left out such as others are made of"
            )
        if known.provenance.failed:
            return "a part of it had failed"
        if known.provenance.fingerprint != self._fingerprint(known):
            return "it was built with other settings, models or prompts"
        return "its vectors are of another embedder"

    def plan(self, video_id: str) -> Plan:
        """A build in a folder of its own, which goes on where one like it was broken off.

        Raises MemoryStoreError.
        """
        known = self._known(video_id)
        fingerprint = self._fingerprint(known)
        again = known if known and known.provenance.fingerprint == fingerprint else None
        before = again if again and again.provenance.failed else None
        return Plan(
            video_id=video_id,
            source=self.source,
            metadata=self._metadata(known),
            fingerprint=fingerprint,
            folder=self.store.partial(video_id, fingerprint, before),
        )

    def _known(self, video_id: str) -> Memory | None:
        """The stored memory, if it can be read."""
        try:
            return self.store.read_built(video_id)
        except (UnknownVideo, MemoryDamaged):
            return None

    def _fingerprint(self, known: Memory | None) -> str:
        return fingerprint_of(self.source, self._metadata(known), self.makers)

    def _metadata(self, known: Memory | None) -> dict[str, str]:
        if self.given is not None:
            return dict(self.given)
        return dict(known.video.metadata) if known else {}

    def _has_vectors(self, known: Memory) -> bool:
        """Whether the stored vectors are whole, and those of the chosen embedder."""
        try:
            check_vectors(known, self.store.vectors(known))
        except MemoryDamaged:
            return False
        return same_vectors(known.provenance.embedder, self.makers.embedder.id)
