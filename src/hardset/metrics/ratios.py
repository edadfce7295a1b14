"""Every metric is a ratio of sums over clusters: declared as a `Ratio`, worked out here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import polars as pl

from hardset.metrics.bootstrap import (
    DIGITS,
    Floats,
    Patterns,
    draw,
    patterns,
)
from hardset.metrics.interval import bca, wilson, wilson_clustered
from hardset.records import Metric

if TYPE_CHECKING:
    from hardset.metrics.difference import Difference

LEVEL = 0.95
WILSON = "wilson"
WILSON_CLUSTERS = "wilson (clusters)"
WILSON_FEW = "wilson (effective rows)"
BOOTSTRAP = "cluster-bootstrap"
BCA = f"{BOOTSTRAP}, BCa"
ONE_CLUSTER = "no interval: one cluster"
_CLUSTER = "\0cluster"  # names no outcome column has
_SIDES = ("top", "bottom")
_FEW = 10  # clusters that have, or lack, something: resamples need about that many to vary


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A rate as its definition: what each row adds to the numerator and the denominator.

    `top` and `bottom` are expressions over the outcome columns, boolean or numeric, one value
    a row; null adds nothing. `about` is the definition in words, with its source. With a `unit`
    ("tokens", "$") it is the mean of something counted and no share of 1.
    """

    name: str
    top: pl.Expr
    bottom: pl.Expr
    better: Literal["higher", "lower", ""] = "higher"
    about: str = ""
    unit: str = ""


class Measurable(Protocol):
    """What a benchmark declares to be measured: it works itself out, again and again the same."""

    @property
    def reading(self) -> str:
        """The reading of the replies that it is about."""

    def metrics(self, draws: int = 10_000, seed: int = 0) -> list[Metric]:
        """Work it out, overall and in every slice, with 95 % intervals."""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Ratios over the rows of one frame, the cuts to see them by, and the clusters.

    The arguments are those of `estimate`, which works them out; that they are declared first is
    what lets two runs be compared cluster by cluster.
    """

    frame: pl.DataFrame
    ratios: Sequence[Ratio]
    cluster: str | None
    by: Sequence[Sequence[str]] = ((),)
    reading: str = "default"

    def metrics(self, draws: int = 10_000, seed: int = 0) -> list[Metric]:
        """Work every ratio out; see `estimate`."""
        return estimate(
            self.frame,
            self.ratios,
            cluster=self.cluster,
            by=self.by,
            reading=self.reading,
            draws=draws,
            seed=seed,
        )

    def differences(self, other: Rates, draws: int = 10_000, seed: int = 0) -> list[Difference]:
        """Take every ratio of `other`, another run's, minus this one's; see `paired`."""
        from hardset.metrics.paired import differences

        return differences(self, other, draws, seed)


def estimate(
    frame: pl.DataFrame,
    ratios: Sequence[Ratio],
    *,
    cluster: str | None,
    by: Sequence[Sequence[str]] = ((),),
    reading: str = "default",
    draws: int = 10_000,
    seed: int = 0,
) -> list[Metric]:
    """Work every ratio out, overall and in every slice of every cut, with 95 % intervals.

    The interval is Wilson's where every cluster adds at most one row to the denominator, and
    else the BCa interval of a cluster bootstrap. Where fewer than ten clusters have something in
    the numerator, or lack something, so that resamples vary too little, it is Wilson's for as
    many rows as the clusters are worth; where all clusters agree, so that resamples do not vary
    at all, Wilson's with the clusters as the trials. `method` says which, and bench/coverage.py
    how often each holds the truth. What a metric gets depends neither on the order of the rows
    nor on the names of the clusters.

    Args:
        frame: one row an outcome, with the columns that the ratios and cuts name.
        ratios: what to work out.
        cluster: the column whose equal values stand or fall together (the image, the pair);
            rows without one (null or empty) go by their item, so that the repeats of one item
            are together, or where there is no column `item`, each by itself. None: every item.
        by: the cuts; each a sequence of columns, () for overall. A row where one of them is
            null or empty is in no slice of that cut.
        reading: the reading these are metrics of, for the record.
        draws: bootstrap resamples.
        seed: of the bootstrap.

    Returns:
        In the order of `by`, then slices sorted, then `ratios`. A cut of an empty frame has
        no slices, except overall, where every ratio is undefined (value None).

    Raises:
        ValueError: if two of the ratios have one name.
    """
    names_taken = [ratio.name for ratio in ratios]
    if len(set(names_taken)) < len(names_taken):
        raise ValueError(f"two ratios of one estimate share a name: {sorted(names_taken)}")
    cuts = list(dict.fromkeys(name for names in by for name in names))
    sides = [
        (f"\0{i}{side}", getattr(ratio, side)) for i, ratio in enumerate(ratios) for side in _SIDES
    ]
    rows = frame.lazy().select(
        _cluster_id(frame, cluster),
        *(pl.col(column).cast(pl.String).fill_null("") for column in cuts),
        *(expression.cast(pl.Float64).fill_null(0).alias(name) for name, expression in sides),
    )
    # once for all cuts: what a cluster adds in the finest slices, often far fewer than the rows
    frame = rows.group_by(_CLUSTER, *cuts).agg(pl.col(name).sum() for name, _ in sides).collect()

    slices = [
        (cut, [patterns(sums[:, 2 * i], sums[:, 2 * i + 1]) for i in range(len(ratios))])
        for names in by
        for cut, sums in _slices(frame, names, len(ratios))
    ]
    planned = [
        (ratio, cut, one, _method(one, ratio.unit))
        for cut, every in slices
        for ratio, one in zip(ratios, every, strict=True)
    ]
    drawn = draw([one for _, _, one, method in planned if method == BCA], draws, seed)
    return [
        _metric(ratio, cut, reading, one, method, next(drawn) if method == BCA else None)
        for ratio, cut, one, method in planned
    ]


def _cluster_id(frame: pl.DataFrame, cluster: str | None) -> pl.Expr:
    """Number the clusters; a row without a label gets its item's number, below zero."""
    if "item" in frame.columns:
        alone = -pl.col("item").rank("dense").cast(pl.Int64)
    else:
        alone = -1 - pl.int_range(pl.len(), dtype=pl.Int64)
    if cluster is None:
        return alone.alias(_CLUSTER)
    label = pl.col(cluster)
    without = label.is_null()
    if frame.schema[cluster] == pl.String:
        without |= label == ""
    number = label.rank("dense").cast(pl.Int64)
    return pl.when(without).then(alone).otherwise(number).alias(_CLUSTER)


