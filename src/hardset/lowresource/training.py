"""Training a network, and looking at what it then says: the same for predictors and learners."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from hardset.errors import UsageError
from hardset.lowresource.augment import Mixed, mixed
from hardset.lowresource.batches import Batch, batches, cut, moved, targets_of
from hardset.lowresource.checkpoints import Checkpoint
from hardset.lowresource.examples import NO_LABEL, Examples, Positions
from hardset.lowresource.network import Inputs, Network
from hardset.lowresource.recipes import Recipe, rate, total_steps
from hardset.lowresource.seeding import seeded

__all__ = ["Checkpoint", "Diverged", "Evaluated", "Trained", "evaluate", "outputs_of", "train"]


class Diverged(ArithmeticError):  # noqa: N818 (a state, told by its name)
    """The loss of a batch is not a finite number; training on has no meaning.

    Attributes:
        epoch: from 0.
        step: from 0, over all epochs.
        broken: ids of examples of the batch whose own numbers are not finite.
    """

    def __init__(self, epoch: int, step: int, loss: float, broken: Sequence[str] = ()) -> None:
        at = f"the loss became {loss} in epoch {epoch + 1}, step {step + 1}"
        super().__init__(
            f"{at}: numbers of {len(broken)} of its examples, like {broken[0]!r}, are infinite or "
            "NaN themselves: mend them, or leave these examples out"
            if broken
            else f"{at}: a lower learning rate may mend it"
        )
        self.broken = broken
        self.epoch, self.step = epoch, step


@dataclass
class Trained:
    """What a training was.

    Attributes:
        epochs: passes begun.
        steps: batches learnt from, in all.
        losses: the mean training loss of each epoch, while it was trained.
        accuracies: the share right of each epoch, while it was trained; NaN for real-valued labels.
            Of mixed pictures the label counts that weighs more.
        left_out: examples not trained on, by reason: `unreadable`, `no label`.
        seconds: since this call began.
    """

    epochs: int = 0
    steps: int = 0
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass
class Evaluated:
    """What a network says of the examples that can be read.

    Attributes:
        outputs: (m, classes) logits or (m,) values, float32.
        positions: (m,) whose they are.
        left_out: examples without outputs, by reason: `unreadable`.
    """

    outputs: NDArray[np.float32]
    positions: Positions
    left_out: dict[str, int]


def labelled(examples: Examples) -> NDArray[np.bool_]:
    """Return which examples have a label."""
    labels = np.asarray(examples.labels)
    has: NDArray[np.bool_] = labels != NO_LABEL if examples.classes else np.isfinite(labels)
    return has


def train(
    network: Network,
    examples: Examples,
    recipe: Recipe,
    *,
    seed: int,
    device: str = "cpu",
    after_epoch: Callable[[int, Network], None] | None = None,
    enough: Callable[[int, Network], bool] | None = None,
    at_batch: Callable[[Positions, Tensor, Tensor], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    resume: Checkpoint | None = None,
) -> Trained:
    """Train a network in place, and leave it in evaluation mode on the device.

    The same seed, machine and number of threads give the same weights to the last bit, also where
    the training was stopped and resumed. Torch's own random numbers are left as they were. Memory
    does not grow with the examples but for their order, 17 bytes each.

    Args:
        network: from `networks.registry.build`; its weights are changed.
        examples: the training set. Those without a label, or unreadable, are left out and counted.
        recipe: how.
        seed: of the order, of dropout and of augmentation.
        device: torch's name of it.
        after_epoch: called with the epoch, from 0, and the network, in evaluation mode.
        enough: asked likewise, after it; True ends the training before its time.
        at_batch: called after every step with positions (batch,), with what the network said before
            the step, in training mode, (batch, classes) or (batch,), and with labels (batch,).
        progress: called with examples done and examples in all, over all epochs.
        resume: where the training is put away, and gone on from.

    Raises:
        Diverged: a loss was not finite.
        UsageError: there is nothing to train on, or the checkpoint is of another training.
    """
    began = time.monotonic()
    has_label = labelled(examples)
    n = int(has_label.sum())
    if not n:
        raise UsageError("no example of the training set has a label: there is nothing to train on")
    network.module.to(device)
    per_epoch = len(cut(np.arange(n), recipe.batch))
    ends = total_steps(recipe, per_epoch)
    with seeded(seed), _same_kernels(device):
        training = _Training(network, examples, recipe, seed, device)
        at = training.at
        if resume:
            training.restore(resume)
        while (step := at.epoch * per_epoch + at.batch) < ends:
            network.module.train()
            order = examples.shuffled(np.random.default_rng((seed, at.epoch)))
            parts = cut(order[has_label[order]], recipe.batch)[at.batch :][: ends - step]
            for batch in batches(network, examples, parts):
                outputs, targets = training.step(batch, per_epoch)
                if at_batch and outputs is not None and targets is not None:
                    at_batch(batch.positions, outputs, targets)
                if progress:
                    done = at.epoch * n + min(at.batch * recipe.batch, n)
                    progress(done, min(recipe.epochs * n, ends * recipe.batch))
                if resume and at.batch < per_epoch and resume.due():
                    training.save(resume)
            network.module.eval()
            training.end_epoch()
            if after_epoch:
                after_epoch(at.epoch - 1, network)
            if enough and enough(at.epoch - 1, network):
                break
            if resume:
                training.save(resume)
    network.module.eval()
    return Trained(
        epochs=at.epoch,
        steps=at.steps,
        losses=at.losses,
        accuracies=at.accuracies,
        left_out={"unreadable": len(at.unreadable), "no label": len(examples) - n},
        seconds=time.monotonic() - began,
    )


@dataclass
class _Reached:
    """Where a training is, but for the network and the optimiser."""

    epoch: int = 0
    batch: int = 0  # of the epoch; this one comes next
    steps: int = 0
    loss: float = 0.0  # total over the examples of this epoch so far
    right: int = 0
    seen: int = 0
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    unreadable: dict[int, None] = field(default_factory=dict)


class _Training:
    """A training under way: what must be put away to go on, and what one step does."""

    def __init__(
        self, network: Network, examples: Examples, recipe: Recipe, seed: int, device: str
    ) -> None:
        self.module, self.examples, self.recipe = network.module, examples, recipe
        self.seed, self.device = seed, device
        self.optimiser = _optimiser(network.module, recipe)
        self.at = _Reached()
        self.of = {
            "network": network.name,
            "shapes": [list(weight.shape) for weight in network.module.parameters()],
            "recipe": {**dataclasses.asdict(recipe), "milestones": list(recipe.milestones)},
            "seed": seed,
            "examples": len(examples),
            "data": str(examples.source.get("sha256", "")),
        }

    def step(self, batch: Batch, per_epoch: int) -> tuple[Tensor | None, Tensor | None]:
        """Learn from a batch; return what the network said of it, and the labels.

        A batch of which nothing can be read is passed over.
        """
        at = self.at
        place = at.epoch * per_epoch + at.batch
        generator = np.random.default_rng((self.seed, at.epoch, at.batch))
        at.batch += 1
        at.unreadable.update(dict.fromkeys(batch.unreadable.tolist()))
        if not len(batch.positions):
            return None, None
        for group in self.optimiser.param_groups:
            group["lr"] = rate(self.recipe, place, per_epoch)
        targets = targets_of(self.examples, batch.positions, self.device)
        inputs = moved(batch.inputs, self.device)
        mix = mixed(self.recipe.augment, inputs, generator)
        outputs = _as_labels(self.module(mix.inputs if mix else inputs), targets)
        loss = _loss(outputs, targets, mix)
        value = float(loss.detach())
        if not math.isfinite(value):
            broken = batch.positions[_broken(inputs)].tolist()
            raise Diverged(at.epoch, place, value, [self.examples.id(one) for one in broken])
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        at.steps += 1
        at.seen += len(targets)
        at.loss += value * len(targets)
        outputs = outputs.detach()
        if not targets.is_floating_point():
            own = targets if mix is None or mix.weight >= 0.5 else targets[mix.partner]
            at.right += int((outputs.argmax(1) == own).sum())
        return outputs, targets

    def end_epoch(self) -> None:
        """Note how the epoch went, and begin the next."""
        at = self.at
        at.losses.append(at.loss / at.seen if at.seen else math.nan)
        share = at.right / at.seen if at.seen and self.examples.classes else math.nan
        at.accuracies.append(share)
        at.epoch, at.batch, at.loss, at.right, at.seen = at.epoch + 1, 0, 0.0, 0, 0

    def save(self, checkpoint: Checkpoint) -> None:
        """Put the training away."""
        state = {
            "of": self.of,
            "at": dataclasses.asdict(self.at),
            "module": self.module.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "random": torch.get_rng_state(),
        }
        if self.device.startswith("cuda"):
            state["random_cuda"] = torch.cuda.get_rng_state(self.device)
        checkpoint.save(state)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from where it was put away, if it was."""
        state = checkpoint.load(self.of)
        if state is None:
            return
        self.module.load_state_dict(state["module"])
        self.optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        if "random_cuda" in state and self.device.startswith("cuda"):
            torch.cuda.set_rng_state(state["random_cuda"], self.device)
        for name, value in state["at"].items():
            setattr(self.at, name, value)


