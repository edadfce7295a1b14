"""How rates are written, the same in the terminal and on the page."""

from __future__ import annotations

from hardset.records import Metric


def percent(value: float | None) -> str:
    """Write a rate: `69.0 %`, or that it is undefined."""
    return "undefined" if value is None else f"{100 * value:.1f} %"


def interval(metric: Metric) -> str:
    """Write a metric's interval in per cent: `63.5 to 74.0`; empty where there is none."""
    if metric.low is None or metric.high is None:
        return ""
    return f"{100 * metric.low:.1f} to {100 * metric.high:.1f}"


def fraction(metric: Metric) -> str:
    """Write numerator and denominator: `207/300`."""
    return f"{count(metric.numerator)}/{count(metric.denominator)}"


def count(number: float) -> str:
    """Write a count, or a sum of parts with what it needs of decimals."""
    return f"{number:.0f}" if number == int(number) else f"{number:.2f}"


def slice_name(metric: Metric) -> str:
    """Name a metric's slice: `level context, kind shape`; overall where there is no cut."""
    return ", ".join(f"{column} {value}" for column, value in metric.cut.items()) or "overall"
