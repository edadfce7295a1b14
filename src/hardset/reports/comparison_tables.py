"""A comparison in the terminal: what differs, what the set could have shown, who flipped."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hardset.metrics.difference import Difference
from hardset.metrics.signflip import mcnemar
from hardset.records import Metric
from hardset.reports.compared import (
    Compared,
    Versus,
    adjusted_p,
    between,
    few,
    finding,
    metric_name,
    points,
    probability,
    tests,
)
from hardset.reports.numbers import percent
from hardset.reports.text import visible

_LEAST_WIDTH = 80  # below it cells would be cut
_NAME = 14  # columns that a name gets unfolded
_PIPE_WIDTH = 100  # of a pipe, which has none


def show(compared: Compared, console: Console | None = None, *, by_cut: bool = True) -> None:
    """Print a comparison: for each run a table, what it means, and the flips."""
    console = console or _Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max(_PIPE_WIDTH, console.width)
    console.width = max(_LEAST_WIDTH, console.width)
    for versus in compared.versus:
        for part in parts(compared, versus, console.encoding, by_cut=by_cut):
            console.print(part)
    for notice in compared.notices:
        console.print(_plain(f"- {notice}", console.encoding))


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the caller: rich would end the program with a status of its own."""
        raise BrokenPipeError


def parts(
    compared: Compared, versus: Versus, encoding: str = "utf-8", *, by_cut: bool = True
) -> Iterator[RenderableType]:
    """Yield what is printed of one run against the baseline."""
    several = len(compared.versus) > 1
    yield _heading(compared, versus, encoding)
    yield table(versus.leading, versus, encoding)
    for one in versus.leading:
        if one.reading == versus.first.readings[0]:
            yield _plain(finding(one, versus, "B"), encoding)
    for cut in versus.first.cuts if by_cut else ():
        found = versus.by(cut)
        if found:
            yield table(found, versus, encoding, cut=cut)
    yield _plain(_about_p(versus, several, by_cut), encoding)
    yield Text("")
    yield _plain(flips(versus), encoding)
    yield Text("")


def table(
    found: Sequence[Difference], versus: Versus, encoding: str = "utf-8", *, cut: str = ""
) -> Table:
    """Tabulate differences: values of both runs, difference, interval, p, what could be shown."""
    made = Table(
        title=_plain(f"By {cut}", encoding) if cut else None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    made.add_column(cut or "metric", overflow="fold", min_width=_NAME)
    for heading in ("A, %", "B, %", "B - A", "95 % interval", "p"):
        made.add_column(heading, justify="right", no_wrap=True)
    made.add_column("could show", justify="right", min_width=len("nothing"))
    metric = ""
    for one in found:
        lower = " (lower is better)" if one.better == "lower" else ""
        name = _plain(metric_name(one, versus.first.readings) + lower, encoding)
        if cut and name.plain != metric:
            if metric:
                made.add_section()
            metric = name.plain
            made.add_row(Text(metric, style="bold"))
        made.add_row(_plain(f"  {one.cut[cut]}", encoding) if cut else name, *_cells(one))
    return made


def _cells(one: Difference) -> list[Text]:
    values = [_value(metric) for metric in (one.first, one.second)]
    if one.difference is None:
        return [Text(value) for value in (*values, "-")]
    difference = points(one.difference, one.unit) + ("*" if one.shown else " ")
    could = points(one.detectable, one.unit, signed=False) or "nothing"
    cells = (*values, difference, between(one), probability(adjusted_p(one)), could)
    return [Text(cell) for cell in cells]


def _value(metric: Metric | None) -> str:
    """Write a value shortly: per cent without the sign, which the heading has."""
    if metric is None or metric.value is None:
        return "-"
    return percent(metric.value, metric.unit).removesuffix(" %")


def flips(versus: Versus) -> str:
    """Say how many items flipped, each way, and name the first."""
    found = versus.flips
    counted = found.both + found.neither + len(found.lost) + len(found.gained)
    by = f" by the {found.reading} reading" if found.reading else ""
    said = (
        f"Flips{by}: of {counted:,} items {found.both:,} are right in both, {found.neither:,} in "
        f"neither,\n{len(found.lost):,} in A alone (lost){_named(found.lost)},\n"
        f"{len(found.gained):,} in B alone (gained){_named(found.gained)}."
    )
    if found.unknown:
        said += f"\nNo verdict, so not counted: {found.unknown:,}."
    if found.lost or found.gained:
        p = probability(mcnemar(len(found.lost), len(found.gained)))
        said += f"\nExact McNemar over the items, as if they were independent: p {p}"
    return said


def _named(ids: Sequence[str]) -> str:
    return f": {few(ids)}" if ids else ""


def _heading(compared: Compared, versus: Versus, encoding: str) -> Text:
    items = versus.matched.items
    rows = [len(view.outcomes) for view in (versus.first, versus.second)]
    many = f"{items:,} items in both runs"
    if rows != [items, items]:
        many += f", {rows[0]:,} and {rows[1]:,} rows"
    text = f"{compared.title}: {many}\nA = {versus.first.model}\nB = {versus.second.model}"
    if versus.differing:
        text += f"\nWhat differs: {', '.join(name for name, _, _ in versus.differing)}"
    return _plain(text, encoding)


def _about_p(versus: Versus, several: bool, by_cut: bool) -> str:
    """Say what the tables' p is, how it is adjusted, and what could be shown."""
    shown = [one for one in versus.differences if not one.cut or by_cut]
    names = {one.name for one in versus.leading}
    named = "; ".join(
        f"{test} for {', '.join(metrics)}"
        for test, metrics in tests([one for one in shown if one.name in names])
    )
    families = "over a metric's slices" + (" and over the runs" if several else "")
    adjusted = f", adjusted by Holm's method {families}" if by_cut or several else ""
    return (
        f"* shown at the 5 % level. p: {named or 'none'}{adjusted}. Could show: the smallest "
        "difference that such a set shows in 80 % of cases, in points."
    )


def _plain(text: str, encoding: str) -> Text:
    """Keep rich's markup, terminal escapes and what the encoding lacks out of a text."""
    return Text(visible(text).encode(encoding, "backslashreplace").decode(encoding))
