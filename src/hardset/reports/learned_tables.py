"""The tables of the page of `hardset learn`: results, sets, and differences with their tracks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hardset.reports.learned_metrics import Row, key, rows_of
from hardset.reports.learning_curves import colour
from hardset.reports.measures import HARD, PLAIN, Measure, number, verdict


@dataclass(frozen=True)
class Result:
    """One line of the complete table."""

    k: str
    set: str
    colour: int
    augment: str
    n: str
    figures: Sequence[str]  # as the table's head names them
    failed: int


@dataclass(frozen=True)
class SetLine:
    """One kind of set at one k."""

    set: str
    colour: int
    k: str
    examples: str
    suspected: str  # of a set that differs by seed the mean


@dataclass(frozen=True)
class Difference:
    """A paired difference, with its places on a track; an empty place: not drawn."""

    learner: str
    k: str
    set: str
    augment: str
    colour: int
    value: str
    interval: str
    wide: str  # the interval over seeds and test examples
    n: str
    paper: str
    paper_interval: str
    said: str
    at: str
    low: str
    high: str
    cut: Sequence[str]  # the ends, low and high, beyond which the interval goes on


@dataclass(frozen=True, kw_only=True)
class Differences:
    """A table of differences, a part a learner; what all share needs no column."""

    parts: Sequence[tuple[str, Sequence[Difference]]]
    track: str
    unit: str
    kind: str  # the set that all are of; empty: several
    augment: str
    wide: bool
    paper: bool


def columns(results: Sequence[Row], measure: Measure) -> list[tuple[str, str]]:
    """Head the table: what there is of each figure's kind."""
    heads = [
        ("mean ± std", f"mean {measure.name} of the last epoch over seeds ± standard deviation"),
        ("worst", "the lowest of the seeds, last epoch"),
        ("paper: mean ± std", "the best epoch on the test set, as the paper has it: optimistic"),
        ("paper: worst", "the lowest of the seeds, best epoch"),
    ]
    if any(number(row, "train_mean") is not None for row in results):
        heads.append(("on its own examples", "the same on what it was trained on, last epoch"))
    return heads


def parts(
    results: Sequence[Row], failed: Sequence[Row], sets: Sequence[str], measure: Measure
) -> list[tuple[str, list[Result]]]:
    """Lay out the complete table, a part a learner."""
    many = len(columns(results, measure))
    lost: dict[tuple[str, ...], int] = {}
    for row in failed:
        lost[key(row)] = lost.get(key(row), 0) + 1
    made: dict[str, list[Result]] = {}
    known = {key(row) for row in results}
    alone = [row for row in failed if key(row) not in known]
    for row in [*results, *{key(row): {**row, "n": 0} for row in alone}.values()]:
        n, gone = int(number(row, "n") or 0), lost.get(key(row), 0)
        asked = max(n + gone, int(number(row, "asked") or 0))
        figures = [
            measure.spread(number(row, "mean"), number(row, "std")),
            measure.value(number(row, "worst")),
            measure.spread(number(row, "paper_mean"), number(row, "paper_std")),
            measure.value(number(row, "paper_worst")),
            measure.spread(number(row, "train_mean"), number(row, "train_std")),
        ]
        kind = str(row.get("set", ""))
        made.setdefault(str(row.get("learner")), []).append(
            Result(
                f"{row.get('k', '')}",
                kind,
                colour(kind, sets),
                str(row.get("augment", PLAIN)),
                f"{n:,} of {asked:,}" if asked > n else f"{n:,}",
                figures[:many],
                gone,
            )
        )
    return list(made.items())


def differences(
    rows: Sequence[Row], name: str, measure: Measure, sets: Sequence[str]
) -> Differences:
    """Lay out differences, which a record has under `name`."""
    end, track = reach(rows, measure)
    parts: dict[str, list[Difference]] = {}
    for row in rows:
        one = _difference(row, name, measure, sets, end)
        parts.setdefault(one.learner, []).append(one)
    kinds = {one.set for some in parts.values() for one in some}
    mixes = {one.augment for some in parts.values() for one in some}
    return Differences(
        parts=list(parts.items()),
        track=track,
        unit=measure.unit,
        kind=min(kinds) if len(kinds) == 1 else "",
        augment=min(mixes) if len(mixes) == 1 else "",
        wide=any(wide_interval(row) for row in rows),
        paper=any(number(row, f"paper_{name}") is not None for row in rows),
    )


