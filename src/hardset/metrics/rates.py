"""The plainest rates: right answers, and rows in a state, over all rows."""

from __future__ import annotations

import polars as pl

from hardset.metrics.ratios import Ratio
from hardset.records import State

JUDGE = "judge"
"""The reading that a judge gives: its columns are null where a verdict is missing."""


def columns(reading: str = "") -> tuple[str, str]:
    """Name the outcome columns (state, right) of a reading; "" is the headline's."""
    return (f"{reading}_state", f"{reading}_right") if reading else ("state", "right")


def accuracy(reading: str = "", name: str = "accuracy") -> Ratio:
    """Right rows over all rows; failed and unparsed rows count as wrong."""
    _, right = columns(reading)
    return Ratio(
        name=name,
        top=pl.col(right),
        bottom=pl.lit(1),
        about="right / all rows; failed, truncated and unparsed rows count as wrong",
    )


def in_state(state: State, reading: str = "", name: str = "") -> Ratio:
    """Rows that ended in `state` over all rows."""
    column, _ = columns(reading)
    return Ratio(
        name=name or state.value,
        top=pl.col(column) == state.value,
        bottom=pl.lit(1),
        better="",
        about=f"rows that ended {state.value} / all rows",
    )
