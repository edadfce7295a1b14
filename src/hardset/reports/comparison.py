"""The page of a comparison: differences around a line of zero, and every flipped item.

Like the report it needs nothing else and trusts nothing it shows; see `html`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from hardset.metrics.difference import Difference
from hardset.metrics.signflip import mcnemar
from hardset.records import Item
from hardset.reports import html, view
from hardset.reports.cards import Card, cards
from hardset.reports.compared import (
    MOST_SHOWN,
    Compared,
    Versus,
    adjusted_p,
    between,
    finding,
    metric_name,
    points,
    probability,
    shown_flips,
    tests,
    verdict,
)
from hardset.reports.numbers import fraction, percent, slice_name
from hardset.reports.runs import Shown

Flipped = Mapping[str, tuple[Item, bytes | None]]
"""Items and their thumbnails, by id, as far as the benchmark could be made again."""
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)  # ends of a figure's scale
_LISTED = 2_000  # ids of flips listed each way


@dataclass(frozen=True)
class Mark:
    """One difference in a figure: places in per cent of the track, zero in its middle."""

    label: str
    run: int  # position of the run: its colour
    values: str  # what both runs have: `69.0 % to 72.5 %`
    difference: str
    detail: str  # interval and p
    verdict: str
    note: str
    at: str = ""
    low: str = ""
    high: str = ""
    band: str = ""  # where the band of what could not be shown starts
    width: str = ""


@dataclass(frozen=True)
class Figure:
    """Differences on one scale; each group is a metric or a slice (nameless: the whole)."""

    name: str
    about: str
    lower: bool
    ticks: Sequence[str]  # five, from end to end
    groups: Sequence[tuple[str, Sequence[Mark]]]


@dataclass(frozen=True)
class Line:
    """One line of the complete table."""

    metric: str
    slice: str
    run: str
    first: str
    second: str
    difference: str
    interval: str
    p: str
    holm: str
    test: str
    rows: str  # lost and gained rows, where there are
    detectable: str
    clusters: int
    note: str


@dataclass(frozen=True)
class Flip:
    """A flipped item in the lists; `anchor` is its card's, if it has one."""

    item: str
    category: str
    anchor: str


@dataclass(frozen=True)
class Flipping:
    """What flipped between the baseline and one run."""

    versus: Versus
    p: str
    lost: Sequence[Flip]
    gained: Sequence[Flip]
    lost_beyond: int  # not listed
    gained_beyond: int
    cards: Sequence[tuple[str, str, Card]]  # anchor, lost or gained, card


def write_comparison(path: Path, compared: Compared, items: Flipped | None = None) -> None:
    """Write the page, whole or not at all.

    Args:
        path: the HTML file, replaced if it is there.
        compared: the comparison.
        items: the flipped items, for their pictures and options; without them the page shows
            what the outcomes know.

    Raises:
        OSError: if the file cannot be written.
    """
    html.write_page(path, render(compared, items or {}))


