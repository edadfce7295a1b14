"""Refusing what cannot be answered, and answering what can (HARDBench, MMOOC).

The positive class is unanswerable; predicted positive is that the *model* abstained. A provider's
content filter is not the model: such a row, like a failed, truncated or unparsed one, is no
refusal and no right answer, and stays in every denominator it belongs to.
"""

from __future__ import annotations

import polars as pl

from hardset.metrics.rates import columns
from hardset.metrics.ratios import Ratio
from hardset.records import State


def refusal_ratios(reading: str = "") -> list[Ratio]:
    """All rates of this file, in the order a table shows them."""
    return [
        answerable_accuracy(reading),
        over_refusal(reading),
        refusal_recall(reading),
        refusal_precision(reading),
        refusal_f1(reading),
    ]


def answerable_accuracy(reading: str = "", name: str = "answerable accuracy") -> Ratio:
    """Right answers over answerable rows; a refusal there is wrong."""
    _, right = columns(reading)
    return Ratio(
        name=name,
        top=_answerable() & pl.col(right),
        bottom=_answerable(),
        about="right answers / answerable rows; a refusal or failed row counts as wrong",
    )


def over_refusal(reading: str = "", name: str = "over-refusal") -> Ratio:
    """Refused answerable rows over answerable rows: lower is better."""
    return Ratio(
        name=name,
        top=_answerable() & _refused(reading),
        bottom=_answerable(),
        better="lower",
        about="refused / answerable rows",
    )


def refusal_recall(reading: str = "", name: str = "refusal recall") -> Ratio:
    """Refused unanswerable rows over unanswerable rows (the refusal rate of MMOOC's OOC)."""
    return Ratio(
        name=name,
        top=~_answerable() & _refused(reading),
        bottom=~_answerable(),
        about="refused / unanswerable rows",
    )


def refusal_precision(reading: str = "", name: str = "refusal precision") -> Ratio:
    """Refused unanswerable rows over refused rows; undefined where nothing was refused."""
    return Ratio(
        name=name,
        top=~_answerable() & _refused(reading),
        bottom=_refused(reading),
        about="unanswerable / refused rows",
    )


def refusal_f1(reading: str = "", name: str = "refusal F1") -> Ratio:
    """The harmonic mean of precision and recall, as one ratio of sums: 2TP / (2TP + FP + FN).

    2TP + FP + FN = (TP + FP) + (TP + FN) = refused + unanswerable.
    """
    return Ratio(
        name=name,
        top=2 * (~_answerable() & _refused(reading)).cast(pl.Int32),
        bottom=_refused(reading).cast(pl.Int32) + (~_answerable()).cast(pl.Int32),
        about="2 x refused unanswerable / (refused + unanswerable), positive = unanswerable",
    )


def _answerable() -> pl.Expr:
    return pl.col("answerable")


def _refused(reading: str) -> pl.Expr:
    state, _ = columns(reading)
    return (pl.col(state) == State.ABSTAINED.value).fill_null(False)
