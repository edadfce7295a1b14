"""How learners' results are written, the same on the page and in the terminal.

Accuracies are shares of test examples, written in per cent; what labels of real numbers are
measured by is a correlation, written as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from hardset.metrics.interval import student
from hardset.reports.numbers import hundredths

LEVEL = 0.95
HARD = "hardest"
RANDOM = "random"
PLAIN = "none"  # no augmentation
EVERYTHING = "all possible"  # in place of an interval that holds all that can be


@dataclass(frozen=True)
class Measure:
    """What a learner is measured by: its name, and whether it is a share."""

    name: str = "accuracy"

    @property
    def share(self) -> bool:
        """Whether it counts test examples; else it is a correlation, from -1 to 1."""
        return self.name == "accuracy"

    @property
    def unit(self) -> str:
        """Name the unit of a difference."""
        return "points" if self.share else ""

    def value(self, value: float | None) -> str:
        """Write a result: `31.2 %`, `0.71`."""
        if value is None:
            return "–"
        return f"{100 * value:.1f} %" if self.share else hundredths(value)

    def spread(self, mean: float | None, std: float | None) -> str:
        """Write a mean and its standard deviation over seeds; of one seed there is none."""
        if mean is None:
            return "–"
        if std is None:
            return self.value(mean)
        if self.share:
            return f"{100 * mean:.1f} ± {100 * std:.1f} %"
        return f"{hundredths(mean)} ± {hundredths(std)}"

    def difference(self, value: float | None) -> str:
        """Write a difference with its sign: `-47.2`, `+0.08`."""
        if value is None:
            return "–"
        text = f"{100 * value:+.1f}" if self.share else f"{value:+.2f}"
        return text[1:] if float(text) == 0 else text

    def between(self, low: float | None, high: float | None) -> str:
        """Write the interval of a difference, `-52.0 to -42.4`; empty where there is none.

        Student's interval of few seeds may reach beyond what a difference can be: it is cut there,
        and where it holds all that a difference can be, it says that it says nothing.
        """
        if low is None or high is None:
            return ""
        if low <= -self.most and high >= self.most:
            return EVERYTHING
        low, high = max(low, -self.most), min(high, self.most)
        return f"{self._end(low)} to {self._end(high)}"

    def _end(self, value: float) -> str:
        """Write an end with its sign, `-0.0` too: whether an interval holds zero is to be seen."""
        said = self.difference(value)
        return said if not value or said[0] in "+-" else f"{'-' if value < 0 else '+'}{said}"

    @property
    def most(self) -> float:
        """Give the furthest that a difference can go: from all right to all wrong."""
        return 1.0 if self.share else 2.0

    def possible(self, low: float, high: float) -> tuple[float, float]:
        """Cut an interval of a figure at what the figure can be."""
        return max(low, 0.0 if self.share else -1.0), min(high, 1.0)


def number(row: Mapping[str, Any], name: str) -> float | None:
    """Give a number of a record, None where it is not there or is none."""
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return None
    return float(value)


def interval_of_mean(row: Mapping[str, Any], prefix: str = "") -> tuple[float, float] | None:
    """Give the 95 % interval of a mean over seeds: Student's t; None of fewer than two."""
    n, mean = int(number(row, "n") or 0), number(row, f"{prefix}mean")
    std = number(row, f"{prefix}std")
    if n < 2 or mean is None or std is None:
        return None
    reach = student(LEVEL, n - 1) * std / sqrt(n)
    return mean - reach, mean + reach


def verdict(low: float | None, high: float | None) -> str:
    """Say what a gap shows: whether its interval leaves zero out."""
    if low is None or high is None:
        return "no interval"
    if high < 0:
        return "less"
    return "more" if low > 0 else "not shown"


def sentence(gap: Mapping[str, Any], of: Mapping[str, Any], to: Mapping[str, Any],
             measure: Measure) -> str:  # fmt: skip
    """Say what one learner's gap is, with its interval and the number of pairs.

    Args:
        gap: a record of `gaps`.
        of: the record of `summary` for its set; empty where there is none.
        to: the same for the random sets; empty where it is said already.
        measure: what they are measured by.
    """
    n = int(number(gap, "n") or 0)
    unit = f" {measure.unit}" if measure.unit else ""
    chosen = str(gap.get("set", HARD))
    said = f"k = {gap.get('k')}: "
    if number(gap, "gap") is None:
        return f"{said}no pair of {chosen} and random was trained to the end, so no gap"
    if number(of, "mean") is not None:
        beside = number(to, "mean")
        said += f"{measure.value(number(of, 'mean'))} from the {chosen}"
        said += "; " if beside is None else f", {measure.value(beside)} from random; "
    said += f"gap {measure.difference(number(gap, 'gap'))}{unit}"
    ends = measure.between(number(gap, "low"), number(gap, "high"))
    pairs = f"n = {n:,} {'pair' if n == 1 else 'pairs'}"
    if not ends:
        why = "no interval, it may be chance" if n < 2 else "they differ alike, so no interval"
        return f"{said} ({pairs}: {why})"
    if ends == EVERYTHING:
        return f"{said} ({pairs}: too few, the 95 % interval holds all that is possible)"
    return f"{said} (95 % interval {ends}; {pairs})"
