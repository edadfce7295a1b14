"""Wrong labels, estimated by confident learning (Northcutt, Jiang and Chuang 2021, JAIR 70).

From probabilities that a network gave examples it was not trained on (out of fold), in passes over
parts of the set, so that (n, classes) are never held at once:

1. the threshold of class j is the mean probability of j of the examples labelled j
   (`ThresholdSums`);
2. an example counts as truly j where its probability of j reaches j's threshold, and is the highest
   of those that reach theirs; label against truth, counted, is the *confident joint*
   (`confident_joint`). Scaled to how many have each label, it is the estimated joint;
3. of label i, so many as the joint says are truly j are suspects: those of the largest margin of j
   over i ("prune by noise rate", section 3.2 there, method 4: the field's default), if j or
   another class is more probable than i at all (`suspects`).

Hard examples and wrong labels look alike to a network: a suspect is to be looked at, not a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.lowresource.examples import NO_LABEL
from hardset.lowresource.ranks import Floats
from hardset.metrics.interval import wilson

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """Some examples with out-of-fold probabilities.

    Attributes:
        index: (m,): which examples of the set.
        labels: (m,): their given labels; those with NO_LABEL are passed over.
        probabilities: (m, classes): rows that sum to 1; rows that are not finite are passed over.
    """

    index: Ints
    labels: Ints
    probabilities: NDArray[np.floating[Any]]

    def usable(self) -> Part:
        """Give the examples that have a label and finite probabilities, in float64."""
        probabilities = np.asarray(self.probabilities, dtype=np.float64)
        good = (self.labels > NO_LABEL) & np.isfinite(probabilities).all(axis=1)
        return Part(self.index[good], self.labels[good], probabilities[good])


Parts = Callable[[], Iterable[Part]]
"""Gives the same parts at every call: they are passed over three times."""


class ThresholdSums:
    """The first pass: the mean self-confidence of each class.

    Args:
        classes: how many there are.
    """

    def __init__(self, classes: int) -> None:
        self.sums = np.zeros(classes)
        self.labelled = np.zeros(classes, dtype=np.int64)

    def add(self, part: Part) -> None:
        """Count the examples of one part."""
        part = part.usable()
        many = len(self.sums)
        own = part.probabilities[np.arange(len(part.labels)), part.labels]
        self.sums += np.bincount(part.labels, weights=own, minlength=many)
        self.labelled += np.bincount(part.labels, minlength=many)

    def thresholds(self) -> Floats:
        """Give t_j, (classes,); infinite where no example is labelled j: none counts as j."""
        means = self.sums / np.maximum(self.labelled, 1)
        return np.where(self.labelled > 0, means, np.inf)


class Share(NamedTuple):
    """An estimated share, with a 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ConfidentJoint:
    """How many confident examples of each label (rows) are truly of each class (columns).

    Attributes:
        counts: (classes, classes).
        labelled: (classes,): all examples of each label, confident or not.
        thresholds: (classes,).
    """

    counts: Ints
    labelled: Ints
    thresholds: Floats

    @property
    def unlearned(self) -> Ints:
        """Labels none of whose examples counts for its own class: nothing is known of them.

        A label always has a confident example, since one reaches the mean of its own class; but
        each may have another class that is more probable and reached as well. All labels of a
        class that the network did not learn, a rare one mostly, then count as wrong.
        """
        return np.flatnonzero((np.diagonal(self.counts) == 0) & (self.labelled > 0))

    def calibrated(self) -> Floats:
        """Give the joint in examples, (classes, classes): rows sum to how many have that label."""
        sure = self.counts.sum(axis=1)
        scaled: Floats = self.counts * (self.labelled / np.maximum(sure, 1))[:, None]
        return scaled

    def share(self, level: float = 0.95) -> Share:
        """Estimate the share of wrong labels: what of the calibrated joint is off its diagonal.

        The interval is Wilson's with as many trials as the estimate's variance is worth: each
        label's share is a binomial one of its confident examples. It says how far the number of
        confident examples leaves the estimate to chance, and leaves out the network's own errors,
        which count as wrong labels where it is sure of them. On simulated noise of 10 % with exact
        probabilities it covers that rate in 93 to 97 % where classes hardly overlap (99.8 % of them
        can be told apart). Where they do, the estimate is too high by more than the interval: at
        90 %, it is 13 % for 10 %, and 2 % for none.

        Raises:
            ValueError: there is no labelled example.
        """
        n = int(self.labelled.sum())
        if not n:
            raise ValueError("no example has a label and finite probabilities")
        sure = self.counts.sum(axis=1)
        wrong = sure - np.diagonal(self.counts)
        weights = self.labelled / n
        value = float(weights @ (wrong / np.maximum(sure, 1)))
        # Labels with no confident wrong example are not known to have none: two more, one wrong.
        shares = (wrong + 1) / (sure + 2)
        variance = float(weights**2 @ (shares * (1 - shares) / np.maximum(sure, 1)))
        middle = float(weights @ shares)
        trials = min(middle * (1 - middle) / variance, float(sure.sum())) if sure.any() else 1.0
        low, high = wilson(value * max(trials, 1.0), max(trials, 1.0), level)
        return Share(value, low, high)


