"""Intervals: of a proportion, of a ratio that few clusters decide, and from resamples (BCa)."""

from __future__ import annotations

from math import atan, cos, exp, lgamma, pi, sin, sqrt, tan
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_NORMAL = NormalDist()


def wilson(k: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Give the Wilson score interval of `k` successes in `n` independent trials.

    Args:
        k: successes, 0 <= k <= n.
        n: trials, above 0.
        level: the two-sided coverage, between 0 and 1.

    Returns:
        (low, high), both within [0, 1]; exactly 0 below at k = 0, exactly 1 above at k = n.

    Raises:
        ValueError: where there are no trials, or k is not among them.

    Source: Wilson (1927), JASA 22; Newcombe (1998), Statistics in Medicine 17, method 3.
    """
    if n <= 0 or not 0 <= k <= n:
        raise ValueError(f"wilson needs 0 <= k <= n and n > 0, not k={k}, n={n}")
    return _score(k, n, _NORMAL.inv_cdf((1 + level) / 2))


def _score(k: float, n: float, z: float) -> tuple[float, float]:
    middle = k + z * z / 2
    spread = z * sqrt(k * (n - k) / n + z * z / 4)
    low = 0.0 if k == 0 else (middle - spread) / (n + z * z)
    high = 1.0 if k == n else (middle + spread) / (n + z * z)
    return low, high


def student(level: float, freedom: int) -> float:
    """Give the two-sided quantile of Student's t, 12.71 at 95 % and 1 degree of freedom.

    Exact for 1 and 2 degrees of freedom; above, the series of Abramowitz and Stegun, 26.7.5, made
    exact to 1e-9 up to 30 by Newton's method on their 26.7.3 and 26.7.4, and within 1e-6 beyond.
    """
    if freedom == 1:
        return tan(pi * level / 2)
    if freedom == 2:
        return level * sqrt(2 / (1 - level * level))
    z = _NORMAL.inv_cdf((1 + level) / 2)
    series = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    quantile = z
    for i, term in enumerate(series, start=1):
        quantile += term / freedom**i
    for _ in range(8 if freedom <= 30 else 0):
        held, density = _held(quantile, freedom)
        quantile -= (held - level) / (2 * density)
    return quantile


def _held(t: float, freedom: int) -> tuple[float, float]:
    """Give the probability between -t and t, and the density at t."""
    angle = atan(t / sqrt(freedom))
    square = cos(angle) ** 2
    odd = freedom % 2
    term = total = cos(angle) if odd else 1.0
    for i in range(3 if odd else 2, freedom - 1, 2):
        term *= square * (i - 1) / i
        total += term
    held = sin(angle) * total
    if odd:
        held = 2 / pi * (angle + held)
    half = lgamma((freedom + 1) / 2) - lgamma(freedom / 2)
    density = exp(half) / sqrt(freedom * pi) * square ** ((freedom + 1) / 2)
    return held, density


def wilson_clustered(
    top: Floats, bottom: Floats, counts: Counts, level: float = 0.95
) -> tuple[float, float]:
    """Give Wilson's interval of a clustered share, with the rows that it is worth as its trials.

    A share of variance v is worth p (1 - p) / v independent rows (Kish 1965, "Survey Sampling",
    section 8.2; with Wilson's interval: Franco et al. 2019, J. Survey Statistics and Methodology
    7). Where few clusters decide, that variance is itself poorly known and usually too small, so
    it is taken with two clusters added, of average size, all right and all wrong: what Agresti
    and Coull (1998, The American Statistician 52) add to independent rows. Student's quantile in
    place of the normal one for so many clusters.

    Args:
        top: (patterns,), what a cluster adds to the numerator, at most its bottom.
        bottom: (patterns,), what it adds to the denominator, above 0.
        counts: (patterns,), how many such clusters there are; at least two clusters in all.
        level: the two-sided coverage.
    """
    clusters = int(counts.sum())
    value = float(top @ counts) / float(bottom @ counts)
    trials = effective_rows(top, bottom, counts)
    return _score(value * trials, trials, student(level, clusters - 1))


def effective_rows(top: Floats, bottom: Floats, counts: Counts) -> float:
    """Say how many independent rows a clustered share is worth; see `wilson_clustered`.

    Args:
        top: (patterns,), what a cluster adds to the numerator, at most its bottom.
        bottom: (patterns,), what it adds to the denominator, above 0.
        counts: (patterns,), how many such clusters there are; at least one in all.
    """
    clusters = int(counts.sum())
    size = float(bottom @ counts) / clusters
    top, bottom = np.append(top, [size, 0.0]), np.append(bottom, [size, size])
    counts = np.append(counts, [1, 1])
    whole = float(bottom @ counts)
    middle = float(top @ counts) / whole
    variance = float(((top - middle * bottom) / whole) ** 2 @ counts)
    variance *= (clusters + 2) / (clusters + 1)
    return middle * (1 - middle) / variance * clusters / (clusters + 2)


def bca(
    drawn: Floats,
    value: float,
    without: Floats,
    counts: Counts,
    level: float = 0.95,
    known_from: int | None = None,
) -> tuple[float, float]:
    """Give the BCa interval, widened for few clusters: quantiles of resamples, moved.

    A percentile interval takes the resamples for unbiased and of one spread at every truth.
    BCa moves its ends by the bias of the resamples and by how their spread changes with the
    truth, which the jackknife shows (Efron 1987, JASA 82; Efron and Tibshirani 1993, chapter
    14). Resamples also spread too little, by sqrt((n - 1) / n), and their tails are the normal's,
    not Student's: the levels are moved out by both (Hesterberg 2015, The American Statistician
    69, the "expanded percentile interval").

    Args:
        drawn: the statistic of each resample; at least one.
        value: the statistic of the clusters as they are; within the interval in any case.
        without: (patterns,), the statistic with one cluster of each pattern left out; may be empty.
        counts: (patterns,), how many clusters make each pattern.
        level: the two-sided coverage.
        known_from: how many clusters the spread is known from, for the widening, where it is few
            of them that show anything. None: all.
    """
    clusters = int(counts.sum())
    slack = 1e-12 * max(1.0, abs(value))
    below = float(np.mean(drawn < value - slack) + np.mean(drawn <= value + slack)) / 2
    least = 1 / (2 * len(drawn))
    bias = _NORMAL.inv_cdf(min(max(below, least), 1 - least))
    pull = float(without @ counts) / max(1, clusters) - without
    spread = float(pull**2 @ counts)
    acceleration = float(pull**3 @ counts) / (6 * spread**1.5) if spread > 0 else 0.0
    reach = _NORMAL.inv_cdf((1 + level) / 2)
    seen = clusters if known_from is None else known_from
    if seen > 1:
        reach = student(level, seen - 1) * sqrt(seen / (seen - 1))
    levels = [
        _NORMAL.cdf(bias + (bias + z) / max(1 - acceleration * (bias + z), _STEEPEST))
        for z in (-reach, reach)
    ]
    low, high = np.quantile(drawn, levels)
    return min(float(low), value), max(float(high), value)


_STEEPEST = 0.05  # below, the correction turns back on itself
