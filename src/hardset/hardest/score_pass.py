"""The pass over a trained predictor that scores every example: a table a part.

The unit is a part, made of fixed batches of positions. What a part says depends on the predictor,
the part and the number of threads alone, and on nothing that was computed before it: so it comes
out the same, to the last bit, on one machine or many, stopped or not. Rows that cannot be scored
are left out of their batch, which is the same everywhere, since they are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor

from hardset.hardest.parts import Parts
from hardset.lowresource.batches import Batch, batches, moved, targets_of
from hardset.lowresource.difficulty import SCORES
from hardset.lowresource.dynamics import el2n
from hardset.lowresource.examples import Examples, Positions, Unreadable
from hardset.lowresource.losses import example_losses
from hardset.lowresource.network import Inputs, Network
from hardset.lowresource.norms import GradientNorms, paper_score
from hardset.lowresource.seeding import seeded
from hardset.lowresource.training import labelled

Mode = Literal["eval", "paper"]
Columns = dict[str, NDArray[np.float64]]
SCORED, NOT_FINITE, UNREADABLE, NO_LABEL = STATES = (
    "scored",
    "not finite",
    "unreadable",
    "no label",
)


@dataclass
class ScorePass:
    """Scores examples by one trained predictor.

    Attributes:
        network: trained, on the CPU.
        examples: the set.
        scores: names in `SCORES`; those of `epochs` are taken from `epochs`.
        epochs: columns (n,) of the scores that training gave.
        batch: examples at once; one in the paper's mode, whatever is said here.
        mode: `eval` or `paper`.
        device: torch's name of it.
        threads: that torch computes with; 0 leaves them as they are.
        seed: of dropout in the paper's mode.
    """

    network: Network
    examples: Examples
    scores: tuple[str, ...]
    epochs: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    batch: int = 256
    mode: Mode = "eval"
    device: str = "cpu"
    threads: int = 0
    seed: int = 0
    said: list[str] = field(default_factory=list, init=False)
    """What gradient norms said of layers that have no quick way."""

    def __post_init__(self) -> None:
        self._computed = [name for name in self.scores if SCORES[name].needs != "epochs"]
        self._gradients = bool({"gradient_norm", "grand"} & set(self._computed))
        if self.mode == "paper":
            self.batch = 1
        module = self.network.module.to(self.device)
        module.train(self.mode == "paper")
        self._buffers = {name: one.clone() for name, one in module.named_buffers()}

    def run(self, parts: Parts, numbers: Iterable[int]) -> Iterator[tuple[int, pl.DataFrame]]:
        """Yield the table of each of some parts, as each is done.

        Columns: `index`, `id`, `label`, `state`, `reason`, the scores, `predicted` and
        `probability` (of the true class).
        """
        has_label = labelled(self.examples)
        todo = list(numbers)
        pieces = [(number, piece) for number in todo for piece in self._cut(parts, number)]
        asked = [piece[has_label[piece]] for _, piece in pieces]
        if self.threads:
            torch.set_num_threads(self.threads)
        read = batches(self.network, self.examples, asked)
        ready = zip((number for number, _ in pieces), read, strict=True)
        for number, group in groupby(ready, key=lambda pair: pair[0]):
            yield number, self._part(parts.range(number), (batch for _, batch in group))

    def _cut(self, parts: Parts, number: int) -> list[Positions]:
        within = parts.range(number)
        starts = range(within.start, within.stop, self.batch)
        return [np.arange(start, min(start + self.batch, within.stop)) for start in starts]

    def _part(self, within: range, read: Iterable[Batch]) -> pl.DataFrame:
        rows = _Rows(self.examples, within, self.scores)
        # Each part begins from the same state: chance, running statistics, how norms are measured.
        self._restore()
        self._norms = GradientNorms(self.network.module) if self._by_norms else None
        chance = int(np.random.SeedSequence((self.seed, within.start)).generate_state(1)[0])
        with seeded(chance), self._norms or nullcontext(), _same_kernels(self.device):
            for batch in read:
                rows.unreadable(batch.unreadable)
                if len(batch.positions):
                    rows.fill(batch.positions, *self._score(batch))
        if self._norms:
            self.said += [one for one in self._norms.said() if one not in self.said]
        return rows.frame()

    @property
    def _by_norms(self) -> bool:
        return self._gradients and self.mode == "eval"

    def _restore(self) -> None:
        with torch.no_grad():
            for name, buffer in self.network.module.named_buffers():
                buffer.copy_(self._buffers[name])

    def _score(self, batch: Batch) -> tuple[Columns, Tensor, Tensor]:
        """Return the scores of a batch, what the network says of it, and its labels."""
        inputs = moved(_aligned(batch.inputs), self.device)
        targets = targets_of(self.examples, batch.positions, self.device)
        if self.mode == "paper":
            outputs, losses, squares = self._alone(inputs, targets)
        elif self._norms:
            outputs, losses, squares = self._norms(inputs, targets)
        else:
            with torch.no_grad():
                outputs = self.network.module(inputs)
                losses = example_losses(outputs, targets)
            squares = losses
        found = {"loss": losses, "gradient_norm": squares, "grand": squares.double().sqrt()}
        columns = {
            name: found[name].double().cpu().numpy() for name in self._computed if name in found
        }
        if "el2n" in self._computed:
            columns["el2n"] = el2n(outputs, targets)
        for name in self.scores:
            if name in self.epochs:
                columns[name] = self.epochs[name][batch.positions]
        return columns, outputs, targets

    def _alone(self, inputs: Inputs, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Score a batch of one as the authors do, in training mode."""
        module = self.network.module
        if not self._gradients:
            with torch.no_grad():
                outputs = module(inputs)
            loss = _paper_loss(outputs, targets)
            return outputs, loss.reshape(1), loss.reshape(1)
        said: list[Tensor] = []
        hook = module.register_forward_hook(lambda _, __, outputs: said.append(outputs.detach()))
        try:
            loss_and_square = paper_score(module, inputs, targets)
        finally:
            hook.remove()
        losses, squares = torch.tensor([loss_and_square], dtype=torch.float64).T
        return said[0], losses, squares


