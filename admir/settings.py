"""One frozen `Settings`, made once at the entry (command line, server, notebook).

Every field can be set by an environment variable `ADMIR_<FIELD>`; an argument wins over it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from admir.errors import OptionError

Preset = Literal["offline", "paper", "local"]

MAX_QUESTION_CHARS = 2_000
"""A longer question is refused: it is not a question, and it would fill every prompt."""


class Settings(BaseSettings):
    """All that can be turned. Defaults are the paper's, where the paper gives one."""

    model_config = SettingsConfigDict(env_prefix="ADMIR_", frozen=True, extra="forbid")

    memories: Path = Field(Path("memories"), description="folder that holds one folder a video")
    preset: Preset = Field("offline", description="which mind answers")
    clip_s: float = Field(5.0, gt=0.5, le=60, description="seconds a clip (B.2)")
    frame_fps: float = Field(1.0, gt=0, le=10, description="sampled frames a second (B.2)")
    beta: float = Field(2.0, ge=0, le=100, description="weight of the lexical part (eq. 2)")
    search_top_k: int = Field(8, ge=1, le=50, description="clips a search returns (B.2)")
    browse_top_k: int = Field(40, ge=1, le=500, description="captions of a global browse (B.2)")
    subject_top_k: int = Field(5, ge=1, le=50, description="active subjects (eq. 3)")
    max_steps: int = Field(8, ge=1, le=50, description="T_max of Algorithm 1 (B.2)")
    answer_words: int = Field(29, ge=5, le=500, description="most words in an answer (B.2: < 30)")
    workers: int = Field(2, ge=1, le=64, description="frames read, and clips captioned, at once")

    @field_validator("memories", mode="before")
    @classmethod
    def _names_a_folder(cls, value: Any) -> Any:
        """An empty text would be the working folder."""
        if value == "":
            raise ValueError("must name a folder")
        return value


def load_settings(**overrides: Any) -> Settings:
    """Settings from the environment, then `overrides` (those that are None are left out).

    Raises OptionError with the first thing that is wrong, in one line.
    """
    given = {key: value for key, value in overrides.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "settings"
        raise OptionError(f"setting `{where}`: {first['msg']} (got {first['input']!r})") from None
