"""From verdicts to outcomes: what the panel's word makes of a row, as one more reading of it."""

from __future__ import annotations

import polars as pl

from hardset.judging.verdicts import MATCHES, REFUSED, Verdicts
from hardset.metrics import JUDGE
from hardset.records import State


def rule(outcomes: pl.DataFrame, verdicts: Verdicts) -> pl.DataFrame:
    """Add what the judges said, and the states and rights that follow from it.

    A refused reply abstained. One that was not refused answered: right where it matches the
    reference, by the verdict or, where the judges were not asked that, by the rules; never on an
    unanswerable row. A row that the judges were not asked about keeps the state that it has, and so
    does one cut off by the token limit, which is never an answer. `judge_state` is null where it is
    not known whether the reply refuses, and `judge_right` where that, or whether it matches, is
    needed and missing. Where the rubric `refused` was not asked, there is no such reading.

    Args:
        outcomes: the outcome columns.
        verdicts: on these rows.

    Returns:
        The outcomes with the verdicts' columns, and the four columns of the reading `judge`.
    """
    # Stacked beside what there is: `with_columns` would first copy all of it, to align the chunks.
    rows = outcomes.hstack(verdicts.columns)
    if f"verdict_{REFUSED}" not in rows.columns:
        return rows
    of = outcomes.select("state", "answerable", "right").hstack(verdicts.columns)
    refused = pl.col(f"verdict_{REFUSED}")
    judged = f"verdict_{MATCHES}" in rows.columns
    matches = pl.col(f"verdict_{MATCHES}") if judged else pl.col("right")
    kept = ~pl.col("verdict_due") | (pl.col("state") == State.TRUNCATED.value)
    missing = refused.is_null() | (~refused & pl.col("answerable") & matches.is_null())
    state = (
        pl.when(kept)
        .then(pl.col("state"))
        .when(refused.is_null())
        .then(None)
        .when(refused)
        .then(pl.lit(State.ABSTAINED.value))
        .otherwise(pl.lit(State.ANSWERED.value))
    )
    right = (
        pl.when(kept)
        .then(pl.lit(False))
        .when(missing)
        .then(None)
        .when(pl.col("answerable"))
        .then(~refused & matches)
        .otherwise(refused)
    )
    said = (
        pl.when(kept)
        .then(pl.lit("not judged"))
        .when(missing)
        .then(pl.lit("no verdict"))
        .otherwise(pl.lit("verdict"))
    )
    return rows.hstack(
        of.select(
            state.alias(f"{JUDGE}_state"),
            pl.repeat("", pl.len()).alias(f"{JUDGE}_answer"),
            said.alias(f"{JUDGE}_rule"),
            right.alias(f"{JUDGE}_right"),
        )
    )
