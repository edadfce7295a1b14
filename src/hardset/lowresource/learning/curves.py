"""Curves over k: how a figure grows with the number of examples a label."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import exp, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardset.lowresource.learning.gaps import spread
from hardset.metrics.interval import student

Floats = NDArray[np.float64]


def curve(by_k: Mapping[int, Floats], level: float = 0.95) -> list[dict[str, Any]]:
    """Give a point for each k, in their order: mean over seeds, with Student's interval.

    Args:
        by_k: k to (seeds,), a figure for each seed.
        level: the two-sided coverage.

    Returns:
        k, n, mean, low, high of each; no interval from one seed, or where all are alike; no point
        from none.
    """
    points: list[dict[str, Any]] = []
    for k in sorted(by_k):
        n, mean, std, _ = spread(by_k[k])
        if mean is None:
            continue
        reach = None if not std else student(level, n - 1) * std / sqrt(n)
        low, high = (None, None) if reach is None else (mean - reach, mean + reach)
        points.append({"k": k, "n": n, "mean": mean, "low": low, "high": high})
    return points


def worth(figure: float, points: list[dict[str, Any]]) -> float | None:
    """Say how many examples a label on a curve give a figure: between its points, by log k.

    Of the first stretch that reaches it. None where the figure is not between the curve's lowest
    and highest k's: nothing is said beyond them.
    """
    for before, after in pairwise(points):
        low, high = before["mean"], after["mean"]
        if min(low, high) <= figure <= max(low, high):
            share = 0.0 if low == high else (figure - low) / (high - low)
            return exp(log(before["k"]) + share * (log(after["k"]) - log(before["k"])))
    return None
