"""Learners' results against k, drawn: a small panel a learner, every panel on the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, log
from typing import Any

from hardset.reports.measures import HARD, RANDOM, Measure, interval_of_mean, number
from hardset.reports.text import visible

WIDTH, HEIGHT = 360, 250  # of a panel, in its own units
LEFT, RIGHT, TOP, BOTTOM = 44, 292, 12, 206  # of the field in it
FULL = WIDTH - 6  # where the field ends when no names stand beside it
_APART = 14  # between two names at the lines' ends
_ROOM = 26  # between two labels of the axis of k
_BESIDE = 5  # how far two sets stand apart at one k, so that no bar hides another
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_AROUND = 0.1  # that the axis goes beyond the means for an interval's sake, at least
_NAME = 11  # letters of a set's name at its line

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Point:
    """One mean over seeds; places in the panel's units, `low` and `high` those of its interval."""

    x: str
    y: str
    mark: str  # a path
    low: str
    high: str
    title: str
    cut: Sequence[str]  # paths of the arrows where the interval goes on beyond the axis
    paper: str  # the hollow mark of the best epoch, a path; empty: none
    paper_title: str


@dataclass(frozen=True)
class Line:
    """One kind of set."""

    name: str
    colour: int
    points: Sequence[Point]
    line: str  # of a polyline
    name_at: tuple[str, str] | None  # None: there is no room for it


@dataclass(frozen=True)
class Panel:
    """One learner's curves."""

    lines: Sequence[Line]
    up: Sequence[tuple[str, str]]
    across: Sequence[tuple[str, str]]
    aria: str
    right: int  # where the field ends
    legend: Sequence[tuple[str, int, str]]  # name, colour, path: where names have no room


def colour(kind: str, sets: Sequence[str]) -> int:
    """Give a kind of set its colour, the same everywhere on the page."""
    if kind in (RANDOM, HARD):
        return int(kind == HARD)
    others = [one for one in sets if one not in (RANDOM, HARD)]
    return 2 + others.index(kind) % 6 if kind in others else 7


def mark(colour: int, x: float, y: float, r: float = 4.5) -> str:
    """Draw a mark: with each colour goes a shape, so that nothing is told by colour alone."""
    if colour == 0:  # square
        r *= 0.9
        return f"M{x - r:.1f} {y - r:.1f}h{2 * r:.1f}v{2 * r:.1f}h{-2 * r:.1f}z"
    if colour == 2:  # triangle
        return f"M{x:.1f} {y - 1.2 * r:.1f}l{1.15 * r:.1f} {2 * r:.1f}h{-2.3 * r:.1f}z"
    if colour == 4:  # triangle on its tip
        return f"M{x:.1f} {y + 1.2 * r:.1f}l{1.15 * r:.1f} {-2 * r:.1f}h{-2.3 * r:.1f}z"
    if colour == 5:  # bar
        return f"M{x - r:.1f} {y - r / 2:.1f}h{2 * r:.1f}v{r:.1f}h{-2 * r:.1f}z"
    if colour == 3:  # lozenge
        r *= 1.25
        return f"M{x:.1f} {y - r:.1f}l{r:.1f} {r:.1f}l{-r:.1f} {r:.1f}l{-r:.1f} {-r:.1f}z"
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0z"  # noqa: E501


def panels(
    rows: Mapping[str, Sequence[Row]], sets: Sequence[str], ks: Sequence[int], measure: Measure
) -> dict[str, Panel]:
    """Draw the curves of every learner, on the same axes.

    Args:
        rows: the records of `summary` by learner, of one augmentation.
        sets: the kinds of sets, in the order of the page.
        ks: examples per label.
        measure: what learners are measured by.
    """
    every = {str(row.get("set")) for some in rows.values() for row in some}
    right = RIGHT if all(len(visible(one)) <= _NAME for one in every) else FULL
    low, high, step = _axis([row for some in rows.values() for row in some], measure)
    up = []
    for i in range(round((high - low) / step) + 1):
        at = low + i * step
        text = f"{100 * at:.0f}" if measure.share else f"{at:.2f}".rstrip("0").rstrip(".")
        up.append((f"{_y(at, low, high):.1f}", text))
    return {
        name: _panel(name, some, sets, ks, measure, (low, high), up, right)
        for name, some in rows.items()
    }


def _panel(
    learner: str,
    rows: Sequence[Row],
    sets: Sequence[str],
    ks: Sequence[int],
    measure: Measure,
    ends: tuple[float, float],
    up: Sequence[tuple[str, str]],
    right: int,
) -> Panel:
    there = [one for one in sets if any(row.get("set") == one for row in rows)]
    lines = []
    for place, kind in enumerate(there):
        beside = (place - (len(there) - 1) / 2) * _BESIDE
        drawn = [row for row in rows if row.get("set") == kind and number(row, "mean") is not None]
        drawn.sort(key=lambda row: number(row, "k") or 0)
        at = [(_x(number(row, "k") or 0, ks, right) + beside, row) for row in drawn]
        if at:
            lines.append(_line(kind, colour(kind, sets), at, measure, ends))
    legend = [(one.name, one.colour, mark(one.colour, 8, 8)) for one in lines]
    if right == FULL:
        lines = [replace(line, name_at=None) for line in lines]
    lines = _named_apart(lines)
    across = _across(ks, right)
    kinds = ", ".join(line.name for line in lines) or "nothing"
    aria = f"{measure.name} of {learner} against k: {kinds}; the numbers are in the table"
    return Panel(lines, up, across, aria, right, legend if right == FULL else [])


