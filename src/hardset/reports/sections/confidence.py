"""Confidence: how much each run could answer at what risk, and whether its confidence is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hardset.metrics.ranked import Bins, Curve, bins, curve
from hardset.metrics.selective import CONFIDENCE, KNOWN, Selective, ranked_answers
from hardset.reports.numbers import percent
from hardset.reports.runs import RunView, Shown
from hardset.reports.sections import Section
from hardset.reports.view import short_names

RISKS = (0.01, 0.05, 0.1, 0.2)
BINS = 15  # as of the calibration error
_LEAST_TOP = 0.25  # of the risk axis: every mark is on it
_TOPS = (_LEAST_TOP, 0.5, 1.0)
_POINTS = 240  # of a line, at most: more are not to be seen
_STOPS = 30  # thresholds of a line, at most, that are marked each by itself
_APART = 6.5  # per cent of an axis between two of its labels, at least
_FEW = 10  # answers in a bin
_SETTLED = 0.02  # coverage below which the risk of a few rows may leave the axis


@dataclass(frozen=True)
class Dot:
    """The most that is answered at no more than a risk; `x` and `y` are places on the plot."""

    x: str
    y: str
    title: str


@dataclass(frozen=True)
class Line:
    """A run's risk–coverage curve, and its row in the legend."""

    model: int
    name: str
    points: str  # of a polyline, on a field of 100 by 100
    width: float  # the first lines are wider, so that one below another is seen
    stops: Sequence[tuple[str, str]]  # each threshold, where there are few
    dots: Sequence[Dot]
    coverages: Sequence[str]
    figures: Sequence[str]  # as `FIGURES` names them
    known: str  # how many answers have a confidence


@dataclass(frozen=True)
class Bar:
    """A bin of confidences: the accuracy in it, and how many answers are in it."""

    x: str
    width: str
    height: str
    y: str
    gap_y: str
    gap: str
    few: bool  # too few answers to say much
    count: str  # height of the bar of counts
    count_y: str
    title: str


@dataclass(frozen=True)
class Panel:
    """A run's reliability diagram."""

    model: int
    name: str
    note: str
    bars: Sequence[Bar]
    most: int  # answers in the fullest bin


FIGURES = ("AURC", "AUROC", "ECE", "Φ at cost 1", "Φ at cost 10", "Φ at cost 100")


def section(runs: Sequence[RunView], sample: Sequence[Shown]) -> Section | None:
    """Draw the runs that have a confidence; None where no run has one."""
    with_one = [i for i, run in enumerate(runs) if _has(run)]
    if not with_one:
        return None
    names = short_names(runs)
    curves, panels = {}, []
    for i in with_one:
        (_, rows), *_ = Selective(frame=runs[i].outcomes, cluster=None).slices()
        ranked = ranked_answers(rows)
        curves[i] = curve(ranked)
        panels.append(_panel(i, names[i], bins(ranked, BINS), _figure(runs[i], "ECE")))
    top = _top(list(curves.values()))
    return Section(
        anchor="confidence",
        title="Confidence",
        template="confidence.html",
        values={
            "lines": [
                _line(i, names[i], runs[i], one, top, 2 + 1.5 * min(2, len(curves) - 1 - place))
                for place, (i, one) in enumerate(curves.items())
            ],
            "panels": panels,
            "risks": [f"{100 * risk:g}\u00a0%" for risk in RISKS],
            "few": _FEW,
            "levels": [_place(risk, top) for risk in RISKS],
            "ticks": _ticks(top),
            "figures_of": FIGURES,
            "several": len(runs) > 1,
            "without": [names[i] for i in range(len(runs)) if i not in with_one],
        },
    )


def _has(run: RunView) -> bool:
    columns = {CONFIDENCE, "state", "right", "answerable"}
    return columns <= set(run.outcomes.columns) and run.outcomes[CONFIDENCE].is_not_null().any()