def render(compared: Compared, items: Flipped) -> str:
    """Make the page; see `write_comparison`."""
    script = html.template_text("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    versus = compared.versus
    flippings = [_flipping(one, i, items) for i, one in enumerate(versus)]
    views = [versus[0].first, *(one.second for one in versus)]
    laid_out = [card for one in flippings for _, _, card in one.cards]
    return html.environment().get_template("comparison.html").render(
        style=Markup(html.template_text("report.css") + html.template_text("comparison.css")),
        script=Markup(script),
        script_hash=digest,
        compared=compared,
        versus=versus,
        runs=views,
        dates=[view.date(one) for one in views],
        findings=[
            [finding(d, one) for d in one.leading if d.reading == one.first.readings[0]]
            for one in versus
        ],
        leading=leading(versus),
        sections=[(cut, found) for cut in versus[0].first.cuts if (found := by_cut(versus, cut))],
        states=view.states(views),
        flippings=flippings,
        flip_cuts=_choices(laid_out),
        most_shown=MOST_SHOWN,
        tables=tables(versus),
        tests=tests([d for one in versus for d in one.differences]),
        manifests=[
            (label, json.dumps(manifest, indent=2, ensure_ascii=False, default=str))
            for label, manifest in zip(compared.labels, compared.manifests, strict=True)
        ],
    )  # fmt: skip


def leading(versus: Sequence[Versus]) -> list[Figure]:
    """Make the figures of the metrics that lead: one for each unit, a group a metric."""
    figures = []
    lines: dict[tuple[str, str], list[tuple[int, Difference]]] = {}
    for i, one in enumerate(versus):
        for difference in one.leading:
            lines.setdefault((difference.name, difference.reading), []).append((i, difference))
    for unit in dict.fromkeys(found[0][1].unit for found in lines.values()):
        of_unit = [found for found in lines.values() if found[0][1].unit == unit]
        end = _end([each for found in of_unit for _, each in found])
        groups = []
        for found in of_unit:
            first = found[0][1]
            lower = " (lower is better)" if first.better == "lower" else ""
            name = metric_name(first, versus[0].first.readings) + lower
            groups.append((name, [_mark(each, versus, i, "", end) for i, each in found]))
        figures.append(Figure(unit or "Difference in points", "", False, _scale(end, unit), groups))
    return figures


def by_cut(versus: Sequence[Versus], cut: str) -> list[Figure]:
    """Make the figures of one cut: one a metric, its slices on one scale."""
    lines: dict[str, dict[str, list[tuple[int, Difference]]]] = {}
    for i, one in enumerate(versus):
        for each in one.by(cut):
            lines.setdefault(each.name, {}).setdefault(each.cut[cut], []).append((i, each))
    figures = []
    for name, slices in lines.items():
        every = [each for found in slices.values() for _, each in found]
        end = _end(every)
        metric = every[0].first or every[0].second
        if len(versus) == 1:
            groups = [("", [_mark(each, versus, 0, where, end) for where, found in slices.items()
                            for _, each in found])]  # fmt: skip
        else:
            groups = [
                (where, [_mark(each, versus, i, "", end) for i, each in found])
                for where, found in slices.items()
            ]
        about = metric.about if metric else ""
        scale = _scale(end, every[0].unit)
        figures.append(Figure(name, about, every[0].better == "lower", scale, groups))
    return figures


def tables(versus: Sequence[Versus]) -> list[tuple[str, list[Line]]]:
    """Make the complete table, a part a cut: overall first, then as measured."""
    parts: dict[str, list[Line]] = {"overall": []}
    for one in versus:
        for each in one.differences:
            part = " and ".join(each.cut) if each.cut else "overall"
            parts.setdefault(part, []).append(_line(each, one))
    return [(part, lines) for part, lines in parts.items() if lines]


def _line(one: Difference, versus: Versus) -> Line:
    metrics = (one.first, one.second)
    values = [f"{percent(m.value, m.unit)} ({fraction(m)})" if m else "-" for m in metrics]
    rows = "" if one.lost is None else f"{one.lost:,} / {one.gained:,}"
    if one.p_rows is not None and one.p_rows != one.p:
        rows += f", McNemar p {probability(one.p_rows)}"
    could = points(one.detectable, one.unit, signed=False)
    metric = one.first or one.second
    return Line(
        metric=metric_name(one, versus.first.readings),
        slice=", ".join(one.cut.values()) or (slice_name(metric) if metric else ""),
        run=versus.second.model,
        first=values[0],
        second=values[1],
        difference=points(one.difference, one.unit),
        interval=between(one),
        p=probability(one.p),
        holm=probability(one.p_holm),
        test=one.test,
        rows=rows,
        detectable=could or ("nothing" if one.difference is not None else ""),
        clusters=one.clusters,
        note=one.note,
    )


def _mark(one: Difference, versus: Sequence[Versus], run: int, label: str, end: float) -> Mark:
    metrics = (one.first, one.second)
    before, after = (percent(m.value, m.unit) if m else "not measured" for m in metrics)
    p = adjusted_p(one)
    parts = [between(one), f"p {probability(p)}" if p is not None else ""]
    drawn = one.difference is not None
    band = min(end if one.detectable is None else one.detectable, end)
    return Mark(
        label=label or (versus[run].second.model if len(versus) > 1 else ""),
        run=run + 1,
        values=f"{before} → {after}",
        difference=points(one.difference, one.unit) or "no difference",
        detail=" · ".join(part for part in parts if part),
        verdict=verdict(one),
        note="" if drawn else one.note,
        at=_place(one.difference, end),
        low=_place(one.low, end),
        high=_place(one.high, end),
        band=_place(-band, end) if drawn else "",
        width=f"{100 * band / end:.2f}%" if drawn else "",
    )


def _end(found: Sequence[Difference]) -> float:
    """Choose where a scale ends: the first round number beyond every interval."""
    every = (value for one in found for value in (one.difference, one.low, one.high))
    most = max((abs(value) for value in every if value is not None), default=0.0)
    if found and found[0].unit:
        return most * 1.1 or 1.0
    return next((tick for tick in _TICKS[2:] if tick >= most), 1.0)


def _scale(end: float, unit: str) -> list[str]:
    places = [-end, -end / 2, 0.0, end / 2, end]
    if unit:
        return [points(place, unit) for place in places]
    return [f"{100 * place:+.3g}" if place else "0" for place in places]


def _place(value: float | None, end: float) -> str:
    """Give a difference as a length on the track; what is off it stays at its end."""
    return "" if value is None else f"{50 + 50 * max(-1.0, min(1.0, value / end)):.2f}%"


def _flipping(versus: Versus, number: int, items: Flipped) -> Flipping:
    """Lay out what flipped in one run: the lists, and the cards of those that are shown."""
    flips = versus.flips
    lost, shown = set(flips.lost), shown_flips(versus)
    anchors = {ident: f"flip-{number + 1}-{i + 1}" for i, ident in enumerate(shown)}
    rows = versus.first.outcomes.unique("item", keep="first", maintain_order=True)
    known = {row["item"]: row for row in rows.iter_rows(named=True)} if shown else {}
    made = cards([versus.first, versus.second], list(_shown(shown, known, items)))
    by_id = {card.item.id: card for card in made}
    laid_out = []
    for ident in shown:
        way = "lost" if ident in lost else "gained"
        card = by_id[ident]
        ways = {"flip": way, "run": versus.second.model, **card.cuts}
        answers = [replace(one, model=one.model and number + 1) for one in card.answers]
        laid_out.append((anchors[ident], way, replace(card, cuts=ways, answers=answers)))

    def listed(ids: Sequence[str]) -> list[Flip]:
        return [
            Flip(ident, str(known[ident].get("category") or ""), anchors.get(ident, ""))
            for ident in ids[:_LISTED]
        ]

    return Flipping(
        versus=versus,
        p=probability(mcnemar(len(flips.lost), len(flips.gained))),
        lost=listed(flips.lost),
        gained=listed(flips.gained),
        lost_beyond=max(0, len(flips.lost) - _LISTED),
        gained_beyond=max(0, len(flips.gained) - _LISTED),
        cards=laid_out,
    )


def _shown(
    ids: Sequence[str], known: Mapping[str, Mapping[str, object]], items: Flipped
) -> Iterator[Shown]:
    """Give the items of cards: as the benchmark makes them, else as the outcomes know them."""
    for ident in ids:
        row = known[ident]
        item, thumbnail = items.get(ident, (None, None))
        if item is None:
            text: dict[str, Any] = {
                name: str(row.get(name) or "")
                for name in ("question", "category", "pair", "role", "parent", "source")
            }
            item = Item(
                id=ident,
                answer=str(row.get("gold") or ""),
                answerable=bool(row.get("answerable", True)),
                **text,
            )
        yield Shown(index=int(str(row["index"])), item=item, thumbnail=thumbnail)


def _choices(laid_out: Sequence[Card]) -> list[tuple[str, list[str]]]:
    """Give what the cards can be filtered by, where there is something to choose."""
    cuts = dict.fromkeys(cut for card in laid_out for cut in card.cuts)
    choices = [(cut, sorted({card.cuts.get(cut, "") for card in laid_out} - {""})) for cut in cuts]
    return [(cut, values) for cut, values in choices if len(values) > 1]