def evaluate(
    network: Network, examples: Examples, *, batch: int = 256, device: str = "cpu"
) -> Evaluated:
    """Return what a network, in evaluation mode, says of every example that can be read.

    Whether an example has a label makes no difference. For sets whose outputs do not fit in memory
    there is `outputs_of`.
    """
    places, said, unreadable = [], [], 0
    for read, outputs in outputs_of(network, examples, batch=batch, device=device):
        unreadable += len(read.unreadable)
        if outputs is not None:
            places.append(read.positions)
            said.append(outputs.cpu().numpy())
    return Evaluated(
        np.concatenate(said) if said else np.empty((0, len(examples.classes)), np.float32),
        np.concatenate(places) if places else np.empty(0, np.int64),
        {"unreadable": unreadable},
    )


def outputs_of(
    network: Network, examples: Examples, *, batch: int = 256, device: str = "cpu"
) -> Iterator[tuple[Batch, Tensor | None]]:
    """Yield each batch, in the order of the examples, with what the network says of it.

    Outputs are (batch, classes), or (batch,) for real-valued labels, on the device; None where
    nothing of the batch can be read.
    """
    module = network.module.to(device).eval()
    n = len(examples)
    parts = (np.arange(start, min(start + batch, n)) for start in range(0, n, batch))
    for read in batches(network, examples, parts):
        outputs = None
        if len(read.positions):
            with torch.no_grad(), _same_kernels(device):
                outputs = module(moved(read.inputs, device))
            if not examples.classes:
                outputs = outputs.reshape(-1)
        yield read, outputs