@dataclass(frozen=True)
class Suspects:
    """Examples whose label is probably wrong, by index."""

    index: Ints
    """(m,), rising."""
    suggested: Ints
    """(m,): the most probable class, never the given one."""
    margin: Floats
    """(m,): its probability less that of the given label: the larger, the more suspect."""


def confident_joint(parts: Parts, classes: int) -> ConfidentJoint:
    """Count the confident joint in two passes over the set.

    Args:
        parts: gives the parts, at every call anew.
        classes: how many there are.
    """
    sums = ThresholdSums(classes)
    for part in parts():
        sums.add(part)
    thresholds = sums.thresholds()
    counts = np.zeros(classes * classes, dtype=np.int64)
    for part in parts():
        part = part.usable()
        label, p = part.labels, part.probabilities
        reached = np.where(p >= thresholds - _ROUNDING, p, -1.0)
        truth = reached.argmax(axis=1)
        sure = reached[np.arange(len(p)), truth] >= 0
        counts += np.bincount(label[sure] * classes + truth[sure], minlength=len(counts))
    return ConfidentJoint(counts.reshape(classes, classes), sums.labelled, thresholds)


def right_of(parts: Parts) -> int:
    """Count the examples whose label is the most probable class, in one pass."""
    usable = (part.usable() for part in parts())
    return sum(int((part.probabilities.argmax(axis=1) == part.labels).sum()) for part in usable)


def suspects(parts: Parts, joint: ConfidentJoint) -> Suspects:
    """Find the examples to suspect, by noise rate, in one pass.

    Args:
        parts: the same that the joint was counted from.
        joint: as of `confident_joint`.
    """
    classes = len(joint.labelled)
    quotas = _whole(joint.calibrated())
    np.fill_diagonal(quotas, 0)
    quota = quotas.ravel()
    least = np.full(len(quota), -np.inf)  # what no longer is among the first of its cell
    kept = _Candidates.none()
    for part in parts():
        part = part.usable()
        p, own = part.probabilities, part.labels
        margins = p - p[np.arange(len(p)), own][:, None]
        cells = own[:, None] * classes + np.arange(classes)
        suggested = p.argmax(axis=1)
        doubted = (suggested != own)[:, None]
        near = doubted & (quota[cells] > 0) & (margins >= least[cells])
        row = np.nonzero(near)[0]
        new = _Candidates(cells[near], margins[near], part.index[row], suggested[row],
                          margins[row, suggested[row]])  # fmt: skip
        kept = kept.joined(new).first(quota)
        full = np.bincount(kept.cell, minlength=len(quota)) == quota
        lowest = np.full(len(quota), np.inf)
        np.minimum.at(lowest, kept.cell, kept.margin)
        least = np.where(full & (quota > 0), lowest, -np.inf)
    index, first = np.unique(kept.example, return_index=True)
    return Suspects(index, kept.suggested[first], kept.most[first])


class _Candidates(NamedTuple):
    """Examples that may be suspects, once for each cell of the joint that they may be of."""

    cell: Ints
    margin: Floats  # of the cell's class over the label
    example: Ints
    suggested: Ints
    most: Floats  # the margin of the class suggested

    @classmethod
    def none(cls) -> _Candidates:
        whole, real = np.empty(0, np.int64), np.empty(0)
        return cls(whole, real, whole, whole, real)

    def joined(self, other: _Candidates) -> _Candidates:
        columns: list[Any] = [np.concatenate(two) for two in zip(self, other, strict=True)]
        return _Candidates(*columns)

    def first(self, quota: Ints) -> _Candidates:
        """Keep of each cell as many as its quota, the largest margins, ties by index."""
        order = np.lexsort((self.example, -self.margin, self.cell))
        cell = self.cell[order]
        place = np.arange(len(cell)) - np.searchsorted(cell, cell)
        stay = order[place < quota[cell]]
        columns: list[Any] = [column[stay] for column in self]
        return _Candidates(*columns)


_ROUNDING = 1e-12  # a class whose probabilities are all one is at its own threshold


def _whole(joint: Floats) -> Ints:
    """Round rows to whole numbers of the same sums: the largest remainders go up."""
    whole = np.floor(joint + _ROUNDING).astype(np.int64)
    lacking = np.rint(joint.sum(axis=1)).astype(np.int64) - whole.sum(axis=1)
    places = np.argsort(np.argsort(whole - joint, axis=1, kind="stable"), axis=1, kind="stable")
    whole += places < lacking[:, None]
    return whole
