"""Everything that can go wrong, as one tree.

AdmirError
├── InputError                  what the caller gave us cannot be used
│   ├── QuestionError           empty or oversized question
│   ├── OptionError             a setting or option out of its range
│   ├── CorrectionError         what a person corrects is not there, or is not said
│   ├── RowError                a row of a table of questions is no question about a video
│   ├── Forbidden               a path or a URL that the service may not read
│   ├── FetchFailed             a URL gave no video
│   ├── TooLarge                more bytes, seconds or pixels than the service takes
│   └── VideoError              the video cannot be read
│       ├── VideoNotFound       no such file
│       ├── VideoUnreadable     empty, not a video, no picture, broken beyond use
│       └── NotAVideo           what was sent is another kind of thing
├── MemoryStoreError            what lies on disk cannot be used
│   ├── UnknownVideo            no memory under this id
│   ├── UnknownCorrection       no such correction of a memory
│   ├── MemoryDamaged           files missing or not what was written
│   ├── MemoryVersionError      written by a newer version
│   ├── EmbedderMismatch        vectors made by another embedder
│   └── BuildInProgress         somebody else is building this video now
├── UnknownJob                  the service has no job of this id
├── DiskFull                    the service has no room for another video
├── ServerBusy                  the service does as much as it may already
├── ModelError                  a model failed at a piece of work, after all retries
└── BackendUnavailable          the chosen preset cannot run here
    ├── EndpointError           the endpoint of a model cannot be reached or refuses us
    └── WeightsError            weights of a model cannot be fetched, or are not what they should be

Every error prints as one line: what happened, where, and what to do. Programs read `kind`,
and a shell reads `exit_code`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class AdmirError(Exception):
    """Base of the tree. `kind` is a stable name for programs, `exit_code` one for shells."""

    kind = "error"
    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(_one_line(message))


def _one_line(message: str) -> str:
    """Names of files stand in messages: controls of the terminal and of direction go."""
    return "".join(c for c in " ".join(message.split()) if c.isprintable())


class InputError(AdmirError):
    """What the caller gave us cannot be used."""

    kind = "bad-input"
    exit_code = 2


class QuestionError(InputError):
    """The question is empty or too long."""

    kind = "bad-question"


class OptionError(InputError):
    """A setting or an option is out of its range."""

    kind = "bad-option"


class CorrectionError(InputError):
    """What a person wants to correct is not there, or says nothing."""

    kind = "bad-correction"


class RowError(InputError):
    """A row of a table of questions is no question about a video."""

    kind = "bad-row"


class Forbidden(InputError):
    """A path or a URL that the service may not read."""

    kind = "forbidden"


class FetchFailed(InputError):
    """A URL gave no video: not reached, refused, too slow."""

    kind = "fetch-failed"


class TooLarge(InputError):
    """A video has more bytes, seconds or pixels than the service takes."""

    kind = "too-large"


class VideoError(InputError):
    """The video cannot be read."""

    kind = "bad-video"
    exit_code = 3


class VideoNotFound(VideoError):
    """There is no such file."""

    kind = "video-not-found"


class VideoUnreadable(VideoError):
    """The file is empty, not a video, without picture, or broken beyond use."""

    kind = "video-unreadable"


class NotAVideo(VideoError):
    """What was sent is another kind of thing, by its type or by its first bytes."""

    kind = "unsupported-media-type"


class MemoryStoreError(AdmirError):
    """What lies in the memory folder cannot be used."""

    kind = "memory-error"
    exit_code = 5


class UnknownVideo(MemoryStoreError):
    """No memory is stored under this id."""

    kind = "unknown-video"
    exit_code = 4


class UnknownCorrection(MemoryStoreError):
    """A memory has no correction of this id."""

    kind = "unknown-correction"
    exit_code = 4


class MemoryDamaged(MemoryStoreError):
    """Files of a memory are missing or are not what was written."""

    kind = "memory-damaged"


class MemoryVersionError(MemoryStoreError):
    """The memory was written by a newer version of AD-MIR."""

    kind = "memory-version"


class EmbedderMismatch(MemoryStoreError):
    """The vectors of the memory were made by another embedder than the query's."""

    kind = "embedder-mismatch"


class BuildInProgress(MemoryStoreError):
    """Another process is building this video's memory."""

    kind = "build-in-progress"
    exit_code = 6


class BackendUnavailable(AdmirError):
    """The chosen preset cannot run here."""

    kind = "backend-unavailable"
    exit_code = 7


class EndpointError(BackendUnavailable):
    """The endpoint of a model cannot be reached, or refuses the key or the name of the model."""

    kind = "endpoint-error"


class WeightsError(BackendUnavailable):
    """Weights of a model cannot be fetched, or are not what they should be."""

    kind = "weights-error"


class UnknownJob(AdmirError):
    """The service has no job of this id."""

    kind = "unknown-job"


class DiskFull(AdmirError):
    """The service has no room for another video."""

    kind = "disk-full"


class ServerBusy(AdmirError):
    """The service does as much as it may already; `retry_after_s` says when to ask again."""

    kind = "busy"

    def __init__(self, message: str, *, retry_after_s: int = 5) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelError(AdmirError):
    """A model gave no reply that can be used: refused, failed or malformed, after all retries."""

    kind = "model-error"
    exit_code = 9
    usage: object = None
    """What the attempts cost, an `admir.types.Usage`, where that is known."""


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Around what writes there: an OSError of the disk becomes a MemoryStoreError."""
    try:
        yield
    except OSError as error:
        raise MemoryStoreError(f"cannot write to {place}: {error.strerror or error}") from None
