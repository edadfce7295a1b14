"""The tables in the terminal: headline, states and one table a cut, models side by side.

Everything is said in words and plain ASCII, so a pipe or a dumb terminal loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hardset.records import Metric
from hardset.reports.numbers import fraction, interval, percent
from hardset.reports.runs import RunView, cuts, leading, side_by_side
from hardset.reports.text import visible

_PIPE_WIDTH = 200  # a pipe has no width; rich would fold everything into 80 columns


def show(runs: Sequence[RunView], console: Console | None = None) -> None:
    """Print the tables of one or several runs of a benchmark."""
    console = console or Console()
    width = None if console.is_terminal else max(_PIPE_WIDTH, console.width)
    for table in tables(runs, console.encoding):
        console.print(table, width=width)


def tables(runs: Sequence[RunView], encoding: str = "utf-8") -> list[Table]:
    """Make the tables: headline, states, and one for each cut that has metrics."""
    made = [headline_table(runs, encoding), states_table(runs, encoding)]
    for cut in cuts(runs):
        if any(tuple(metric.cut) == (cut,) for run in runs for metric in run.metrics):
            made.append(cut_table(runs, cut, encoding))
    return made


def headline_table(runs: Sequence[RunView], encoding: str = "utf-8") -> Table:
    """Tabulate the overall metrics that lead, every reading, a column a model."""
    names = leading(runs)
    rows = [
        found
        for (name, cut, _), found in side_by_side(runs).items()
        if not cut and name in names
    ]  # fmt: skip
    rows.sort(key=lambda found: names.index(_first(found).name))
    title = f"{runs[0].title or runs[0].benchmark}: {_rows(runs)}"
    several_readings = len({_first(found).reading for found in rows}) > 1
    return _metric_table(title, runs, rows, encoding, reading=several_readings)


def cut_table(runs: Sequence[RunView], cut: str, encoding: str = "utf-8") -> Table:
    """Tabulate the leading metrics of the headline's reading in each slice of one cut."""
    names = leading(runs)
    rows = [
        found
        for (name, where, reading), found in side_by_side(runs).items()
        if [column for column, _ in where] == [cut]
        and name in names
        and reading == runs[0].readings[0]
    ]
    rows.sort(key=lambda found: names.index(_first(found).name))
    return _metric_table(f"By {cut}", runs, rows, encoding, where=cut)


def states_table(runs: Sequence[RunView], encoding: str = "utf-8") -> Table:
    """Tabulate how many rows ended in each state: every state, the zeros too."""
    table = _table("States (rows)")
    table.add_column("state")
    for run in runs:
        table.add_column(_plain(run.model, encoding), justify="right", overflow="fold")
    for state in runs[0].states:
        table.add_row(state, *(str(run.states.get(state, 0)) for run in runs))
    table.add_section()
    table.add_row("all", *(str(sum(run.states.values())) for run in runs))
    return table


def _metric_table(
    title: str,
    runs: Sequence[RunView],
    rows: Sequence[Sequence[Metric | None]],
    encoding: str,
    *,
    where: str = "",
    reading: bool = False,
) -> Table:
    table = _table(_plain(title, encoding))
    table.add_column("metric")
    if where:
        table.add_column(where, overflow="fold")
    if reading:
        table.add_column("reading")
    one = len(runs) == 1
    if one:
        for heading in ("value", "95 % interval", "of"):
            table.add_column(heading, justify="right", no_wrap=True)
    else:
        for run in runs:
            table.add_column(_plain(run.model, encoding), justify="right", overflow="fold")
    table.add_column("method", overflow="fold")
    for found in rows:
        first = _first(found)
        lead = [Text(first.name + (" (lower is better)" if first.better == "lower" else ""))]
        if where:
            lead.append(_plain(first.cut[where], encoding))
        if reading:
            lead.append(_plain(first.reading, encoding))
        cells = _cells(found[0]) if one else ["\n".join(filter(None, _cells(m))) for m in found]
        methods = dict.fromkeys(m.method or "undefined" for m in found if m)
        table.add_row(*lead, *cells, ", ".join(methods))
        if not one:
            table.add_section()
    return table


def _cells(metric: Metric | None) -> list[str]:
    """Write value, interval and fraction of a metric that a run may lack."""
    if metric is None:
        return ["not measured", "", ""]
    return [percent(metric.value), interval(metric), fraction(metric)]


def _table(title: str | Text) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)


def _plain(text: str, encoding: str) -> Text:
    """Keep rich's markup, terminal escapes and what the encoding lacks out of a text."""
    return Text(visible(text).encode(encoding, "backslashreplace").decode(encoding))


def _first(found: Sequence[Metric | None]) -> Metric:
    return next(metric for metric in found if metric)


def _rows(runs: Sequence[RunView]) -> str:
    counts = dict.fromkeys(sum(run.states.values()) for run in runs)
    return " and ".join(f"{count:,}" for count in counts) + " rows"
