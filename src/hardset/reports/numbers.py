"""How rates are written, the same in the terminal and on the page."""

from __future__ import annotations

from math import isfinite

from hardset.records import COEFFICIENT, GRADE, Metric

_BARE = (COEFFICIENT, GRADE)  # units that say nothing beside the number


def percent(value: float | None, unit: str = "") -> str:
    """Write a rate, `69.0 %`, a mean with a unit, `152 tokens`, a kappa, `0.71`, or "undefined"."""
    if value is None:
        return "undefined"
    if unit in _BARE:
        return hundredths(value)
    return f"{_significant(value)} {unit}" if unit else f"{100 * value:.1f} %"


def interval(metric: Metric) -> str:
    """Write a metric's interval, `63.5 to 74.0` per cent or units; empty where there is none."""
    if metric.low is None or metric.high is None:
        return ""
    if metric.unit in _BARE:
        return f"{hundredths(metric.low)} to {hundredths(metric.high)}"
    if metric.unit:
        return f"{_significant(metric.low)} to {_significant(metric.high)}"
    return f"{100 * metric.low:.1f} to {100 * metric.high:.1f}"


def hundredths(value: float) -> str:
    """Write two decimals, `0.71`, `-0.08`, and no minus before nothing."""
    return f"{value:.2f}".replace("-0.00", "0.00")


def magnitude(value: float | None) -> str:
    """Write three digits that count of a number of any size: `0.0123`, `1,230`, `4.56e-09`."""
    if value is None:
        return "undefined"
    if value == 0 or not isfinite(value):
        return f"{value:g}".replace("-0", "0")
    if 1e-3 <= abs(value) < 1e6:
        return _significant(value)
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def _significant(value: float) -> str:
    """Write three digits that count, and never fewer than the whole number has."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def fraction(metric: Metric) -> str:
    """Write numerator and denominator: `207/300`, `$0.0029/15`; of a kappa the rows: `300`."""
    of = count(metric.denominator)
    if metric.unit == COEFFICIENT:
        return of
    if metric.unit == "$":  # whole sums of small prices: two decimals would be 0.00
        return f"${_significant(metric.numerator)}/{of}"
    return f"{count(metric.numerator)}/{of}"


def count(number: float) -> str:
    """Write a count, or a sum of parts with what it needs of decimals."""
    return f"{number:.0f}" if number == int(number) else f"{number:.2f}"


def slice_name(metric: Metric) -> str:
    """Name a metric's slice: `level context, kind shape`; overall where there is no cut."""
    return ", ".join(f"{column} {value}" for column, value in metric.cut.items()) or "overall"
