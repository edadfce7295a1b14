"""Batches of mixed pictures: cutmix and mixup, the augmentations that Hard-Bench tries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.recipes import Augment

if TYPE_CHECKING:
    from torch import Tensor


class Mixed(NamedTuple):
    """A batch in which each picture is mixed with another of the same batch."""

    inputs: Tensor
    """(batch, channels, height, width)"""
    partner: NDArray[np.int64]
    """(batch,): the place of the picture that was mixed in."""
    weight: float
    """What share of each picture is its own; the loss is weight * loss(own label) + (1 - weight) *
    loss(partner's label)."""


def mixed(augment: Augment, inputs: Any, generator: np.random.Generator) -> Mixed | None:
    """Return a batch augmented as a recipe says, or None where it says "none".

    Raises:
        UsageError: the batch is not one of pictures.
    """
    if augment == "none":
        return None
    if getattr(inputs, "ndim", 0) != 4:
        raise UsageError(f"{augment} mixes pictures only: for texts and arrays give augment none")
    return (cutmix if augment == "cutmix" else mixup)(inputs, generator)


def mixup(inputs: Tensor, generator: np.random.Generator, alpha: float = 1.0) -> Mixed:
    """Return weighted means of pictures (Zhang et al. 2018, arXiv 1710.09412).

    Args:
        inputs: pictures (batch, channels, height, width).
        generator: draws the weight, one for the whole batch, and who is mixed with whom.
        alpha: the weight is of Beta(alpha, alpha); 1 is uniform, as in Hard-Bench's code.
    """
    weight = float(generator.beta(alpha, alpha))
    partner = generator.permutation(len(inputs))
    return Mixed(weight * inputs + (1 - weight) * inputs[_index(partner, inputs)], partner, weight)


def cutmix(inputs: Tensor, generator: np.random.Generator, alpha: float = 1.0) -> Mixed:
    """Return pictures into which a rectangle of another is pasted (Yun et al. 2019, 1905.04899).

    The rectangle has the picture's proportions and is cut off at the border; the weight is the
    share of the area that is really left.

    Args:
        inputs: pictures (batch, channels, height, width).
        generator: draws the area, the place (one for the whole batch), and who gives to whom.
        alpha: the share of the area left is drawn from Beta(alpha, alpha); 1 is uniform.
    """
    drawn = float(generator.beta(alpha, alpha))
    partner = generator.permutation(len(inputs))
    height, width = inputs.shape[2:]
    tall, wide = (int(side * (1 - drawn) ** 0.5) for side in (height, width))
    top = int(generator.integers(height)) - tall // 2
    left = int(generator.integers(width)) - wide // 2
    bottom, right = min(top + tall, height), min(left + wide, width)
    top, left = max(top, 0), max(left, 0)
    new = inputs.clone()
    other = inputs[_index(partner, inputs)]
    new[:, :, top:bottom, left:right] = other[:, :, top:bottom, left:right]
    return Mixed(new, partner, 1 - (bottom - top) * (right - left) / (height * width))


def _index(partner: NDArray[np.int64], inputs: Tensor) -> Tensor:
    import torch

    return torch.from_numpy(partner).to(inputs.device)
