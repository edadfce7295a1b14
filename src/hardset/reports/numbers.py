"""How rates are written, the same in the terminal and on the page."""

from __future__ import annotations

from hardset.records import Metric


def percent(value: float | None, unit: str = "") -> str:
    """Write a rate, `69.0 %`, a mean with a unit, `152 tokens`, or that it is undefined."""
    if value is None:
        return "undefined"
    return f"{_significant(value)} {unit}" if unit else f"{100 * value:.1f} %"


def interval(metric: Metric) -> str:
    """Write a metric's interval, `63.5 to 74.0` per cent or units; empty where there is none."""
    if metric.low is None or metric.high is None:
        return ""
    if metric.unit:
        return f"{_significant(metric.low)} to {_significant(metric.high)}"
    return f"{100 * metric.low:.1f} to {100 * metric.high:.1f}"


def _significant(value: float) -> str:
    """Write three digits that count, and never fewer than the whole number has."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def fraction(metric: Metric) -> str:
    """Write numerator and denominator: `207/300`, `$0.0029/15`."""
    of = count(metric.denominator)
    if metric.unit == "$":  # whole sums of small prices: two decimals would be 0.00
        return f"${_significant(metric.numerator)}/{of}"
    return f"{count(metric.numerator)}/{of}"


def count(number: float) -> str:
    """Write a count, or a sum of parts with what it needs of decimals."""
    return f"{number:.0f}" if number == int(number) else f"{number:.2f}"


def slice_name(metric: Metric) -> str:
    """Name a metric's slice: `level context, kind shape`; overall where there is no cut."""
    return ", ".join(f"{column} {value}" for column, value in metric.cut.items()) or "overall"
