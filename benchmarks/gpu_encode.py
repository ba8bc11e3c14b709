"""How fast the shipped embedder encodes with a model of BGE-M3's shape, and how much of the card.

    python benchmarks/gpu_encode.py [--data FOLDER] [--seconds 10]

The weights are random: speed does not depend on them. On a CUDA card the shape is BGE-M3's own
(XLM-R large: 24 layers, 1024 wide, 8192 positions), on a CPU a small one, and the title says so.
A row a corpus: texts of 32, 128 and 512 tokens, and with `--data` the timelines of E-VAds
(`videos.jsonl`) in texts of mixed length. The share is of the matrix rate that is measured first,
in the same run. Beside it `SentenceTransformer.encode` as it comes, in float32 and in half
precision. Ends with 1 where a target is missed on a card.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizerFast

from admir.perception.sentence_transformer import SentenceEmbedder
from admir.types import Memory

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
LENGTHS = (32, 128, 512)
TARGETS = {"512 tokens": 0.5, "mixed": 0.35}
"""Least share of the card's own rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The size of a transformer, and of the corpora that it is timed on."""

    layers: int
    width: int
    vocabulary: int
    positions: int
    tokens: int

    def flops(self, lengths: Sequence[int]) -> float:
        """Of the matrix products of a forward pass over texts of so many tokens each."""
        weights = 12 * self.width**2 * self.layers
        return sum(2 * weights * n + 4 * n * n * self.width * self.layers for n in lengths)


BGE_M3 = Shape(layers=24, width=1024, vocabulary=250_002, positions=8_194, tokens=2_000_000)
SMALL = Shape(layers=4, width=128, vocabulary=8_000, positions=514, tokens=20_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Texts, and how many tokens of each the model sees."""

    name: str
    texts: list[str]
    lengths: list[int]


def main() -> None:
    """Build the model, time everything, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of E-VAds with videos.jsonl")
    parser.add_argument("--seconds", type=float, default=10.0, help="at most, of one measurement")
    options = parser.parse_args()
    on_card = torch.cuda.is_available()
    shape = BGE_M3 if on_card else SMALL
    timelines = list(read_timelines(options.data)) if options.data else []
    with tempfile.TemporaryDirectory() as scratch:
        tokenizer = train_tokenizer(timelines or sentences(2_000), shape.vocabulary)
        folder = save_model(Path(scratch), shape, tokenizer)
        rate = matrix_rate(on_card)
        corpora = [fixed(n, shape, tokenizer) for n in LENGTHS]
        if timelines:
            corpora.append(mixed(timelines, shape, tokenizer))
        rows = [measured(folder, corpus, on_card, options.seconds) for corpus in corpora]
    missed = show(shape, corpora, rows, rate, on_card)
    sys.exit(1 if missed and on_card else 0)


def sentences(count: int) -> list[str]:
    """Texts of invented words."""
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 9))) for _ in range(3_000)]
    return [" ".join(rng.choices(words, k=40)) for _ in range(count)]


def read_timelines(folder: Path) -> Iterator[str]:
    """What a clip of the shipped memory says, of every clip of every timeline."""
    for line in (folder / "videos.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        memory = Memory.from_timeline(row["video_id"], row["events"], duration_s=row["duration"])
        yield from (clip.index_text for clip in memory.clips if clip.index_text.strip())


def train_tokenizer(texts: Sequence[str], most: int) -> XLMRobertaTokenizerFast:
    """A tokenizer in the form of XLM-R's, learnt from the texts themselves."""
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=min(most, 20_000), special_tokens=SPECIAL, unk_token="<unk>"
    )
    made.train_from_iterator(texts, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return XLMRobertaTokenizerFast(tokenizer_object=made, model_max_length=8_192)


def save_model(folder: Path, shape: Shape, tokenizer: XLMRobertaTokenizerFast) -> Path:
    """Random weights of the shape, as sentence-transformers reads them."""
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.width // 64,
        intermediate_size=4 * shape.width,
        max_position_embeddings=shape.positions,
        pad_token_id=tokenizer.pad_token_id,
        type_vocab_size=1,
    )
    XLMRobertaModel(config).save_pretrained(folder / "parts")
    tokenizer.save_pretrained(folder / "parts")
    transformer = Transformer(str(folder / "parts"), max_seq_length=shape.positions - 2)
    parts = [transformer, Pooling(shape.width, pooling_mode="cls"), Normalize()]
    model = SentenceTransformer(modules=parts, device="cpu")
    model.save(str(folder / "model"), create_model_card=False)
    return folder / "model"


