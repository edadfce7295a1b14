"""Whether a judge favours long replies: the rank correlation of length with verdict or grade."""

from __future__ import annotations

from math import atanh, sqrt, tanh
from typing import NamedTuple

import numpy as np

from hardset.metrics.bootstrap import Floats
from hardset.metrics.coefficients import LEVEL, Coefficient, Labels, cluster_codes
from hardset.metrics.interval import student

VERBOSITY = "verbosity correlation"


def verbosity(
    lengths: Floats, votes: Floats, clusters: Labels | None = None, *, name: str = VERBOSITY
) -> Coefficient:
    """Correlate the replies' lengths with their verdicts or grades, by ranks (Spearman).

    Ties have their average rank. The interval is Fisher's z with the spread that the units'
    influence on the coefficient has over clusters, ranks included; it takes no resamples.

    Args:
        lengths: (units,), of the replies, in any unit.
        votes: (units,), verdicts or grades; NaN for none.
        clusters: (units,), labels; None: every unit by itself.
        name: of the coefficient.

    Returns:
        None as value where all lengths or all votes are the same.
    """
    votes = np.asarray(votes, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    both = ~np.isnan(votes) & ~np.isnan(lengths)
    codes = cluster_codes(clusters, len(votes))[both]
    x, y = lengths[both], votes[both]
    units = len(x)
    about = "Spearman's rank correlation of the reply's length with the verdict; ties averaged"

    def made(value: float | None, low: float | None, high: float | None, how: str) -> Coefficient:
        return Coefficient(
            name=name, value=value, low=low, high=high, units=units, method=how, about=about
        )

    if units < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return made(None, None, None, "undefined")
    ranks = _middle(x), _middle(y)
    xy, xx, yy = (_covariance(*pair) for pair in (ranks, ranks[:1] * 2, ranks[1:] * 2))
    value = xy.value / sqrt(xx.value * yy.value)
    pull = xy.pull - value / 2 * (
        xx.pull * sqrt(yy.value / xx.value) + yy.pull * sqrt(xx.value / yy.value)
    )
    by_cluster = np.bincount(codes, weights=pull)
    clusters_seen = len(np.unique(codes))
    if clusters_seen < 2 or abs(value) > 1 - 1e-12:
        return made(value, None, None, "no interval: one cluster, or a perfect correlation")
    spread = sqrt(float(by_cluster @ by_cluster)) / units / sqrt(xx.value * yy.value)
    reach = student(LEVEL, clusters_seen - 1) * sqrt(clusters_seen / (clusters_seen - 1))
    reach *= spread / (1 - value**2)
    low, high = tanh(atanh(value) - reach), tanh(atanh(value) + reach)
    return made(value, low, high, "Fisher's z, spread over clusters")


class _Ranked(NamedTuple):
    """Values and their middle ranks as shares of the rows, which average 1/2."""

    values: Floats
    shares: Floats


class _Covariance(NamedTuple):
    value: float
    pull: Floats  # (units,), how far each moves it: its influence


def _middle(values: Floats) -> _Ranked:
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values)
    return _Ranked(values, middle[back.reshape(-1)])


def _covariance(one: _Ranked, other: _Ranked) -> _Covariance:
    """Give the covariance of two ranks, and each row's influence on it.

    A row counts through its own ranks, and through those of the rows above it, which it raises.
    """
    product = one.shares * other.shares
    mean = float(product.mean())
    pull = product - mean
    for here, there in ((one, other), (other, one)):
        pull += _above(here.values, there.shares) - mean
    return _Covariance(mean - 0.25, pull)


def _above(values: Floats, weights: Floats) -> Floats:
    """Average the weights of the rows above each, of its equals by half, over all rows."""
    _, back = np.unique(values, return_inverse=True)
    back = back.reshape(-1)
    sums = np.bincount(back, weights=weights)
    above = sums.sum() - np.cumsum(sums) + sums / 2
    found: Floats = above[back] / len(values)
    return found
