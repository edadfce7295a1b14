"""What differs between two runs over the same items: differences, tests, and what could be shown.

Two runs over the same items are paired: a hard item is hard for both, and what both get right or
both get wrong says nothing about which is better. Everything here goes by what one cluster adds
to the ratio in the one run and in the other, (top, bottom) twice:

- the interval resamples the clusters, the same for both runs (Efron and Tibshirani 1993,
  "An Introduction to the Bootstrap", chapter 8);
- the test swaps the two runs within a cluster, which changes nothing but chance where the runs
  are equally good (Fisher's randomisation test). With one row a cluster this is McNemar's exact
  test (1947, Psychometrika 12), and is worked out, not drawn;
- the smallest difference is the one that 80 % of such sets would show at the 5 % level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
import polars as pl

from hardset.metrics.bootstrap import Counts, Floats, Patterns, draw, generator
from hardset.metrics.clusters import connected
from hardset.metrics.difference import Difference, beside, by_resampling
from hardset.metrics.ratios import _CLUSTER, _slices
from hardset.metrics.signflip import mcnemar, sign_flip
from hardset.records import Metric

if TYPE_CHECKING:
    from hardset.metrics.ratios import Rates

MCNEMAR = "exact McNemar"


def differences(
    first: Rates, second: Rates, draws: int = 10_000, seed: int = 0
) -> list[Difference]:
    """Hold the ratios of two runs against each other, overall and in every slice.

    Rows of the two runs belong together by `item`, or where there is none by `pair`, else by the
    label of their cluster. What either run clusters stays together.

    Args:
        first: the baseline's; its order is that of what is returned.
        second: the same of another run over the same items; what one of them lacks is left out.
        draws: resamples of the bootstrap, and draws of a permutation test that is not exact.
        seed: of both.

    Returns:
        Second minus first for each ratio and slice, p not yet adjusted; what one run alone has
        comes without a difference, and says so. The interval is the BCa one of the paired cluster
        bootstrap; where that has nothing to vary, because every cluster differs alike,
        one by Wilson's: clusters that differ otherwise were not seen, and their share is what
        Wilson's interval leaves it.
    """
    names = [one.name for one in first.ratios if one.name in {two.name for two in second.ratios}]
    by = [cut for cut in first.by if tuple(cut) in {tuple(other) for other in second.by}]
    lists = first.metrics(draws, seed), second.metrics(draws, seed)
    before, after = ({_key(metric): metric for metric in one} for one in lists)
    planned = [
        part
        for part in _plan(_together(first, second, names, by), names, by if names else ())
        if (part.name, *part.cut.items()) in before.keys() & after.keys()
    ]
    drawn = draw([run for part in planned for run in part.runs], draws, seed)
    found: dict[tuple[object, ...], Difference] = {}
    for part in planned:
        key = part.name, *part.cut.items()
        resampled = _ratio(next(drawn)), _ratio(next(drawn))  # of the same clusters
        found[key] = _difference(
            part, before[key], after[key], resampled[1] - resampled[0], draws, seed
        )
    return [
        found.get(_key(metric)) or beside(before.get(_key(metric)), after.get(_key(metric)))
        for metric in [*before.values(), *(after[key] for key in after if key not in before)]
    ]


def _key(metric: Metric) -> tuple[object, ...]:
    return metric.name, *metric.cut.items()


_UNIT = "\0unit"


def _together(
    first: Rates, second: Rates, names: Sequence[str], by: Sequence[Sequence[str]]
) -> pl.DataFrame:
    """Put the rows of both runs under each other, with what they add, their unit and cluster.

    The columns are those that `_slices` reads: the first run's ratios, then the second's, then
    how many rows are of the first and how many of the second.
    """
    sides = [
        _side(rates, names, by, own=len(names) * i, other=len(names) * (1 - i), second=bool(i))
        for i, rates in enumerate((first, second))
    ]
    rows = pl.concat(sides, how="diagonal")
    ties = connected(rows, ["\0label0", "\0label1", _UNIT])
    return rows.with_columns(ties.alias(_CLUSTER))


def _side(
    rates: Rates,
    names: Sequence[str],
    by: Sequence[Sequence[str]],
    *,
    own: int,
    other: int,
    second: bool,
) -> pl.DataFrame:
    """Lay one run's rows out, with nothing in the columns of the other run."""
    frame = rates.frame
    by_name = {ratio.name: ratio for ratio in rates.ratios}
    label = pl.lit(None, dtype=pl.String)
    if rates.cluster is not None:
        label = pl.col(rates.cluster).cast(pl.String).replace("", None)
    known = [pl.col(name).cast(pl.String).replace("", None) for name in ("item", "pair")
             if name in frame.columns]  # fmt: skip
    alone = pl.format("\0{}", pl.int_range(pl.len()))
    unit = pl.coalesce(*known[:1], label, alone) if not known else pl.coalesce(known[0], alone)
    values = [
        expression.cast(pl.Float64).fill_null(0).alias(f"\0{own + i}{side}")
        for i, name in enumerate(names)
        for side, expression in (("top", by_name[name].top), ("bottom", by_name[name].bottom))
    ]
    nothing = [
        pl.lit(0.0).alias(f"\0{other + i}{side}")
        for i in range(len(names))
        for side in ("top", "bottom")
    ]
    return frame.select(
        label.alias(f"\0label{int(second)}"),
        unit.alias(_UNIT),
        *(
            pl.col(column).cast(pl.String).fill_null("")
            for column in dict.fromkeys(name for cut in by for name in cut)
        ),
        *values,
        *nothing,
        pl.lit(float(not second)).alias(f"\0{2 * len(names)}top"),
        pl.lit(float(second)).alias(f"\0{2 * len(names)}bottom"),
    )


