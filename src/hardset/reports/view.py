"""What the page shows, worked out before a template draws it: figures, states, metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hardset.records import Metric, State
from hardset.reports.numbers import fraction, interval, percent, slice_name
from hardset.reports.runs import MetricKey, RunView, cuts, how_asked, leading, side_by_side

Lines = Mapping[MetricKey, Sequence[Metric | None]]


@dataclass(frozen=True)
class Mark:
    """One rate in a figure: a dot or bar at `at`, whiskers from `low` to `high`, in per cent."""

    label: str
    model: int  # position of the run: its colour
    first: bool  # of the headline's reading (filled), or of another (hollow)
    value: str
    interval: str
    fraction: str
    at: str = ""  # empty: undefined, nothing is drawn
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Figure:
    """A metric's marks; each group is a slice (or, nameless, the whole)."""

    name: str
    about: str
    lower: bool  # lower is better
    groups: Sequence[tuple[str, Sequence[Mark]]]


@dataclass(frozen=True)
class StateRow:
    """A state with its count in each run, and its share of that run's rows."""

    state: str
    counts: Sequence[int]
    shares: Sequence[str]


@dataclass(frozen=True)
class MetricRow:
    """One line of the complete table."""

    metric: str
    slice: str
    reading: str
    model: str
    value: str
    interval: str
    fraction: str
    clusters: int
    method: str


def headline(runs: Sequence[RunView]) -> list[Figure]:
    """Make one figure a leading metric: every model, every reading, overall."""
    lines = side_by_side(runs)
    figures = []
    for name in leading(runs):
        found = [line for (metric, cut, _), line in lines.items() if metric == name and not cut]
        marks = [
            mark(metric, runs, i)
            for i in range(len(runs))
            for line in found
            if (metric := line[i]) and not metric.unit  # a track is for shares of 1
        ]
        if marks:
            figures.append(figure(found, [("", marks)]))
    return figures


def by_cut(runs: Sequence[RunView]) -> list[tuple[str, list[Figure]]]:
    """Make the figures of each cut: a leading metric's bars, slice by slice."""
    lines = side_by_side(runs)
    sections = []
    for cut in cuts(runs):
        figures = []
        for name in leading(runs):
            found = [
                line
                for (metric, where, reading), line in lines.items()
                if metric == name
                and [column for column, _ in where] == [cut]
                and reading == runs[0].readings[0]
            ]
            if found and not any(metric and metric.unit for line in found for metric in line):
                figures.append(figure(found, [_group(line, runs, cut) for line in found]))
        if figures:
            sections.append((cut, figures))
    return sections


def short_names(runs: Sequence[RunView]) -> list[str]:
    """Name the models without their providers, where that still tells them apart."""
    short = [run.model.rsplit("/", 1)[-1] for run in runs]
    return short if len(set(short)) == len(short) else [run.model for run in runs]


def date(run: RunView) -> str:
    """Write when a run started, to the minute, as the manifest says it."""
    return started(run.manifest)


def started(manifest: Mapping[str, Any]) -> str:
    """Write when what a manifest is of started, to the minute."""
    said = str(manifest.get("started", ""))
    try:
        when = datetime.fromisoformat(said)
    except ValueError:
        return said
    return f"{when:%Y-%m-%d %H:%M} {when.tzname() or ''}".strip()


def conditions(runs: Sequence[RunView]) -> tuple[list[str], list[str]]:
    """Say how was asked: in one line where it is the same for all, else for each run its own."""
    each = [how_asked(run) for run in runs]
    if len(set(each)) == 1:
        return list(each[0]), [""] * len(runs)
    return [], [", ".join(said) or "as usual" for said in each]


def overlaps(runs: Sequence[RunView]) -> list[str]:
    """Say once what the reader must know of who judges whom before anything else."""
    every = (run.manifest.get("overlaps") or () for run in runs)
    return list(dict.fromkeys(str(one) for found in every for one in found))