def _top(curves: Sequence[Curve]) -> float:
    """Choose the top of the risk axis: above every curve, but for its first few rows."""
    highest = max(
        (float(one.risk[one.coverage >= _SETTLED].max(initial=0)) for one in curves), default=0.0
    )
    return next(top for top in _TOPS if highest <= top)


def _place(risk: float, top: float) -> str:
    """Give a risk's height on the plot, from its upper edge; what is off it stays at its end."""
    return f"{100 - 100 * min(1.0, risk / top):.2f}%"


def _ticks(top: float) -> list[tuple[str, str]]:
    """Choose the labels of the risk axis: the marked risks, as far as there is room for them."""
    shown: list[float] = []
    for risk in (0.0, top, *reversed(RISKS), 0.5, 0.75):
        if risk <= top and all(abs(risk - other) / top * 100 >= _APART for other in shown):
            shown.append(risk)
    return [(_place(risk, top), f"{100 * risk:g}") for risk in sorted(shown)]


def _line(model: int, name: str, run: RunView, one: Curve, top: float, width: float) -> Line:
    kept = np.unique(np.linspace(0, len(one.risk) - 1, _POINTS).round().astype(int))
    kept = kept[: len(one.risk)]
    places = [
        (f"{100 * one.coverage[i]:.2f}", f"{100 - 100 * min(1.0, one.risk[i] / top):.2f}")
        for i in kept
    ]
    dots, coverages = [], []
    for risk in RISKS:
        fits = np.flatnonzero(one.risk <= risk)
        if not len(fits):
            coverages.append(percent(0))
            continue
        last = fits[-1]
        coverage, reached = float(one.coverage[last]), float(one.risk[last])
        coverages.append(percent(coverage))
        title = (
            f"{name}: {percent(coverage)} of the rows answered at {percent(reached)} risk, "
            f"confidence {one.threshold[last]:.3g} or more (at most {100 * risk:g} %)"
        )
        dots.append(Dot(f"{100 * coverage:.2f}%", _place(reached, top), title))
    return Line(
        model,
        name,
        " ".join(map(",".join, places)),
        width,
        [(f"{x}%", f"{y}%") for x, y in places] if len(places) <= _STOPS else [],
        dots,
        coverages,
        [_figure(run, figure) for figure in FIGURES],
        _known(run),
    )


def _figure(run: RunView, name: str) -> str:
    """Write an overall figure of the headline's reading, where the run has it."""
    for metric in run.metrics:
        if metric.name == name and not metric.cut and metric.reading == run.readings[0]:
            return percent(metric.value, metric.unit)
    return "–"


def _known(run: RunView) -> str:
    for metric in run.metrics:
        if metric.name == KNOWN and not metric.cut:
            return f"{metric.numerator:,.0f} of {metric.denominator:,.0f}"
    answers = run.outcomes.filter(run.outcomes["state"] == "answered")
    return f"{answers[CONFIDENCE].count():,} of {len(answers):,}"


def _panel(model: int, name: str, sums: Bins, error: str) -> Panel:
    most = max(1.0, float(sums.answers.max()))
    bars = []
    for i in np.flatnonzero(sums.answers):
        answers = sums.answers[i]
        accuracy, sure = float(sums.right[i] / answers), float(sums.confidence[i] / answers)
        low, high = min(accuracy, sure), max(accuracy, sure)
        share = answers / most
        bars.append(
            Bar(
                x=f"{100 * i / BINS + 0.35:.2f}%",
                width=f"{100 / BINS - 0.7:.2f}%",
                height=f"{100 * accuracy:.2f}%",
                y=f"{100 - 100 * accuracy:.2f}%",
                gap_y=f"{100 - 100 * high:.2f}%",
                gap=f"{100 * (high - low):.2f}%",
                few=answers < _FEW,
                count=f"{max(3.0, 100 * share):.2f}%",
                count_y=f"{100 - max(3.0, 100 * share):.2f}%",
                title=f"{answers:,.0f} answers, mean confidence {percent(sure)}, "
                f"{percent(accuracy)} right",
            )
        )
    return Panel(model, name, f"ECE {error}" if error != "–" else "", bars, int(most))