class _Part(NamedTuple):
    """One ratio in one slice of both runs, as its clusters and its items make it up."""

    name: str
    cut: dict[str, str]
    runs: tuple[Patterns, Patterns]  # the same clusters in the same order
    units: Floats  # (items, 6): top and bottom in the first run, in the second, rows of each
    counted: int  # clusters that are in a denominator
    single: bool  # no cluster is in a denominator more than once
    alike: bool  # every cluster has as many rows in the second run as in the first


def _plan(rows: pl.DataFrame, names: Sequence[str], by: Sequence[Sequence[str]]) -> Iterator[_Part]:
    """Yield every ratio in every slice, of the rows as `_together` lays them out."""
    width = 2 * len(names) + 1
    by_unit = rows.with_columns(pl.col(_UNIT).alias(_CLUSTER))
    for cut_names in by:
        slices, units = (_slices(frame, cut_names, width) for frame in (rows, by_unit))
        for (cut, sums), (_, unit_sums) in zip(slices, units, strict=True):
            for i, name in enumerate(names):
                columns = [2 * i, 2 * i + 1, *(2 * (len(names) + i) + side for side in (0, 1))]
                distinct, counts = np.unique(sums[:, columns], axis=0, return_counts=True)
                bottoms = sums[:, columns[1::2]]
                yield _Part(
                    name,
                    cut,
                    (
                        Patterns(distinct[:, 0], distinct[:, 1], counts),
                        Patterns(distinct[:, 2], distinct[:, 3], counts),
                    ),
                    unit_sums[:, [*columns, -2, -1]],
                    int((bottoms > 0).any(axis=1).sum()),
                    bool((bottoms <= 1).all()),
                    bool((sums[:, -2] == sums[:, -1]).all()),
                )


def _ratio(drawn: Floats) -> Floats:
    """Give the ratios of resamples, (2, draws): NaN where there is no denominator."""
    top, bottom = drawn
    found: Floats = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    return found


def _without(runs: tuple[Patterns, Patterns]) -> tuple[Floats, Counts]:
    """Give the difference with one cluster left out, for each pattern that is in a ratio.

    A pattern without which a run has no denominator is left out.
    """
    lefts = [side.bottom @ side.counts - side.bottom for side in runs]
    there = [(side.bottom > 0) | (side.top != 0) for side in runs]
    some = (there[0] | there[1]) & (lefts[0] > 0) & (lefts[1] > 0)
    before, after = (
        (side.top @ side.counts - side.top)[some] / left[some]
        for side, left in zip(runs, lefts, strict=True)
    )
    return after - before, runs[0].counts[some]


def _difference(
    part: _Part, one: Metric, two: Metric, resampled: Floats, draws: int, seed: int
) -> Difference:
    """Hold one ratio in one slice against the other run's."""
    counts = part.runs[0].counts
    clusters = int(counts.sum())
    if one.value is None or two.value is None:
        return by_resampling(one, two, resampled, clusters)
    row = 0.0 if one.unit else _row(part.units) / max(one.denominator, two.denominator)
    found = by_resampling(one, two, resampled, clusters, part.counted, row, _without(part.runs))
    rows = _rows(part.units)
    if rows is not None:
        found = msgspec.structs.replace(found, lost=rows[0], gained=rows[1], p_rows=mcnemar(*rows))
        if part.single:
            return msgspec.structs.replace(found, p=found.p_rows, test=MCNEMAR)
    if not part.alike:
        note = "the runs have different numbers of rows of an item, so their parts are not swapped"
        return msgspec.structs.replace(found, note=note)
    before, after = (np.stack([side.top, side.bottom], axis=1) for side in part.runs)
    rng = generator(seed, f"swaps in {one.name}", one.cut)
    p, test = sign_flip(before, after, counts, draws, rng)
    if p is None:  # so many different clusters that the resamples say it as well
        return found
    note = ""
    if rows is not None:
        note = "rows of one cluster are not independent, so whole clusters are swapped"
    return msgspec.structs.replace(found, p=p, test=test, note=note)


def _row(units: Floats) -> float:
    """Give what a right row adds to a numerator, or where none is right to a denominator."""
    rows = np.maximum(units[:, [4, 5]], 1)
    most = (units[:, [0, 2]] / rows).max() or (units[:, [1, 3]] / rows).max()
    return float(most)


def _rows(units: Floats) -> tuple[int, int] | None:
    """Count the rows right in one run alone; None where the metric is not of right or wrong rows.

    It is where every item has one row in each run, and counts for 1 in both or in neither.
    """
    top, bottom, top_2, bottom_2, rows, rows_2 = units.T
    plain = (rows == 1) & (rows_2 == 1) & (bottom == bottom_2) & np.isin(bottom, (0, 1))
    binary = np.isin(top, (0, 1)) & np.isin(top_2, (0, 1)) & (np.maximum(top, top_2) <= bottom)
    if not (plain & binary).all():
        return None
    return int((top > top_2).sum()), int((top < top_2).sum())