def _paper_loss(outputs: Tensor, target: Tensor) -> Tensor:
    """Return torch's own mean loss of one example, as `paper_score` does."""
    if target.is_floating_point():
        return torch.nn.functional.mse_loss(outputs.reshape(target.shape), target)
    return torch.nn.functional.cross_entropy(outputs, target)


class _Rows:
    """The rows of one part, filled batch by batch."""

    def __init__(self, examples: Examples, within: range, scores: tuple[str, ...]) -> None:
        self.examples, self.within, self.scores = examples, within, scores
        here = slice(within.start, within.stop)
        self.labels = np.asarray(examples.labels[here])
        self.labelled = self.labels >= 0 if examples.classes else np.isfinite(self.labels)
        n = len(within)
        self.states = np.where(self.labelled, STATES.index(SCORED), STATES.index(NO_LABEL))
        self.reasons: dict[int, str] = {}
        self.columns = {name: np.full(n, np.nan) for name in (*scores, "predicted", "probability")}

    def unreadable(self, positions: Positions) -> None:
        """Note what is wrong with examples that could not be read; asked again, they say it."""
        if not len(positions):
            return
        self.states[positions - self.within.start] = STATES.index(UNREADABLE)
        for position, content in zip(positions, self.examples.fetch(positions), strict=True):
            reason = content.reason if isinstance(content, Unreadable) else "not readable at first"
            self.reasons[int(position) - self.within.start] = reason

    def fill(self, positions: Positions, columns: Columns, outputs: Tensor, labels: Tensor) -> None:
        """Take in the scores of a batch."""
        at = positions - self.within.start
        finite = np.ones(len(at), np.bool_)
        for name, values in columns.items():
            self.columns[name][at] = values
            good = np.isfinite(values)
            for row in np.flatnonzero(finite & ~good):
                self.reasons[int(at[row])] = _trouble(name, values[row])
            finite &= good
        self.states[at[~finite]] = STATES.index(NOT_FINITE)
        if labels.is_floating_point():
            self.columns["predicted"][at] = outputs.reshape(-1).double().cpu().numpy()
        else:
            self.columns["predicted"][at] = outputs.argmax(1).cpu().numpy()
            probabilities = outputs.double().softmax(1).gather(1, labels[:, None])
            self.columns["probability"][at] = probabilities[:, 0].cpu().numpy()

    def frame(self) -> pl.DataFrame:
        """Return the part's table."""
        within, real = self.within, not self.examples.classes
        names = np.array(STATES, dtype=object)
        columns: dict[str, Any] = {
            "index": np.arange(within.start, within.stop),
            "id": [self.examples.id(position) for position in within],
            "label": pl.Series(self.labels).set(pl.Series(~self.labelled), None),
            "state": pl.Series(names[self.states], dtype=pl.String),
            "reason": [self.reasons.get(row, "") for row in range(len(within))],
        }
        scored = pl.Series(self.states == STATES.index(SCORED))
        for name, values in self.columns.items():
            column = pl.Series(values, nan_to_null=True)
            if name == "predicted" and not real:
                column = column.cast(pl.Int64)
            if name in self.scores:  # an infinite loss is no score either
                column = column.set(~scored & column.is_infinite(), None)
            columns[name] = column
        return pl.DataFrame(columns)


def _trouble(name: str, value: float) -> str:
    if SCORES[name].needs == "epochs" and np.isnan(value):
        return f"{name} is not known: training never came to this example"
    return f"{name} is {value:g}"


def _aligned(inputs: Inputs) -> Inputs:
    """Copy inputs to where torch would put them: sums may turn out otherwise elsewhere in memory.

    A batch that comes from numpy or another process lies at whatever address it got, and matrix
    libraries choose their kernels by that.
    """
    if isinstance(inputs, dict):
        return {name: tensor.clone() for name, tensor in inputs.items()}
    return inputs.clone()


def _cuda(device: str) -> bool:
    return device.startswith("cuda")


def _same_kernels(device: str) -> AbstractContextManager[Any]:
    """Have a GPU choose the same convolutions every time."""
    if not _cuda(device):
        return nullcontext()
    return torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True)
