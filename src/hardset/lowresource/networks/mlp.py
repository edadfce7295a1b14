"""A perceptron over pictures' pixels or over plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from torch import Tensor, nn

from hardset.errors import UsageError
from hardset.lowresource.examples import Content, Examples
from hardset.lowresource.network import Network
from hardset.lowresource.networks.pictures import HALF, Pictures, first_readable

WIDTH = 512


@dataclass(frozen=True)
class Arrays:
    """Collate arrays of one shape to a float batch (n, *shape), as they are."""

    shape: tuple[int, ...]

    def __call__(self, contents: Sequence[Content]) -> Tensor:
        """Return the batch."""
        return torch.from_numpy(np.stack([np.asarray(content) for content in contents])).float()


def mlp(examples: Examples, outputs: int, size: int | None) -> Network:
    """Return two hidden layers of 512 with ReLU over flattened inputs; ours, not the paper's.

    Pictures are brought to `size` pixels a side, or to the first one's own size.

    Raises:
        UsageError: the examples are texts, or none of the first few can be read.
    """
    if examples.kind == "text":
        raise UsageError("mlp takes pictures or arrays, not texts; try bag-of-words")
    first = first_readable(examples)
    if not first:
        raise UsageError("mlp takes its input size from the first examples, and none can be read")
    shape = np.shape(first[0])
    collate: Pictures | Arrays = Arrays(shape)
    facts = {"input_size": list(shape)}
    if examples.kind == "image":
        collate = Pictures((size, size) if size else (shape[0], shape[1]), HALF)
        shape = (3, *collate.size)
        facts = collate.facts()
    module = nn.Sequential(
        nn.Flatten(),
        nn.Linear(prod(shape), WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, outputs),
    )
    return Network(module, collate, "mlp", "mlp", facts)
