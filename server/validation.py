"""Whether what was sent is a video that the service takes: first bytes, format, length, size."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import av

from admir.errors import NotAVideo, TooLarge, VideoUnreadable
from admir.perception.decode import open_container
from admir.perception.frames import length_s, picture_track
from admir.settings import ServerSettings

HEAD_BYTES = 512
"""As many first bytes as tell what a file is."""

_LONGEST_LOOK_S = 20.0
_LOOKS = ThreadPoolExecutor(4, thread_name_prefix="admir-look")
_BOXES = frozenset((b"ftyp", b"moov", b"mdat", b"free", b"wide", b"skip", b"pnot"))
_STARTS = (
    b"\x1a\x45\xdf\xa3",  # Matroska, WebM
    b"FLV\x01",
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",  # ASF, WMV
    b"OggS",
    b"\x00\x00\x01\xba",  # MPEG program stream
    b"\x00\x00\x01\xb3",  # MPEG video
)
_FORMATS = frozenset(
    ("mov", "matroska", "webm", "flv", "asf", "ogg", "mpeg", "mpegvideo", "mpegts", "avi")
)
"""Names of FFmpeg. Playlists and scripts, which name other files, are not among them."""

_TAKEN = "send a video: MP4, MOV, WebM, MKV, AVI, MPEG, FLV, WMV or OGV"
_UNTOLD = ("", "application/octet-stream", "binary/octet-stream")


def check_type(content_type: str) -> None:
    """Refuse what says itself that it is no video; raises NotAVideo."""
    kind = content_type.partition(";")[0].strip().lower()
    if not (kind.startswith("video/") or kind in _UNTOLD):
        shown = kind[:80]
        raise NotAVideo(
            f"{shown!r} is not the type of a video; {_TAKEN}, with Content-Type video/*"
        )


def check_head(head: bytes) -> None:
    """Refuse what does not begin as a video; raises NotAVideo."""
    boxed = head[4:8] in _BOXES
    riff = head[:4] == b"RIFF" and head[8:12] == b"AVI "
    stream = any(len(head) > at + 188 and head[at] == head[at + 188] == 0x47 for at in (0, 4))
    m2ts = len(head) > 196 and head[4] == head[196] == 0x47
    if not (boxed or riff or stream or m2ts or head.startswith(_STARTS)):
        raise NotAVideo(f"these are not the bytes of a video; {_TAKEN}")


async def check_video(path: Path, name: str, limits: ServerSettings) -> None:
    """Open a video and look at what it says of itself, in a thread.

    Raises VideoUnreadable, NotAVideo or TooLarge; messages call it `name`.
    """
    look = asyncio.get_running_loop().run_in_executor(_LOOKS, _look, path, limits)
    try:
        await asyncio.wait_for(look, _LONGEST_LOOK_S)
    except TimeoutError:
        raise VideoUnreadable(
            f"{name!r} could not be opened in {_LONGEST_LOOK_S:.0f} s; convert it to a plain MP4"
        ) from None
    except VideoUnreadable as error:
        raise VideoUnreadable(str(error).replace(repr(path.name), repr(name))) from None


def _look(path: Path, limits: ServerSettings) -> None:
    try:
        with path.open("rb") as stream:
            check_head(stream.read(HEAD_BYTES))
        with open_container(path) as container:
            _check_facts(container, limits)
    except (av.error.FFmpegError, OSError) as error:
        raise VideoUnreadable(f"{path.name!r} cannot be read: {error.strerror}") from None


def _check_facts(container: av.container.InputContainer, limits: ServerSettings) -> None:
    if not _FORMATS.intersection(container.format.name.split(",")):
        raise NotAVideo(f"the format {container.format.name!r} is not taken; {_TAKEN}")
    track = picture_track(container)
    assert track is not None  # open_container saw to it
    width, height = track.width or 0, track.height or 0
    if width * height > limits.video_pixels:
        raise TooLarge(
            f"the pictures are {width}x{height}, at most {limits.video_pixels:,} pixels are taken; "
            "send a smaller copy"
        )
    seconds = length_s(container, track)
    if seconds > limits.video_s:
        raise TooLarge(
            f"the video has {seconds:,.1f} s, at most {limits.video_s:,.0f} s are taken; cut it"
        )
