"""What one trial is, and what it leaves: figures an epoch, and what it got right at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RANDOM, NONE = "random", "none"  # the set and the augmentation that others are held against
ACCURACY, PEARSON, SPEARMAN = "accuracy", "pearson", "spearman"


class Trial(NamedTuple):
    """One learner trained once."""

    learner: str
    k: int
    set: str
    augment: str
    seed: int


class Epoch(NamedTuple):
    """Figures after one epoch, in evaluation mode.

    Accuracies, as shares; Pearson's correlation where labels are real numbers, and then Spearman's
    too.
    """

    train: float
    test: float
    test_loss: float
    test_spearman: float | None = None


@dataclass(frozen=True)
class Result:
    """A finished trial.

    Attributes:
        trial: which.
        epochs: in their order; at least one.
        outputs: (test examples,), of the last epoch: 1 where right and 0 where not; or the
            values predicted, where labels are real numbers.
        left_out: training examples that could not be read or have no label.
        seconds: what it took.
    """

    trial: Trial
    epochs: tuple[Epoch, ...]
    outputs: Floats
    left_out: int = 0
    seconds: float = 0.0

    def last(self, measure: str) -> float:
        """Give a measure after the last epoch."""
        return _figure(self.epochs[-1], measure)

    def best(self, measure: str) -> float:
        """Give the best over epochs by the test set itself: the paper's figure, and optimistic."""
        return max(_figure(epoch, measure) for epoch in self.epochs)


def _figure(epoch: Epoch, measure: str) -> float:
    if measure != SPEARMAN:
        return epoch.test
    if epoch.test_spearman is None:
        raise ValueError("Spearman's correlation is of labels that are real numbers")
    return epoch.test_spearman
