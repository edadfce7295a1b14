"""What a comparison of runs holds, and how its findings are said: no drawing, no tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hardset.metrics.difference import Difference
from hardset.metrics.items import Flips, Matched
from hardset.records import COEFFICIENT, GRADE
from hardset.reports.runs import RunView


@dataclass(frozen=True, kw_only=True)
class Versus:
    """One run against the baseline, over the items that both have.

    `first` and `second` are the runs cut down to those items, in one order, with the same
    `index`. The differences are second minus first; their p is adjusted over all the runs.
    """

    first: RunView
    second: RunView
    matched: Matched
    differences: Sequence[Difference]
    flips: Flips
    differing: Sequence[tuple[str, str, str]]  # what of the manifests is not the same: name, values

    @property
    def leading(self) -> list[Difference]:
        """The overall differences of the metrics that lead, all readings."""
        names = self.first.leading or list(dict.fromkeys(one.name for one in self.differences))[:6]
        found = [one for one in self.differences if not one.cut and one.name in names]
        return sorted(found, key=lambda one: names.index(one.name))

    def by(self, cut: str) -> list[Difference]:
        """The differences of the headline's reading of the metrics that lead, in each slice."""
        names = [one.name for one in self.leading]
        found = [
            one
            for one in self.differences
            if list(one.cut) == [cut]
            and one.name in names
            and one.reading == self.first.readings[0]
        ]
        return sorted(found, key=lambda one: names.index(one.name))


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A baseline and the runs held against it."""

    benchmark: str
    title: str
    paper: str
    labels: Sequence[str]  # the baseline's first
    folders: Sequence[str]
    manifests: Sequence[Mapping[str, Any]]
    versus: Sequence[Versus]
    notices: Sequence[str] = field(default_factory=tuple)


FEW = 5  # ids that a sentence names
MOST_SHOWN = 60  # flips each way that a page shows in full


def shown_flips(versus: Versus) -> list[str]:
    """Pick the flipped items that a page shows in full: the first ones, each way."""
    return [*versus.flips.lost[:MOST_SHOWN], *versus.flips.gained[:MOST_SHOWN]]


def few(ids: Sequence[str]) -> str:
    """Name the first few ids, and say that there are more."""
    return ", ".join(ids[:FEW]) + (", ..." if len(ids) > FEW else "")


def points(value: float | None, unit: str = "", *, signed: bool = True) -> str:
    """Write a difference in points of a hundred, `+3.2`, or in the metric's unit."""
    if value is None:
        return ""
    if not unit:
        text = f"{100 * value:+.1f}"
    else:
        text = f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.3g}"
    if unit in (COEFFICIENT, GRADE):
        text = f"{value:+.2f}"
    nought = not any(digit in text for digit in "123456789")
    return text if signed and not nought else text[1:]


def between(one: Difference) -> str:
    """Write the interval of a difference: `-1.0 to 7.4`."""
    if one.low is None or one.high is None:
        return ""
    low, high = (points(end, one.unit).removeprefix("+") for end in (one.low, one.high))
    return f"{low} to {high}"


def probability(p: float | None) -> str:
    """Write a p-value."""
    if p is None:
        return ""
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def metric_name(one: Difference, readings: Sequence[str]) -> str:
    """Name a metric, and its reading where that is not the headline's."""
    return one.name if one.reading == readings[0] else f"{one.name} ({one.reading} reading)"


def verdict(one: Difference) -> str:
    """Say in a word what a difference shows of the second run: better, worse, other, or nothing."""
    if one.difference is None:
        return ""
    if not one.shown:
        return "not shown"
    if not one.better:
        return "differs"
    return "better" if (one.difference > 0) == (one.better == "higher") else "worse"


def finding(one: Difference, versus: Versus, run: str = "") -> str:
    """Say in a sentence what a difference shows of the `run`, or what the set could have shown."""
    name = metric_name(one, versus.first.readings)
    if one.difference is None:
        return f"{name}: {one.note}"
    if one.shown:
        how = "higher" if one.difference > 0 else "lower"
        judged = f", which is {verdict(one)}" if one.better else ""
        return f"{name}: {how} in {run or versus.second.model}{judged}"
    if one.detectable is None:
        return f"{name}: no difference shown; so few items could have shown none"
    could = f"{points(one.detectable, one.unit, signed=False)} {one.unit or 'points'}"
    return f"{name}: no difference shown; this set could have shown {could}"


def tests(found: Sequence[Difference]) -> list[tuple[str, list[str]]]:
    """Say which test is of which metric, in order."""
    named: dict[str, dict[str, None]] = {}
    for one in found:
        if one.test:
            named.setdefault(one.test, {})[one.name] = None
    return [(test, list(names)) for test, names in named.items()]


def left_out(versus: Versus) -> Iterator[str]:
    """Say which items are in one run alone, or not the same in both."""
    matched = versus.matched
    for ids, where in (
        (matched.first_only, f"in {versus.first.model} alone"),
        (matched.second_only, f"in {versus.second.model} alone"),
    ):
        if ids:
            yield f"{_items(len(ids))} {where}, left out: {few(ids)}"
    if matched.changed:
        what = ", ".join(dict.fromkeys(part for _, part in matched.changed))
        ids = [ident for ident, _ in matched.changed]
        verb = "is" if len(ids) == 1 else "are"
        yield (
            f"{_items(len(ids))} of one id {verb} not the same in both runs ({what}), left out: "
            f"{few(ids)}"
        )
    if matched.doubled:
        yield (
            f"{len(matched.doubled)} {'id stands' if len(matched.doubled) == 1 else 'ids stand'} "
            f"for several items, left out: {few(matched.doubled)}"
        )


def _items(count: int) -> str:
    return f"{count:,} item" if count == 1 else f"{count:,} items"


def adjusted_p(one: Difference) -> float | None:
    """Give the p that counts: adjusted within its family, where it was."""
    return one.p if one.p_holm is None else one.p_holm
