"""Tokens and cost: what the replies took, for a question and in all.

It shows whatever run has the metrics of `metrics.usage`; money only where a price was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hardset.records import Metric
from hardset.reports.numbers import interval, percent
from hardset.reports.runs import RunView, Shown
from hardset.reports.sections import Section
from hardset.reports.view import short_names

MEANS = {"tokens in": "tokens", "tokens out": "tokens", "cost": "$"}
"""The metrics shown, in this order, and their units."""


@dataclass(frozen=True)
class Mean:
    """A mean for one reply with its interval, and the total."""

    value: str
    interval: str
    total: str


@dataclass(frozen=True)
class Spent:
    """What the replies of one run took; None where that is not known."""

    model: int
    name: str
    replies: int
    means: Sequence[Mean | None]


def section(runs: Sequence[RunView], sample: Sequence[Shown]) -> Section | None:
    """Lay out what was spent; None where no endpoint said how many tokens there were."""
    found = [_overall(run) for run in runs]
    names = [name for name in MEANS if any(name in metrics for metrics in found)]
    if not names:
        return None
    short = short_names(runs)
    spent = [
        Spent(
            model=i,
            name=short[i],
            replies=max(int(metric.denominator) for metric in metrics.values()),
            means=[_mean(metrics.get(name)) for name in names],
        )
        for i, metrics in enumerate(found)
        if metrics
    ]
    return Section(
        anchor="spent",
        title="Tokens and cost" if "cost" in names else "Tokens",
        template="spent.html",
        values={"names": names, "spent": spent},
    )


def _overall(run: RunView) -> Mapping[str, Metric]:
    return {
        metric.name: metric
        for metric in run.metrics
        if not metric.cut and metric.unit and MEANS.get(metric.name) == metric.unit
    }


def _mean(metric: Metric | None) -> Mean | None:
    if metric is None:
        return None
    money = metric.unit == "$"
    return Mean(
        value=percent(metric.value, metric.unit),
        interval=interval(metric),
        total=f"{metric.numerator:,.2f} $" if money else f"{metric.numerator:,.0f}",
    )
