"""Is the difference of two paired runs more than chance? Swap the runs within clusters and see.

If two runs are equally good, then which of a cluster's two results came from which run is chance,
and swapping them changes nothing: 2^clusters swaps are equally likely, and p is the share of them
that give a difference at least as large, in either direction, as the one seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from hardset.metrics.bootstrap import Counts, Floats

EXACT = "exact sign-flip of clusters"
PERMUTATION = "permutation, runs swapped within clusters"
_LONGEST = 1 << 22  # steps of a distribution that is worked out, not drawn
_SHORT = 1 << 12  # steps up to which it is worked out step by step, else by Fourier's transform
_GOOD_TO = 1e-12  # what the transform leaves of a p-value
_WHOLE = 1_000  # coins counted in whole numbers; above, logarithms are exact enough
_MOST = 2_000  # distinct differences of clusters that are drawn
_CHUNK = 1 << 18  # counts held at a time
_ROUNDED = 1e-6  # what is left of rounding, in steps that are shares of a cluster
_SLACK = 1e-9  # differences are equal to this many parts: sums in any order agree


def mcnemar(lost: int, gained: int) -> float:
    """Give McNemar's exact two-sided p: of lost + gained fair coins, so uneven or more.

    Args:
        lost: rows right in the first run alone.
        gained: rows right in the second run alone.

    Returns:
        min(1, 2 P(X <= min(lost, gained))), X ~ Binomial(lost + gained, 1/2); 1 with no rows.

    Source: McNemar (1947), Psychometrika 12, in its exact form.
    """
    return min(1.0, 2 * float(_coins(lost + gained)[: min(lost, gained) + 1].sum()))


def sign_flip(
    before: Floats, after: Floats, counts: Counts, draws: int, rng: np.random.Generator
) -> tuple[float | None, str]:
    """Test that two runs have the same ratio of sums over clusters.

    Worked out where the denominators of both runs are equal, cluster by cluster, and what the
    clusters differ by has a common step (right and wrong rows always have); else drawn.

    Args:
        before: (patterns, 2), what a cluster adds to the first run's top and bottom.
        after: the same of the second run.
        counts: (patterns,), the clusters of each pattern.
        draws: permutations, where they are drawn.
        rng: what they are drawn with.

    Returns:
        p and the name of the test; None where there are too many different clusters to draw.
    """
    steps, differing, backward = _folded(after - before, counts)
    if not len(steps):
        return 1.0, EXACT
    if not steps[:, 1].any():
        p = _exact(steps[:, 0], differing, float(counts @ (after - before)[:, 0]))
        if p is not None:
            return p, EXACT
    if len(steps) > _MOST:
        return None, ""
    sides = counts @ before, counts @ after
    return _drawn(steps, differing, backward, sides, draws, rng), PERMUTATION


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for being several: Holm's step-down method.

    The smallest of m is multiplied by m, the next by m - 1, ...; none may fall below one before
    it, and 1 is the most. What is None is no test, and counts for nothing.

    Source: Holm (1979), Scandinavian Journal of Statistics 6.
    """
    order = sorted((i for i, p in enumerate(ps) if p is not None), key=lambda i: ps[i] or 0.0)
    adjusted: list[float | None] = [None] * len(ps)
    most = 0.0
    for rank, i in enumerate(order):
        most = max(most, min(1.0, (len(order) - rank) * (ps[i] or 0.0)))
        adjusted[i] = most
    return adjusted


def _coins(n: int) -> Floats:
    """Give the distribution of the heads among n fair coins, (n + 1,)."""
    if n <= _WHOLE:
        return np.array([comb(n, k) / 2**n for k in range(n + 1)])
    k = np.arange(1, n + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - k + 1) / k))]) - n * np.log(2)
    found: Floats = np.exp(logs)
    return found


def _folded(steps: Floats, counts: Counts) -> tuple[Floats, Counts, Counts]:
    """Count the clusters by what they differ by, a difference and its opposite as one.

    Returns:
        The distinct differences; how many clusters differ so, either way; and how many of them
        the other way round.
    """
    kept = steps.any(axis=1)
    steps, counts = steps[kept], counts[kept]
    negative = (steps[:, 0] < 0) | ((steps[:, 0] == 0) & (steps[:, 1] < 0))
    steps = np.where(negative[:, None], -steps, steps)
    distinct, which = np.unique(steps, axis=0, return_inverse=True)
    both, backward = (
        np.bincount(which.ravel(), weights, len(distinct)).astype(np.int64)
        for weights in (counts, counts * negative)
    )
    return distinct, both, backward


def _exact(steps: Floats, counts: Counts, seen: float) -> float | None:
    """Work out p of a sum of +step or -step, one for each cluster; None where it is too long."""
    unit = _common(steps)
    sizes = np.rint(steps / unit).astype(np.int64)
    if len(steps) > 1 and sizes @ counts > _LONGEST:
        return None
    # The sum is unit x (2 x heads - all), where a cluster of step s throws s heads at once.
    spreads = []
    for size, count in zip(sizes, counts, strict=True):
        spread = np.zeros(size * count + 1)
        spread[::size] = _coins(int(count))
        spreads.append(spread)
    heads = _sum_of(spreads)
    every = int(sizes @ counts)
    uneven = abs(round(seen / unit))
    return min(1.0, 2 * float(heads[: (every - uneven) // 2 + 1].sum())) if uneven else 1.0


def _common(steps: Floats) -> float:
    """Find the largest step of which all are whole multiples, by Euclid's algorithm."""
    common = float(steps[0])
    for step in map(float, steps[1:]):
        rest = step
        while rest > _ROUNDED:
            common, rest = rest, common % rest
            if common - rest < _ROUNDED:  # a whole multiple, but for rounding
                rest = 0.0
    return common


def _sum_of(spreads: Sequence[Floats]) -> Floats:
    """Give the distribution of a sum of independent whole numbers from 0 up."""
    length = sum(len(spread) - 1 for spread in spreads) + 1
    if length <= _SHORT or len(spreads) == 1:
        found = spreads[0]
        for spread in spreads[1:]:
            found = np.convolve(found, spread)
        return found
    size = 1 << (length - 1).bit_length()
    product = np.prod([np.fft.rfft(spread, size) for spread in spreads], axis=0)
    # Rounding leaves 1e-16 here and there: no probability is reported as less than it is good for.
    summed: Floats = np.maximum(np.fft.irfft(product, size)[:length], _GOOD_TO / length)
    return summed


def _drawn(
    steps: Floats,
    counts: Counts,
    backward: Counts,
    sides: tuple[Floats, Floats],
    draws: int,
    rng: np.random.Generator,
) -> float:
    """Draw swaps and give p; what was seen is itself one of the possible swaps."""
    first, second = sides
    seen = abs(second[0] / second[1] - first[0] / first[1])
    step = max(1, _CHUNK // len(steps))
    extreme = 0
    for start in range(0, draws, step):
        # Of clusters that differ either way, as many are turned the one way as coins fall heads.
        heads = rng.binomial(counts, 0.5, size=(min(step, draws - start), len(steps)))
        swapped = (heads - backward) @ steps
        one, two = first + swapped, second - swapped
        defined = (one[:, 1] > 0) & (two[:, 1] > 0)
        difference = np.abs(two[defined, 0] / two[defined, 1] - one[defined, 0] / one[defined, 1])
        # A swap that leaves a run without a denominator says nothing, and counts against us.
        extreme += int((difference >= seen - _SLACK).sum()) + int((~defined).sum())
    return (1 + extreme) / (1 + draws)
