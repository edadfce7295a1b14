"""Tiny models of transformers, with tokenizers, in local folders: random weights, no hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = "[PAD] [UNK] [CLS] [SEP] </s> a bad film good it was the very not".split()
NUMBER = {word: number for number, word in enumerate(WORDS)}


def _tokenizer(marks: str):
    """Word for word; `marks` puts [CLS] and [SEP] as BERT does, </s> as T5, or none as GPT-2."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel(NUMBER, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    templates = {
        "bert": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
        "t5": ("$A </s>", "$A </s> $B </s>"),
    }
    if marks in templates:
        single, pair = templates[marks]
        special = [(word, NUMBER[word]) for word in ("[CLS]", "[SEP]", "</s>")]
        made.post_processor = processors.TemplateProcessing(single, pair, special)
    given: dict[str, Any] = {"unk_token": "[UNK]", "eos_token": "</s>"}
    if marks != "gpt2":
        given["pad_token"] = "[PAD]"
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=512, **given)


def _model(kind: str):
    import transformers as t

    size = {"vocab_size": len(WORDS)}
    if kind == "bert":
        return t.BertForSequenceClassification(
            t.BertConfig(
                **size,
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=32,
                max_position_embeddings=64,
            )
        )
    if kind == "gpt2":
        return t.GPT2LMHeadModel(
            t.GPT2Config(**size, n_embd=16, n_layer=2, n_head=2, n_positions=64)
        )
    return t.T5ForConditionalGeneration(
        t.T5Config(**size, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2)
    )


def text_model(folder: Path, kind: str, *, weights: bool = True) -> Path:
    """Write a `bert`, `gpt2` or `t5` of a few thousand parameters, and return its folder."""
    from hardset.lowresource.networks import torchvision_ops

    torchvision_ops.declare()
    model = _model(kind)
    if weights:
        model.save_pretrained(folder)
    else:
        model.config.save_pretrained(folder)
    _tokenizer(kind).save_pretrained(folder)
    return folder
