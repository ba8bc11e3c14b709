"""What people say against a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CorrectionKind = Literal["screen_text", "brand"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What a person says that an ad shows, where its memory has it otherwise.

    `screen_text`: what was read as `was`, anywhere in the ad, says `text`; where that is empty, it
    is no text. `brand`: the brand is `text`, and where the memory names `was`, that is meant.
    `video_sha256` is the film that it is of: another may come to lie at the same path.
    """

    id: str
    kind: CorrectionKind
    text: str
    was: str = ""
    made_at: str = ""
    video_sha256: str = ""