def _slices(
    frame: pl.DataFrame, names: Sequence[str], ratios: int
) -> Iterator[tuple[dict[str, str], Floats]]:
    """Yield each slice of a cut with its clusters' contributions, (clusters, 2 x ratios)."""
    columns = [f"\0{i}{side}" for i in range(ratios) for side in _SIDES]
    kept = frame.filter(pl.all_horizontal(pl.col(name) != "" for name in names)) if names else frame
    sums = kept.group_by(*names, _CLUSTER).agg(pl.col(columns).sum())
    if not names:
        yield {}, np.round(sums.select(columns).to_numpy(), DIGITS)
        return
    sums = sums.sort(names)
    lengths = sums.group_by(names, maintain_order=True).len()
    start = 0
    for row in lengths.iter_rows():
        part = sums.slice(start, row[-1])
        start += row[-1]
        yield (
            dict(zip(names, row[:-1], strict=True)),
            np.round(part.select(columns).to_numpy(), DIGITS),
        )


def _metric(
    ratio: Ratio,
    cut: dict[str, str],
    reading: str,
    one: Patterns,
    method: str,
    drawn: Floats | None,
) -> Metric:
    """Work a ratio out in one slice."""
    numerator = fsum(one.top * one.counts)
    denominator = fsum(one.bottom * one.counts)
    value = numerator / denominator if denominator else None
    low: float | None = None
    high: float | None = None
    if method == WILSON:
        low, high = wilson(numerator, denominator, LEVEL)
    elif method == WILSON_CLUSTERS and value is not None:
        clusters = int(one.counts[one.bottom > 0].sum())
        low, high = wilson(value * clusters, clusters, LEVEL)
    elif method == WILSON_FEW:
        some = one.bottom > 0
        low, high = wilson_clustered(one.top[some], one.bottom[some], one.counts[some], LEVEL)
    elif drawn is not None and value is not None:
        low, high, undefined = _resampled(one, drawn, value)
        if undefined:
            method += f" ({undefined} of {drawn.shape[1]} draws undefined)"
    return Metric(
        name=ratio.name,
        cut=cut,
        reading=reading,
        numerator=numerator,
        denominator=denominator,
        value=value,
        low=low,
        high=high,
        method=method,
        clusters=int(one.counts.sum()),
        better=ratio.better,
        about=ratio.about,
        unit=ratio.unit,
    )


def _resampled(
    one: Patterns, drawn: Floats, value: float
) -> tuple[float | None, float | None, int]:
    """Give the interval from resamples, (2, draws), and how many of them were undefined.

    A draw with an empty denominator has no ratio and is left out, and so is a cluster in the
    jackknife without which there is none. Where no draw is left, neither is an interval.
    """
    top, bottom = drawn
    defined = bottom > 0
    if not defined.any():
        return None, None, len(bottom)
    left = one.bottom @ one.counts - one.bottom
    some = ((one.bottom > 0) | (one.top != 0)) & (left > 0)
    without = (one.top @ one.counts - one.top[some]) / left[some]
    low, high = bca(top[defined] / bottom[defined], value, without, one.counts[some], LEVEL)
    return low, high, int((~defined).sum())


def _method(one: Patterns, unit: str) -> str:
    """Say which interval fits: by whether clusters are single rows, and whether they differ."""
    counted = one.bottom > 0
    if not counted.any():
        return ""
    if unit:  # no share of trials, whatever its values happen to be
        return BCA if one.counts[counted].sum() > 1 else ONE_CLUSTER
    top, bottom = one.top, one.bottom
    if np.isin(bottom, (0, 1)).all() and ((top == 0) | (top == bottom)).all():
        return WILSON
    own = top[counted] / bottom[counted]
    same = np.ptp(own) < 10.0**-DIGITS and not top[~counted].any()
    if same and 0 <= own[0] <= 1:
        return WILSON_CLUSTERS
    share = (top >= 0).all() and (top <= bottom + 10.0**-DIGITS).all()
    if share and min(one.counts[top > 0].sum(), one.counts[top < bottom].sum()) < _FEW:
        return WILSON_FEW
    return BCA
