"""What repeats of one question show: right at least once (pass@k), right every time (pass^k).

`by_item` counts, for each item, its n rows and the c of them that are right; the ratios below
average an unbiased estimate over the items, so that a question asked more often weighs no more.
Rows that failed, were cut off or could not be read are wrong, and are among the n.

An item with fewer than k rows has no unbiased estimate at that k. It is left out of numerator
*and* denominator, which therefore says how many items the mean is over; `pass_ratios` says in
`about` how many were left out. (A finished run has equally many rows of every item, the failed
ones included; only replies made elsewhere can lack some.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb

import numpy as np
import polars as pl

from hardset.metrics.rates import columns
from hardset.metrics.ratios import Ratio


def by_item(frame: pl.DataFrame, reading: str = "", keep: Sequence[str] = ()) -> pl.DataFrame:
    """Count each item's rows and right rows.

    Args:
        frame: outcome rows, one an item and repeat, with `item` and the reading's right column.
        reading: whose right column; "" is the headline's.
        keep: columns taken over from the item's first row (the cuts, the cluster, the parent).

    Returns:
        One row an item, in order of first appearance: `item`, `n` (rows), `c` (right rows, a
        null being wrong), then the kept columns.
    """
    _, right = columns(reading)
    kept = [name for name in dict.fromkeys(keep) if name != "item"]
    return frame.group_by("item", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("n"),
        pl.col(right).fill_null(False).sum().cast(pl.Int64).alias("c"),
        *(pl.col(name).first() for name in kept),
    )


def pass_at(k: int, name: str = "", *, left_out: int = 0) -> Ratio:
    """Estimate the chance that at least one of `k` samples is right, averaged over items.

    An item's unbiased estimate is 1 - C(n-c, k) / C(n, k): the share of the k-subsets of its n
    samples that hold a right one. pass@1 is the mean of c / n.
    Source: Chen et al. 2021 (arXiv:2107.03374), section 2.1.

    Args:
        k: samples, at least 1.
        name: of the metric; by default "pass@<k>".
        left_out: items with fewer than k samples, to be named in `about`.

    Returns:
        A ratio over the rows of `by_item`.

    Raises:
        ValueError: for a k below 1.
    """
    return _mean(
        k,
        name or f"pass@{k}",
        lambda n, c: comb(n, k) - comb(n - c, k),
        f"chance that at least one of {k} samples is right: 1 - C(n-c,{k})/C(n,{k})"
        if k > 1
        else "chance that a sample is right: c/n",
        left_out,
    )


def pass_hat(k: int, name: str = "", *, left_out: int = 0) -> Ratio:
    """Estimate the chance that all of `k` samples are right, averaged over items.

    An item's unbiased estimate is C(c, k) / C(n, k): the share of the k-subsets of its n samples
    that are right throughout. Source: Yao et al. 2024 (tau-bench, arXiv:2406.12045), section 5.

    Args:
        k: samples, at least 1.
        name: of the metric; by default "pass^<k>".
        left_out: items with fewer than k samples, to be named in `about`.

    Returns:
        A ratio over the rows of `by_item`.

    Raises:
        ValueError: for a k below 1.
    """
    return _mean(
        k,
        name or f"pass^{k}",
        lambda n, c: comb(c, k),
        f"chance that {k} of {k} samples are right: C(c,{k})/C(n,{k})",
        left_out,
    )


def pass_ratios(items: pl.DataFrame) -> list[Ratio]:
    """Every pass@k and pass^k that the items' repeats allow: pass@1, then both for k = 2, 3, ...

    Args:
        items: what `by_item` gave. k goes up to the largest n; where some items have fewer than
            k rows, `about` says how many were left out.
    """
    ns = items["n"].to_numpy()
    ratios = []
    for k in range(1, int(ns.max()) + 1 if len(ns) else 1):
        short = int((ns < k).sum())
        ratios.append(pass_at(k, left_out=short))
        if k > 1:  # pass^1 is pass@1
            ratios.append(pass_hat(k, left_out=short))
    return ratios


def _mean(
    k: int, name: str, favourable: Callable[[int, int], int], what: str, left_out: int
) -> Ratio:
    """Average favourable(n, c) / C(n, k) over the items with n >= k."""
    if k < 1:
        raise ValueError(f"{name} needs k >= 1")

    def share(pairs: pl.Series) -> pl.Series:
        n, c = (pairs.struct.field(field).to_numpy().astype(np.int64) for field in "nc")
        distinct, back = np.unique(np.stack([n, c]), axis=1, return_inverse=True)
        # whole numbers, divided once: exact for any n and k, where factorials would overflow
        each = [favourable(a, b) / comb(a, k) if a >= k else 0.0 for a, b in distinct.T.tolist()]
        return pl.Series(np.array(each, dtype=np.float64)[back.reshape(-1)])

    about = f"{what}, mean over items; n rows an item, c right, failed and truncated rows wrong"
    if left_out:
        about += f"; {left_out} items with fewer than {k} rows have no estimate and are left out"
    return Ratio(
        name=name,
        top=pl.struct("n", "c").map_batches(share, return_dtype=pl.Float64),
        bottom=pl.col("n") >= k,
        about=about,
    )
