"""Every metric is a ratio of sums over clusters: declared as a `Ratio`, worked out here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import polars as pl

from hardset.metrics.bootstrap import (
    Floats,
    Patterns,
    draw,
    patterns,
    percentiles,
)
from hardset.metrics.interval import wilson
from hardset.records import Metric

if TYPE_CHECKING:
    from hardset.metrics.paired import Difference

LEVEL = 0.95
WILSON = "wilson"
WILSON_CLUSTERS = "wilson (clusters)"
BOOTSTRAP = "cluster-bootstrap"
_CLUSTER = "\0cluster"  # names no outcome column has
_DIGITS = 9  # contributions are equal to this many decimals: sums in any order agree


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A rate as its definition: what each row adds to the numerator and the denominator.

    `top` and `bottom` are expressions over the outcome columns, boolean or numeric, one value
    a row; null adds nothing. `about` is the definition in words, with its source.
    """

    name: str
    top: pl.Expr
    bottom: pl.Expr
    better: Literal["higher", "lower", ""] = "higher"
    about: str = ""


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
    else the percentile interval of a cluster bootstrap; where all clusters agree, so that
    the bootstrap has nothing to vary, Wilson's with the clusters as the trials. `method` says
    which. What a metric gets depends neither on the order of the rows nor on the names of the
    clusters.

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
    frame = frame.lazy().select(
        _cluster_id(frame, cluster),
        *(
            pl.col(column).cast(pl.String).fill_null("")
            for column in dict.fromkeys(name for names in by for name in names)
        ),
        *(
            expression.cast(pl.Float64).fill_null(0).alias(f"\0{i}{side}")
            for i, ratio in enumerate(ratios)
            for side, expression in (("top", ratio.top), ("bottom", ratio.bottom))
        ),
    ).collect()  # fmt: skip

    def work(part: tuple[dict[str, str], Floats]) -> list[Metric]:
        cut, sums = part
        return _slice(sums, ratios, cut, reading, draws, seed)

    parts = (part for names in by for part in _slices(frame, names, len(ratios)))
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:  # numpy's draws run in parallel
        return list(chain.from_iterable(pool.map(work, parts)))


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
    columns = [f"\0{i}{side}" for i in range(ratios) for side in ("top", "bottom")]
    kept = frame.filter(pl.all_horizontal(pl.col(name) != "" for name in names)) if names else frame
    sums = kept.group_by(*names, _CLUSTER).agg(pl.col(columns).sum())
    if not names:
        yield {}, np.round(sums.select(columns).to_numpy(), _DIGITS)
        return
    sums = sums.sort(names)
    lengths = sums.group_by(names, maintain_order=True).len()
    start = 0
    for row in lengths.iter_rows():
        part = sums.slice(start, row[-1])
        start += row[-1]
        yield (
            dict(zip(names, row[:-1], strict=True)),
            np.round(part.select(columns).to_numpy(), _DIGITS),
        )


def _slice(
    sums: Floats,
    ratios: Sequence[Ratio],
    cut: dict[str, str],
    reading: str,
    draws: int,
    seed: int,
) -> list[Metric]:
    """Work the ratios out in one slice."""
    every = [patterns(sums[:, 2 * i], sums[:, 2 * i + 1]) for i in range(len(ratios))]
    methods = [_method(one) for one in every]
    several = {
        ratio.name: one
        for ratio, one, method in zip(ratios, every, methods, strict=True)
        if method == BOOTSTRAP
    }
    drawn = draw(several, cut, draws, seed) if several else {}
    found = []
    for ratio, one, method in zip(ratios, every, methods, strict=True):
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
        elif method:
            low, high, undefined = percentiles(*drawn[ratio.name], LEVEL)
            if undefined:
                method += f" ({undefined} of {draws} draws undefined)"
        found.append(
            Metric(
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
            )
        )
    return found


def _method(one: Patterns) -> str:
    """Say which interval fits: by whether clusters are single rows, and whether they differ."""
    counted = one.bottom > 0
    if not counted.any():
        return ""
    top, bottom = one.top, one.bottom
    if np.isin(bottom, (0, 1)).all() and ((top == 0) | (top == bottom)).all():
        return WILSON
    own = top[counted] / bottom[counted]
    same = np.ptp(own) < 10.0**-_DIGITS and not top[~counted].any()
    if same and 0 <= own[0] <= 1:
        return WILSON_CLUSTERS
    return BOOTSTRAP