def _line(
    kind: str,
    hue: int,
    rows: Sequence[tuple[float, Row]],
    measure: Measure,
    ends: tuple[float, float],
) -> Line:
    points = []
    for x, row in rows:
        mean, paper = number(row, "mean"), number(row, "paper_mean")
        assert mean is not None
        y, of = _y(mean, *ends), f"{kind}, k = {row.get('k')}"
        interval = interval_of_mean(row)
        interval = None if interval is None else measure.possible(*interval)
        low, high = (f"{_y(end, *ends):.1f}" for end in interval or (mean, mean))
        n = int(number(row, "n") or 0)
        seeds = f"{n:,} {'seed' if n == 1 else 'seeds'}"
        said = f"{of}: {measure.value(mean)}, last epoch, {seeds}"
        if interval:
            said += (
                f", 95 % interval {_plain(interval[0], measure)} to {measure.value(interval[1])}"
            )
        points.append(
            Point(
                f"{x:.1f}",
                f"{y:.1f}",
                mark(hue, x, y),
                low if interval else "",
                high if interval else "",
                said,
                [_arrow(x, up) for up, end in enumerate(interval or ()) if _off(end, ends)],
                "" if paper is None else mark(hue, x, _y(paper, *ends)),
                f"{of}: {measure.value(paper)}, paper (best epoch)",
            )
        )
    last = points[-1]
    return Line(
        kind,
        hue,
        points,
        " ".join(f"{point.x},{point.y}" for point in points),
        (f"{RIGHT + 2}", last.y) if len(visible(kind)) <= _NAME else None,
    )


def _named_apart(lines: Sequence[Line]) -> list[Line]:
    """Move names that would cover each other apart, upwards from the lowest."""
    ceiling = float(BOTTOM) + _APART
    moved = {}
    wanted = {line.name: float(line.name_at[1]) for line in lines if line.name_at}
    for name, y in sorted(wanted.items(), key=lambda one: -one[1]):
        ceiling = min(y, ceiling - _APART)
        moved[name] = ceiling
    over = max(0.0, TOP - min(moved.values(), default=TOP))
    return [
        replace(line, name_at=(line.name_at[0], f"{moved[line.name] + over:.1f}"))
        if line.name_at
        else line
        for line in lines
    ]


def _axis(rows: Sequence[Row], measure: Measure) -> tuple[float, float, float]:
    """Choose the axis: every mean and best epoch is on it, in steps that read well.

    Intervals are on it too, but for those of few seeds, which would leave the means no room.
    """
    bottom, top = (0.0, 1.0) if measure.share else (-1.0, 1.0)
    values: list[float] = []
    for row in rows:
        values += [x for name in ("mean", "paper_mean") if (x := number(row, name)) is not None]
    low, high = min(values, default=bottom), max(values, default=top)
    room = max(_AROUND, high - low)
    for row in rows:
        values += [min(high + room, max(low - room, x)) for x in interval_of_mean(row) or ()]
    values = [min(top, max(bottom, value)) for value in values] or [bottom, top]
    low, high = min(values), max(values)
    if high - low < 0.05:  # differences of nothing are not blown up
        low, high = max(bottom, high - 0.05), min(top, low + 0.05)
    step = next(step for step in _STEPS if (high - low) / step <= 5.5)
    low, high = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
    return max(bottom, low), min(top, high), step


def _off(value: float, ends: tuple[float, float]) -> bool:
    return not ends[0] - 1e-9 <= value <= ends[1] + 1e-9


def _arrow(x: float, up: int) -> str:
    """Draw the tip of an interval that goes on beyond the axis."""
    y, way = (TOP, 1) if up else (BOTTOM, -1)
    return f"M{x - 3.5:.1f} {y + 4 * way:.1f}L{x:.1f} {y:.1f}L{x + 3.5:.1f} {y + 4 * way:.1f}"


def _across(ks: Sequence[int], right: int) -> list[tuple[str, str]]:
    """Choose the labels of the axis of k: the ends, and between them those there is room for."""
    shown: list[tuple[float, int]] = []
    for k in dict.fromkeys([*ks[:1], *ks[-1:], *ks]):
        if all(abs(_x(k, ks, right) - x) >= _ROOM for x, _ in shown):
            shown.append((_x(k, ks, right), k))
    return [(f"{x:.1f}", f"{k:,}") for x, k in sorted(shown)]


def _x(k: float, ks: Sequence[int], end: int) -> float:
    """Place a k on the logarithmic axis; a single one stands in the middle."""
    left, right = LEFT + 18, end - 18
    if len(ks) < 2 or min(ks) <= 0 or k <= 0:
        return (left + right) / 2
    return left + (right - left) * log(k / min(ks)) / log(max(ks) / min(ks))


def _y(value: float, low: float, high: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return BOTTOM - (BOTTOM - TOP) * min(1.0, max(0.0, share))


def _plain(value: float, measure: Measure) -> str:
    return measure.value(value).removesuffix(" %")
