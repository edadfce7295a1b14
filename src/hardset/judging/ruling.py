"""From verdicts to outcomes: what a judge's word makes of a row, as one more reading of it."""

from __future__ import annotations

import polars as pl

from hardset.judging.verdicts import Verdicts
from hardset.metrics import JUDGE
from hardset.records import State

REFUSED, MATCHES = "refused", "matches-reference"


def rule(outcomes: pl.DataFrame, verdicts: Verdicts) -> pl.DataFrame:
    """Add what the judge said, and the states and rights that follow from it.

    A refused reply abstained. One that was not refused answered: right where it matches the
    reference, never on an unanswerable row. A row that the judge was not asked about keeps the
    state that it has, and so does one cut off by the token limit, which is never an answer. Where a
    verdict that is needed is missing, `judge_state` and `judge_right` are null.

    Args:
        outcomes: the outcome columns.
        verdicts: of the rubrics `refused` and `matches-reference` on these rows.

    Returns:
        The outcomes with `verdict_<rubric>` for each rubric (null: none), `verdict_due` (whether
        the judge was asked), and the four columns of the reading `judge`.
    """
    refused, matches = pl.col(f"verdict_{REFUSED}"), pl.col(f"verdict_{MATCHES}")
    kept = ~pl.col("verdict_due") | (pl.col("state") == State.TRUNCATED.value)
    missing = refused.is_null() | (~refused & pl.col("answerable") & matches.is_null())
    state = (
        pl.when(kept)
        .then(pl.col("state"))
        .when(missing)
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
    return outcomes.with_columns(
        *(verdicts.columns[name].alias(f"verdict_{name}") for name in verdicts.columns.columns),
        verdicts.due[REFUSED].alias("verdict_due"),
    ).with_columns(
        state.alias(f"{JUDGE}_state"),
        pl.lit("").alias(f"{JUDGE}_answer"),
        said.alias(f"{JUDGE}_rule"),
        right.alias(f"{JUDGE}_right"),
    )
