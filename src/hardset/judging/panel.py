"""The panel: what several votes on one row come to, with ties and missing votes in plain sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.judging.rubric import Scale

Votes = NDArray[np.int16]
"""One judge's votes on one verdict, a value a row: 0 or 1, a grade, or a letter's place."""

NONE = -1  # no vote: not asked, no reply, or none that could be read


def decide(
    votes: Sequence[Votes], due: NDArray[np.bool_], scale: Scale
) -> tuple[pl.Series, pl.Series]:
    """Bring the votes of a panel together.

    A verdict that is TRUE or FALSE, or a letter, is what most of the votes given say; where two
    values have as many, there is none. Grades are averaged. A missing vote is no vote: it counts
    neither way, and how many are missing is said.

    Args:
        votes: one array a judge, (rows,).
        due: the rows that were put before the panel, (rows,).
        scale: of the verdict.

    Returns:
        The verdict (Boolean, Float64 or String; null for none), and how it came about: "2 of 3",
        "2 of 2, 1 missing", "1 of 2, tie", "no vote"; "" where it was not due.
    """
    every = np.stack(votes) if votes else np.full((0, len(due)), NONE, np.int16)
    # Panels are small and scales short, so that few distinct rows of votes stand for them all.
    distinct, which = np.unique(every, axis=1, return_inverse=True)
    each = [_decided([int(v) for v in column], scale) for column in distinct.T]
    which = np.where(due, which.reshape(-1), len(each))
    values = [value for value, _ in each] + [None]
    hows = [how for _, how in each] + [""]
    return spread(values, which, dtype_of(scale)), spread(hows, which, pl.String)


def dtype_of(scale: Scale) -> type[pl.DataType]:
    """Give the type of a panel's verdict."""
    return {"binary": pl.Boolean, "graded": pl.Float64, "letter": pl.String}[scale]


def vote_column(votes: Votes, scale: Scale) -> pl.Series:
    """Give one judge's votes as a column: Boolean, Int16 or String, null for no vote."""
    column = pl.Series(votes.astype(np.int16))
    column = column.set(column == NONE, None)
    if scale == "binary":
        return column.cast(pl.Boolean)
    if scale == "letter":
        return spread(
            [chr(65 + n) for n in range(26)] + [None], np.where(votes == NONE, 26, votes), pl.String
        )
    return column


T = TypeVar("T")


def spread(values: Sequence[T], which: NDArray[np.integer], dtype: type[pl.DataType]) -> pl.Series:
    """Give each row its value, by the value's place."""
    return pl.Series(values, dtype=dtype).gather(pl.Series(which.astype(np.uint32)))


def _decided(votes: list[int], scale: Scale) -> tuple[bool | float | str | None, str]:
    given = [vote for vote in votes if vote != NONE]
    lost = f", {len(votes) - len(given)} missing" if len(given) < len(votes) else ""
    if not given:
        return None, "no vote"
    if scale == "graded":
        return sum(given) / len(given), f"{len(given)} of {len(votes)} votes"
    most = max(given.count(vote) for vote in given)
    leading = {vote for vote in given if given.count(vote) == most}
    how = f"{most} of {len(given)}{lost}"
    if len(leading) > 1:
        return None, f"{how}, tie"
    (winner,) = leading
    return (bool(winner) if scale == "binary" else chr(65 + winner)), how