def _difference(
    row: Row, name: str, measure: Measure, sets: Sequence[str], end: float
) -> Difference:
    kind = str(row.get("set", HARD))
    value, low, high = (number(row, one) for one in (name, "low", "high"))
    n, asked = (int(number(row, one) or 0) for one in ("n", "asked"))
    return Difference(
        learner=str(row.get("learner", "")),
        k=str(row.get("k", "")),
        set=kind,
        augment=str(row.get("augment", PLAIN)),
        colour=colour(kind, sets),
        value=measure.difference(value),
        interval=measure.between(low, high) or _none(n),
        wide=measure.between(*(wide_interval(row) or (None, None))),
        n=f"{n:,} of {asked:,}" if asked > n else f"{n:,}",
        paper=measure.difference(number(row, f"paper_{name}")),
        paper_interval=measure.between(number(row, "paper_low"), number(row, "paper_high")),
        said=_SAID[verdict(low, high)] if value is not None else "not measured",
        at=_place(value, end),
        low=_place(low, end),
        high=_place(high, end),
        cut=[
            side
            for side, x in (("low", low), ("high", high))
            if x is not None and min(abs(x), measure.most) > end + 1e-9
        ],
    )


def _none(n: int) -> str:
    """Say why there is no interval."""
    return "one pair: none" if n == 1 else f"{n:,} alike: none" if n else "none"


_SAID = {
    "less": "lower",
    "more": "higher",
    "not shown": "not shown",
    "no interval": "no interval",
}


def wide_interval(row: Row) -> tuple[float, float] | None:
    """Give the interval over seeds and test examples, where it was worked out."""
    low, high = number(row, "two_way_low"), number(row, "two_way_high")
    return None if low is None or high is None else (low, high)


def reach(rows: Sequence[Row], measure: Measure) -> tuple[float, str]:
    """Choose how far the tracks of some differences reach to both sides, and write it."""
    values = [abs(x) for row in rows for name in ("gap", "difference")
              if (x := number(row, name)) is not None]  # fmt: skip
    room = max(_AROUND, 3 * max(values, default=0.0))
    ends = [abs(x) for row in rows for name in ("low", "high")
            if (x := number(row, name)) is not None]  # fmt: skip
    furthest = max([*values, *(min(x, room) for x in ends)], default=0.0)
    end = next((end for end in _REACHES if furthest <= end), 1.0 if measure.share else 2.0)
    text = f"{100 * end:g} {measure.unit}" if measure.share else f"{end:g}"
    return end, f"-{text.split()[0]} to +{text}, zero in the middle"


_AROUND = 0.1  # that a track reaches for an interval's sake, at least
_REACHES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


def _place(value: float | None, end: float) -> str:
    """Give a difference as a place on a track; what is off it stays at its end."""
    return "" if value is None else f"{50 + 50 * min(1.0, max(-1.0, value / end)):.2f}%"


def sets_told(manifest: Mapping[str, Any], sets: Sequence[str]) -> list[SetLine]:
    """Lay out how large each set is, and how many of its labels are suspected to be wrong."""
    made = []
    for row in rows_of(manifest, "sets"):
        many, wrong = number(row, "examples"), number(row, "suspected_labels")
        if many is None:
            continue
        suspected = "not estimated"
        if wrong is not None:
            share = f"{100 * wrong / many:.1f} %" if many else "undefined"
            if wrong == int(wrong):
                suspected = f"{wrong:,.0f}/{many:,.0f} ({share})"
            else:
                suspected = f"{share}, in the mean {wrong:,.1f} of {many:,.0f}"
        kind = str(row.get("set", ""))
        made.append(
            SetLine(kind, colour(kind, sets), f"{row.get('k', '')}", f"{many:,.0f}", suspected)
        )
    return made
