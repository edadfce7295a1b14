"""Networks over our own vocabulary, trained from scratch: a small transformer, and a bag of words.

Both are ours. Every parameter sits in a plain layer (linear, embedding, layer norm), each called
once, so that gradient norms by hooks are exact and cheap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from hardset.errors import UsageError
from hardset.lowresource.examples import Content, Examples
from hardset.lowresource.network import Network
from hardset.lowresource.networks.pictures import first_readable
from hardset.lowresource.tokens import MOST_TOKENS, PAD, Vocabulary, vocabulary

WIDTH, HEADS, LAYERS, INNER = 128, 4, 2, 512
DROPOUT = 0.1


@dataclass(frozen=True)
class Words:
    """Collate texts, or pairs of texts, to numbers of words, padded to the longest of the batch.

    The batch is a dict of int64 tensors (n, longest): `tokens`, and `segments` (0 first text, 1
    second).
    """

    known: Vocabulary
    most: int = MOST_TOKENS

    def __call__(self, contents: Sequence[Content]) -> dict[str, Tensor]:
        """Return the batch."""
        coded = [self.known.encode(content, self.most) for content in contents]  # type: ignore[arg-type]
        longest = max(len(numbers) for numbers, _ in coded)
        tokens = torch.full((len(coded), longest), PAD)
        segments = torch.zeros(len(coded), longest, dtype=torch.int64)
        for place, (numbers, sides) in enumerate(coded):
            tokens[place, : len(numbers)] = torch.tensor(numbers)
            segments[place, : len(sides)] = torch.tensor(sides)
        return {"tokens": tokens, "segments": segments}


def _mean(vectors: Tensor, real: Tensor) -> Tensor:
    """Return the mean (batch, width) of the vectors (batch, length, width) that are `real`."""
    weights = real.to(vectors.dtype)
    total = torch.einsum("blw,bl->bw", vectors, weights)
    return total / weights.sum(1, keepdim=True).clamp(min=1)


class BagOfWords(nn.Module):
    """The mean of a text's word vectors, and a perceptron with one hidden layer.

    Of a pair it sees both means, their distance in each dimension and their product.

    Args:
        size: words in the vocabulary, marks and all.
        outputs: classes, or 1 for real-valued labels.
        pairs: examples are pairs of texts.
    """

    def __init__(self, size: int, outputs: int, pairs: bool) -> None:
        super().__init__()
        self.pairs = pairs
        self.embedding = nn.Embedding(size, WIDTH)
        self.hidden = nn.Linear(WIDTH * (4 if pairs else 1), WIDTH)
        self.head = nn.Linear(WIDTH, outputs)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return logits (batch, outputs)."""
        real = inputs["tokens"] != PAD
        vectors = self.embedding(inputs["tokens"])
        if self.pairs:
            first = _mean(vectors, real & (inputs["segments"] == 0))
            second = _mean(vectors, real & (inputs["segments"] == 1))
            text = torch.cat([first, second, (first - second).abs(), first * second], dim=1)
        else:
            text = _mean(vectors, real)
        logits: Tensor = self.head(self.hidden(text).relu())
        return logits


class Attention(nn.Module):
    """Multi-head self-attention (Vaswani et al. 2017) of linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        """Return new states (batch, length, width); only `seen` (batch, 1, 1, length) is heeded."""
        heads = [
            part(states).unflatten(2, (HEADS, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        ]
        query, key, value = heads
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        new: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return new


class Layer(nn.Module):
    """A layer of the encoder, normalised first (Xiong et al. 2020), which needs no warm-up."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.fc1, self.fc2 = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        """Return new states (batch, length, width)."""
        states = states + self.dropout(self.attention(self.norm1(states), seen))
        inner = functional.gelu(self.fc1(self.norm2(states)))
        new: Tensor = states + self.dropout(self.fc2(inner))
        return new


class Transformer(nn.Module):
    """A small encoder: two layers, 128 wide, four heads; the mean of its states is classified.

    Args:
        size: words in the vocabulary, marks and all.
        outputs: classes, or 1 for real-valued labels.
        most: words of an example at most.
    """

    def __init__(self, size: int, outputs: int, most: int = MOST_TOKENS) -> None:
        super().__init__()
        self.words = nn.Embedding(size, WIDTH)
        self.positions = nn.Embedding(most, WIDTH)
        self.segments = nn.Embedding(2, WIDTH)
        for embedding in (self.words, self.positions, self.segments):
            nn.init.normal_(embedding.weight, std=0.02)
        self.dropout = nn.Dropout(DROPOUT)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, outputs)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return logits (batch, outputs)."""
        tokens = inputs["tokens"]
        real = tokens != PAD
        places = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
        states = self.words(tokens) + self.positions(places) + self.segments(inputs["segments"])
        states = self.dropout(states)
        for layer in self.layers:
            states = layer(states, real[:, None, None, :])
        logits: Tensor = self.head(_mean(self.norm(states), real))
        return logits


def _known(examples: Examples, name: str) -> tuple[Vocabulary, dict[str, Any]]:
    if examples.kind != "text":
        raise UsageError(f"{name} takes texts, and these examples are of kind {examples.kind}")
    known = vocabulary(examples)
    facts = {"vocabulary": len(known), "vocabulary_sha256": known.sha256, "most_words": MOST_TOKENS}
    return known, facts


def bag_of_words(examples: Examples, outputs: int) -> Network:
    """Return a bag-of-words net over the words of these examples.

    Raises:
        UsageError: they are not texts.
    """
    known, facts = _known(examples, "bag-of-words")
    pairs = any(len(content) == 2 for content in first_readable(examples))
    module = BagOfWords(len(known), outputs, pairs)
    return Network(module, Words(known), "bag-of-words", "bag-of-words", facts | {"pairs": pairs})


def transformer(examples: Examples, outputs: int) -> Network:
    """Return a small transformer over the words of these examples.

    Raises:
        UsageError: they are not texts.
    """
    known, facts = _known(examples, "transformer")
    module = Transformer(len(known), outputs)
    return Network(module, Words(known), "transformer", "transformer", facts)
