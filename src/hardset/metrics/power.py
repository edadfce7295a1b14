"""The smallest difference that a set could have shown, so that nobody reads noise as a finding."""

from __future__ import annotations

from math import comb
from statistics import NormalDist

ALPHA = 0.05  # level of the two-sided test
POWER = 0.80
_REACH = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)  # 2.80 standard errors
_FEWEST = 6  # clusters that must differ one way: 2 / 2**5 is above 5 %, 2 / 2**6 below


def detectable(error: float, clusters: int, row: float = 0.0) -> float | None:
    """Give the smallest true difference that 80 % of such sets show at the 5 % level, two-sided.

    It is 2.80 standard errors; but of right and wrong never less than the exact test can show:
    six clusters must differ by a row at least, and all one way, before p is below 5 %.

    Args:
        error: the standard error of the difference, from the resamples.
        clusters: how many there are, in which the metric is defined.
        row: what one row that flips moves the metric by; 0 where it is not of such rows.

    Returns:
        In the unit of the metric (a share of 1); None where no difference could be shown.
    """
    if clusters < _FEWEST:
        return None
    return max(_REACH * error, row * clusters * _least(clusters)) or None


def _least(clusters: int) -> float:
    """Find the share of clusters to differ, for six or more to differ in 80 % of sets."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        fewer = sum(
            comb(clusters, k) * middle**k * (1 - middle) ** (clusters - k) for k in range(_FEWEST)
        )
        low, high = (low, middle) if fewer < 1 - POWER else (middle, high)
    return high
