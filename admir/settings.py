"""One frozen `Settings`, made once at the entry (command line, server, notebook).

Every field can be set by an environment variable `ADMIR_<FIELD>` (`ADMIR_ROLES__EXPERT__MODEL` for
one inside), or in the TOML file that `ADMIR_CONFIG` names. An argument wins over the environment,
which wins over the file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from admir.errors import OptionError

Preset = Literal["offline", "paper", "local"]
Device = Literal["auto", "cpu", "cuda"]
Role = Literal[
    "caption",
    "read_text",
    "merge",
    "narrate",
    "controller",
    "inspect",
    "expert",
    "verify",
    "refine",
    "judge",
    "baseline",
    "embed",
]
"""What a model is asked to be; `Settings.roles` may give each its own."""

_NOT_OF_A_MIND = ("judge", "baseline", "embed")
ROLES: tuple[Role, ...] = tuple(role for role in get_args(Role) if role not in _NOT_OF_A_MIND)
"""Those of a backend: who builds a memory and answers from it."""

SPEECH_KINDS = ("auto", "none", "whisperx", "faster-whisper")
SUBTITLE_ENDINGS = (".srt", ".vtt")
ENDPOINT = "endpoint:"
"""Before the name of an embedding model that is behind an endpoint."""


def own_path(stated: str | Path) -> Path:
    """A path as people write it: `~` is their home. That of an unknown user stays as it is."""
    return Path(os.path.expanduser(stated))  # noqa: PTH111 - Path.expanduser raises for those


MAX_QUESTION_CHARS = 2_000
"""A longer question is refused: it is not a question, and it would fill every prompt."""


class Price(BaseModel):
    """US dollars for a million tokens; `cached` are input tokens that the server knew already."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class ModelSettings(BaseModel):
    """How models are reached. What is None comes from `Settings`, then from the preset."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = Field(default=None, min_length=1, description="name of the model")
    base_url: str | None = Field(
        default=None, description="OpenAI-compatible endpoint, ends in /v1"
    )
    api_key: SecretStr | None = Field(default=None, description="key of the endpoint")
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="0 is greedy decoding (B.1)"
    )
    timeout_s: float | None = Field(
        default=None, gt=0, le=3600, description="longest wait for one reply"
    )
    concurrency: int | None = Field(
        default=None, ge=1, le=1024, description="calls in flight at once"
    )
    max_output_tokens: int | None = Field(
        default=None, ge=16, le=1_000_000, description="of one reply"
    )
    reasoning: bool | None = Field(
        default=None, description="whether it thinks before it speaks, as o1"
    )

    @field_validator("base_url")
    @classmethod
    def _is_plain(cls, value: str | None) -> str | None:
        """A URL without user and password, which would end up in traces and messages."""
        if value is None:
            return None
        try:
            parts = urlsplit(value.strip())
            parts.port  # noqa: B018 - raises for one that is no number
        except ValueError:
            raise ValueError("must be an http or https URL") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be an http or https URL")
        if parts.username or parts.password or parts.query:
            raise ValueError("must hold no user, password or query; a key goes into api_key")
        return value.strip().rstrip("/")


class ServerSettings(BaseModel):
    """Who may call the service, and the most that it takes (`ADMIR_SERVER__API_KEY`, ...)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    api_key: SecretStr | None = Field(default=None, description="key that requests must bring")
    roots: tuple[Path, ...] = Field(default=(), description="folders of videos that paths may name")
    urls: bool = Field(default=False, description="fetch videos from public URLs")
    origins: tuple[str, ...] = Field(default=(), description="origins that may call (CORS)")
    asks: int = Field(default=64, ge=1, le=4096, description="questions at once; more get 429")
    builds: int = Field(default=1, ge=1, le=64, description="memories built at once")
    queue: int = Field(default=32, ge=1, le=100_000, description="waiting jobs; more get 429")
    upload_mb: int = Field(default=2048, ge=1, le=1_000_000, description="MB of a video")
    video_s: float = Field(default=1800, gt=0, description="seconds of a video")
    video_pixels: int = Field(default=8_300_000, ge=1, description="pixels of a frame")
    build_s: float = Field(default=3600, gt=0, description="seconds of a build")
    cache_mb: int = Field(default=512, ge=0, description="MB of decoded pictures kept")
    disk_gb: float | None = Field(default=None, gt=0, description="GB of all; no more videos then")
    keep_days: float | None = Field(default=None, gt=0, description="days that traces are kept")


