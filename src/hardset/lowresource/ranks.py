"""Difficulty as ranks: comparable between scores, seeds and predictors, whatever their units.

A rank here is 0 for the easiest example and 1 for the hardest, ties averaged; NaN where there is
no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Aggregated(NamedTuple):
    """One rank an example from several predictors."""

    rank: Floats
    """(n,): the mean of ranks, 0 to 1; NaN where no predictor has a score."""
    lacking: NDArray[np.int64]
    """(n,): how many of the columns have no score of the example."""


def averaged(values: ArrayLike) -> Floats:
    """Rank finite values from 1, ties by the mean of their places.

    Args:
        values: (n,), all finite.

    Returns:
        (n,): ranks from 1 to n; 10, 20, 20, 30 have 1, 2.5, 2.5, 4.
    """
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    ranks = values[order]
    new = np.empty(len(values), dtype=bool)  # where a run of ties begins
    new[:1] = True
    np.not_equal(ranks[1:], ranks[:-1], out=new[1:])
    ranks[order] = np.arange(1.0, len(values) + 1)
    if not new.all():
        starts = np.flatnonzero(new)
        sizes = np.diff(np.append(starts, len(values)))
        tied = np.flatnonzero(sizes > 1)
        sizes = sizes[tied]
        middles = np.repeat(starts[tied] + (sizes + 1) / 2, sizes)
        among = ~new
        among[:-1] |= among[1:]  # a run's first is tied as well
        ranks[order[among]] = middles
    return ranks


def normalised(values: ArrayLike, hard: int = +1) -> Floats:
    """Rank a score's values from 0, the easiest, to 1, the hardest.

    Args:
        values: (n,): scores; what is not finite has no rank.
        hard: +1 where the highest is hardest, -1 where the lowest is (`SCORES[name].hard`).

    Returns:
        (n,): (rank - 1) / (m - 1) among the m finite values, ties averaged, NaN where there is no
        score. Values that are all one, a single one among them, have 0.5.
    """
    values = np.asarray(values, dtype=np.float64)
    scored = np.isfinite(values)
    many = int(scored.sum())
    if many < len(values):
        ranks = np.full(len(values), np.nan)
        if many:
            ranks[scored] = normalised(values[scored], hard)
        return ranks
    if many < 2:
        return np.full(many, 0.5)
    ranks = averaged(values if hard > 0 else -values)
    ranks -= 1
    ranks /= many - 1
    return ranks


def aggregate(ranks: Sequence[ArrayLike], families: Sequence[str]) -> Aggregated:
    """Average normalised ranks: over the seeds and networks of a family, then over families.

    Difficulty is the scorer's as much as the example's, so each family has one voice, however many
    seeds it was trained from. An example without a score somewhere is averaged over those that
    have one, and counted: fewer ranks spread more, so such examples reach either end more easily.

    Args:
        ranks: columns (n,) as of `normalised`, at least one.
        families: the family of each column.

    Raises:
        ValueError: there is no column, or families and columns differ in number.
    """
    if not ranks or len(ranks) != len(families):
        raise ValueError(f"{len(ranks)} columns of ranks and {len(families)} families")
    columns = [np.asarray(column, dtype=np.float64) for column in ranks]
    lacking = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        lacking += np.isnan(column)
    members: dict[str, list[Floats]] = {}
    for column, family in zip(columns, families, strict=True):
        members.setdefault(family, []).append(column)
    return Aggregated(_mean([_mean(each) for each in members.values()]), lacking)


def _mean(columns: Sequence[Floats]) -> Floats:
    """Average columns over what is there; NaN where nothing is."""
    total = np.zeros(len(columns[0]))
    count = np.zeros(len(columns[0]))
    for column in columns:
        there = ~np.isnan(column)
        total[there] += column[there]
        count += there
    total[count == 0] = np.nan
    return total / np.maximum(count, 1)
