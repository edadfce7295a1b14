"""The interval of a proportion of independent rows."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


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
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = k + z * z / 2
    spread = z * sqrt(k * (n - k) / n + z * z / 4)
    low = 0.0 if k == 0 else (middle - spread) / (n + z * z)
    high = 1.0 if k == n else (middle + spread) / (n + z * z)
    return low, high
