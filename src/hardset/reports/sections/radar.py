"""Radar: a rate by shift and format, a spoke for each, and below it the bars with intervals.

It shows whatever has the columns `group`, `shift` and `format` and leading metrics cut by the last
two: one figure for the shifts of each group, as MMOOC's paper draws them, a line for each model. A
radar has no room for intervals and invites comparing areas, so the bars say the same with both
ends. Each figure is one SVG that can be saved from the page and looks the same by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import polars as pl

from hardset.benchmarks.mmooc_names import AUTO_SHUFFLE, FORMATS, GROUPS, IC, OOC
from hardset.records import Metric
from hardset.reports.numbers import fraction, interval, percent
from hardset.reports.runs import RunView, Shown, leading
from hardset.reports.sections import Section
from hardset.reports.view import Figure, Mark, figure, mark, short_names

WIDTH, RADIUS = 480, 138
CENTRE = (240.0, 192.0)
FOOT = 396  # where the legend begins
LINE = 20  # height of a line of the legend
_LONGEST = 52  # characters of a model's name in the legend
_FEWEST = 3  # spokes that make a figure
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0568f", "#56b4e9", "#c78f00", "#6b6f76", "#7a5195")
DASHES = ("", "7 3", "2 3", "8 3 2 3")
_FORMAT_NAMES = {"yes_no": "yes/no"}
_GROUP_NAMES = {"ooc": "out of context", "ic": "in context"}

Slice = tuple[str, str]  # a shift and a format
Lines = Mapping[Slice, Sequence[Metric | None]]


@dataclass(frozen=True)
class Spoke:
    """One slice: where its line ends, and where its label stands."""

    label: str
    end: tuple[str, str]
    at: tuple[str, str, str]  # and whether it is its start, middle or end that stands there


@dataclass(frozen=True)
class Sector:
    """The spokes of one shift: the wedge behind them, and where its name stands."""

    label: str
    path: str
    shaded: bool
    at: tuple[str, str, str]


@dataclass(frozen=True)
class Shape:
    """One model's line, with a dot and its words at each spoke that the model has."""

    model: int
    name: str
    colour: str
    dash: str
    path: str
    filled: bool  # it has every spoke, so that it closes
    dots: Sequence[tuple[str, str, str]]
    foot: int  # where its line of the legend stands


@dataclass(frozen=True)
class Radar:
    """A figure, its words for those who do not see it, what stands beside it, and its bars."""

    key: str
    name: str
    about: str
    shifts: Sequence[tuple[str, str]]
    description: str
    rings: Sequence[tuple[float, str, str, str]]  # radius, label, where it stands
    sectors: Sequence[Sector]
    spokes: Sequence[Spoke]
    shapes: Sequence[Shape]
    beside: Sequence[tuple[int, str, str]]  # of each model: its name, and what it got
    bars: Figure


def section(runs: Sequence[RunView], sample: Sequence[Shown]) -> Section | None:
    """Lay the figures out; None where nothing is cut by shift and format."""
    if not all({"group", "shift", "format"} <= set(run.outcomes.columns) for run in runs):
        return None
    groups = _groups(runs)
    radars = [
        radar
        for group in dict.fromkeys(groups.values())
        for name in leading(runs)
        if (radar := _radar(runs, name, group, groups)) is not None
    ]
    if not radars:
        return None
    return Section(
        anchor="radar",
        title="Radar",
        template="radar.html",
        values={
            "radars": radars,
            "width": WIDTH,
            "height": FOOT + LINE * len(runs),
            "centre": CENTRE,
            "several": len(runs) > 1,
            "auto_shuffle": AUTO_SHUFFLE,
        },
    )


def _groups(runs: Sequence[RunView]) -> dict[str, str]:
    """Give the group of every shift: those we know first, in their order."""
    rows = pl.concat(run.outcomes.select("shift", "group").unique() for run in runs).unique()
    found = {shift: group for shift, group in sorted(rows.rows()) if shift and group}
    known = [shift for shift in GROUPS if shift in found]
    return {shift: found[shift] for shift in dict.fromkeys([*known, *found])}


def _radar(
    runs: Sequence[RunView], name: str, group: str, groups: Mapping[str, str]
) -> Radar | None:
    """Make the figure of a metric over the shifts of a group, by the first reading that has it."""
    within = [shift for shift, its in groups.items() if its == group and shift != AUTO_SHUFFLE]
    for reading in runs[0].readings:
        lines = _lines(runs, name, reading, within)
        if len(lines) >= _FEWEST:
            break
    else:
        return None
    first = next(metric for line in lines.values() for metric in line if metric)
    if first.better == "lower" or first.unit:
        return None
    names = short_names(runs)
    by = "" if reading == runs[0].readings[0] else f", {reading} reading"
    title = f"{name}, {_GROUP_NAMES.get(group, group)}{by}"
    shifts = dict.fromkeys(shift for shift, _ in lines)
    return Radar(
        key=f"radar-{group}-{''.join(c if c.isalnum() else '-' for c in name)}",
        name=title,
        about=first.about,
        shifts=[(shift, {**OOC, **IC}.get(shift, "")) for shift in shifts],
        description=_description(lines, names),
        rings=[
            (RADIUS * part / 100, f"{part}", *_point(-0.5, len(lines), RADIUS * part / 100))
            for part in (25, 50, 75, 100)
        ],
        sectors=_sectors(list(lines)),
        spokes=[
            Spoke(_format(form), _point(k, len(lines), RADIUS), _label(k, len(lines), 10, 5))
            for k, (_, form) in enumerate(lines)
        ],
        shapes=[_shape(i, names[i], lines) for i in range(len(runs))],
        beside=_beside(runs, name, reading, names) if groups.get(AUTO_SHUFFLE) == group else [],
        bars=_bars(runs, lines),
    )


