"""Main questions and the subquestions that are steps towards them."""

from __future__ import annotations

import polars as pl

from hardset.metrics.ratios import Ratio


def macro(name: str = "subquestion score") -> Ratio:
    """Average over main questions the mean over each one's subquestions.

    A main question weighs the same however many subquestions it has, so this is not the share of
    all subquestions that are right. Source: ZeroBench, Roberts et al. 2025 (arXiv:2502.09696).

    Returns:
        A ratio over the rows of `repeats.by_item`, one a subquestion: `parent`, `n`, `c`.
    """
    share = 1 / pl.len().over("parent")  # each main question weighs 1 in all
    return Ratio(
        name=name,
        top=pl.col("c") / pl.col("n") * share,
        bottom=share,
        about="mean over main questions of the mean over their subquestions (ZeroBench)",
    )
