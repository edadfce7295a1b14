"""The tables in the terminal: headline, states and one table a cut, models side by side.

Everything is said in words and plain ASCII, so a pipe or a dumb terminal loses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hardset.metrics.agreement import AC1, ALPHA, COHEN, FLEISS, RAW
from hardset.metrics.panel import COVERAGE
from hardset.records import Metric
from hardset.reports.numbers import fraction, interval, percent
from hardset.reports.runs import RunView, cuts, how_asked, leading, side_by_side, told_apart
from hardset.reports.text import visible

_PIPE_WIDTH = 200  # a pipe has no width; rich would fold everything into 80 columns
_LEAST_WIDTH = 80  # below it cells would be cut
_NARROW = 12  # columns that an interval takes: `46.2 to 65.3`
_WHOLE = 14  # columns that the name of a slice gets unfolded
_CELL = 32  # columns that value, interval and fraction take on one line


def show(runs: Sequence[RunView], console: Console | None = None, *, by_cut: bool = True) -> None:
    """Print the tables of one or several runs of a benchmark; those of the cuts if asked for."""
    console = console or _Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max(_PIPE_WIDTH, console.width)
    runs = told_apart(runs)
    console.width = max(_LEAST_WIDTH, console.width)  # folded lines are ugly, lost digits are wrong
    for table in tables(runs, console.encoding, console.width, by_cut=by_cut):
        console.print(table)
    for notice in dict.fromkeys(notice for run in runs for notice in run.notices):
        console.print(_plain(notice, console.encoding))


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the caller: rich would end the program with a status of its own."""
        raise BrokenPipeError


