"""The metrics of each kind of scenes item, from that kind's outcome rows.

Rows about one picture stand or fall together, so the picture, the pair or the main question
is the cluster of every interval.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from hardset.metrics import (
    Ratio,
    accuracy,
    estimate,
    misleading_rate,
    pair_up,
    paired_accuracy,
    refusal_ratios,
    robustness_accuracy,
)
from hardset.records import Metric


def plain(rows: pl.DataFrame) -> list[Metric]:
    """Accuracy on plain questions."""
    cuts = ((), ("category",), ("form",))
    return estimate(rows, [accuracy(name="plain accuracy")], cluster="scene", by=cuts)


def hardbench(rows: pl.DataFrame) -> list[Metric]:
    """Paired accuracy over originals and their edits, and the rates of refusing."""
    cuts = ((), ("edit",))
    pairs = pair_up(rows, first="original", second="edited", columns=["right"], keep=["edit"])
    return [
        *estimate(pairs.sound, [paired_accuracy()], cluster="pair", by=cuts),
        *estimate(rows, refusal_ratios(), cluster="pair", by=cuts),
    ]


def mmr(rows: pl.DataFrame) -> list[Metric]:
    """Robustness accuracy and misleading rate over positive and leading questions."""
    pairs = pair_up(rows, first="POS", second="NEG", columns=["right"], keep=["level", "category"])
    ratios = [robustness_accuracy(), misleading_rate()]
    return estimate(pairs.sound, ratios, cluster="pair", by=((), ("level",), ("category",)))


def mmooc(rows: pl.DataFrame) -> list[Metric]:
    """Refusal out of context and accuracy in context, by shift and format."""
    cuts = ((), ("shift",), ("format",), ("scenario",), ("shift", "format"))
    found = []
    for group, name, about in (
        ("ooc", "OOC refusal rate", "refused / questions out of context (MMOOC)"),
        ("ic", "IC accuracy", "right / questions in a shifted context (MMOOC)"),
    ):
        ratio = Ratio(name=name, top=pl.col("right"), bottom=pl.lit(1), about=about)
        part = rows.filter(pl.col("group") == group)
        found += estimate(part, [ratio], cluster="scene", by=cuts)
    return found


def zero(rows: pl.DataFrame) -> list[Metric]:
    """Accuracy on main questions, and the mean over them of their subquestions' mean."""
    mains = rows.filter(pl.col("part") == "main")
    subs = rows.filter(pl.col("part") == "sub")
    share = 1 / pl.len().over("parent", "repeat")  # each main question weighs 1 in all
    macro = Ratio(
        name="subquestion score",
        top=pl.col("right") * share,
        bottom=share,
        about="mean over main questions of the mean over their subquestions (ZeroBench)",
    )
    cuts = ((), ("steps",))
    return [
        *estimate(mains, [accuracy(name="zero accuracy")], cluster="scene", by=cuts),
        *estimate(subs, [macro], cluster="parent", by=cuts),
    ]


MEASURES: dict[str, Callable[[pl.DataFrame], list[Metric]]] = {
    "plain": plain,
    "hardbench": hardbench,
    "mmr": mmr,
    "mmooc": mmooc,
    "zero": zero,
}
