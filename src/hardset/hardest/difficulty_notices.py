"""What a reader of scores should know of the networks they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hardset.hardest.predictors import Predictor
from hardset.lowresource.examples import Examples
from hardset.lowresource.training import labelled

OWN = 0.05  # of labels: a network with more errors of its own is no judge of few wrong labels
LOW = 0.8  # of a weaker network's errors, most pass for wrong labels
_NOTHING = 0.1  # of the way from chance to all right: less is next to nothing


def chance(examples: Examples) -> float | None:
    """Return the share of the largest class: what is right of one answer to everything.

    None where labels are real numbers, or there are none.
    """
    has = labelled(examples)
    if not examples.classes or not has.any():
        return None
    return float(np.bincount(np.asarray(examples.labels)[has]).max() / has.sum())


def variance(examples: Examples) -> float | None:
    """Return the variance of real-valued labels: the loss of one answer to everything.

    None where labels are of classes, or there are none.
    """
    has = labelled(examples)
    if examples.classes or not has.any():
        return None
    return float(np.var(np.asarray(examples.labels, dtype=np.float64)[has]))


def failure(one: Mapping[str, Any]) -> str:
    """Say what failed, and why, in a sentence."""
    seed = "" if one["seed"] is None else f", seed {one['seed']}"
    return f"{one['predictor']}{seed} failed: {one['reason']}"


def of_noise(said: Mapping[str, Any]) -> list[str]:
    """Warn where an estimate of wrong labels may mostly count the network's own errors.

    Labels that the network does not give, and that are not estimated to be wrong, are errors of its
    own or hard; where these are more than the estimate, and many, there is no telling them apart.
    Nor is there where it is right on few.

    Args:
        said: what `noise.json` says.
    """
    right, wrong = said["out_of_fold_accuracy"]["value"], said["share"]["value"]
    if right >= LOW and 1 - right - wrong <= max(wrong, OWN):
        return []
    return [
        f"label noise: {said['predictor']} is right on {100 * right:.1f} % of the examples that it "
        f"was not trained on; that it disagrees with {100 * wrong:.1f} % of the labels may mostly "
        "be its own errors, which the interval leaves out: a stronger --predictor tells more"
    ]


def of_trainings(
    predictors: Mapping[tuple[str, int], Predictor],
    least: float | None,
    spread: float | None = None,
) -> list[str]:
    """Say which predictors learned next to nothing, so that what they find hard means little.

    Args:
        predictors: by name and seed.
        least: the share of the largest class, as `chance` has it.
        spread: where labels are real numbers, what `variance` has.
    """
    if spread:
        return _of_regressions(predictors, spread)
    if least is None or least >= 1:
        return []
    said = []
    for (name, seed), one in predictors.items():
        right = next(reversed(one.training.get("accuracies") or ()), None)
        if one.diverged or right is None or math.isnan(right):
            continue
        if right < least + _NOTHING * (1 - least):
            said.append(
                f"{name}, seed {seed}, has learned next to nothing: {100 * right:.1f} % right in "
                f"its last epoch of training, where the largest class alone is {100 * least:.1f} "
                "%: its scores say little of difficulty; more --epochs may mend it"
            )
    return said


def _of_regressions(predictors: Mapping[tuple[str, int], Predictor], spread: float) -> list[str]:
    """Say which predictors of real numbers explain next to nothing of them."""
    said = []
    for (name, seed), one in predictors.items():
        loss = next(reversed(one.training.get("losses") or ()), None)
        if one.diverged or loss is None or math.isnan(loss):
            continue
        if 1 - loss / spread < _NOTHING:
            said.append(
                f"{name}, seed {seed}, has learned next to nothing: its loss in its last epoch of "
                f"training is {loss:.3g}, where the mean label alone has {spread:.3g}: its scores "
                "say little of difficulty; more --epochs or another --lr may mend it"
            )
    return said
