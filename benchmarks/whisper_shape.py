"""A Whisper of any size: real in its shape, vocabulary and files, not in its ears.

It says the same to whatever it hears, so that everything around the weights can be tested and timed
with no weights from the network. Only numpy and ctranslate2 (the extra `speech`) are needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PLACES = 448
LANGUAGES = ("en", "zh", "de")
SAYS = ("<|0.00|>", " Stop", " feeling", " tired", ".", "<|1.40|>")

_SURE = 12.0
"""The logit of what is to be said; that of all else is about 0."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Layers of the encoder and of the decoder, width, heads, bands of sound, tokens at least.

    The inner layers are `inner` times as wide.
    """

    layers: int
    width: int
    heads: int
    mels: int
    inner: int = 4
    vocabulary: int = 0


TINY = Shape(layers=1, width=32, heads=2, mels=80, inner=2)
LARGE_V3 = Shape(layers=32, width=1280, heads=20, mels=128, vocabulary=51_866)


def write_whisper(
    folder: Path,
    says: Sequence[str] = SAYS,
    *,
    language: str = "en",
    sure: float = _SURE,
    shape: Shape = TINY,
) -> Path:
    """Write a model that detects `language` and says `says`, in the format of CTranslate2.

    A smaller `sure` makes it doubt: the logit of each token it says. It can say fewer tokens than
    it is wide.
    """
    from ctranslate2.specs.whisper_spec import WhisperSpec

    tokens = _vocabulary(says, shape.vocabulary)
    spec = WhisperSpec(shape.layers, shape.heads, shape.layers, shape.heads)
    _fill(spec, len(tokens), shape)
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
    sound = json.dumps({"feature_size": shape.mels})
    (folder / "preprocessor_config.json").write_text(sound, encoding="utf-8")
    return folder


def _vocabulary(says: Sequence[str], least: int) -> list[str]:
    """Text, specials and times in the order of Whisper; the empty one marks it multilingual."""
    from tokenizers.pre_tokenizers import ByteLevel

    words = dict.fromkeys(t.replace(" ", "Ġ") for t in says if not t.startswith("<|"))
    text = [*(words | dict.fromkeys(sorted(ByteLevel.alphabet()))), ""]
    names = ("endoftext", "startoftranscript", *LANGUAGES, "translate", "transcribe")
    names += ("startoflm", "startofprev", "nospeech", "notimestamps")
    times = (f"{n * 0.02:.2f}" for n in range(1501))
    last = [f"<|{name}|>" for name in (*names, *times)]
    unused = (f"unused{number}" for number in range(least - len(text) - len(last)))
    return [*text[:-1], *unused, text[-1], *last]


def _write_tokenizer(path: Path, tokens: Sequence[str]) -> None:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    end = tokens.index("<|endoftext|>")
    vocabulary = {token: n for n, token in enumerate(tokens[:end])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in tokens[end:]])
    tokenizer.save(str(path))


def _fill(spec: Any, size: int, shape: Shape) -> None:
    """Random weights; what the layers add to the residual stream of the decoder is nothing."""
    wide, drawn = shape.width, _drawing()
    encoder, decoder = spec.encoder, spec.decoder
    encoder.conv1.weight, encoder.conv1.bias = drawn(wide, shape.mels, 3), _zeros(wide)
    encoder.conv2.weight, encoder.conv2.bias = drawn(wide, wide, 3), _zeros(wide)
    encoder.position_encodings.encodings = drawn(1500, wide)
    decoder.position_encodings.encodings = drawn(PLACES, wide)
    decoder.embeddings.weight = _zeros(size, wide)
    for side in (encoder, decoder):
        _norm(side.layer_norm, wide)
        for layer in side.layer:
            _fill_layer(layer, shape, drawn)
    for layer in decoder.layer:
        cross = layer.attention
        _linear(cross.linear[0], drawn(wide, wide))
        _linear(cross.linear[1], drawn(2 * wide, wide))
        _linear(cross.linear[2], _zeros(wide, wide))
        _norm(cross.layer_norm, wide)


def _fill_layer(layer: Any, shape: Shape, drawn: Callable[..., Any]) -> None:
    wide, inner = shape.width, shape.inner * shape.width
    attention, ffn = layer.self_attention, layer.ffn
    _linear(attention.linear[0], drawn(3 * wide, wide))
    _linear(attention.linear[1], _zeros(wide, wide))
    _linear(ffn.linear_0, drawn(inner, wide))
    _linear(ffn.linear_1, _zeros(wide, inner))
    _norm(attention.layer_norm, wide)
    _norm(ffn.layer_norm, wide)


def _drawing() -> Callable[..., Any]:
    random = np.random.default_rng(0)
    return lambda *shape: random.normal(0, 0.3, shape).astype(np.float32)


def _zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def _linear(layer: Any, weight: Any) -> None:
    layer.weight, layer.bias = weight, _zeros(len(weight))


def _norm(layer: Any, wide: int) -> None:
    layer.gamma, layer.beta = np.ones(wide, np.float32), _zeros(wide)


def _projection(spec: Any, plan: Sequence[int], end: int, sure: float) -> Any:
    """Weights [tokens, width] that at place p speak for the p-th token of the plan, then `end`."""
    places = spec.decoder.position_encodings.encodings
    places[len(plan) :] = places[len(plan)]
    used = places[: len(plan) + 1]
    normed = used - used.mean(axis=1, keepdims=True)
    normed /= used.std(axis=1, keepdims=True)
    wanted = np.zeros((len(used), spec.decoder.embeddings.weight.shape[0]), np.float32)
    for place, token in enumerate([*plan, end]):
        wanted[place, token] = sure
    # More places than dimensions have no exact solution: the width is above what is said.
    return np.ascontiguousarray((np.linalg.pinv(normed) @ wanted).T, dtype=np.float32)
