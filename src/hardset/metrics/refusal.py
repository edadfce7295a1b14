"""Refusing what cannot be answered, and answering what can (HARDBench, MMOOC).

The positive class is unanswerable; predicted positive is that the *model* abstained. A provider's
content filter is not the model: such a row, like a failed, truncated or unparsed one, is no
refusal and no right answer, and stays in every denominator it belongs to. Only a row of which
judges gave no verdict that a rate needs is in neither of its sums.
"""

from __future__ import annotations

import polars as pl

from hardset.metrics.rates import JUDGE, columns
from hardset.metrics.ratios import Ratio
from hardset.records import GRADE, State


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
        bottom=_answerable() & pl.col(right).is_not_null(),
        about="right answers / answerable rows; a refusal or failed row counts as wrong",
    )


def over_refusal(reading: str = "", name: str = "over-refusal") -> Ratio:
    """Refused answerable rows over answerable rows: lower is better."""
    return Ratio(
        name=name,
        top=_answerable() & _refused(reading),
        bottom=_answerable() & _known(reading),
        better="lower",
        about="refused / answerable rows",
    )


def refusal_recall(reading: str = "", name: str = "refusal recall") -> Ratio:
    """Refused unanswerable rows over unanswerable rows (the refusal rate of MMOOC's OOC)."""
    return Ratio(
        name=name,
        top=~_answerable() & _refused(reading),
        bottom=~_answerable() & _known(reading),
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
        bottom=_refused(reading).cast(pl.Int32) + (~_answerable() & _known(reading)).cast(pl.Int32),
        about="2 x refused unanswerable / (refused + unanswerable), positive = unanswerable",
    )


def published_ratios(reading: str = "") -> list[Ratio]:
    """HARDBench's own rates, under its names and as its code computes them.

    They differ from the rates above in two ways. A row with an empty reply is left out of
    everything, so a failed request costs nothing. And a true negative is an answerable row that
    was not refused, whether or not the answer is right, so `overall_acc` counts wrong answers.

    Source: the HARDBench authors' evaluation code.
    """
    told = pl.col("reply").fill_null("").str.strip_chars() != ""
    _, right_column = columns(reading)
    right, says_no = pl.col(right_column), _refused(reading)
    if reading == JUDGE:  # the verdicts as they are: a reply may be both, and one cut off is judged
        says_no = pl.col("verdict_refused").fill_null(False)
        right = pl.col("verdict_matches-reference")
        told &= pl.col("verdict_refused").is_not_null() | ~pl.col("verdict_due")
    answerable, unanswerable = told & _answerable(), told & ~_answerable()
    refused = told & says_no
    caught = unanswerable & refused
    left_out = "rows with an empty reply left out (HARDBench's code)"
    return [
        Ratio(
            name="acc",
            top=answerable & right,
            bottom=answerable & right.is_not_null(),
            about=f"right answers / answerable rows; {left_out}",
        ),
        Ratio(
            name="precision",
            top=caught,
            bottom=refused,
            about=f"unanswerable / refused rows; {left_out}",
        ),
        Ratio(
            name="recall",
            top=caught,
            bottom=unanswerable,
            about=f"refused / unanswerable rows; {left_out}",
        ),
        Ratio(
            name="F1",
            top=2 * caught.cast(pl.Int32),
            bottom=refused.cast(pl.Int32) + unanswerable.cast(pl.Int32),
            about=f"2 x precision x recall / (precision + recall); {left_out}",
        ),
        Ratio(
            name="overall_acc",
            top=caught | (answerable & ~refused),
            bottom=told,
            about="(refused unanswerable + answerable that are not refused, wrong answers too) "
            f"/ rows; {left_out}",
        ),
    ]


def verdicts_given(name: str = "verdicts given") -> Ratio:
    """Rows whose verdicts the judge gave, over the rows that it was asked about."""
    due = pl.col("verdict_due")
    return Ratio(
        name=name,
        top=due & pl.col(f"{JUDGE}_right").is_not_null(),
        bottom=due,
        about="rows with every verdict they need / rows the judge was asked about; the others are "
        "in none of its rates",
    )


def refusal_grade(name: str = "refusal rationality (1 to 5)") -> Ratio:
    """The mean grade of the reasons given for refusing, over refused unanswerable rows.

    Source: HARDBench, a judge that sees the picture and knows why the question cannot be answered.
    """
    grade = pl.col("verdict_refusal-rationality")
    return Ratio(
        name=name,
        top=grade,
        bottom=grade.is_not_null(),
        about="mean grade, 1 to 5, of the reasons for refusing / refused unanswerable rows with a "
        "grade (HARDBench)",
        unit=GRADE,
    )


def _answerable() -> pl.Expr:
    return pl.col("answerable")


def _known(reading: str) -> pl.Expr:
    """Whether it is known that the reply refuses, or does not: judges may give no verdict."""
    state, _ = columns(reading)
    return pl.col(state).is_not_null()


def _refused(reading: str) -> pl.Expr:
    state, _ = columns(reading)
    return (pl.col(state) == State.ABSTAINED.value).fill_null(False)
