"""Where somebody speaks: found by the small Silero network in faster-whisper's wheel.

It takes some 3 ms for a second of sound, and spares the big model silence and music, where
it would invent words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from admir.perception.speech import SAMPLE_RATE, Audio
from admir.types import Span

LONGEST_PIECE_S = 28.0
"""Whisper hears 30 s at once."""

PAUSE_S = 2.0
"""Pieces are cut where nobody speaks for longer: in long pauses Whisper invents words."""

_BLOCK_S = 300.0
"""Sound looked at at once: it is copied several times on the way."""

_SETTINGS = {
    "max_speech_duration_s": LONGEST_PIECE_S,
    "min_speech_duration_ms": 100,
    "min_silence_duration_ms": 400,
    "speech_pad_ms": 200,
}


def speech_spans(audio: Audio, stop: Callable[[], bool] = lambda: False) -> tuple[Span, ...]:
    """The stretches in which somebody speaks, in time order, none over `LONGEST_PIECE_S`."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    options = VadOptions(**_SETTINGS)
    block = int(_BLOCK_S * SAMPLE_RATE)
    found: list[Span] = []
    for start in range(0, len(audio), block):
        if stop():
            break
        for each in get_speech_timestamps(audio[start : start + block], options):
            first, last = (start + each["start"]) / SAMPLE_RATE, (start + each["end"]) / SAMPLE_RATE
            found.append(Span(start_s=first, end_s=last))
    return tuple(found)


def pieces_of(
    spans: Sequence[Span], longest_s: float = LONGEST_PIECE_S, pause_s: float = PAUSE_S
) -> tuple[Span, ...]:
    """Stretches joined over pauses of at most `pause_s` into pieces of at most `longest_s`.

    A longer stretch stays as it is. In time order.
    """
    pieces: list[Span] = []
    for span in spans:
        last = pieces[-1] if pieces else None
        joins = last and last.gap_s(span) <= pause_s and span.end_s - last.start_s <= longest_s
        if last and joins:
            pieces[-1] = Span(start_s=last.start_s, end_s=max(last.end_s, span.end_s))
        else:
            pieces.append(span)
    return tuple(pieces)


def cut(audio: Audio, span: Span) -> Audio:
    """The samples of a stretch."""
    return audio[round(span.start_s * SAMPLE_RATE) : round(span.end_s * SAMPLE_RATE)]