class Settings(BaseSettings, ModelSettings):
    """All that can be turned. Defaults are the paper's, where the paper gives one.

    The fields of `ModelSettings` are those of every role that has none of its own.
    """

    model_config = SettingsConfigDict(
        env_prefix="ADMIR_", env_nested_delimiter="__", frozen=True, extra="forbid"
    )

    memories: Path = Field(Path("memories"), description="folder that holds one folder a video")
    preset: Preset = Field("offline", description="which backend answers")

    clip_s: float = Field(5.0, gt=0.5, le=60, description="seconds a clip (B.2)")
    frame_fps: float = Field(1.0, gt=0, le=10, description="sampled frames a second (B.2)")
    screen_text: Literal["auto", "none"] = Field("auto", description="read on-screen text or not")
    speech: str = Field(
        "auto", description="auto, none, whisperx, faster-whisper, or a file of subtitles"
    )
    speech_model: str = Field(
        "large-v3-turbo", min_length=1, description="Whisper model: its name, or its folder"
    )
    language: str | None = Field(
        None, pattern="^[a-z]{2,3}$", description="spoken language (en, zh); default: detected"
    )
    speakers: bool = Field(False, description="tell speakers apart (whisperx)")
    embedder: str = Field(
        "auto",
        min_length=1,
        description="auto, hashing, endpoint:MODEL, or a model's name or folder",
    )
    device: Device = Field("auto", description="where speech and embedding are computed")
    gpu_mb: int | None = Field(None, ge=256, description="most memory of the card they may take")
    workers: int = Field(2, ge=1, le=64, description="frames read at once")

    beta: float = Field(2.0, ge=0, le=100, description="weight of the lexical part (eq. 2)")
    search_top_k: int = Field(8, ge=1, le=50, description="clips a search returns (B.2)")
    browse_top_k: int = Field(40, ge=1, le=500, description="captions of a global browse (B.2)")
    subject_top_k: int = Field(5, ge=1, le=50, description="active subjects (eq. 3)")
    max_steps: int = Field(8, ge=1, le=50, description="T_max of Algorithm 1 (B.2)")
    answer_words: int = Field(29, ge=5, le=500, description="most words in an answer (B.2: < 30)")

    hybrid_index: bool = Field(True, description="lexical part of the search; Fig. 3 (c)")
    subject_registry: bool = Field(True, description="active subjects; Fig. 3 (c)")
    communication_expert: bool = Field(True, description="the expert tool; Fig. 3 (c)")
    visual_anchor: bool = Field(True, description="look at cited frames, name what is seen; (c)")

    roles: dict[Role, ModelSettings] = Field({}, description="what a role has of its own")
    prices: dict[str, Price] = Field({}, description="dollars for a million tokens, by model")
    cache: bool = Field(True, description="keep replies of models on disk, and use them again")
    cache_folder: Path | None = Field(None, description="where; default the user's cache folder")
    cache_mb: int = Field(512, ge=1, le=1_000_000, description="most room that they take")

    server: ServerSettings = Field(ServerSettings(), description="the service")

    max_cost: float | None = Field(None, gt=0, description="US dollars an answer may cost")
    max_seconds: float | None = Field(None, gt=0, description="seconds an answer may take")
    max_tokens: int | None = Field(None, gt=0, description="tokens an answer may take")

    @field_validator("speech")
    @classmethod
    def _names_ears(cls, value: str) -> str:
        """One of the kinds, or a file by its ending; whether it is there is seen by the build."""
        if value in SPEECH_KINDS or value.lower().endswith(SUBTITLE_ENDINGS):
            return value
        raise ValueError(f"must be {', '.join(SPEECH_KINDS)}, or a file that ends in .srt or .vtt")

    @field_validator("memories", mode="before")
    @classmethod
    def _names_a_folder(cls, value: Any) -> Any:
        """An empty text would be the working folder."""
        if value == "":
            raise ValueError("must name a folder")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, the environment, then the file that ADMIR_CONFIG names."""
        file = os.environ.get("ADMIR_CONFIG")
        if not file:
            return init_settings, env_settings
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, Path(file))


_SECRET_WORDS = ("key", "url", "secret", "password", "token", "auth", "roles")
"""In names of settings; a role holds a key."""


def load_settings(**overrides: Any) -> Settings:
    """Settings from the environment, then `overrides` (those that are None are left out).

    Raises OptionError with the first thing that is wrong, in one line.
    """
    given = {key: value for key, value in overrides.items() if value is not None}
    _check_config()
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "settings"
        got = "" if _may_be_secret(where) else f" (got {first['input']!r})"
        raise OptionError(f"setting `{where}`: {first['msg']}{got}") from None
    except SettingsError as error:
        raise OptionError(f"the environment's settings cannot be read: {error}") from None
    except ValueError as error:  # the file is no TOML
        raise OptionError(f"{os.environ.get('ADMIR_CONFIG')} is no TOML: {error}") from None


def _may_be_secret(where: str) -> bool:
    """Whether the value may hold a key: also in an address, or under a name that is mistyped."""
    return any(word in where.lower() for word in _SECRET_WORDS)


def _check_config() -> None:
    """A file that is named and not there would be passed over in silence."""
    file = os.environ.get("ADMIR_CONFIG")
    if not file:
        return
    try:
        with Path(file).open("rb"):
            return
    except OSError as error:
        raise OptionError(f"ADMIR_CONFIG names {file!r}: {error.strerror}") from None
