"""The page of `hardset learn`: what learning from the hardest examples costs, or gains.

Like the report it needs nothing else and trusts nothing it shows; see `html`. It has no script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from hardset.reports import html
from hardset.reports.facts import facts
from hardset.reports.learning_curves import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Panel,
    colour,
    mark,
    panels,
)
from hardset.reports.measures import HARD, PLAIN, RANDOM, Measure, number, sentence, verdict
from hardset.reports.text import clip
from hardset.reports.view import started

MOST_FAILED = 20  # shown; all are in metrics.json
MOST_ROWS = 60  # of a table that stands unfolded
_LONG = (300, 100)  # characters of a fact, at either end

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """One learner: what its gaps say, and its curves."""

    learner: str
    badge: str  # less, more, not shown, no interval
    headline: str
    sentences: Sequence[str]
    panel: Panel


@dataclass(frozen=True)
class Result:
    """One line of the complete table."""

    k: str
    set: str
    colour: int
    augment: str
    n: str
    figures: Sequence[str]  # as the table's head names them
    failed: bool


@dataclass(frozen=True)
class Difference:
    """A paired difference, with its places on a track; an empty place: not drawn."""

    learner: str
    what: Sequence[str]
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


def write_learned(path: Path, metrics: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """Write the page, whole or not at all.

    Args:
        path: where to.
        metrics: what `metrics.json` holds.
        manifest: what `manifest.json` holds.

    Raises:
        OSError: if the file cannot be written.
    """
    html.write_page(path, render(metrics, manifest))


def render(metrics: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """Make the page; see `write_learned`."""
    measure = Measure(str(metrics.get("measure") or "accuracy"))
    also = metrics.get("also")
    results, gaps = rows_of(metrics, "summary"), rows_of(metrics, "gaps")
    failed, augmentation = rows_of(metrics, "failed"), rows_of(metrics, "augmentation")
    sets = sets_of(metrics)
    tables = _results(results, failed, sets, measure)
    style = "".join(map(html.template_text, ("report.css", "judges.css", "lowresource.css")))
    return html.environment().get_template("learned.html").render(
        style=Markup(style),
        title=title(manifest),
        measure=measure,
        metrics=metrics,
        ks=ks_of(metrics),
        sets=[(one, colour(one, sets), mark(colour(one, sets), 8, 8)) for one in sets],
        size=(WIDTH, HEIGHT),
        field=(LEFT, RIGHT, BOTTOM),
        n_test=tested(metrics),
        started=started(manifest),
        trials=trials(metrics),
        claim=claim(metrics),
        failed=failures(failed),
        answers=answers(metrics, measure),
        other_augments=[one for one in names(metrics, "augments") if one != drawn(metrics)],
        augment=drawn(metrics),
        columns=_columns(results, measure),
        results=tables,
        fold=sum(len(rows) for _, rows in tables) > MOST_ROWS,
        gaps=_differences(gaps, "gap", measure, sets),
        gap_track=reach(gaps, measure)[1],
        wide=any(_wide(row) for row in gaps),
        augmentation=_differences(augmentation, "difference", measure, sets),
        augmentation_track=reach(augmentation, measure)[1],
        also=None if not also else (
            Measure(str(also.get("measure"))),
            _differences(rows_of(also, "gaps"), "gap", measure, sets),
            reach(rows_of(also, "gaps"), measure)[1],
        ),
        notices=[str(one) for one in manifest.get("notices") or ()],
        facts=facts(manifest),
        manifest=json.dumps(manifest, indent=2, ensure_ascii=False, default=str),
    )  # fmt: skip


def title(manifest: Mapping[str, Any]) -> str:
    """Name the data that was learned from, as the manifest knows it."""
    for name in ("train", "data", "picked"):
        given = manifest.get(name)
        if isinstance(given, Mapping):
            given = given.get("name") or given.get("place") or given.get("layout")
        if given:
            return str(given)
    return "Low resource"


def rows_of(metrics: Mapping[str, Any], name: str) -> list[Row]:
    """Give a list of records, none where there is none."""
    return [row for row in metrics.get(name) or () if isinstance(row, Mapping)]


def names(metrics: Mapping[str, Any], name: str) -> list[str]:
    """Give a list of names in its order: `learners`, `sets`, `augments`."""
    given = metrics.get(name)
    if given:
        return [str(one) for one in given]
    one = name.removesuffix("s")
    rows = rows_of(metrics, "summary") + rows_of(metrics, "failed")
    return list(dict.fromkeys(str(row[one]) for row in rows if one in row))


def ks_of(metrics: Mapping[str, Any]) -> list[int]:
    """Give the numbers of examples per label, ascending."""
    given = metrics.get("ks") or [row["k"] for row in rows_of(metrics, "summary") if "k" in row]
    return sorted({int(k) for k in given})


def sets_of(metrics: Mapping[str, Any]) -> list[str]:
    """Give the kinds of sets: the hardest first, random last."""
    given = names(metrics, "sets")
    return sorted(given, key=lambda one: (one != HARD, one == RANDOM))


def drawn(metrics: Mapping[str, Any]) -> str:
    """Name the augmentation that is drawn: none, or the first."""
    given = names(metrics, "augments")
    return PLAIN if PLAIN in given or not given else given[0]


def tested(metrics: Mapping[str, Any]) -> str:
    """Write how many test examples there are."""
    n = number(metrics, "n_test")
    return "" if n is None else f"{n:,.0f}"


def trials(metrics: Mapping[str, Any]) -> str:
    """Say how many trainings there were, and how many of them came to an end."""
    failed = len(rows_of(metrics, "failed"))
    done = sum(int(number(row, "n") or 0) for row in rows_of(metrics, "summary"))
    every = done + failed
    if failed:
        return f"{done:,} of {every:,} trainings finished"
    return f"{every:,} {'training' if every == 1 else 'trainings'}"


def main_gaps(metrics: Mapping[str, Any]) -> list[Row]:
    """Give the gaps of the first kind of set that is not random, without augmentation."""
    kind = next((one for one in sets_of(metrics) if one != RANDOM), HARD)
    return [
        row
        for row in rows_of(metrics, "gaps")
        if row.get("set", kind) == kind and row.get("augment", PLAIN) == drawn(metrics)
    ]


def claim(metrics: Mapping[str, Any]) -> str:
    """Say in one sentence what all learners show, at the fewest examples per label."""
    gaps = [row for row in main_gaps(metrics) if number(row, "gap") is not None]
    if not gaps:
        return "No gap could be measured: no pair of trainings came to an end."
    k = min(int(number(row, "k") or 0) for row in gaps)
    here = [row for row in gaps if row.get("k") == k]
    shown = [verdict(number(row, "low"), number(row, "high")) for row in here]
    less, more, alone = (shown.count(one) for one in ("less", "more", "no interval"))
    kind, of = here[0].get("set", HARD), len(here)
    said = f"At k = {k:,}, the {kind} examples "
    learners = "learner" if of == 1 else "learners"
    if alone == of:
        lower = sum((number(row, "gap") or 0) < 0 for row in here)
        return (
            f"{said}teach less than random ones for {lower} of {of} {learners}; "
            "with one seed there is no interval, so it may be chance."
        )
    parts = []
    if less or not more:
        parts.append(f"less for {less} of {of} {learners}")
    if more:
        parts.append(f"more for {more} of {of} {learners}")
    rest = of - less - more
    tail = f"; for {rest} no difference is shown" if rest else ""
    return f"{said}teach {' and '.join(parts)} than random ones do{tail}."


def failures(failed: Sequence[Row]) -> tuple[int, list[str], int]:
    """Say what failed: how many, of the first kinds what and why, and how many are not shown."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for row in failed:
        reason = clip(str(row.get("reason") or "no reason given"), *_LONG)
        kinds.setdefault((*_key(row), reason), []).append(str(row.get("seed", "?")))
    said = []
    for (learner, k, kind, augment, reason), seeds in list(kinds.items())[:MOST_FAILED]:
        of = f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(seeds[:10])}"
        of += f" and {len(seeds) - 10:,} more" if seeds[10:] else ""
        mixed = "" if augment in (PLAIN, "") else f", {augment}"
        said.append(f"{learner}, k = {k}, {kind}{mixed}, {of}: {reason}")
    hidden = sum(len(seeds) for seeds in list(kinds.values())[MOST_FAILED:])
    return len(failed), said, hidden


