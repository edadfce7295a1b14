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

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import comb
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct

from hardset.metrics.bootstrap import Counts, Floats, Patterns, _generator, draw_both
from hardset.metrics.clusters import connected
from hardset.metrics.interval import wilson
from hardset.metrics.ratios import _CLUSTER, _slices
from hardset.metrics.signflip import holm, mcnemar, sign_flip
from hardset.records import Metric

if TYPE_CHECKING:
    from hardset.metrics.ratios import Rates

ALPHA = 0.05
POWER = 0.80
BOOTSTRAP = "paired cluster-bootstrap"
NONE_DIFFERS = "wilson (every cluster differs alike)"
MCNEMAR = "exact McNemar"
BY_BOOTSTRAP = "bootstrap"
_REACH = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)  # 2.80 standard errors
_FEWEST = 6  # clusters that must differ one way: 2 / 2**5 is above 5 %, 2 / 2**6 below


class Difference(Struct, frozen=True, kw_only=True):
    """One metric in one slice of two runs over the same items, and second minus first.

    `low` and `high` are its 95 % interval. Of a metric that only one run has, or that cannot be
    compared, `difference` is None and `note` says why.
    """

    name: str
    cut: dict[str, str]
    reading: str = "default"
    first: Metric | None
    second: Metric | None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""  # of the interval
    error: float | None = None  # bootstrap standard error of the difference
    p: float | None = None  # two-sided, of no difference
    p_holm: float | None = None  # adjusted within its family, see `adjusted`
    test: str = ""  # what `p` is from
    lost: int | None = None  # rows right in the first run alone, where rows are right or wrong
    gained: int | None = None  # rows right in the second run alone
    p_rows: float | None = None  # McNemar's over those rows, as if they were independent
    detectable: float | None = None  # the smallest difference such a set would show
    clusters: int = 0
    note: str = ""

    @property
    def either(self) -> Metric:
        """The metric in either run, for what both share: unit, direction, definition."""
        found = self.first or self.second
        assert found is not None
        return found

    @property
    def unit(self) -> str:
        """The unit of the metric, "" for a share."""
        return self.either.unit

    @property
    def better(self) -> Literal["higher", "lower", ""]:
        """Which way is better."""
        return self.either.better

    @property
    def shown(self) -> bool:
        """Whether the difference is there, at the 5 % level within its family."""
        p = self.p if self.p_holm is None else self.p_holm
        return p is not None and p <= ALPHA


@runtime_checkable
class Comparable(Protocol):
    """A `Measurable` that can be held against the same one of another run."""

    def differences(self, other: Any, draws: int = 10_000, seed: int = 0) -> list[Difference]:
        """Take every metric of `other` minus this one's, with intervals and tests."""


class Drawn(NamedTuple):
    """What resamples of a difference say: its interval, its error, and p by how often it turns."""

    low: float
    high: float
    error: float
    p: float
    undefined: int  # draws in which a run had no denominator, left out


def from_draws(drawn: Floats, undefined: int = 0) -> Drawn:
    """Take interval, standard error and p from the defined draws of a difference, (draws,).

    p is twice the share of draws on the rarer side of zero, one draw added to each (Davison and
    Hinkley 1997, "Bootstrap Methods and their Application", section 4.4).
    """
    low, high = np.quantile(drawn, [ALPHA / 2, 1 - ALPHA / 2])
    rarer = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = min(1.0, 2 * (1 + rarer) / (1 + len(drawn)))
    error = float(drawn.std(ddof=1)) if len(drawn) > 1 else 0.0
    return Drawn(float(low), float(high), error, p, undefined)