def _lines(runs: Sequence[RunView], name: str, reading: str, shifts: Sequence[str]) -> Lines:
    """Line up a metric's slices by shift and format, of every run, in the order of the spokes."""
    found: dict[Slice, list[Metric | None]] = {}
    for i, run in enumerate(runs):
        for metric in run.metrics:
            if (metric.name, metric.reading) != (name, reading):
                continue
            if set(metric.cut) == {"shift", "format"} and metric.cut["shift"] in shifts:
                at = metric.cut["shift"], metric.cut["format"]
                found.setdefault(at, [None] * len(runs))[i] = metric
    forms = list(dict.fromkeys([*FORMATS, *sorted(form for _, form in found)]))
    order = sorted(found, key=lambda at: (shifts.index(at[0]), forms.index(at[1])))
    return {at: found[at] for at in order}


def _point(k: float, spokes: int, radius: float) -> tuple[str, str]:
    """Say where on a spoke a radius is; the first spoke goes up, the others follow the clock."""
    angle = 2 * pi * k / spokes - pi / 2
    return f"{CENTRE[0] + radius * cos(angle):.1f}", f"{CENTRE[1] + radius * sin(angle):.1f}"


def _label(k: float, spokes: int, up: float, aside: float) -> tuple[str, str, str]:
    """Say where a label stands, so far from the rim upwards, and so much farther to the sides."""
    lean = cos(2 * pi * k / spokes - pi / 2)
    anchor = "middle" if abs(lean) < 0.3 else "start" if lean > 0 else "end"
    gap = up + aside * abs(lean) if anchor == "middle" or up > 20 else aside + 2
    return *_point(k, spokes, RADIUS + gap), anchor


def _sectors(slices: Sequence[Slice]) -> list[Sector]:
    shifts = list(dict.fromkeys(shift for shift, _ in slices))
    made = []
    for i, shift in enumerate(shifts):
        own = [k for k, (its, _) in enumerate(slices) if its == shift]
        start, end, count = own[0] - 0.5, own[-1] + 0.5, len(slices)
        large = int(2 * (end - start) > count)
        (x, y), (to_x, to_y) = _point(start, count, RADIUS), _point(end, count, RADIUS)
        path = f"M{CENTRE[0]:g},{CENTRE[1]:g}L{x},{y}A{RADIUS},{RADIUS},0,{large},1,{to_x},{to_y}Z"
        at = _label((start + end) / 2, count, 34, 22)
        made.append(Sector(shift, path, i % 2 == 0, at))
    return made


def _shape(run: int, name: str, lines: Lines) -> Shape:
    """Draw one model: a side between neighbouring spokes that it has, and a gap where it lacks."""
    values = [line[run].value if line[run] else None for line in lines.values()]  # type: ignore[union-attr]
    points = [
        None if value is None else _point(k, len(values), RADIUS * min(1.0, max(0.0, value)))
        for k, value in enumerate(values)
    ]
    path = ""
    for k, point in enumerate(points):
        before = points[k - 1]
        if point and before:
            path += f"M{','.join(before)}L{','.join(point)}"
    full = all(points)
    if full:
        path = "M" + "L".join(",".join(point) for point in points if point) + "Z"
    dots = [
        (*point, f"{name}, {_slice(at)}: {_words(line[run])}")
        for point, (at, line) in zip(points, lines.items(), strict=True)
        if point
    ]
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    colour, dash = COLOURS[run % len(COLOURS)], DASHES[run % len(DASHES)]
    return Shape(run, short, colour, dash, path, full, dots, FOOT + LINE * run)


def _format(form: str) -> str:
    return _FORMAT_NAMES.get(form, form)


def _slice(at: Slice) -> str:
    return f"{at[0]} {_format(at[1])}"


def _words(metric: Metric | None) -> str:
    """Write a rate with its interval and what it is made from."""
    if metric is None:
        return "no rows"
    between = interval(metric)
    return f"{percent(metric.value)} ({between}{'; ' if between else ''}{fraction(metric)})"


def _description(lines: Lines, names: Sequence[str]) -> str:
    """Say the whole figure in words."""
    told = []
    for i, name in enumerate(names):
        values = [
            f"{_slice(at)} {percent(metric.value) if (metric := line[i]) else 'no rows'}"
            for at, line in lines.items()
        ]
        told.append(f"{name}: {', '.join(values)}.")
    return " ".join(told)


def _beside(
    runs: Sequence[RunView], name: str, reading: str, names: Sequence[str]
) -> list[tuple[int, str, str]]:
    """Give what every model got on Auto-Shuffle, which has no spoke."""
    return [
        (i, names[i], _words(metric))
        for i, run in enumerate(runs)
        for metric in run.metrics
        if (metric.name, metric.reading) == (name, reading)
        and metric.cut == {"shift": AUTO_SHUFFLE}
    ]


def _bars(runs: Sequence[RunView], lines: Lines) -> Figure:
    """Make the same as bars: a group for each shift of one model, for each slice of several."""
    names = short_names(runs)
    groups: dict[str, list[Mark]] = {}
    for at, line in lines.items():
        group = at[0] if len(runs) == 1 else _slice(at)
        for i, metric in enumerate(line):
            if metric:
                label = _format(at[1]) if len(runs) == 1 else names[i]
                groups.setdefault(group, []).append(mark(metric, runs, i, label=label))
    return figure(list(lines.values()), list(groups.items()))
