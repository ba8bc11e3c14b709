"""Files of subtitles beside a video, and the languages that files and tracks say they are in."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from admir.settings import SUBTITLE_ENDINGS

_TAG = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,3}", re.IGNORECASE)
_NO_LANGUAGE = frozenset(("cc", "sdh", "und"))

_TWO_LETTERS = {
    "eng": "en",
    "chi": "zh",
    "zho": "zh",
    "cmn": "zh",
    "fre": "fr",
    "fra": "fr",
    "ger": "de",
    "deu": "de",
    "spa": "es",
    "ita": "it",
    "por": "pt",
    "dut": "nl",
    "nld": "nl",
    "jpn": "ja",
    "kor": "ko",
    "rus": "ru",
    "ukr": "uk",
    "pol": "pl",
    "tur": "tr",
    "ara": "ar",
    "hin": "hi",
    "ben": "bn",
    "urd": "ur",
    "vie": "vi",
    "tha": "th",
    "ind": "id",
    "may": "ms",
    "msa": "ms",
    "swe": "sv",
    "nor": "no",
    "dan": "da",
    "fin": "fi",
    "gre": "el",
    "ell": "el",
    "cze": "cs",
    "ces": "cs",
    "hun": "hu",
    "rum": "ro",
    "ron": "ro",
    "bul": "bg",
    "heb": "he",
    "per": "fa",
    "fas": "fa",
    "tam": "ta",
    "tel": "te",
    "fil": "tl",
    "tgl": "tl",
    "cat": "ca",
}
"""Containers write three letters (ISO 639-2), both of its ways; settings and Whisper two."""


def language_code(tag: str | None) -> str | None:
    """`en` for `en`, `eng` and `en-US`; None for what names no language."""
    if not tag or not _TAG.fullmatch(tag):
        return None
    code = re.split("[-_]", tag.lower())[0]
    return None if code in _NO_LANGUAGE else _TWO_LETTERS.get(code, code)


def sidecar_of(video: Path, language: str | None = None) -> Path | None:
    """The subtitles beside `ad.mp4`, if there are any.

    Of a wanted language `ad.en.srt` comes before `ad.srt`, whose language is unknown, and those of
    other languages are not taken; else `ad.srt`, then the first `ad.xx.srt` by name.
    """
    if not video.name:
        return None
    plain = [file for file in map(video.with_suffix, SUBTITLE_ENDINGS) if _is_file(file)]
    if language is None:
        return next(iter(plain or (file for _, file in _with_language(video))), None)
    wanted = (file for code, file in _with_language(video) if code == language_code(language))
    return next(wanted, next(iter(plain), None))


def _with_language(video: Path) -> Sequence[tuple[str, Path]]:
    """Files like `ad.en.srt` with their language, by name; not those of a video `ad.en.mp4`."""
    try:
        names = sorted(entry.name for entry in os.scandir(video.parent))
    except (OSError, ValueError):
        return ()
    found = []
    for name in names:
        file = video.parent / name
        if file.suffix.lower() not in SUBTITLE_ENDINGS or not name.startswith(f"{video.stem}."):
            continue
        code = language_code(file.stem.removeprefix(f"{video.stem}."))
        if code and f"{file.stem}{video.suffix}" not in names and _is_file(file):
            found.append((code, file))
    return found


def _is_file(path: Path) -> bool:
    # Path.is_file raises for a name that the disk cannot hold.
    return os.path.isfile(path)  # noqa: PTH113
