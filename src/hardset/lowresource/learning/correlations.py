"""Pearson's and Spearman's correlation, with what each example adds to them.

A correlation is no mean over examples. Its influence values stand in for them: they have mean 0,
and its variance is theirs over n, so correlation plus influence can be put wherever a
right-or-wrong an example is asked for (Efron and Tibshirani 1993, chapter 22).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def pearson(first: Floats, second: Floats) -> tuple[float, Floats]:
    """Give Pearson's correlation and its influence values, (n,).

    Where either does not vary there is none: NaN, with nothing added by any example.

    Source: Devlin, Gnanadesikan and Kettenring (1975), Biometrika 62, for the influence.
    """
    x, y = first - first.mean(), second - second.mean()
    return _ratio(x * y, x * x, y * y)


def spearman(first: Floats, second: Floats) -> tuple[float, Floats]:
    """Give Spearman's correlation, ties at their mean rank, and its influence values, (n,).

    An example moves the correlation by its own ranks and by those of all that it outranks.

    Source: Croux and Dehon (2010), Statistical Methods and Applications 19, for the influence;
    here of the correlation of mid-ranks, so that ties are as they are in the estimate.
    """
    x, y = mid_ranks(first), mid_ranks(second)
    return _ratio(_moved(x, y), _moved(x, x), _moved(y, y), (x * y, x * x, y * y))


def mid_ranks(values: Floats) -> Floats:
    """Give each value's share of lower ones, equals by half, less one half: -0.5 to 0.5; (n,)."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    upto = np.searchsorted(ordered, values, side="right")
    return np.asarray((below + upto) / (2 * len(values)) - 0.5, dtype=np.float64)


def _moved(x: Floats, y: Floats) -> Floats:
    """Give what each example adds to the mean product of two mid-ranks, (n,)."""
    return x * y + _outranking(x, y) + _outranking(y, x)


def _outranking(x: Floats, y: Floats) -> Floats:
    """Sum, for each example, y over those that x ranks above it, equals by half; over n."""
    levels, place = np.unique(x, return_inverse=True)
    sums = np.bincount(place, weights=y, minlength=len(levels))
    upwards = np.cumsum(sums[::-1])[::-1]
    return np.asarray((upwards - sums / 2)[place] / len(x), dtype=np.float64)


def _ratio(
    xy: Floats, xx: Floats, yy: Floats, means: tuple[Floats, Floats, Floats] | None = None
) -> tuple[float, Floats]:
    """Put covariance over both deviations, and their influences together by the chain rule."""
    covariance, first, second = (float(part.mean()) for part in means or (xy, xx, yy))
    if first <= 0 or second <= 0:
        return float("nan"), np.zeros(len(xy))
    value = covariance / np.sqrt(first * second)
    moved = [part - part.mean() for part in (xy, xx, yy)]
    influence = moved[0] / np.sqrt(first * second)
    influence -= value / 2 * (moved[1] / first + moved[2] / second)
    return float(np.clip(value, -1, 1)), influence
