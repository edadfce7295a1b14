"""One metric of two runs, and how far they are apart: the record, and how it is filled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec
import numpy as np
from msgspec import Struct

from hardset.metrics.bootstrap import Counts, Floats
from hardset.metrics.interval import bca, wilson
from hardset.metrics.power import ALPHA, detectable
from hardset.metrics.signflip import holm
from hardset.records import Metric

BOOTSTRAP = "paired cluster-bootstrap, BCa"
ALL_ALIKE = "wilson (every cluster differs alike)"
BY_BOOTSTRAP = "bootstrap"
_SLACK = 1e-12  # a standard error that is rounding alone


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
    unit: str = ""  # as the metric's
    better: Literal["higher", "lower", ""] = "higher"

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


def beside(first: Metric | None, second: Metric | None, note: str = "") -> Difference:
    """Set a metric beside the other run's, without a difference; at least one is given."""
    metric = first or second
    if metric is None:
        raise ValueError("there is no metric to set beside another")
    if first is None or second is None:
        note = f"measured in the {'first' if first else 'second'} run alone"
    return Difference(
        name=metric.name,
        cut=metric.cut,
        reading=metric.reading,
        first=first,
        second=second,
        clusters=metric.clusters,
        note=note,
        unit=metric.unit,
        better=metric.better,
    )


def by_resampling(
    first: Metric,
    second: Metric,
    drawn: Floats,
    clusters: int,
    counted: int | None = None,
    row: float = 0.0,
    without: tuple[Floats, Counts] | None = None,
) -> Difference:
    """Hold a metric against the other run's by resamples of the difference, whatever it is.

    p is twice the share of draws on the rarer side of zero, one draw added to each (Davison and
    Hinkley 1997, "Bootstrap Methods and their Application", section 4.4).

    Args:
        first: the metric in the one run.
        second: the metric in the other; second minus first is what differs.
        drawn: (draws,), second minus first over the same resampled clusters in both runs; NaN
            where it is undefined.
        clusters: how many there are.
        counted: in how many of them the metric is defined in a run; all if not given.
        row: what one row that flips moves the metric by, where it is of right and wrong rows.
        without: the difference with one cluster left out, and how many clusters give each: what
            the interval needs to follow how the spread changes with the truth; see `bca`.

    Returns:
        The difference with its interval, error and p; see `differences` for the interval.
    """
    counted = clusters if counted is None else counted
    bare = msgspec.structs.replace(beside(first, second), clusters=clusters)
    if first.value is None or second.value is None:
        both = first.value is None and second.value is None
        note = f"undefined in {'both runs' if both else 'one of the runs'}"
        return msgspec.structs.replace(bare, note=note)
    difference = second.value - first.value
    kept = drawn[~np.isnan(drawn)]
    if not len(kept):
        note = "undefined in every resample"
        return msgspec.structs.replace(bare, difference=difference, note=note)
    rarer = min(int((kept <= 0).sum()), int((kept >= 0).sum()))
    error = float(kept.std(ddof=1)) if len(kept) > 1 else 0.0
    if error < _SLACK:
        shares = not first.unit and all(0 <= value <= 1 for value in (first.value, second.value))
        if not shares:  # not bounded: what was never seen could be anything
            p = 1.0 if abs(difference) < _SLACK else None
            return msgspec.structs.replace(bare, difference=difference, error=0.0, p=p)
        low, high = _alike(difference, counted)
        method = ALL_ALIKE
    else:
        if without is None or not len(without[0]):
            without = np.zeros(1), np.array([clusters])
        low, high = bca(kept, difference, *without, 1 - ALPHA)
        method = BOOTSTRAP
        if len(kept) < len(drawn):
            method += f" ({len(drawn) - len(kept)} of {len(drawn)} draws undefined)"
    return msgspec.structs.replace(
        bare,
        difference=difference,
        low=low,
        high=high,
        method=method,
        error=error,
        p=min(1.0, 2 * (1 + rarer) / (1 + len(kept))),
        test=BY_BOOTSTRAP,
        detectable=detectable(error, counted, row),
    )


def _alike(difference: float, clusters: int) -> tuple[float, float]:
    """Give an interval where every cluster differs alike.

    At most a share u of clusters are otherwise, u being what Wilson's interval leaves to what was
    never seen; and one that is can move the difference by 1, and by what it was itself.
    """
    unseen = wilson(0, clusters)[1] * (1 + abs(difference))
    return max(-1.0, difference - unseen), min(1.0, difference + unseen)


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
