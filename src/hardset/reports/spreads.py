"""How scores are spread, label by label: counted by the table's engine, never held whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING

from hardset.reports.numbers import magnitude
from hardset.reports.specimens import SCORED, Label
from hardset.reports.text import cut

if TYPE_CHECKING:
    import polars as pl

BINS = 24
_TAIL = 0.005  # of the examples, at either end: they are in the outermost bars
_FAR = 1000  # times the lowest is the highest: on a logarithmic axis


@dataclass(frozen=True)
class Bar:
    """One bar; places in per cent of the field."""

    x: str
    width: str
    y: str
    height: str
    title: str


@dataclass(frozen=True)
class Spread:
    """The histogram of one score over one label, or over all examples."""

    name: str
    n: int
    bars: Sequence[Bar]
    low: str
    high: str
    log: bool


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    bins: int
    log: bool

    def edge(self, i: int) -> float:
        at = self.low + (self.high - self.low) * i / self.bins
        return 10.0**at if self.log else float(at)


def spread(frame: pl.LazyFrame, score: str, labels: Sequence[Label]) -> list[Spread]:
    """Count a score's values in bins: of all examples first, then of each label given.

    Bars are shares of the label's own examples, and as high as the highest bar of all allows.

    Args:
        frame: `difficulty.parquet`.
        score: one of its columns.
        labels: those to count by themselves; none where labels are real numbers.
    """
    import polars as pl

    value = pl.col(score)
    there = frame.filter((pl.col("state") == SCORED) & value.is_finite())
    axis = _axis(there, score)
    if axis is None:
        return []
    placed = value.clip(lower_bound=0).log10() if axis.log else value
    place = (placed - axis.low) / (axis.high - axis.low) * axis.bins
    binned = there.select("label", place.floor().clip(0, axis.bins - 1).cast(pl.Int32).alias("bin"))
    keys = [label.key for label in labels if label.key is not None]
    every = binned.group_by("bin").len()
    by_label = binned.filter(pl.col("label").is_in(keys)).group_by("label", "bin").len()
    counted = pl.collect_all([every, by_label] if keys else [every], engine="streaming")
    groups: list[tuple[str, dict[int, int]]] = [("all examples", dict(counted[0].rows()))]
    for label in labels if keys else ():
        rows = counted[1].filter(pl.col("label") == label.key).select("bin", "len").rows()
        groups.append((cut(label.name), dict(rows)))
    top = max(max(bins.values()) / sum(bins.values()) for _, bins in groups if bins)
    return [_drawn(name, bins, axis, top) for name, bins in groups if bins]


def _axis(there: pl.LazyFrame, score: str) -> _Axis | None:
    """Choose the bins: whole numbers one by one, wide ranges by their logarithm."""
    import polars as pl

    value = pl.col(score)
    positive = value.filter(value > 0)
    found = (
        there.select(
            value.min().alias("least"),
            value.max().alias("most"),
            value.quantile(_TAIL).alias("low"),
            value.quantile(1 - _TAIL).alias("high"),
            positive.quantile(_TAIL).alias("above zero"),
            (value == value.round()).all().alias("whole"),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    least, most, low, high = (found[name] for name in ("least", "most", "low", "high"))
    if least is None:
        return None
    if found["whole"] and most - least < BINS:
        return _Axis(least - 0.5, most + 0.5, int(most - least) + 1, False)
    if least >= 0 and found["above zero"] and high / found["above zero"] > _FAR:
        return _Axis(log10(found["above zero"]), log10(high), BINS, True)
    if high <= low:
        low, high = least, most
    if high <= low:
        return _Axis(low - 0.5, low + 0.5, 1, False)
    return _Axis(low, high, BINS, False)


def _drawn(name: str, bins: dict[int, int], axis: _Axis, top: float) -> Spread:
    n = sum(bins.values())
    bars = []
    for i in sorted(bins):
        height = 100 * bins[i] / n / top
        first, last = i == 0, i == axis.bins - 1
        ends = f"{magnitude(axis.edge(i))} to {magnitude(axis.edge(i + 1))}"
        beyond = " and beyond" if (first or last) and axis.bins == BINS else ""
        title = f"{ends}{beyond}: {bins[i]:,} of {n:,} ({100 * bins[i] / n:.1f} %)"
        bars.append(
            Bar(
                f"{100 * i / axis.bins:.2f}%",
                f"{100 / axis.bins - 0.4:.2f}%",
                f"{100 - height:.2f}%",
                f"{height:.2f}%",
                title,
            )
        )
    return Spread(name, n, bars, magnitude(axis.edge(0)), magnitude(axis.edge(axis.bins)), axis.log)
