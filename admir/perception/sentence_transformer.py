"""Embeddings of a model on the disk, by sentence-transformers: BGE-M3 and its like.

Texts are sorted by their number of tokens, so that those that are computed together hardly need
padding, and as many go together as the memory of the card takes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from admir.concurrency import prefetch
from admir.errors import BackendUnavailable
from admir.perception.embed import Embedder, Vectors, unit
from admir.settings import Device

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor

_WINDOW = 8_192
"""Texts whose tokens are in memory at once."""

_CPU_TOKENS = 4_096
_LEAST_TOKENS, _MOST_TOKENS = 4_096, 131_072
_SHARE_OF_FREE = 0.5
_WORKING_BYTES = 48
"""A token's intermediate results take so many bytes for each dimension, in half precision."""

_Ids = list[int]


class SentenceEmbedder(Embedder):
    """Encodes with the model in `folder`, in float16 on a card and in float32 without one.

    Nothing is loaded before the first text, and nothing is fetched. Where the card has no room
    for a single text the rest is computed on the CPU, and `warnings` says so. One call at a time
    is served. `gpu_mb` bounds what it takes of the card.
    """

    def __init__(
        self, name: str, folder: Path, *, device: Device = "auto", gpu_mb: int | None = None
    ) -> None:
        self.id = name
        self._folder = folder
        self._device = device
        self._gpu_mb = gpu_mb
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), d]; see `Embedder`. Raises BackendUnavailable."""
        with self._lock:
            try:
                return self._encode(texts)
            except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
                raise BackendUnavailable(
                    f"the embedding model in {self._folder} cannot be used: "
                    f"{type(error).__name__}: {error}; is it whole, and a model that embeds?"
                ) from None

    def _encode(self, texts: Sequence[str]) -> Vectors:
        told = [number for number, text in enumerate(texts) if text.strip()]
        told.sort(key=lambda number: -len(texts[number]))
        rows = np.zeros((len(texts), self._width), dtype=np.float32)
        prompt = self._prompt()
        windows = (told[at : at + _WINDOW] for at in range(0, len(told), _WINDOW))
        for window in windows:
            rows[window] = self._window([prompt + texts[number] for number in window])
        return unit(rows)

    @cached_property
    def _model(self) -> SentenceTransformer:
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except (ImportError, OSError) as error:
            raise BackendUnavailable(
                f"embedding with {self.id} needs sentence-transformers ({error}); run "
                '`pip install "admir[embed]"`, or choose `--embedder hashing`'
            ) from None
        on_card = torch.cuda.is_available() if self._device == "auto" else self._device == "cuda"
        try:
            model = SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)
        except Exception as error:  # noqa: BLE001 - broken weights may raise anything
            raise BackendUnavailable(
                f"the embedding model in {self._folder} cannot be loaded: "
                f"{type(error).__name__}: {error}; delete that folder, and get it anew with "
                "`admir fetch-models`"
            ) from None
        model.eval()
        return self._on_card(model) if on_card else model

    def _on_card(self, model: SentenceTransformer) -> SentenceTransformer:
        """The model in half precision on the card; on the CPU where that has no room for it."""
        import torch

        try:
            if self._gpu_mb is not None:
                whole = torch.cuda.get_device_properties(0).total_memory
                torch.cuda.set_per_process_memory_fraction(min(1.0, self._gpu_mb * 2**20 / whole))
            return model.half().to("cuda")
        except RuntimeError as error:  # no memory, no driver, a card that is too old
            self._warn(str(error))
            return model.float().to("cpu")

    def _warn(self, why: str) -> None:
        line = " ".join(why.split())[:160]
        self.warnings = (*self.warnings, f"embedding went on on the CPU: {line}")

    @cached_property
    def _width(self) -> int:
        return int(self._model.get_embedding_dimension() or 0)

    def _prompt(self) -> str:
        """What the model wants before every text."""
        name = self._model.default_prompt_name
        return str((self._model.prompts or {}).get(name) or "") if name else ""

    def _window(self, texts: Sequence[str]) -> Vectors:
        """The vectors [len(texts), d] of not too many texts."""
        from transformers import PreTrainedTokenizerBase

        if not isinstance(self._model.tokenizer, PreTrainedTokenizerBase):
            # The texts have their prompt already.
            found = self._model.encode(list(texts), prompt="", show_progress_bar=False)
            return np.asarray(found, dtype=np.float32)
        parts: list[tuple[list[int], list[Tensor]]] = []
        # The next texts become tokens while the card is at work on these.
        with closing(prefetch(self._batches(texts), 4)) as batches:
            for numbers, ids in batches:
                parts.append((numbers, self._forward(ids)))
        rows = np.empty((len(texts), self._width), dtype=np.float32)
        for numbers, tensors in parts:
            rows[numbers] = np.concatenate([tensor.float().cpu().numpy() for tensor in tensors])
        return rows

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[_Ids]]]:
        """Numbers of texts of about one length, with their tokens."""
        model = self._model
        ids: list[_Ids] = model.tokenizer(
            list(texts), truncation=True, max_length=model.max_seq_length, verbose=False
        )["input_ids"]
        order = sorted(range(len(ids)), key=lambda number: -len(ids[number]))
        for numbers in _filled([len(ids[number]) for number in order], self._room()):
            chosen = [order[at] for at in numbers]
            yield chosen, [ids[number] for number in chosen]

    def _room(self) -> int:
        """How many tokens, padding among them, may be computed at once."""
        if self._model.device.type != "cuda":
            return _CPU_TOKENS
        import torch

        free, _ = torch.cuda.mem_get_info()
        if self._gpu_mb is not None:
            free = min(free, self._gpu_mb * 2**20 - torch.cuda.memory_allocated())
        tokens = int(_SHARE_OF_FREE * free / (_WORKING_BYTES * self._width))
        return max(_LEAST_TOKENS, min(_MOST_TOKENS, tokens))

    def _forward(self, ids: list[_Ids]) -> list[Tensor]:
        """The vectors of one batch, in parts where the card has no room for all at once."""
        import torch

        try:
            return [self._computed(ids)]
        except torch.OutOfMemoryError as error:
            why = str(error)
        torch.cuda.empty_cache()
        if len(ids) > 1:
            half = len(ids) // 2
            return self._forward(ids[:half]) + self._forward(ids[half:])
        self._warn(why)
        self._model.float().to("cpu")
        return [self._computed(ids)]

    def _computed(self, ids: list[_Ids]) -> Tensor:
        import torch

        with torch.inference_mode():
            features = {
                name: torch.from_numpy(values).to(self._model.device, non_blocking=True)
                for name, values in _padded(ids, self._model.tokenizer).items()
            }
            found: Tensor = self._model(features)["sentence_embedding"]
            return found


def _filled(lengths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Numbers of texts that go together; their lengths in tokens fall. At least one each time."""
    start = 0
    while start < len(lengths):
        most = max(1, room // max(1, lengths[start]))
        yield list(range(start, min(start + most, len(lengths))))
        start += most


def _padded(ids: Sequence[_Ids], tokenizer: Any) -> dict[str, Any]:
    """What the model takes, int64 [texts, longest] each."""
    width = max(map(len, ids))
    tokens = np.full((len(ids), width), tokenizer.pad_token_id or 0, dtype=np.int64)
    mask = np.zeros((len(ids), width), dtype=np.int64)
    for row, found in enumerate(ids):
        start = width - len(found) if tokenizer.padding_side == "left" else 0
        tokens[row, start : start + len(found)] = found
        mask[row, start : start + len(found)] = 1
    features = {"input_ids": tokens, "attention_mask": mask}
    if "token_type_ids" in tokenizer.model_input_names:
        features["token_type_ids"] = np.zeros_like(tokens)
    return features
