"""The metrics of each kind of item, from that kind's outcome rows.

Rows about one picture (the tag `scene`) stand or fall together, so the picture is the cluster of
every interval; where each pair or main question has a picture to itself, those are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import polars as pl

from hardset.metrics import (
    JUDGE,
    Rates,
    Ratio,
    Selective,
    accuracy,
    misleading_rate,
    pair_up,
    paired_accuracy,
    refusal_grade,
    refusal_ratios,
    robustness_accuracy,
    verdicts_given,
)

Kind = Callable[[pl.DataFrame, bool], Iterator[Rates]]
"""Declares a kind's metrics from its rows, and whether several groups may share a picture."""


def plain(rows: pl.DataFrame, shared: bool) -> Iterator[Rates]:
    """Accuracy on plain questions."""
    cuts = ((), ("category",), ("form",))
    ratios = [accuracy(name="plain accuracy")]
    yield Rates(frame=rows, ratios=ratios, cluster="scene", by=cuts)


def hardbench(rows: pl.DataFrame, shared: bool) -> Iterator[Rates]:
    """Paired accuracy over originals and their edits, and the rates of refusing."""
    cuts = ((), ("edit",))
    pairs = pair_up(
        rows.filter(pl.col("right").is_not_null()),
        first="original",
        second="edited",
        columns=["right"],
        keep=["edit", "scene"],
    )
    yield Rates(
        frame=pairs.sound, ratios=[paired_accuracy()], cluster=_cluster("pair", shared), by=cuts
    )
    yield Rates(frame=rows, ratios=refusal_ratios(), cluster=_cluster("pair", shared), by=cuts)


def mmr(rows: pl.DataFrame, shared: bool) -> Iterator[Rates]:
    """Robustness accuracy and misleading rate over positive and leading questions."""
    pairs = pair_up(
        rows, first="POS", second="NEG", columns=["right"], keep=["level", "category", "scene"]
    )
    ratios = [robustness_accuracy(), misleading_rate()]
    cuts = ((), ("level",), ("category",))
    yield Rates(frame=pairs.sound, ratios=ratios, cluster=_cluster("pair", shared), by=cuts)


def mmooc(rows: pl.DataFrame, shared: bool) -> Iterator[Rates]:
    """Refusal out of context and accuracy in context, by shift and format."""
    cuts = ((), ("shift",), ("format",), ("scenario",), ("shift", "format"))
    for group, name, about in (
        ("ooc", "OOC refusal rate", "refused / questions out of context (MMOOC)"),
        ("ic", "IC accuracy", "right / questions in a shifted context (MMOOC)"),
    ):
        ratio = Ratio(name=name, top=pl.col("right"), bottom=pl.lit(1), about=about)
        part = rows.filter(pl.col("group") == group)
        yield Rates(frame=part, ratios=[ratio], cluster="scene", by=cuts)


def zero(rows: pl.DataFrame, shared: bool) -> Iterator[Rates]:
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
    ratios = [accuracy(name="zero accuracy")]
    yield Rates(frame=mains, ratios=ratios, cluster="scene", by=cuts)
    yield Rates(frame=subs, ratios=[macro], cluster=_cluster("parent", shared), by=cuts)


def of_kinds(rows: pl.DataFrame, shared: bool) -> Iterator[Rates]:
    """Declare the metrics of every kind that there is."""
    told = pl.col("right").is_not_null()  # judges may give no verdict
    for kind, rates in RATES.items():
        own = rows.filter(pl.col("kind") == kind, told | (kind == "hardbench"))
        if own.height:
            yield from rates(own, shared)


def judged(rows: pl.DataFrame, shared: bool) -> Iterator[Rates]:
    """Declare the same by the judges' reading, what their verdicts cover, and refusals' grades."""
    if f"{JUDGE}_state" not in rows.columns:
        return
    state, right = (pl.col(f"{JUDGE}_{name}").alias(name) for name in ("state", "right"))
    for rates in of_kinds(rows.with_columns(state, right), shared):
        yield replace(rates, reading=JUDGE)
    ratios = [verdicts_given()]
    if "verdict_refusal-rationality" in rows.columns:
        ratios.append(refusal_grade())
    yield Rates(frame=rows, ratios=ratios, cluster="scene", by=((), ("kind",)), reading=JUDGE)


def selective(rows: pl.DataFrame) -> Iterator[Selective]:
    """What the confidence is good for, where there is one."""
    if "confidence" in rows.columns:
        yield Selective(frame=rows, cluster="scene", by=((), ("kind",)))


def _cluster(group: str, shared: bool) -> str:
    return "scene" if shared else group


RATES: dict[str, Kind] = {
    "plain": plain,
    "hardbench": hardbench,
    "mmr": mmr,
    "mmooc": mmooc,
    "zero": zero,
}
