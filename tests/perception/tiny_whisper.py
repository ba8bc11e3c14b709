"""A Whisper that fits into a test: real in its shape, vocabulary and files, not in its ears.

It says the same to whatever it hears, so that everything around the weights can be tested with no
weights from the network. Only numpy and ctranslate2 (the extra `speech`) are needed to make it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

WIDTH, HEADS, MELS, PLACES = 32, 2, 80, 448
LANGUAGES = ("en", "zh", "de")
SAYS = ("<|0.00|>", " Stop", " feeling", " tired", ".", "<|1.40|>")

_SURE = 12.0
"""The logit of what is to be said; that of all else is about 0."""


def write_whisper(
    folder: Path, says: Sequence[str] = SAYS, *, language: str = "en", sure: float = _SURE
) -> Path:
    """Write a model that detects `language` and says `says`, in the format of CTranslate2.

    A smaller `sure` makes it doubt: the logit of each token it says.
    """
    from ctranslate2.specs.whisper_spec import WhisperSpec

    tokens = _vocabulary(says)
    spec = WhisperSpec(1, HEADS, 1, HEADS)
    _fill(spec, len(tokens))
    # The prompt is <|startoftranscript|> <|language|> <|transcribe|>, and maybe <|notimestamps|>.
    plan = [f"<|{language}|>", "<|transcribe|>", *says]
    spec.decoder.projection.weight = _projection(
        spec,
        [tokens.index(token.replace(" ", "Ġ")) for token in plan],
        tokens.index("<|endoftext|>"),
        sure,
    )
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [], []
    spec.config.lang_ids = [tokens.index(f"<|{code}|>") for code in LANGUAGES]
    spec.config.alignment_heads = [[0, 0], [0, 1]]
    spec.register_vocabulary(tokens)
    spec.validate()
    spec.optimize()
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))
    _write_tokenizer(folder / "tokenizer.json", tokens)
    return folder


def _vocabulary(says: Sequence[str]) -> list[str]:
    """Text, specials and times in the order of Whisper; the empty one marks it multilingual."""
    from tokenizers.pre_tokenizers import ByteLevel

    words = dict.fromkeys(t.replace(" ", "Ġ") for t in says if not t.startswith("<|"))
    text = [*(words | dict.fromkeys(sorted(ByteLevel.alphabet()))), ""]
    names = ("endoftext", "startoftranscript", *LANGUAGES, "translate", "transcribe")
    names += ("startoflm", "startofprev", "nospeech", "notimestamps")
    times = (f"{n * 0.02:.2f}" for n in range(1501))
    return [*text, *(f"<|{name}|>" for name in (*names, *times))]


def _write_tokenizer(path: Path, tokens: Sequence[str]) -> None:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    end = tokens.index("<|endoftext|>")
    vocabulary = {token: n for n, token in enumerate(tokens[:end])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in tokens[end:]])
    tokenizer.save(str(path))


def _fill(spec: Any, size: int) -> None:
    """Random weights; what the layers add to the residual stream of the decoder is nothing."""
    random = np.random.default_rng(0)

    def drawn(*shape: int) -> Any:
        return random.normal(0, 0.3, shape).astype(np.float32)

    def zeros(*shape: int) -> Any:
        return np.zeros(shape, np.float32)

    def linear(layer: Any, wide: int, narrow: int, *, off: bool = False) -> None:
        layer.weight = zeros(wide, narrow) if off else drawn(wide, narrow)
        layer.bias = zeros(wide)

    def norm(layer: Any) -> None:
        layer.gamma, layer.beta = np.ones(WIDTH, np.float32), zeros(WIDTH)

    encoder, decoder = spec.encoder, spec.decoder
    encoder.conv1.weight, encoder.conv1.bias = drawn(WIDTH, MELS, 3), zeros(WIDTH)
    encoder.conv2.weight, encoder.conv2.bias = drawn(WIDTH, WIDTH, 3), zeros(WIDTH)
    encoder.position_encodings.encodings = drawn(1500, WIDTH)
    decoder.position_encodings.encodings = drawn(PLACES, WIDTH)
    decoder.embeddings.weight = zeros(size, WIDTH)
    for side in (encoder, decoder):
        norm(side.layer_norm)
        attention, ffn = side.layer[0].self_attention, side.layer[0].ffn
        linear(attention.linear[0], 3 * WIDTH, WIDTH)
        linear(attention.linear[1], WIDTH, WIDTH, off=True)
        linear(ffn.linear_0, 2 * WIDTH, WIDTH)
        linear(ffn.linear_1, WIDTH, 2 * WIDTH, off=True)
        norm(attention.layer_norm)
        norm(ffn.layer_norm)
    cross = decoder.layer[0].attention
    linear(cross.linear[0], WIDTH, WIDTH)
    linear(cross.linear[1], 2 * WIDTH, WIDTH)
    linear(cross.linear[2], WIDTH, WIDTH, off=True)
    norm(cross.layer_norm)


def _projection(spec: Any, plan: Sequence[int], end: int, sure: float) -> Any:
    """Weights [tokens, WIDTH] that at place p speak for the p-th token of the plan, then `end`."""
    places = spec.decoder.position_encodings.encodings
    places[len(plan) :] = places[len(plan)]
    used = places[: len(plan) + 1]
    normed = used - used.mean(axis=1, keepdims=True)
    normed /= used.std(axis=1, keepdims=True)
    wanted = np.zeros((len(used), spec.decoder.embeddings.weight.shape[0]), np.float32)
    for place, token in enumerate([*plan, end]):
        wanted[place, token] = sure
    # More places than dimensions have no exact solution; WIDTH is above what the tests say.
    return np.ascontiguousarray((np.linalg.pinv(normed) @ wanted).T, dtype=np.float32)