def answers(metrics: Mapping[str, Any], measure: Measure) -> list[Answer]:
    """Lay out each learner's answer: a sentence a k, the fewest and the most first."""
    results = [
        row for row in rows_of(metrics, "summary") if row.get("augment", PLAIN) == drawn(metrics)
    ]
    learners = names(metrics, "learners")
    drawn_panels = panels(
        {one: [row for row in results if row.get("learner") == one] for one in learners},
        sets_of(metrics),
        ks_of(metrics),
        measure,
    )
    laid = []
    for learner in learners:
        gaps = [row for row in main_gaps(metrics) if row.get("learner") == learner]
        gaps.sort(key=lambda row: number(row, "k") or 0)
        said = []
        for gap in [*gaps[:1], *gaps[1:][-1:]]:
            of, to = (
                _of(results, learner, gap.get("k"), kind) for kind in (gap.get("set"), RANDOM)
            )
            worth = _worth(metrics, learner, gap)
            said.append(sentence(gap, of, to, measure) + worth)
        first = gaps[0] if gaps else {}
        headline = measure.difference(number(first, "gap"))
        if measure.unit and number(first, "gap") is not None:
            headline += f" {measure.unit}"
        shown = verdict(number(first, "low"), number(first, "high"))
        laid.append(Answer(learner, shown, headline, said or ["no gap was measured"],
                           drawn_panels[learner]))  # fmt: skip
    return laid