def tables(
    runs: Sequence[RunView], encoding: str = "utf-8", width: int = 80, *, by_cut: bool = True
) -> list[Table]:
    """Make the tables: headline, states, and, `by_cut`, one for each cut that has metrics.

    Models that do not fit beside the others into `width` columns get tables of their own.
    """
    fit = max(1, (width - 36) // (_NARROW + 2))
    made = []
    for start in range(0, len(runs), fit):
        some = runs[start : start + fit]
        made += [headline_table(some, encoding, width), states_table(some, encoding)]
        made += [table for run in some if (table := judges_table(run, len(runs) > 1, encoding))]
        for cut in cuts(some) if by_cut else ():
            if any(tuple(metric.cut) == (cut,) for run in some for metric in run.metrics):
                made.append(cut_table(some, cut, encoding, width))
    return made


def headline_table(runs: Sequence[RunView], encoding: str = "utf-8", width: int = 80) -> Table:
    """Tabulate the overall metrics that lead, every reading, a column a model."""
    names = leading(runs)
    rows = [
        found
        for (name, cut, _), found in side_by_side(runs).items()
        if not cut and name in names
    ]  # fmt: skip
    rows.sort(key=lambda found: names.index(_first(found).name))
    asked = dict.fromkeys(condition for run in runs for condition in how_asked(run))
    title = "; ".join((f"{runs[0].title or runs[0].benchmark}: {_rows(runs)}", *asked))
    several_readings = len({_first(found).reading for found in rows}) > 1
    return _metric_table(title, runs, rows, encoding, width, reading=several_readings)


def cut_table(runs: Sequence[RunView], cut: str, encoding: str = "utf-8", width: int = 80) -> Table:
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
    return _metric_table(f"By {cut}", runs, rows, encoding, width, where=cut)


def states_table(runs: Sequence[RunView], encoding: str = "utf-8") -> Table:
    """Tabulate how many rows ended in each state: every state, the zeros too."""
    table = _table("States (rows)")
    table.add_column("state")
    for run in runs:
        table.add_column(_model(run.model, encoding), justify="right", overflow="fold")
    for state in runs[0].states:
        table.add_row(state, *(str(run.states.get(state, 0)) for run in runs))
    table.add_section()
    table.add_row("all", *(str(sum(run.states.values())) for run in runs))
    return table


def judges_table(run: RunView, several: bool, encoding: str = "utf-8") -> Table | None:
    """Tabulate how far a run's judges agree on each verdict; None where there are none."""
    of_key: dict[str, dict[str, Metric]] = {}
    for metric in run.metrics:
        if list(metric.cut) == ["verdict"]:
            of_key.setdefault(metric.cut["verdict"], {})[metric.name] = metric
    of_key = {key: found for key, found in of_key.items() if COVERAGE in found}
    if not of_key:
        return None
    table = _table(_plain(f"Judges of {run.model}" if several else "Judges", encoding))
    table.add_column("verdict", overflow="fold")
    alphas = [f"{ALPHA} (interval)" in found for found in of_key.values()]
    beyond = "kappa" if not any(alphas) else "alpha" if all(alphas) else "kappa, alpha*"
    for heading in ("given", "agreement", beyond, "AC1"):
        table.add_column(heading, justify="right", no_wrap=True)
    for key, found in of_key.items():
        alpha = found.get(f"{ALPHA} (interval)")  # a panel's grade is the mean
        kappa = alpha or found.get(COHEN) or found.get(FLEISS)
        cells = [_agreement(metric) for metric in (found.get(RAW), kappa, found.get(AC1))]
        if alpha and not all(alphas):
            cells[1] = cells[1].replace("\n", "*\n", 1) if "\n" in cells[1] else f"{cells[1]}*"
        table.add_row(_plain(key, encoding), fraction(found[COVERAGE]), *cells)
    if not any(RAW in found for found in of_key.values()):
        table.caption = _plain("one judge: no agreement to measure", encoding)
    elif any(alphas) and not all(alphas):
        table.caption = _plain("* of grades Krippendorff's alpha (interval)", encoding)
    return table


def _agreement(metric: Metric | None) -> str:
    """Write a coefficient over its interval."""
    if metric is None:
        return "-"
    value = percent(metric.value, metric.unit)
    return f"{value}\n{between}" if (between := interval(metric)) else value


def _metric_table(
    title: str,
    runs: Sequence[RunView],
    rows: Sequence[Sequence[Metric | None]],
    encoding: str,
    width: int,
    *,
    where: str = "",
    reading: bool = False,
) -> Table:
    """Lay rates out: for one run a column a fact, for several a cell a run."""
    one = len(runs) == 1
    flat = one or width >= 44 + _CELL * len(runs)  # else a cell takes two lines
    table = _table(_plain(title, encoding))
    table.add_column("metric")
    if where:
        longest = max((len(visible(_first(found).cut[where])) for found in rows), default=0)
        table.add_column(where, overflow="fold", min_width=min(longest, _WHOLE))
    if reading:
        table.add_column("reading")
    if one:
        for heading in ("value", "95 % interval", "of"):
            table.add_column(heading, justify="right", no_wrap=True)
    else:
        for run in runs:
            name = _model(run.model, encoding)
            table.add_column(name, justify="right", overflow="fold", min_width=_NARROW)
    if one:
        table.add_column("method", overflow="fold")
    else:
        table.caption = _methods(rows, encoding)
    for found in rows:
        first = _first(found)
        lower = f"{' (' if flat else chr(10)}lower is better{')' if flat else ''}"
        cells = [_plain(first.name, encoding).append(lower if first.better == "lower" else "")]
        if where:
            cells.append(_plain(first.cut[where], encoding))
        if reading:
            cells.append(_plain(first.reading, encoding))
        if one:
            cells += [Text(part) for part in (*_cells(first), _method(first))]
        else:
            cells += [Text(_cell(metric, flat)) for metric in found]
        table.add_row(*cells)
        if not flat:
            table.add_section()
    return table


def _method(metric: Metric) -> str:
    """Name a metric's method so that it folds between its words."""
    return metric.method.replace("-", " ") or "undefined"


def _methods(rows: Sequence[Sequence[Metric | None]], encoding: str) -> Text:
    """Say under a table which interval is of which kind, without a column for it."""
    kinds: dict[str, dict[str, None]] = {}  # of each metric: rows and models may differ in theirs
    for metric in (m for found in rows for m in found if m and m.method):
        kind = metric.method.split(" (")[0] if "draws" in metric.method else metric.method
        kinds.setdefault(metric.name, {})[kind] = None
    named: dict[str, list[str]] = {}
    for name, several in kinds.items():
        named.setdefault(" or ".join(several), []).append(name)
    said = [f"{kind} for {', '.join(names)}" for kind, names in named.items()]
    return _plain(f"95 % intervals: {'; '.join(said)}" if said else "", encoding)


def _cell(metric: Metric | None, flat: bool) -> str:
    """Put value, fraction and interval into one cell, on one line or two."""
    value, between, of = _cells(metric)
    if flat:
        return f"{value} {f'[{between}]' if between else '':>16} {of:>9}"
    return f"{value} {of}\n{between}"


def _cells(metric: Metric | None) -> list[str]:
    """Write value, interval and fraction of a metric that a run may lack."""
    if metric is None:
        return ["not measured", "", ""]
    return [percent(metric.value, metric.unit), interval(metric), fraction(metric)]


def _table(title: str | Text) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )


def _plain(text: str, encoding: str) -> Text:
    """Keep rich's markup, terminal escapes and what the encoding lacks out of a text."""
    return Text(visible(text).encode(encoding, "backslashreplace").decode(encoding))


def _model(name: str, encoding: str) -> Text:
    """Break a long model name where its provider ends."""
    if len(name) > 16 and "/" in name:
        name = name.replace("/", "/\n", 1)
    return Text("\n").join(_plain(part, encoding) for part in name.split("\n"))


def _first(found: Sequence[Metric | None]) -> Metric:
    return next(metric for metric in found if metric)


def _rows(runs: Sequence[RunView]) -> str:
    counts = dict.fromkeys(sum(run.states.values()) for run in runs)
    return " and ".join(f"{count:,}" for count in counts) + " rows"