def detectable(error: float, clusters: int, unit: str = "") -> float | None:
    """Give the smallest true difference that 80 % of such sets show at the 5 % level, two-sided.

    It is 2.80 standard errors; but of right and wrong never less than the exact test can show:
    six clusters must differ, and all one way, before p is below 5 %.

    Args:
        error: the standard error of the difference, from the resamples.
        clusters: how many there are, in which the metric is defined.
        unit: of the metric; the second rule holds for shares ("") alone.

    Returns:
        In the unit of the metric (a share of 1); None where no difference could be shown.
    """
    if clusters < _FEWEST:
        return None
    return max(_REACH * error, 0.0 if unit else _least(clusters))


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
        Second minus first for each ratio and slice that both have, p not yet adjusted. The
        interval is the percentile one of the paired cluster bootstrap; where that has nothing to
        vary, because every cluster differs alike, one by Wilson's: clusters that differ otherwise
        were not seen, and their share is what Wilson's interval leaves it.
    """
    names = [one.name for one in first.ratios if one.name in {two.name for two in second.ratios}]
    by = [cut for cut in first.by if tuple(cut) in {tuple(other) for other in second.by}]
    known = [
        {(metric.name, tuple(metric.cut.items())): metric for metric in part.metrics(draws, seed)}
        for part in (_only(first, names, by), _only(second, names, by))
    ]
    rows = _together(first, second, names, by)
    found = []
    for cut_names in by:
        width = 2 * len(names) + 1
        slices = _slices(rows, cut_names, width)
        units = _slices(rows.with_columns(pl.col(_UNIT).alias(_CLUSTER)), cut_names, width)
        for (cut, sums), (_, unit_sums) in zip(slices, units, strict=True):
            for i, name in enumerate(names):
                one, two = (side.get((name, tuple(cut.items()))) for side in known)
                if one is None or two is None:  # the slice is in one run alone
                    continue
                columns = [2 * i, 2 * i + 1, 2 * (len(names) + i), 2 * (len(names) + i) + 1, -2, -1]
                found.append(
                    _difference(one, two, sums[:, columns], unit_sums[:, columns], draws, seed)
                )
    return found


_UNIT = "\0unit"


def _only(rates: Rates, names: Sequence[str], by: Sequence[Sequence[str]]) -> Rates:
    by_name = {ratio.name: ratio for ratio in rates.ratios}
    return replace(rates, ratios=[by_name[name] for name in names], by=by)


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


def _difference(
    one: Metric, two: Metric, sums: Floats, units: Floats, draws: int, seed: int
) -> Difference:
    """Hold one ratio in one slice against the other run's.

    `sums` has a row a cluster, `units` one an item: top and bottom in the first run, in the
    second, and how many rows of each run there are.
    """
    bare = Difference(
        name=one.name, cut=one.cut, reading=one.reading, first=one, second=two, clusters=len(sums)
    )
    if one.value is None or two.value is None:
        return msgspec.structs.replace(bare, note="undefined in one of the runs")
    distinct, counts = np.unique(sums[:, :4], axis=0, return_counts=True)
    difference = two.value - one.value
    drawn = _resampled(distinct, counts, one, draws, seed)
    low: float | None = drawn.low
    high: float | None = drawn.high
    method = BOOTSTRAP
    if drawn.undefined:
        method += f" ({drawn.undefined} of {draws} draws undefined)"
    counted = int((sums[:, [1, 3]] > 0).any(axis=1).sum())
    if drawn.error < 1e-12:
        low, high = _alike(difference, counted) if not one.unit else (None, None)
        method = NONE_DIFFERS if low is not None else ""
    rows = _rows(units)
    p, test, note = _tested(distinct, counts, sums, rows, one, drawn, draws, seed)
    return msgspec.structs.replace(
        bare,
        difference=difference,
        low=low,
        high=high,
        method=method,
        error=drawn.error,
        p=p,
        test=test,
        lost=rows[0] if rows else None,
        gained=rows[1] if rows else None,
        p_rows=mcnemar(*rows) if rows else None,
        detectable=detectable(drawn.error, counted, one.unit),
        note=note,
    )


def _resampled(distinct: Floats, counts: Counts, one: Metric, draws: int, seed: int) -> Drawn:
    before = Patterns(distinct[:, 0], distinct[:, 1], counts)
    after = Patterns(distinct[:, 2], distinct[:, 3], counts)
    (top, bottom), (top_2, bottom_2) = draw_both(
        before, after, f"difference in {one.name}", one.cut, draws, seed
    )
    defined = (bottom > 0) & (bottom_2 > 0)
    drawn = top_2[defined] / bottom_2[defined] - top[defined] / bottom[defined]
    return from_draws(drawn, int((~defined).sum()))


def _alike(difference: float, clusters: int) -> tuple[float, float]:
    """Give an interval where every cluster differs alike.

    At most a share u of clusters are otherwise, u being what Wilson's interval leaves to what was
    never seen; and one that is can move the difference by 1, and by what it was itself.
    """
    unseen = wilson(0, clusters)[1] * (1 + abs(difference))
    return max(-1.0, difference - unseen), min(1.0, difference + unseen)


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


def _tested(
    distinct: Floats,
    counts: Counts,
    sums: Floats,
    rows: tuple[int, int] | None,
    one: Metric,
    drawn: Drawn,
    draws: int,
    seed: int,
) -> tuple[float | None, str, str]:
    """Test for no difference: p, by what test, and what to know of it."""
    single = bool((sums[:, [1, 3]] <= 1).all())
    if rows is not None and single:
        return mcnemar(*rows), MCNEMAR, ""
    if (sums[:, 4] != sums[:, 5]).any():
        return drawn.p, BY_BOOTSTRAP, "the runs have different numbers of rows of an item"
    if one.unit:
        return drawn.p, BY_BOOTSTRAP, ""
    rng = _generator(seed, f"swaps in {one.name}", one.cut)
    p, test = sign_flip(distinct[:, :2], distinct[:, 2:], counts, draws, rng)
    if p is None:
        return drawn.p, BY_BOOTSTRAP, ""
    note = ""
    if rows is not None:
        note = "rows of one cluster are not independent, so whole clusters are swapped"
    return p, test, note


def adjusted(several: Iterable[Sequence[Difference]]) -> list[list[Difference]]:
    """Adjust p by Holm's method, within families, over all the comparisons of one baseline.

    A metric's overall differences, one for each run compared, are a family; its differences in
    the slices of all its cuts, for all the runs, are another. Readings are apart: they are other
    measures of the same replies.

    Args:
        several: for each run compared with the baseline, its differences.

    Returns:
        The same with `p_holm`.
    """
    lists = [list(one) for one in several]
    families: dict[tuple[str, str, bool], list[tuple[int, int]]] = {}
    for i, one in enumerate(lists):
        for j, each in enumerate(one):
            families.setdefault((each.name, each.reading, bool(each.cut)), []).append((i, j))
    for members in families.values():
        ps = holm([lists[i][j].p for i, j in members])
        for (i, j), p in zip(members, ps, strict=True):
            lists[i][j] = msgspec.structs.replace(lists[i][j], p_holm=p)
    return lists
