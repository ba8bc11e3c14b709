"""The videos that a person means who names a folder."""

from __future__ import annotations

from pathlib import Path

from admir.errors import VideoNotFound, VideoUnreadable

VIDEO_SUFFIXES = frozenset(
    f".{ending}"
    for ending in (
        *("3gp", "avi", "flv", "m2ts", "m4v", "mkv", "mov", "mp4"),
        *("mpeg", "mpg", "mts", "ogv", "ts", "webm", "wmv"),
    )
)
"""What a video's name ends with, in lower case. A file that is named itself may end otherwise."""


def videos_in(place: Path) -> list[Path]:
    """The video files of a folder by name, not of the folders in it; of anything else, itself.

    Hidden files are left out: `._ad.mp4` is what a Mac leaves beside `ad.mp4`. Raises
    VideoNotFound where the folder holds no video, and VideoUnreadable where it cannot be listed.
    """
    if not _is_folder(place):
        return [place]
    try:
        found = sorted(path for path in place.iterdir() if _is_video(path))
    except OSError as error:
        message = (
            f"the folder {(place.name or str(place))!r} cannot be read: {error.strerror or error}"
        )
        raise VideoUnreadable(message) from None
    if not found:
        raise VideoNotFound(
            f"the folder {(place.name or str(place))!r} holds no video ({_SUFFIXES})"
        )
    return found


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError:  # a name longer than the file system takes
        return False


def _is_video(path: Path) -> bool:
    known = path.suffix.lower() in VIDEO_SUFFIXES and not path.name.startswith(".")
    return known and path.is_file()


_SUFFIXES = ", ".join(sorted(VIDEO_SUFFIXES))
