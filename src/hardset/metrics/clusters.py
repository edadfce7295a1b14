"""Which rows stand or fall together: those that share a pair or an image, if by way of others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

NAME = "cluster"


def connected(frame: pl.DataFrame, columns: Sequence[str], name: str = NAME) -> pl.Series:
    """Label the rows so that rows that share a value of any of the columns have one label.

    Sharing is passed on: a row that has its pair in common with a second row, whose image is a
    third one's, is in one cluster with both. These are the connected components of the graph of
    rows and values, and so the finest clusters that keep every shared pair and image together.

    Args:
        frame: one row an outcome.
        columns: what ties rows together; null and "" tie nothing, and equal values of two
            columns have nothing to do with each other.
        name: of the series.

    Returns:
        One whole number a row, 0, 1, ... in order of first appearance; null for a row that has a
        value in none of the columns (`estimate` lets such a row go by its item).
    """
    values = [_numbered(frame[column]) for column in columns]
    labels = np.arange(len(frame))
    has_any = np.zeros(len(frame), dtype=bool)
    for value in values:
        has_any |= value >= 0
    while True:  # every turn passes the smallest label on at least twice as far
        before = labels
        for value in values:
            labels = _smallest(labels, value)
        labels = labels[labels]
        if np.array_equal(labels, before):
            break
    firsts = labels[has_any]
    _, dense = np.unique(firsts, return_inverse=True)  # a label is its first row: in order
    numbers = np.full(len(frame), -1, dtype=np.int64)
    numbers[has_any] = dense
    return pl.select(pl.when(pl.lit(pl.Series(has_any))).then(pl.Series(numbers)).alias(name))[name]


def _numbered(column: pl.Series) -> NDArray[np.int64]:
    """Number a column's values 0, 1, ...; -1 where there is none."""
    missing = column.is_null()
    if column.dtype == pl.String:
        missing |= (column == "").fill_null(True)
    if column.dtype.is_float():
        missing |= column.is_nan().fill_null(True)
    ranks = column.rank("dense").cast(pl.Int64).fill_null(0) - 1
    return np.where(missing.to_numpy(), -1, ranks.to_numpy())


def _smallest(labels: NDArray[np.int64], value: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give every row the smallest label among the rows of its value."""
    tied = value >= 0
    if not tied.any():
        return labels
    least = np.full(int(value.max()) + 1, len(labels), dtype=np.int64)
    np.minimum.at(least, value[tied], labels[tied])
    found = labels.copy()
    found[tied] = least[value[tied]]
    return found
