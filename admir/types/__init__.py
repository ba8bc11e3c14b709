"""The frozen data that flows between all rooms. Imports nothing of ours.

Times are float seconds in fields named `*_s`; spans are half-open [start_s, end_s).
Boxes are (left, top, right, bottom) as fractions of the picture's width and height.
"""

from __future__ import annotations

from admir.types.answer import (
    Action,
    Answer,
    Basis,
    Claim,
    ClaimStatus,
    Evidence,
    EvidenceKind,
    Hit,
    InspectMode,
    Moment,
    Observation,
    Step,
    Turn,
    Usage,
    Verdict,
)
from admir.types.clip import CLIP_S, Clip, clip_spans, text_clip
from admir.types.correction import Correction, CorrectionKind
from admir.types.memory import (
    FORMAT_VERSION,
    Inference,
    InferenceKind,
    Memory,
    Narrative,
    Provenance,
    Recognition,
    Subject,
    SubjectKind,
)
from admir.types.video import (
    AudioFacts,
    Box,
    Frame,
    ScreenText,
    Shot,
    Span,
    TransitionKind,
    Utterance,
    VideoInfo,
    VisualStyle,
    Word,
)

__all__ = [
    "CLIP_S",
    "FORMAT_VERSION",
    "Action",
    "Answer",
    "AudioFacts",
    "Basis",
    "Box",
    "Claim",
    "ClaimStatus",
    "Clip",
    "Correction",
    "CorrectionKind",
    "Evidence",
    "EvidenceKind",
    "Frame",
    "Hit",
    "Inference",
    "InferenceKind",
    "InspectMode",
    "Memory",
    "Moment",
    "Narrative",
    "Observation",
    "Provenance",
    "Recognition",
    "ScreenText",
    "Shot",
    "Span",
    "Step",
    "Subject",
    "SubjectKind",
    "TransitionKind",
    "Turn",
    "Usage",
    "Utterance",
    "Verdict",
    "VideoInfo",
    "VisualStyle",
    "Word",
    "clip_spans",
    "text_clip",
]