def notices(runs: Sequence[RunView]) -> list[str]:
    """Say once what the benchmarks say of their data, and which runs lack replies and why."""
    first = overlaps(runs)
    said = [notice for run in runs for notice in run.notices if notice not in first]
    for run in runs:
        stop = run.manifest.get("stopped")
        failed = sum(run.states.get(state.value, 0) for state in State if state.failed)
        parts = [f"asking stopped early: {stop}"] if stop else []
        if failed:
            rows = sum(run.states.values())
            parts.append(f"{failed:,} of {rows:,} rows have no reply and count as wrong")
        said += [f"{run.model}: {'; '.join(parts)}"] if parts else []
    return list(dict.fromkeys(said))


def states(runs: Sequence[RunView]) -> list[StateRow]:
    """Line up the states of the runs, zeros included."""
    totals = [max(1, sum(run.states.values())) for run in runs]
    rows = []
    for state in dict.fromkeys(state for run in runs for state in run.states):
        counts = [run.states.get(state, 0) for run in runs]
        shares = [_place(n / total) for n, total in zip(counts, totals, strict=True)]
        rows.append(StateRow(state, counts, shares))
    return rows


def definitions(runs: Sequence[RunView]) -> dict[str, tuple[str, bool]]:
    """Give each metric's definition, and whether lower is better, by its name."""
    found: dict[str, tuple[str, bool]] = {}
    for run in runs:
        for metric in run.metrics:
            if not found.get(metric.name, ("", False))[0]:
                found[metric.name] = (metric.about, metric.better == "lower")
    return found


def metric_tables(runs: Sequence[RunView]) -> list[tuple[str, list[MetricRow]]]:
    """Make the complete table, a part a cut: overall first, then as measured."""
    parts: dict[str, list[MetricRow]] = {"overall": []}
    for line in side_by_side(runs).values():
        for run, metric in zip(runs, line, strict=True):
            if metric is None:
                continue
            part = " and ".join(metric.cut) if metric.cut else "overall"
            row = MetricRow(
                metric=metric.name,
                slice=", ".join(metric.cut.values()) or slice_name(metric),
                reading=metric.reading,
                model=run.model,
                value=percent(metric.value, metric.unit),
                interval=interval(metric),
                fraction=fraction(metric),
                clusters=metric.clusters,
                method=metric.method or "undefined",
            )
            parts.setdefault(part, []).append(row)
    return [(part, rows) for part, rows in parts.items() if rows]


def _group(
    line: Sequence[Metric | None], runs: Sequence[RunView], cut: str
) -> tuple[str, list[Mark]]:
    """Make one slice's marks; with a single run the slice itself is the mark's label."""
    name = next(metric for metric in line if metric).cut[cut]
    if len(runs) == 1:
        return "", [mark(metric, runs, 0, label=name) for metric in line if metric]
    return name, [mark(metric, runs, i) for i, metric in enumerate(line) if metric]


def figure(
    found: Sequence[Sequence[Metric | None]], groups: Sequence[tuple[str, Sequence[Mark]]]
) -> Figure:
    """Make a figure of marks in groups; what it is of is what the metrics say they are."""
    first = next(metric for line in found for metric in line if metric)
    return Figure(first.name, first.about, first.better == "lower", groups)


def mark(metric: Metric, runs: Sequence[RunView], run: int, label: str = "") -> Mark:
    """Make the mark of a metric of the run at a position; by itself it is named as the model."""
    first = metric.reading == runs[run].readings[0]
    drawn = metric.value is not None
    return Mark(
        label=label or (short_names(runs)[run] if first else f"{metric.reading} reading"),
        model=run,
        first=first,
        value=percent(metric.value, metric.unit),
        interval=interval(metric),
        fraction=fraction(metric),
        at=_place(metric.value) if drawn else "",
        low=_place(metric.low) if drawn else "",
        high=_place(metric.high) if drawn else "",
    )


def _place(share: float | None) -> str:
    """Give a share as a length on the track; what is off it stays at its end."""
    return "" if share is None else f"{100 * min(1.0, max(0.0, share)):.2f}%"