def _broken(inputs: Inputs) -> NDArray[np.bool_]:
    """Return which examples of a batch hold numbers that are not finite, (batch,)."""
    given = list(inputs.values()) if isinstance(inputs, dict) else [inputs]
    finite = [one.flatten(1).isfinite().all(1) if one.ndim > 1 else one.isfinite() for one in given]
    broken: NDArray[np.bool_] = ~torch.stack(finite).all(0).cpu().numpy()
    return broken


def _as_labels(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return outputs in the shape that labels want: (batch, 1) as (batch,) for real values."""
    return outputs.reshape(-1) if targets.is_floating_point() else outputs


def _loss(outputs: Tensor, targets: Tensor, mix: Mixed | None) -> Tensor:
    """Return the mean loss of a batch: cross-entropy, or squared error for real values."""
    loss = functional.mse_loss if targets.is_floating_point() else functional.cross_entropy
    if mix is None:
        return loss(outputs, targets)
    other = targets[torch.from_numpy(mix.partner).to(targets.device)]
    return mix.weight * loss(outputs, targets) + (1 - mix.weight) * loss(outputs, other)


def _optimiser(module: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    if not weights:
        raise UsageError("the network has no weights that can be trained: all are frozen, or none")
    if recipe.optimiser == "sgd":
        return torch.optim.SGD(
            weights, lr=recipe.lr, momentum=recipe.momentum, weight_decay=recipe.weight_decay
        )
    kind = torch.optim.AdamW if recipe.optimiser == "adamw" else torch.optim.Adam
    return kind(weights, lr=recipe.lr, weight_decay=recipe.weight_decay)


def _same_kernels(device: str) -> AbstractContextManager[Any]:
    """Have a GPU choose the same convolutions every time."""
    if not device.startswith("cuda"):
        return nullcontext()
    return torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True)
