"""What the epochs of a training say of each example; and EL2N, which one pass says.

Numpy only. Every score is a running sum an example: no table of examples by epochs is held.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardset.lowresource.examples import Positions

Floats = NDArray[np.float64]


class Dynamics:
    """The scores of `epochs`, gathered as examples are presented.

    Give it `training.train(at_batch=dynamics.seen)`: what the network says of a batch just before
    it learns from it, in training mode, as Toneva et al. do. Or call `seen` once an epoch with what
    the network says in evaluation mode. Either way each example once an epoch.

    Args:
        n: examples; about 44 bytes each.
    """

    def __init__(self, n: int) -> None:
        self.presented = np.zeros(n, np.int32)
        self.margins = np.zeros(n)
        self.forgotten = np.zeros(n, np.int32)
        self.right = np.zeros(n, np.bool_)
        self.ever_right = np.zeros(n, np.bool_)
        self.mean = np.zeros(n)
        self.squares = np.zeros(n)  # of the distances from the mean (Welford 1962)
        self.real = np.zeros(1, np.bool_)  # labels are real numbers

    def seen(self, positions: Positions, outputs: Any, targets: Any) -> None:
        """Take note of one presentation of some examples, none of them twice.

        Args:
            positions: (batch,).
            outputs: logits (batch, classes), or values (batch,); tensors or arrays.
            targets: (batch,) classes, or real values.
        """
        logits, labels = _array(outputs), _array(targets)
        self.presented[positions] += 1
        if labels.dtype.kind == "f":
            self.real[:] = True
            self._note(positions, logits.reshape(len(labels)))
            return
        true, other = _true_and_other(logits, labels)
        margin = true - other
        self.margins[positions] += margin
        right = margin > 0
        self.forgotten[positions] += self.right[positions] & ~right
        self.right[positions] = right
        self.ever_right[positions] |= right
        self._note(positions, 1 - _missing(logits, labels))

    def _note(self, positions: Positions, values: Floats) -> None:
        """Take values into the running means and variances."""
        off = values - self.mean[positions]
        self.mean[positions] += off / self.presented[positions]
        self.squares[positions] += off * (values - self.mean[positions])

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the scores (n,), float64; NaN where an example was never presented.

        `aum`: the mean over epochs of the label's logit minus the largest other (Pleiss et al.
        2020, arXiv 2001.10528, equation 2).
        `forgetting`: how often it was right at one presentation and wrong at the next (Toneva et
        al. 2019, arXiv 1812.05159, definition 2.1). One never right is "never learnt": there they
        count as forgotten infinitely often; here as presentations + 1, which ranks the same and
        keeps means over seeds finite.
        `confidence` and `variability`: mean and (population) standard deviation over epochs of the
        true class's probability (Swayamdipta et al. 2020, arXiv 2009.10795, section 2).
        `learned`: bool, it was right at least once.

        With real-valued labels only `variability` has a meaning, of the predicted value, in units
        of the label; the others are NaN, and `learned` is False.
        """
        times = np.where(self.presented, self.presented, np.nan)
        never = np.full(len(times), np.nan)
        columns: dict[str, NDArray[Any]] = {
            "aum": self.margins / times,
            "forgetting": np.where(self.ever_right, self.forgotten, times + 1),
            "confidence": np.where(self.presented, self.mean, np.nan),
            "variability": np.sqrt(self.squares / times),
            "learned": self.ever_right.copy(),
        }
        if self.real[0]:
            columns |= {"aum": never, "forgetting": never.copy(), "confidence": never.copy()}
        return columns

    def state_dict(self) -> dict[str, Any]:
        """Return all that is known, to go on later."""
        return {name: value.copy() for name, value in vars(self).items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Know what `state_dict` said."""
        for name, value in state.items():
            getattr(self, name)[:] = _array(value)


def el2n(outputs: Any, targets: Any) -> Floats:
    """Return the length of the error vector, softmax minus one-hot (Paul et al. 2021, EL2N).

    Exact for easy examples too: the true class's part is the sum of the others, not 1 - p.

    Args:
        outputs: logits (batch, classes), or values (batch,) or (batch, 1); tensors or arrays.
        targets: (batch,) classes, or real values, whose error vector has one part.

    Returns:
        (batch,) float64, from 0 to the square root of 2 for classes.
    """
    logits, labels = _array(outputs), _array(targets)
    if labels.dtype.kind == "f":
        distances: Floats = np.abs(logits.reshape(len(labels)) - labels)
        return distances
    errors = _softmax(logits)
    errors[np.arange(len(labels)), labels] = _missing(logits, labels)
    lengths: Floats = np.sqrt(np.einsum("bc,bc->b", errors, errors))
    return lengths


def _array(values: Any) -> NDArray[Any]:
    """Return a tensor, on any device, or an array as an array; floats as float64."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = (values.double() if values.is_floating_point() else values).numpy()
    array = np.asarray(values)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(1, keepdims=True))
    softmax: Floats = powers / powers.sum(1, keepdims=True)
    return softmax


def _missing(logits: Floats, labels: NDArray[Any]) -> Floats:
    """Return the probability of all classes but the true one, added up rather than taken from 1."""
    others = _softmax(logits)
    others[np.arange(len(labels)), labels] = 0
    total: Floats = others.sum(1)
    return total


def _true_and_other(logits: Floats, labels: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the true class's logit and the largest of the others."""
    rows = np.arange(len(labels))
    others = logits.copy()
    others[rows, labels] = -np.inf
    return logits[rows, labels], others.max(1)