def fixed(length: int, shape: Shape, tokenizer: XLMRobertaTokenizerFast) -> Corpus:
    """Texts of exactly so many tokens."""
    count = max(8, shape.tokens // length)
    rng = random.Random(length)
    words = [w for w in tokenizer.get_vocab() if w.startswith("▁") and w[1:].isalnum()]
    texts, lengths = [], []
    for _ in range(count):
        text = " ".join(word[1:] for word in rng.choices(words, k=length - 2))
        ids = tokenizer(text, truncation=True, max_length=length)["input_ids"]
        text = tokenizer.decode(ids, skip_special_tokens=True)
        texts.append(text)
        lengths.append(len(tokenizer(text)["input_ids"]))
    return Corpus(name=f"{length} tokens", texts=texts, lengths=lengths)


def mixed(timelines: Sequence[str], shape: Shape, tokenizer: XLMRobertaTokenizerFast) -> Corpus:
    """The clips of real ads, alone and two to sixteen in a row, until there are enough tokens."""
    rng, texts, lengths = random.Random(11), [], []
    while sum(lengths) < shape.tokens:
        start, clips = rng.randrange(len(timelines)), rng.choice((1, 1, 1, 2, 4, 16))
        texts.append("\n".join(timelines[start : start + clips]))
        ids = tokenizer(texts[-1], truncation=True, max_length=shape.positions - 2)["input_ids"]
        lengths.append(len(ids))
    return Corpus(name="mixed", texts=texts, lengths=lengths)


def matrix_rate(on_card: bool) -> float:
    """FLOP/s of one large matrix product, in bfloat16 on a card."""
    size, dtype = (8_192, torch.bfloat16) if on_card else (1_024, torch.float32)
    device = "cuda" if on_card else "cpu"
    a, b = (torch.randn(size, size, dtype=dtype, device=device) for _ in range(2))
    return 2 * size**3 / timed(lambda: a @ b, 2.0)


def timed(work: Callable[[], Any], most_s: float) -> float:
    """The median of seconds, once warm: as many times as there is time for, at least two."""
    work()
    taken: list[float] = []
    until = time.monotonic() + most_s
    while len(taken) < 2 or (time.monotonic() < until and len(taken) < 200):
        synchronize()
        started = time.perf_counter()
        work()
        synchronize()
        taken.append(time.perf_counter() - started)
    return sorted(taken)[len(taken) // 2]


def synchronize() -> None:
    """Wait until the card has done all that it was asked."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def measured(folder: Path, corpus: Corpus, on_card: bool, most_s: float) -> dict[str, float]:
    """Seconds of one encoding, by who encodes."""
    ours = SentenceEmbedder("random", folder)
    found = {"admir": timed(partial(ours.encode, corpus.texts), most_s)}
    if ours.warnings:
        sys.exit(ours.warnings[0])
    del ours  # the card is free for the others
    device = "cuda" if on_card else "cpu"
    for name in ("float32", "float16") if on_card else ("float32",):
        plain = SentenceTransformer(str(folder), device=device).to(getattr(torch, name))
        encode = partial(plain.encode, corpus.texts, show_progress_bar=False)
        found[f"plain {name}"] = timed(encode, most_s)
    return found


def show(
    shape: Shape,
    corpora: Sequence[Corpus],
    rows: Sequence[dict[str, float]],
    rate: float,
    on_card: bool,
) -> bool:
    """Print the table; whether a target is missed."""
    where = torch.cuda.get_device_name() if on_card else "CPU, a SMALL model"
    title = (
        f"{where}: {shape.layers} layers, {shape.width} wide; matrix rate {rate / 1e12:.2f} TFLOP/s"
    )
    table = Table("corpus", "texts", "mean tokens", "who", "tokens/s", "share", "", title=title)
    missed = False
    for corpus, row in zip(corpora, rows, strict=True):
        tokens, work = sum(corpus.lengths), shape.flops(corpus.lengths)
        for who, seconds in row.items():
            share, least = work / seconds / rate, TARGETS.get(corpus.name)
            judged = on_card and least is not None and who == "admir"
            missed |= bool(judged and share < (least or 0))
            table.add_row(
                corpus.name,
                f"{len(corpus.texts):,}",
                f"{tokens / len(corpus.texts):.0f}",
                who,
                f"{tokens / seconds:,.0f}",
                f"{share:.2f}",
                f"{'met' if share >= (least or 0) else 'MISSED'} ({least})" if judged else "",
            )
    Console(width=120).print(table)
    return missed


if __name__ == "__main__":
    main()
