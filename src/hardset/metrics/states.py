"""How many rows ended in each state: every state, the zeros too."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from hardset.records import State


def tally(frame: pl.DataFrame, column: str = "state") -> dict[str, int]:
    """Count the rows in every state, in the order of `State`.

    Raises:
        ValueError: if a row is in no known state, which would make the counts not add up.
    """
    counts = count_states(frame, column=column)
    return dict(zip(counts["state"], counts["count"], strict=True))


def count_states(
    frame: pl.DataFrame, by: Sequence[str] = (), column: str = "state"
) -> pl.DataFrame:
    """Count the rows in every state, in each slice: columns *by*, `state`, `count`.

    Slices are sorted; within one, states come in the order of `State`, zeros included, so
    that a slice's counts add up to its rows.

    Raises:
        ValueError: if a row is in no known state.
    """
    known = [state.value for state in State]
    strange = frame.filter(~pl.col(column).is_in(known) | pl.col(column).is_null())
    if len(strange):
        raise ValueError(
            f"column {column!r} holds {strange[column][0]!r} in {len(strange)} rows, "
            f"which is none of the states {', '.join(known)}"
        )
    slices = frame.select(by).unique().sort(list(by)) if by else pl.DataFrame({"": [0]})
    states = pl.DataFrame({"state": known, "\0order": range(len(known))})
    counted = frame.group_by(*by, pl.col(column).alias("state")).agg(pl.len().alias("count"))
    every = slices.join(states, how="cross")
    return (
        every.join(counted, on=[*by, "state"], how="left", nulls_equal=True)
        .sort(*by, "\0order")
        .select(*by, "state", pl.col("count").fill_null(0).cast(pl.Int64))
    )