def _worth(metrics: Mapping[str, Any], learner: str, gap: Row) -> str:
    """Say how many random examples a label teach as much, where the curve of random has it."""
    for line in rows_of(metrics, "curves"):
        if (line.get("learner"), line.get("set"), line.get("augment", PLAIN)) == (
            learner, gap.get("set"), gap.get("augment", PLAIN),
        ):  # fmt: skip
            for point in line.get("points") or ():
                k = number(point, "random_k")
                if point.get("k") == gap.get("k") and k is not None:
                    return f"; as much as about {k:,.0f} random ones a label"
    return ""


def _of(results: Sequence[Row], learner: str, k: Any, kind: Any) -> Row:
    for row in results:
        if (row.get("learner"), row.get("k"), row.get("set")) == (learner, k, kind):
            return row
    return {}


def _columns(results: Sequence[Row], measure: Measure) -> list[tuple[str, str]]:
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


def _results(
    results: Sequence[Row], failed: Sequence[Row], sets: Sequence[str], measure: Measure
) -> list[tuple[str, list[Result]]]:
    """Lay out the complete table, a part a learner."""
    columns = len(_columns(results, measure))
    lost: dict[tuple[str, ...], int] = {}
    for row in failed:
        lost[_key(row)] = lost.get(_key(row), 0) + 1
    parts: dict[str, list[Result]] = {}
    known = {_key(row) for row in results}
    alone = [row for row in failed if _key(row) not in known]
    for row in [*results, *{_key(row): {**row, "n": 0} for row in alone}.values()]:
        n, gone = int(number(row, "n") or 0), lost.get(_key(row), 0)
        asked = max(n + gone, int(number(row, "asked") or 0))
        figures = [
            measure.spread(number(row, "mean"), number(row, "std")),
            measure.value(number(row, "worst")),
            measure.spread(number(row, "paper_mean"), number(row, "paper_std")),
            measure.value(number(row, "paper_worst")),
            measure.spread(number(row, "train_mean"), number(row, "train_std")),
        ]
        kind = str(row.get("set", ""))
        parts.setdefault(str(row.get("learner")), []).append(
            Result(
                f"{row.get('k', '')}",
                kind,
                colour(kind, sets),
                str(row.get("augment", PLAIN)),
                f"{n:,} of {asked:,}" if asked > n else f"{n:,}",
                figures[:columns],
                bool(gone),
            )
        )
    return list(parts.items())


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row.get(name, "")) for name in ("learner", "k", "set", "augment"))


def _differences(
    rows: Sequence[Row], name: str, measure: Measure, sets: Sequence[str]
) -> list[Difference]:
    """Lay out differences, which a record has under `name`."""
    end, _ = reach(rows, measure)
    return [_difference(row, name, measure, sets, end) for row in rows]


def _difference(
    row: Row, name: str, measure: Measure, sets: Sequence[str], end: float
) -> Difference:
    what = (
        str(row.get("k", "")),
        str(row.get("set", HARD)),
        str(row.get("augment", PLAIN)),
    )
    value, low, high = (number(row, one) for one in (name, "low", "high"))
    n, asked = (int(number(row, one) or 0) for one in ("n", "asked"))
    return Difference(
        learner=str(row.get("learner", "")),
        what=what,
        colour=colour(what[1], sets),
        value=measure.difference(value),
        interval=measure.between(low, high) or ("one pair: none" if n == 1 else "none"),
        wide=measure.between(*(_wide(row) or (None, None))),
        n=f"{n:,} of {asked:,}" if asked > n else f"{n:,}",
        paper=measure.difference(number(row, f"paper_{name}")),
        paper_interval=measure.between(number(row, "paper_low"), number(row, "paper_high")),
        said=_SAID[verdict(low, high)] if value is not None else "not measured",
        at=_place(value, end),
        low=_place(low, end),
        high=_place(high, end),
    )


_SAID = {
    "less": "lower",
    "more": "higher",
    "not shown": "not shown",
    "no interval": "no interval",
}


def _wide(row: Row) -> tuple[float, float] | None:
    """Give the interval over seeds and test examples, where it was worked out."""
    low, high = number(row, "two_way_low"), number(row, "two_way_high")
    return None if low is None or high is None else (low, high)


def reach(rows: Sequence[Row], measure: Measure) -> tuple[float, str]:
    """Choose how far the tracks of some differences reach to both sides, and write it."""
    found = [abs(x) for row in rows for name in ("gap", "difference", "low", "high")
             if (x := number(row, name)) is not None]  # fmt: skip
    furthest = max(found, default=0.0)
    end = next((end for end in _REACHES if furthest <= end), 1.0 if measure.share else 2.0)
    text = f"{100 * end:g} {measure.unit}" if measure.share else f"{end:g}"
    return end, f"-{text.split()[0]} to +{text}, zero in the middle"


_REACHES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


def _place(value: float | None, end: float) -> str:
    """Give a difference as a place on a track; what is off it stays at its end."""
    return "" if value is None else f"{50 + 50 * min(1.0, max(-1.0, value / end)):.2f}%"
