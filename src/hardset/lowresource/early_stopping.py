"""Training until it stops to help examples held out from it, and keeping the epoch at the best."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from hardset.lowresource.batches import targets_of
from hardset.lowresource.examples import Examples, Subset
from hardset.lowresource.network import Network
from hardset.lowresource.training import labelled, outputs_of

SHARE = 10
"""One in so many is held out."""


class BestEpoch:
    """The epoch after which a network's loss on examples held out is least (early stopping).

    Give it `training.train(enough=best.enough)`; it can be put away with the training.

    Args:
        held: examples not trained on; those without a label or unreadable say nothing.
        patience: so many epochs without a better one are enough.
        batch: examples at once.
        device: torch's name of it.
    """

    def __init__(self, held: Examples, patience: int, batch: int, device: str = "cpu") -> None:
        self.held, self.patience, self.batch, self.device = held, patience, batch, device
        self.epochs = 0
        """Of the best, from 1; 0 before there is one."""
        self.loss = math.inf
        self.weights: dict[str, torch.Tensor] = {}

    def enough(self, epoch: int, network: Network) -> bool:
        """Look at a network after an epoch, from 0, and say whether it learns no more."""
        loss = self._loss(network)
        if loss < self.loss or not self.weights:
            self.epochs, self.loss = epoch + 1, loss
            self.weights = {
                key: value.detach().cpu().clone()
                for key, value in network.module.state_dict().items()
                if isinstance(value, torch.Tensor)
            }
        return epoch + 1 - self.epochs >= self.patience

    def restore(self, network: Network) -> None:
        """Give a network the weights that it had after the best epoch."""
        network.module.load_state_dict(self.weights, strict=False)

    def state_dict(self) -> dict[str, Any]:
        """Return all that is known, to go on later."""
        return {"epochs": self.epochs, "loss": self.loss, "weights": self.weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Know what `state_dict` said."""
        self.epochs, self.loss, self.weights = state["epochs"], state["loss"], state["weights"]

    def _loss(self, network: Network) -> float:
        """Return the mean loss on what is held out; infinite where nothing can be read."""
        total, seen = 0.0, 0
        for read, outputs in outputs_of(network, self.held, batch=self.batch, device=self.device):
            if outputs is not None:
                targets = targets_of(self.held, read.positions, self.device)
                loss = functional.cross_entropy(outputs.double(), targets, reduction="sum")
                total, seen = total + float(loss), seen + len(targets)
        return total / seen if seen and math.isfinite(total) else math.inf


def parted(examples: Examples, seed: int) -> tuple[Subset, Subset]:
    """Part a set of classes: what is trained on, and one in `SHARE` of it that is held out.

    Held out is of each label evenly, and nothing of a label with one or two examples.

    Args:
        examples: with classes.
        seed: of the draw.

    Returns:
        The two, as sets of their own; every example with a label is in one of them.
    """
    labels = np.asarray(examples.labels)
    has = np.flatnonzero(labelled(examples))
    counts = np.bincount(labels[has], minlength=len(examples.classes))
    order = np.random.default_rng((seed, SHARE)).permutation(has[counts[labels[has]] > 2])
    order = order[np.argsort(labels[order], kind="stable")]
    held = np.sort(order[SHARE // 2 :: SHARE])
    return Subset(examples, np.setdiff1d(has, held)), Subset(examples, held)
