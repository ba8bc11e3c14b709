"""A tiny random XLM-R of BGE-M3's shape: the first token is pooled and has unit length."""

from __future__ import annotations

from pathlib import Path

WORDS = [
    "a",
    "the",
    "lamp",
    "lights",
    "desk",
    "blue",
    "costs",
    "now",
    "was",
    "order",
    "tired",
    "eyes",
    "soup",
    "warms",
    "winter",
    "bowl",
]


def save_tiny_bge(folder: Path) -> Path:
    """Make the model and write it into a new folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import XLMRobertaConfig, XLMRobertaModel

    torch.manual_seed(7)
    parts = folder / "parts"
    tokenizer = _tokenizer()
    tokenizer.save_pretrained(parts)
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=130,
        initializer_range=0.5,
        pad_token_id=tokenizer.pad_token_id,
    )
    XLMRobertaModel(config).save_pretrained(parts)
    transformer = Transformer(str(parts), max_seq_length=128)
    pooling = Pooling(32, pooling_mode="cls")
    whole = folder / "tiny-bge"
    model = SentenceTransformer(modules=[transformer, pooling, Normalize()], device="cpu")
    model.save(str(whole), create_model_card=False)
    return whole


def _tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import XLMRobertaTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    letters = [chr(c) for c in range(32, 127)]
    pieces = [(piece, -1.0) for piece in special] + [("▁", -2.0)]
    pieces += [(f"▁{word}", -3.0) for word in WORDS] + [(letter, -5.0) for letter in letters]
    made = Tokenizer(models.Unigram(pieces, unk_id=3))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return XLMRobertaTokenizerFast(tokenizer_object=made)
