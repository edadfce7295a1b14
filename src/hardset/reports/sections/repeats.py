"""Repeats: what more replies to a question show, right at least once and right every time.

For runs that asked each question more than once: the curves of pass@k and pass^k for every k,
with their 95 % intervals, and how many questions were right in none, one, ... all of the replies.
Subquestions, which have a `parent`, are left to their own section.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from hardset.metrics.ratios import estimate
from hardset.metrics.repeats import by_item, pass_ratios
from hardset.records import Metric
from hardset.reports.numbers import interval, percent
from hardset.reports.runs import RunView, Shown
from hardset.reports.sections import Section
from hardset.reports.view import short_names

WIDTH, HEIGHT = 480, 240  # of a figure, in its own units
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 74, 10, 38  # margins
_TICKS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)  # what an axis may end at
_LABELS = 8  # numbers along an axis, at most
_BARS = 25  # a histogram of more bars is drawn without the zeros between
_DRAWS = 2_000


@dataclass(frozen=True)
class Curve:
    """One of the two curves: its line, its band and its dots, in the figure's units."""

    key: str  # at, hat
    name: str
    line: str
    band: str
    dots: Sequence[tuple[str, str, str]]  # x, y, what a pointer is told
    end: tuple[str, str, str]  # x, y and the value at the last k


@dataclass(frozen=True)
class Bar:
    """How many questions were right in `count` replies."""

    right: str
    count: int
    share: str


@dataclass(frozen=True)
class Repeated:
    """One run that asked more than once."""

    model: int
    name: str
    n: int
    items: int
    reading: str
    curves: Sequence[Curve]
    across: Sequence[tuple[str, str]]  # x and text of the numbers along k
    up: Sequence[tuple[str, str]]  # y and text along the rate
    bars: Sequence[Bar]
    rows: Sequence[tuple[int, str, str, str, str]]  # k, pass@k and its interval, pass^k and its


def section(runs: Sequence[RunView], sample: Sequence[Shown]) -> Section | None:
    """Draw the curves and histograms; None where no run asked anything twice."""
    if not all({"item", "right"} <= set(run.outcomes.columns) for run in runs):
        return None
    counted = [(i, _counts(run.outcomes)) for i, run in enumerate(runs)]
    counted = [(i, items) for i, items in counted if items.height and items["n"].max() != 1]
    if not counted:
        return None
    measured = [(i, items, _metrics(runs[i], items)) for i, items in counted]
    highest = max(
        metric.high if metric.high is not None else metric.value or 0.0
        for _, _, metrics in measured
        for metric in metrics.values()
    )
    top = next((tick for tick in _TICKS if highest <= tick), 1.0)
    names = short_names(runs)
    drawn = [
        _repeated(i, names[i], runs[i].readings[0], items, metrics, top)
        for i, items, metrics in measured
    ]
    return Section(
        anchor="repeats",
        title="Repeats",
        template="repeats.html",
        values={"repeated": drawn, "width": WIDTH, "height": HEIGHT, "box": _box()},
    )


def _counts(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Count each question's replies and right ones, without the subquestions."""
    if "parent" in outcomes.columns:
        outcomes = outcomes.filter(pl.col("parent").fill_null("") == "")
    return by_item(outcomes)


def _metrics(run: RunView, items: pl.DataFrame) -> dict[str, Metric]:
    """Take the run's own pass@k and pass^k by name; work them out where it has none."""
    names = [ratio.name for ratio in pass_ratios(items)]
    own = {
        metric.name: metric
        for metric in run.metrics
        if not metric.cut and metric.reading == run.readings[0] and metric.name in names
    }
    if len(own) == len(names):
        return own
    worked_out = estimate(items, pass_ratios(items), cluster="item", draws=_DRAWS)
    return {metric.name: metric for metric in worked_out}


def _repeated(
    model: int,
    name: str,
    reading: str,
    items: pl.DataFrame,
    metrics: dict[str, Metric],
    top: float,
) -> Repeated:
    n = int(items["n"].max())  # type: ignore[arg-type]
    ks = range(1, n + 1)
    at = [metrics[f"pass@{k}"] for k in ks]
    hat = [metrics["pass@1" if k == 1 else f"pass^{k}"] for k in ks]
    ends = [_y(one[-1].value or 0.0, top) for one in (at, hat)]
    apart = max(0.0, 15 - (ends[1] - ends[0])) / 2  # so that the words at the ends do not touch
    every = -(-n // _LABELS)
    return Repeated(
        model=model,
        name=name,
        n=n,
        items=len(items),
        reading=reading if reading != "default" else "",
        curves=[
            _curve("hat", f"pass^{n}", hat, top, ends[1] + apart),
            _curve("at", f"pass@{n}", at, top, ends[0] - apart),
        ],
        across=[
            (f"{_x(k, n):.1f}", str(k))
            for k in ks
            if k in (1, n) or (k % every == 0 and n - k >= every)
        ],
        up=[(f"{_y(part * top / 4, top):.1f}", f"{100 * part * top / 4:g}") for part in range(5)],
        bars=_bars(items, n),
        rows=[
            (k, percent(a.value), interval(a), percent(h.value), interval(h))
            for k, a, h in zip(ks, at, hat, strict=True)
        ],
    )


def _curve(key: str, name: str, metrics: Sequence[Metric], top: float, words: float) -> Curve:
    n = len(metrics)
    points = [(_x(k, n), metric) for k, metric in enumerate(metrics, 1)]
    known = [(x, m) for x, m in points if m.value is not None]
    banded = [(x, m.low, m.high) for x, m in known if m.low is not None and m.high is not None]
    upper = [f"{x:.1f},{_y(high, top):.1f}" for x, _, high in banded]
    lower = [f"{x:.1f},{_y(low, top):.1f}" for x, low, _ in reversed(banded)]
    symbol = name[:5]
    return Curve(
        key=key,
        name=name,
        line=" ".join(f"{x:.1f},{_y(m.value or 0.0, top):.1f}" for x, m in known),
        band=" ".join(upper + lower),
        dots=[
            (
                f"{x:.1f}",
                f"{_y(m.value or 0.0, top):.1f}",
                f"{symbol}{k}: {percent(m.value)} ({interval(m)})",
            )
            for k, (x, m) in enumerate(known, 1)
        ],
        end=(f"{_x(n, n) + 9:.1f}", f"{words + 4:.1f}", percent(metrics[-1].value)),
    )


def _bars(items: pl.DataFrame, n: int) -> list[Bar]:
    """Count the questions by how many of their replies are right, 0 to n."""
    counts = dict(items.group_by("c").len().iter_rows())
    most = max(counts.values())
    every = range(n + 1) if n < _BARS else sorted(counts)
    return [Bar(str(c), counts.get(c, 0), f"{100 * counts.get(c, 0) / most:.2f}%") for c in every]


def _box() -> dict[str, int]:
    return {"left": _LEFT, "right": WIDTH - _RIGHT, "top": _TOP, "bottom": HEIGHT - _BOTTOM}


def _x(k: int, n: int) -> float:
    return _LEFT + 10 + (WIDTH - _LEFT - _RIGHT - 20) * ((k - 1) / (n - 1) if n > 1 else 0.5)


def _y(rate: float, top: float) -> float:
    return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * min(1.0, rate / top)
