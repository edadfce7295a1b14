"""One trial: a learner from its first weights to its last epoch, tested after every one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples, Positions, Subset
from hardset.lowresource.learning.correlations import pearson, spearman
from hardset.lowresource.learning.results import NONE, Epoch, Result, Trial
from hardset.lowresource.network import Network
from hardset.lowresource.recipes import Recipe, changed, learner_recipe

IMAGENET = 1000  # classes of pictures, from which on recipes are ImageNet's
_LONG = 300  # characters of a reason
Floats = NDArray[np.float64]


class Task(NamedTuple):
    """A trial and the examples it learns from."""

    trial: Trial
    positions: Positions


class Failed(NamedTuple):
    """A trial that came to no end, and why, in a sentence."""

    trial: Trial
    reason: str


@dataclass(frozen=True)
class Training:
    """All that trials have in common; call it with a task to do one.

    Attributes:
        train: the training set, that tasks choose from.
        test: the test set: all of it has labels and can be read.
        overrides: what recipes have otherwise: epochs, batch, lr.
        weights: where first weights are from; None: from where the paper has them.
        size: of pictures, where learners leave it open.
        device: torch's name of it.
        threads: of torch on the CPU. The same number gives the same figures.
    """

    train: Examples
    test: Examples
    overrides: dict[str, Any] = field(default_factory=dict)
    weights: str | None = None
    size: int | None = None
    device: str = "cpu"
    threads: int = 1

    def recipe(self, learner: str, k: int, augment: str = NONE) -> Recipe:
        """Give the recipe that a learner is trained by."""
        imagenet = self.train.kind == "image" and len(self.train.classes) >= IMAGENET
        recipe = learner_recipe(learner, self.train.kind, k, imagenet=imagenet)
        return changed(recipe, **self.overrides, augment=None if augment == NONE else augment)

    def network(self, learner: str, seed: int) -> Network:
        """Build a learner with its first weights."""
        from hardset.lowresource.networks.registry import build

        return build(learner, self.train, seed=seed, size=self.size, weights=self.weights)

    def __call__(self, task: Task) -> Result | Failed:
        """Do one trial; whatever goes wrong in it is its own failure."""
        try:
            with _threads(self.threads):
                return self._done(task)
        except (Exception, SystemExit) as error:
            what = " ".join(str(error).split()) or "no more is said"
            kind = "" if isinstance(error, UsageError) else f"{type(error).__name__}: "
            return Failed(task.trial, f"{kind}{what}"[:_LONG])

    def _done(self, task: Task) -> Result:
        from hardset.lowresource.training import train

        trial, began = task.trial, time.monotonic()
        network = self.network(trial.learner, trial.seed)
        recipe = self.recipe(trial.learner, trial.k, trial.augment)
        chosen = Subset(self.train, task.positions)
        epochs: list[Epoch] = []
        last: list[Floats] = []

        def test(epoch: int, network: Network) -> None:
            own = _evaluated(network, chosen, recipe.batch, self.device)
            other = _evaluated(network, self.test, recipe.batch, self.device)
            if len(other.outputs) != len(self.test):
                lost = len(self.test) - len(other.outputs)
                raise OSError(f"{lost} examples of the test set can no longer be read")
            epochs.append(Epoch(own.figure, other.figure, other.loss, other.spearman))
            last[:] = [other.outputs]

        trained = train(
            network, chosen, recipe, seed=trial.seed, device=self.device, after_epoch=test
        )
        if not epochs:
            raise UsageError("no example of its training set can be read")
        left_out = sum(trained.left_out.values())
        return Result(trial, tuple(epochs), last[0], left_out, time.monotonic() - began)


class _Tested(NamedTuple):
    outputs: Floats  # 1 where right and 0 where not; or values
    figure: float
    loss: float
    spearman: float | None


def _evaluated(network: Network, examples: Examples, batch: int, device: str) -> _Tested:
    """Look at what a network says of some examples."""
    import torch

    from hardset.lowresource.losses import example_losses
    from hardset.lowresource.training import evaluate

    found = evaluate(network, examples, batch=max(batch, 128), device=device)
    if not np.isfinite(found.outputs).all():
        raise ArithmeticError("diverged: what the network says is no longer a finite number")
    targets = examples.labels[found.positions]
    losses = example_losses(torch.from_numpy(found.outputs), torch.from_numpy(targets))
    loss = float(losses.mean())
    if examples.classes:
        right = (found.outputs.argmax(axis=1) == targets).astype(np.float64)
        return _Tested(right, float(right.mean()), loss, None)
    values = found.outputs.reshape(-1).astype(np.float64)
    # One that says the same of everything tells nothing apart: a correlation of 0.
    figures = [float(np.nan_to_num(of(values, targets)[0])) for of in (pearson, spearman)]
    return _Tested(values, figures[0], loss, figures[1])


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """Have torch compute with so many threads, and then with as many as before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
