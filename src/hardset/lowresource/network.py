"""A torch network, with the way examples reach it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hardset.lowresource.examples import Content

if TYPE_CHECKING:
    from torch import nn

Inputs = Any  # a tensor, or a dict of tensors, the first dimension of each the batch


@dataclass
class Network:
    """A predictor or a learner.

    Attributes:
        module: `module(inputs)` gives logits (batch, classes), or values (batch,) or (batch, 1)
            where labels are real numbers.
        collate: contents, none of them `Unreadable`, to one batch of inputs on the CPU. It is
            deterministic: augmentation is the training's.
        name: as it is called on the command line, `resnet18` or `timm/convnext_atto`.
        family: what kind of network it is (`conv`, `transformer`, ...); ranks are averaged over
            families, since difficulty is the scorer's as much as the example's.
        facts: what the manifest says of it: parameters, weights' source and sha256, input size.
    """

    module: nn.Module
    collate: Callable[[Sequence[Content]], Inputs]
    name: str
    family: str
    facts: dict[str, Any] = field(default_factory=dict)
