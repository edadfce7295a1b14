"""What all trials together say: figures over seeds, gaps, curves, the part of augmentation.

A trial that failed is no zero and no silence: it is among `failed`, and every figure says how many
seeds, or pairs of them, it is of, out of how many were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.lowresource.learning import correlations
from hardset.lowresource.learning.curves import curve, worth
from hardset.lowresource.learning.gaps import no_narrower, paired, spread, two_way
from hardset.lowresource.learning.results import (
    ACCURACY,
    NONE,
    PEARSON,
    RANDOM,
    SPEARMAN,
    Result,
    Trial,
)

Floats = NDArray[np.float64]

INTERVALS = {
    "low, high": "95 %, Student's t over pairs of one seed: other draws of the random set and "
    "other trainings, with these picked examples and on this test set",
    "two_way_low, two_way_high": "95 %, over seeds and test examples at once: on another test set "
    "of this size and kind too; never narrower than low, high",
    "paper_low, paper_high": "as low, high, of the best test figure over epochs, which the paper "
    "reports: chosen by the test set itself, so optimistic",
}


class Asked(NamedTuple):
    """The trials asked for: every learner, k, set, augmentation and seed with each other."""

    learners: tuple[str, ...]
    ks: tuple[int, ...]
    sets: tuple[str, ...]
    """With `random`."""
    augments: tuple[str, ...]
    seeds: int

    def trials(self) -> list[Trial]:
        """Give them all, seed by seed: what is there early is of every kind."""
        return [
            Trial(learner, k, set_, augment, seed)
            for seed, k, learner, augment, set_ in product(
                range(self.seeds), self.ks, self.learners, self.augments, self.sets
            )
        ]


def metrics(
    asked: Asked,
    results: Iterable[Result],
    failed: Mapping[Trial, str],
    targets: Floats | None = None,
    *,
    n_test: int,
) -> dict[str, Any]:
    """Work out what `metrics.json` holds.

    Args:
        asked: the trials asked for.
        results: those that are finished.
        failed: those that failed, and why.
        targets: (test examples,), where labels are real numbers; then everything is of Pearson's
            correlation, and under `also` of Spearman's.
        n_test: test examples that could be read.
    """
    by_trial = {result.trial: result for result in results}
    measure = ACCURACY if targets is None else PEARSON
    made = {
        "measure": measure,
        "learners": list(asked.learners),
        "ks": list(asked.ks),
        "sets": list(asked.sets),
        "augments": list(asked.augments),
        "seeds": asked.seeds,
        "n_test": n_test,
        **_of(measure, asked, by_trial, targets),
        "intervals": INTERVALS,
        "failed": [{**trial._asdict(), "reason": why} for trial, why in failed.items()],
    }
    if targets is not None:
        made["also"] = {"measure": SPEARMAN, **_of(SPEARMAN, asked, by_trial, targets)}
    return made


def _of(
    measure: str, asked: Asked, results: Mapping[Trial, Result], targets: Floats | None
) -> dict[str, Any]:
    """Work out every figure of one measure."""
    sums = _Figures(measure, asked, results, targets)
    cells = list(product(asked.learners, asked.ks, asked.sets, asked.augments))
    return {
        "summary": [sums.summary(*cell) for cell in cells],
        "gaps": [sums.gap(*cell) for cell in cells if cell[2] != RANDOM],
        "augmentation": [sums.augmentation(*cell) for cell in cells if cell[3] != NONE]
        if NONE in asked.augments
        else [],
        "curves": sums.curves() if len(asked.ks) > 1 else [],
    }


class _Figures:
    def __init__(
        self,
        measure: str,
        asked: Asked,
        results: Mapping[Trial, Result],
        targets: Floats | None,
    ) -> None:
        self.measure, self.asked, self.results, self.targets = measure, asked, results, targets

    def summary(self, learner: str, k: int, set_: str, augment: str) -> dict[str, Any]:
        there = self._there(learner, k, set_, augment)
        last = spread(np.array([result.last(self.measure) for result in there]))
        best = spread(np.array([result.best(self.measure) for result in there]))
        return {
            **{"learner": learner, "k": k, "set": set_, "augment": augment},
            **last._asdict(),
            "asked": self.asked.seeds,
            "train_mean": spread(np.array([result.epochs[-1].train for result in there])).mean,
            **{f"paper_{name}": value for name, value in best._asdict().items() if name != "n"},
        }

    def gap(self, learner: str, k: int, set_: str, augment: str) -> dict[str, Any]:
        first = Trial(learner, k, set_, augment, 0)
        found = self._difference(first, first._replace(set=RANDOM), "gap")
        return {"learner": learner, "k": k, "augment": augment, "set": set_, **found}

    def augmentation(self, learner: str, k: int, set_: str, augment: str) -> dict[str, Any]:
        first = Trial(learner, k, set_, augment, 0)
        found = self._difference(first, first._replace(augment=NONE), "difference")
        return {"learner": learner, "k": k, "set": set_, "augment": augment, **found}

    def curves(self) -> list[dict[str, Any]]:
        """Lay figures out over k, and say what a picked set's are worth in random examples."""
        made = []
        for learner, augment in product(self.asked.learners, self.asked.augments):
            lines = {set_: self._curve(learner, set_, augment) for set_ in self.asked.sets}
            for set_, points in lines.items():
                if set_ != RANDOM:
                    for point in points:
                        point["random_k"] = worth(point["mean"], lines.get(RANDOM, []))
                made.append({"learner": learner, "set": set_, "augment": augment, "points": points})
        return made

    def _curve(self, learner: str, set_: str, augment: str) -> list[dict[str, Any]]:
        by_k = {k: self._there(learner, k, set_, augment) for k in self.asked.ks}
        return curve(
            {
                k: np.array([result.last(self.measure) for result in there])
                for k, there in by_k.items()
            }
        )

    def _there(self, learner: str, k: int, set_: str, augment: str) -> list[Result]:
        trials = (Trial(learner, k, set_, augment, seed) for seed in range(self.asked.seeds))
        return [self.results[trial] for trial in trials if trial in self.results]

    def _difference(self, first: Trial, second: Trial, name: str) -> dict[str, Any]:
        """Hold one kind of trial against another, over the seeds that have both."""
        pairs = []
        for seed in range(self.asked.seeds):
            both = first._replace(seed=seed), second._replace(seed=seed)
            if all(trial in self.results for trial in both):
                pairs.append((self.results[both[0]], self.results[both[1]]))

        def of(figure: Callable[[Result], float]) -> tuple[Floats, Floats]:
            return tuple(np.array([figure(one[side]) for one in pairs]) for side in (0, 1))  # type: ignore[return-value]

        last = paired(*of(lambda result: result.last(self.measure)))
        best = paired(*of(lambda result: result.best(self.measure)))
        both_ways = no_narrower(two_way(self._by_example(pairs)), last)
        return {
            **{name: last.gap, "low": last.low, "high": last.high},
            **{"two_way_low": both_ways.low, "two_way_high": both_ways.high},
            **{"n": last.n, "asked": self.asked.seeds},
            **{f"paper_{name}": best.gap, "paper_low": best.low, "paper_high": best.high},
        }

    def _by_example(self, pairs: Sequence[tuple[Result, Result]]) -> Floats:
        """Give the differences by seed and test example, (pairs, test examples)."""
        rows = [self._credits(first) - self._credits(second) for first, second in pairs]
        return np.array(rows) if rows else np.empty((0, 0))

    def _credits(self, result: Result) -> Floats:
        if self.targets is None:
            return result.outputs
        correlation = correlations.pearson if self.measure == PEARSON else correlations.spearman
        value, influence = correlation(result.outputs, self.targets)
        own = 0.0 if np.isnan(value) else value  # where it says the same of every example
        return own + influence
